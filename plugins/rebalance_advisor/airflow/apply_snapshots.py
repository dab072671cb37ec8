from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.plans.applied import AppliedPlan, compare
from kafka_rebalance.plans.apply_state import ApplyState
from kafka_rebalance.plans.check import CheckResult, PlanStatus, check_plan
from kafka_rebalance.plans.document import plan_from_document
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.render import render_all
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from kafka_rebalance.snapshot.times import time_text
from rebalance_advisor import store
from rebalance_advisor.airflow.collecting import collect
from rebalance_advisor.airflow.publishing import PublishedFiles, files_that_differ, publish_target
from rebalance_advisor.airflow.task_log import task_log
from rebalance_advisor.airflow.tasks import check_snapshot_or_refuse
from rebalance_advisor.publish.escape import markdown_line
from rebalance_advisor.publish.object_store import sha256_of
from rebalance_advisor.publish.outcome_files import Carried, outcome_files
from rebalance_advisor.publish.plan_files import plan_files, render_commands
from rebalance_advisor.publish.plan_text import plan_lines

STATUS_TEXTS = {
    PlanStatus.VALID: "valid", PlanStatus.STALE: "stale", PlanStatus.NOT_WORTH_IT: "not worth it",
    PlanStatus.HARMFUL: "harmful or in conflict",
}  # fmt: skip
# A replica joins the ISR shortly after Kafka's tool reports completion.
READINGS, BETWEEN_READINGS_S = 4, 8.0

_log = task_log(__name__)


@dataclass(frozen=True, slots=True)
class PublishedPlan:
    run_id: str
    plan: Plan
    files: PublishedFiles


def published_plan(connection: store.Connection, cluster: str, run_id: str | None) -> PublishedPlan:
    """Raises InvalidInputError, also for a plan without moves."""
    chosen = run_id or store.newest_published(connection, cluster)
    if chosen is None:
        raise InvalidInputError.at(cluster, "has no published advisory yet", f"run advise_{cluster}")
    run = store.load_run(connection, chosen)
    if run.cluster != cluster or run.status != "published":
        raise InvalidInputError.at(
            chosen, f"is no published advisory of {cluster}", "leave the field empty: the newest"
        )
    plan = plan_from_document(store.load_plan(connection, chosen))
    if not plan.moves:
        raise InvalidInputError.at(f"plan {plan.plan_id[:12]}", f"moves nothing: {plan.verdict.value}")
    return PublishedPlan(chosen, plan, published_files(cluster, chosen, plan.plan_id))


def published_files(cluster: str, run_id: str, plan_id: str) -> PublishedFiles:
    files = publish_target(cluster, run_id).find(plan_id)
    if files is None:
        raise InvalidInputError.at(
            f"run {run_id}", f"the files of plan {plan_id[:12]} are not where it was published",
            "publish the advisory again",
        )  # fmt: skip
    return files


def pinned_files(published: PublishedPlan) -> dict[str, str]:
    """Raises InvalidInputError for a file that differs from the stored plan."""
    pinned = sha256_of(plan_files(published.plan))
    _require_files(
        published, pinned, "the stored plan", "clear the task publish of that run, so that it writes them again"
    )
    return pinned


def approved_plan(connection: store.Connection, proposal: Mapping[str, Any]) -> PublishedPlan:
    """Raises InvalidInputError for changes since the approval."""
    published = published_plan(connection, proposal["cluster"], proposal["run_id"])
    again = f"look at who changed it, and start apply_{proposal['cluster']} anew"
    if published.plan.plan_id != proposal["plan_id"]:
        raise InvalidInputError.at(
            f"run {published.run_id}",
            f"has plan {published.plan.plan_id[:12]}, but plan {proposal['plan_id'][:12]} was approved", again,
        )  # fmt: skip
    _require_files(published, proposal["files"], "it was approved", again)
    return published


def _require_files(published: PublishedPlan, pinned: Mapping[str, str], as_what: str, hint: str) -> None:
    differ = files_that_differ(published.files, pinned)
    if differ:
        raise InvalidInputError.at(
            f"{published.files.address}/{differ[0]}",
            f"is not as {as_what} ({len(differ)} of {len(pinned)} files differ)", hint,
        )  # fmt: skip


def check_on_fresh_reading(
    connection: store.Connection, dsn: str, published: PublishedPlan, application_id: str
) -> CheckResult:
    snapshot_id, snapshot = fresh_reading(connection, dsn, published.plan.cluster)
    made_for = store.load_run_input(connection, store.load_run(connection, published.run_id)).snapshot
    snapshot = with_loads_of(made_for, snapshot)
    document = store.load_plan(connection, published.run_id)
    result = check_plan(document, snapshot, now=datetime.now(UTC))
    for reason in (*result.because, *result.warnings):
        _log.info("%s: %s", reason.code.value, "; ".join(render_all(reason.facts)))
    state = ApplyState.APPROVED if result.status is PlanStatus.VALID else ApplyState.REFUSED
    store.check_application(
        connection, application_id, state,
        snapshot_id=snapshot_id, status=STATUS_TEXTS[result.status],
        reasons=[reason.document() for reason in result.because],
    )  # fmt: skip
    return result


