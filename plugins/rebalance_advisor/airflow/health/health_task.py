"""The task of ``report_health``."""

from __future__ import annotations

from airflow.sdk import task

from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.fail_without_retry import fail_without_retry
from rebalance_advisor.airflow.task_log import task_log

FILE = "advisor.prom"
_log = task_log(__name__)


@task
@fail_without_retry
def write_health() -> str:
    """Replace the file whole; returns where it is."""
    from datetime import UTC, datetime

    from rebalance_advisor import store
    from rebalance_advisor.airflow.publishing.places import publish_root
    from rebalance_advisor.health.open_metrics import open_metrics
    from rebalance_advisor.publish.folders.whole_file import replace_file
    from rebalance_advisor.store.health import load_health

    with store.connect(store_dsn()) as connection:
        clusters = load_health(connection)
    file = publish_root() / FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, open_metrics(clusters, datetime.now(UTC)).encode())
    _log.info("%s: %d clusters", file, len(clusters))
    return str(file)
