"""The gates as tasks report them: what is odd goes to the log, a block fails the task and is not tried again."""

from __future__ import annotations

from typing import Any

from rebalance_advisor.airflow.still_working import still_working
from rebalance_advisor.airflow.task_log import task_log

_log = task_log(__name__)


def check_snapshot_or_refuse(dsn: str, snapshot_id: str) -> None:
    """The input gate. Raises AirflowFailException with rules and rows where it blocks."""
    from rebalance_advisor import gates

    subject = f"snapshot {snapshot_id}"
    with still_working(_log, f"the input gate asks its rules about {subject}"):
        result = gates.check_input(dsn, snapshot_id)
    _refuse_blocked(subject, result)


def check_run_or_refuse(dsn: str, run_id: str) -> None:
    """The result gate. Raises AirflowFailException with rules and rows where it blocks."""
    from rebalance_advisor import gates

    with still_working(_log, f"the result gate asks its rules about run {run_id}"):
        result = gates.check_results(dsn, run_id)
    _refuse_blocked(f"run {run_id}", result)


def _refuse_blocked(subject: str, result: Any) -> None:
    from airflow.providers.common.compat.sdk import AirflowFailException

    from rebalance_advisor import gates

    for check in result.checks:
        if not check.is_passed:
            _log.warning("%s: %s", subject, gates.check_words(check))
    _log.info("%d of %d rules passed", sum(check.is_passed for check in result.checks), len(result.checks))
    if result.is_blocked:
        raise AirflowFailException(f"the gate blocks {subject}: {result}")