def verify_on_fresh_reading(
    connection: store.Connection, dsn: str, published: PublishedPlan, application_id: str, answer: Mapping[str, Any]
) -> AppliedPlan:
    for left in reversed(range(READINGS)):
        snapshot_id, snapshot = fresh_reading(connection, dsn, published.plan.cluster)
        applied = compare(published.plan, snapshot)
        if not applied.is_settling or not left:
            break
        _log.info("something is still being copied or catches up: read again in %.0f s", BETWEEN_READINGS_S)
        time.sleep(BETWEEN_READINGS_S)
    application = store.load_application(connection, application_id)
    seconds = _seconds(published.plan, application, answer.get("took_seconds"), snapshot.captured_at)
    store.close_application(connection, application_id, snapshot_id, applied, seconds)
    read_at = None if snapshot.captured_at is None else time_text(snapshot.captured_at)
    carried = Carried(application_id, answer.get("answered_by"), read_at, seconds.realised, seconds.basis)
    published.files.replace(outcome_files(published.plan, applied, carried))
    return applied


def fresh_reading(connection: store.Connection, dsn: str, cluster: str) -> tuple[str, ClusterSnapshot]:
    snapshot_id = collect(connection, cluster)
    check_snapshot_or_refuse(dsn, snapshot_id)
    return snapshot_id, store.load_snapshot(connection, snapshot_id)


def with_loads_of(made_for: ClusterSnapshot, newest: ClusterSnapshot) -> ClusterSnapshot:
    """Add the plan's loads: two close snapshots give no rates."""
    row_of = made_for.row_of
    rows = [row_of.get(key, -1) for key in newest.row_of]
    at = np.array(rows, dtype=np.int64)
    columns = dict(newest.loads.columns)
    for kind, column in made_for.loads.columns.items():
        if kind not in columns and len(column.values):
            values = np.where(at < 0, np.nan, column.values[at])
            columns[kind] = LoadColumn(values, column.source, column.window_s)
    return replace(newest, loads=PartitionLoads(columns))


def _seconds(
    plan: Plan, application: store.Application, took_seconds: float | None, read_at: datetime | None
) -> store.Seconds:
    if took_seconds is not None:
        return store.Seconds(plan.cost.seconds, float(took_seconds), "told")
    if application.commands_shown_at is None or read_at is None:
        return store.Seconds(plan.cost.seconds)
    return store.Seconds(plan.cost.seconds, (read_at - application.commands_shown_at).total_seconds(), "at_most")


_PLACEHOLDER = "BOOTSTRAP=broker:9092"
_FOLDERS = ("waves/", "elections/", "rollback/")


def plan_in_short(plan: Plan, address: str) -> str:
    lines = [f"- {markdown_line(line)}" for line in plan_lines(plan)]
    until = f" It holds until {plan.expires_at}." if plan.expires_at else ""
    where = f"Report: `{address}/report.html`, moves: `{address}/moves.csv`."
    what = (
        "Approved, it is checked again on a fresh snapshot; then the commands are shown. Nothing here writes to Kafka: "
        "you run the commands, and say so."
    )
    return "\n".join(
        [f"Plan `{plan.plan_id[:12]}` of {markdown_line(plan.cluster)}.{until} {where}", "", *lines, "", what]
    )


def commands_in_full(
    plan: Plan, published: PublishedFiles, pinned: Mapping[str, str], bootstrap: str | None, warnings: Sequence[str]
) -> str:
    text = render_commands(plan)
    if bootstrap is not None:
        text = text.replace(_PLACEHOLDER, f"BOOTSTRAP={bootstrap}", 1)
    run = {name: sha for name, sha in sorted(pinned.items()) if name.startswith(_FOLDERS)}
    files = [f"- `{published.address}/{name}`" for name in run]
    sums = [f"{sha}  {name}" for name, sha in run.items()]
    check = [
        "# Stop where a file is not as it was approved:",
        "sha256sum --check --quiet <<'APPROVED'",
        *sums,
        "APPROVED",
    ]
    changed = [f"- {markdown_line(warning)}" for warning in warnings]
    head = ["The plan still holds. Its files:", "", *files, ""]
    if changed:
        head += ["Changed since it was made:", "", *changed, ""]
    return "\n".join([*head, "```sh", published.way_there, *check, "```", "", text])
