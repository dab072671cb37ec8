"""The task of ``prune_history``."""

from __future__ import annotations

from typing import Any

from airflow.sdk import task

from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.fail_without_retry import fail_without_retry
from rebalance_advisor.airflow.task_log import task_log

_log = task_log(__name__)


@task
def prune(params: dict[str, Any] | None = None) -> dict[str, int]:
    """Remove what is older than the form says; returns how much that was."""
    from dataclasses import asdict
    from datetime import UTC, datetime

    from rebalance_advisor import store
    from rebalance_advisor.airflow.form import prune_form
    from rebalance_advisor.request.option_table import require_known

    form, now = dict(params or {}), datetime.now(UTC)
    with fail_without_retry():
        require_known(form, prune_form())  # a misspelt number of days would remove what should be kept
    with store.connect(store_dsn()) as connection:
        pruned = store.prune(
            connection,
            keep_snapshots_days=form["keep_snapshots_days"],
            keep_runs_days=form["keep_runs_days"],
            now=now,
        )
    _log.info("%s", pruned)
    return asdict(pruned)
