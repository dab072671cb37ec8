"""The last step: a run's advisory, verified, as files and then as the one that readers see."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from kafka_rebalance.errors import InvalidInputError
from rebalance_advisor.airflow.task_log import task_log

if TYPE_CHECKING:
    from kafka_rebalance.plans.plan import Plan
    from rebalance_advisor.airflow.publishing.places import Place
    from rebalance_advisor.store import Connection

_log = task_log(__name__)


def publish_run(dsn: str, *, run_id: str, cluster: str, place: Place) -> tuple[list[str], str]:
    """Write the files whole, then publish the run: where readers see a run, its files are whole.

    Returns what a terminal shows last, the verdict, then the worst findings; and where the files are to be read.

    One run of a cluster does this at a time, so that one that ends late takes nothing back.
    The plan was verified before it was saved. Raises InvalidInputError where the stored one is not that plan any more,
    and where it has expired while the run lay, and its reading has become too old.
    """
    from kafka_rebalance.plans.document import plan_from_document
    from rebalance_advisor import store
    from rebalance_advisor.airflow.publishing.places import folder_name
    from rebalance_advisor.airflow.publishing.published_files import files_that_differ
    from rebalance_advisor.publish.advisory_files import advisory_files
    from rebalance_advisor.publish.digest import closing_words
    from rebalance_advisor.publish.object_store.manifest import sha256_of
    from rebalance_advisor.publish.plan_files import plan_files

    with store.connect(dsn) as connection, store.publishing(connection, folder_name(cluster)):
        run = store.load_run(connection, run_id)
        document = store.load_advisory(connection, run_id)
        plan = plan_from_document(document["plan"])
        words, plan_id = closing_words(document), plan.plan_id
        written = place.find(plan_id) if run.status == "published" else None
        if written is not None and not files_that_differ(written, sha256_of(plan_files(plan))):
            _show_as_latest(connection, run_id, cluster, place, plan_id)
            return words, written.address  # a try before did it, and was cut off afterwards
        _require_young(plan, run.parameters, datetime.now(UTC))
        written = place.write(advisory_files(document, plan), plan_id)
        store.publish_run(connection, run_id)
        _show_as_latest(connection, run_id, cluster, place, plan_id)
    for line in (*words, written.address):
        _log.info("%s: %s", cluster, line)
    return words, written.address


def _show_as_latest(connection: Connection, run_id: str, cluster: str, place: Place, plan_id: str) -> None:
    """What leads to the cluster's newest, unless a newer advisory is published by now."""
    from rebalance_advisor import store

    if store.newest_published(connection, cluster) == run_id and (hindrance := place.show_as_latest(plan_id)):
        _log.warning("%s: %s", cluster, hindrance)


def _require_young(plan: Plan, parameters: Mapping[str, Any], now: datetime) -> None:
    """The search looked at the reading's age; days may have gone by since where somebody clears a task later."""
    from kafka_rebalance.plans.plan import Verdict
    from kafka_rebalance.render import render
    from kafka_rebalance.snapshot.age import too_old
    from kafka_rebalance.snapshot.times import parse_time
    from rebalance_advisor.request.run_request import RunRequest

    if plan.captured_at is None or plan.verdict is Verdict.CANNOT_TELL:
        return
    request, captured_at = RunRequest.from_mapping(parameters), parse_time(plan.captured_at, "captured_at")
    limit = None if request.age_limit_s is None else timedelta(seconds=request.age_limit_s)
    reason = too_old(captured_at, now, limit)
    if reason is not None and now > captured_at + timedelta(hours=request.options.expires_after_hours):
        raise InvalidInputError.at(
            f"plan {plan.plan_id[:12]}", f"{render(reason)}, and it has expired", "start a new run"
        )
