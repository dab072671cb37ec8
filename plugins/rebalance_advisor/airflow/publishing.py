"""The last step: a run's advisory, verified, as files and then as the one that readers see."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_rebalance.errors import InvalidInputError
from rebalance_advisor.airflow.task_log import task_log

if TYPE_CHECKING:
    from kafka_rebalance.advisory.advise import Advice

SETTING = "ADVISOR_PUBLISH_DIR"

_log = task_log(__name__)


def publish_run(dsn: str, *, run_id: str, cluster: str, folder: Path) -> tuple[list[str], Path]:
    """Replace the folder whole, then publish the run: where readers see a run, its files are whole.

    Returns what a terminal shows last, the verdict, then the worst findings; and where the files are to be read.

    Raises InvalidPlanError when the plan does not pass its verification against the stored snapshot, InvalidInputError
    when it has expired while the run lay, and its reading has become too old.
    """
    from rebalance_advisor import store
    from rebalance_advisor.publish.advisory_files import write_advisory
    from rebalance_advisor.publish.digest import closing_words
    from rebalance_advisor.publish.folders.folder_marker import read_marker
    from rebalance_advisor.publish.folders.version_folders import advisory_folder
    from rebalance_advisor.store.stored_advice import advice_of_run

    with store.connect(dsn) as connection:
        advice, run = advice_of_run(connection, run_id), store.load_run(connection, run_id)
        document = advice.document()
        place = advisory_folder(folder)
        marker = read_marker(place)
        is_written = marker is not None and marker.plan_id == advice.plan.plan_id
        if run.status == "published" and is_written:
            return closing_words(document), place  # a try before did it, and was cut off afterwards
        _require_young(advice, run.parameters, datetime.now(UTC))
        place = write_advisory(folder, document, advice.plan)
        store.publish_run(connection, run_id)
    words = closing_words(document)
    for line in (*words, str(place)):
        _log.info("%s: %s", cluster, line)
    return words, place


def _require_young(advice: Advice, parameters: Mapping[str, Any], now: datetime) -> None:
    """The search looked at the reading's age; days may have gone by since where somebody clears a task later."""
    from kafka_rebalance.plans.plan import Verdict
    from kafka_rebalance.snapshot.age import too_old
    from rebalance_advisor.request.run_request import RunRequest

    request, plan, captured_at = RunRequest.from_mapping(parameters), advice.plan, advice.snapshot.captured_at
    limit = None if request.age_limit_s is None else timedelta(seconds=request.age_limit_s)
    words = too_old(captured_at, now, limit)
    if words is None or captured_at is None or plan.verdict is Verdict.CANNOT_TELL:
        return
    if now > captured_at + timedelta(hours=request.options.expires_after_hours):
        raise InvalidInputError.at(f"plan {plan.plan_id[:12]}", f"{words}, and it has expired", "start a new run")


def publish_folder(cluster: str, run_id: str) -> Path:
    """Where the files of a run go."""
    return publish_root() / _plain(cluster) / _plain(run_id)


def publish_root() -> Path:
    """The folder of the folders: one for each cluster."""
    return Path(os.environ.get(SETTING) or Path.cwd() / "published")


def _plain(name: str) -> str:
    """A name without what file systems and shells stumble over; no dot leads, to no parent and no hidden place."""
    return re.sub(r"[^\w.+-]|^\.", "_", name)
