"""Snapshots, runs and results in Postgres. Each function is one transaction."""

from rebalance_advisor.store.applications import (
    Application,
    Seconds,
    answer_application,
    ask_application,
    check_application,
    close_application,
    load_application,
)
from rebalance_advisor.store.checks import (
    Check,
    Quarantined,
    broken_subjects,
    load_checks,
    load_quarantine,
    record_input_checks,
    record_result_checks,
    require_snapshot,
)
from rebalance_advisor.store.failures import TaskFailure, record_failure
from rebalance_advisor.store.load_history import (
    RunInput,
    load_disk_forecasts,
    load_readings,
    load_run_input,
    snapshot_over_window,
)
from rebalance_advisor.store.prune import Pruned, agreed_now, prune
from rebalance_advisor.store.rows.results import (
    load_advisory,
    load_plan,
    save_advisory,
    save_findings,
    save_plan,
    save_score_values,
    save_scores,
)
from rebalance_advisor.store.run import (
    Run,
    RunPublishedError,
    block_run,
    load_run,
    newest_published,
    publish_run,
    publishing,
    start_run,
)
from rebalance_advisor.store.schema.connection import (
    Connection,
    StoreError,
    connect,
    dsn_from_environment,
)
from rebalance_advisor.store.schema.migrate import migrate
from rebalance_advisor.store.snapshot_load import load_snapshot
from rebalance_advisor.store.snapshot_save import latest_snapshot_id, mark_snapshot, save_snapshot

__all__ = [
    "Application",
    "Check",
    "Connection",
    "Pruned",
    "Quarantined",
    "Run",
    "RunInput",
    "RunPublishedError",
    "Seconds",
    "StoreError",
    "TaskFailure",
    "agreed_now",
    "answer_application",
    "ask_application",
    "block_run",
    "broken_subjects",
    "check_application",
    "close_application",
    "connect",
    "dsn_from_environment",
    "latest_snapshot_id",
    "load_advisory",
    "load_application",
    "load_checks",
    "load_disk_forecasts",
    "load_plan",
    "load_quarantine",
    "load_readings",
    "load_run",
    "load_run_input",
    "load_snapshot",
    "mark_snapshot",
    "migrate",
    "newest_published",
    "prune",
    "publish_run",
    "publishing",
    "record_failure",
    "record_input_checks",
    "record_result_checks",
    "require_snapshot",
    "save_advisory",
    "save_findings",
    "save_plan",
    "save_score_values",
    "save_scores",
    "save_snapshot",
    "snapshot_over_window",
    "start_run",
]  # fmt: skip
