"""The task of ``prune_history``."""

from __future__ import annotations

from typing import Any

from airflow.sdk import task

from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.fail_without_retry import fail_without_retry
from rebalance_advisor.airflow.task_log import task_log

_log = task_log(__name__)


@task
@fail_without_retry
def prune(params: dict[str, Any] | None = None) -> dict[str, int]:
    """Remove what is older than the form says, published folders as long as advisories; returns how much that was."""
    from dataclasses import asdict
    from datetime import UTC, datetime, timedelta

    from rebalance_advisor import store
    from rebalance_advisor.airflow.form import prune_form
    from rebalance_advisor.airflow.publishing.prune_published import prune_published
    from rebalance_advisor.request.run_request import require_known

    form = dict(params or {})
    require_known(form, prune_form())  # a misspelt number of days would remove what should be kept
    with store.connect(store_dsn()) as connection:
        now = store.agreed_now(connection, datetime.now(UTC))
        pruned = store.prune(
            connection,
            keep_snapshots_days=form["keep_snapshots_days"],
            keep_runs_days=form["keep_runs_days"],
            keep_whole_days=form["keep_whole_days"],
            now=now,
        )
        folders = prune_published(connection, now - timedelta(days=form["keep_runs_days"]))
    _log.info("%s, %d published folders", pruned, len(folders))
    return asdict(pruned) | {"folders": len(folders)}
