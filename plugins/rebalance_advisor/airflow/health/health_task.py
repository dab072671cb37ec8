"""The task of ``report_health``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk import task

from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.fail_without_retry import fail_without_retry
from rebalance_advisor.airflow.task_log import task_log

if TYPE_CHECKING:
    from rebalance_advisor.store import Connection

FILE = "advisor.prom"
_log = task_log(__name__)


@task
@fail_without_retry
def write_health(ti: Any = None) -> str:
    """Replace the file whole; returns where it is. Runs of clusters that were removed are told as failed."""
    from datetime import UTC, datetime

    from rebalance_advisor import store
    from rebalance_advisor.airflow.publishing.places import publish_root
    from rebalance_advisor.health.open_metrics import open_metrics
    from rebalance_advisor.publish.folders.whole_file import replace_file
    from rebalance_advisor.store.health import load_health

    with store.connect(store_dsn()) as connection:
        fail_runs_of_removed_clusters(connection, ti)
        clusters = load_health(connection)
    file = publish_root() / FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, open_metrics(clusters, datetime.now(UTC)).encode())
    _log.info("%s: %d clusters", file, len(clusters))
    return str(file)


def fail_runs_of_removed_clusters(connection: Connection, ti: Any) -> None:
    """Record a failure of each run of advice or of a plan applied whose table is gone from ``clusters.toml``.

    Its DAG is gone with the table: Airflow runs none of its tasks any more and calls nothing back. ``ti``: this task's
    instance, which knows this Airflow's runs; another Airflow may write to the same store.
    """
    from kafka_rebalance.errors import InvalidInputError
    from rebalance_advisor.airflow.clusters.cluster_config import clusters_file, read_clusters
    from rebalance_advisor.store.applications import give_up_application, open_applications
    from rebalance_advisor.store.failures import TaskFailure, record_failure, running_attempts

    try:
        file = clusters_file()
        config = read_clusters(file)
    except InvalidInputError as error:
        _log.warning("not looked for runs of clusters that were removed: %s", error)
        return
    advised = [
        (cluster, f"advise_{cluster}", name, name.removesuffix(f".{cluster}"))
        for cluster, name in running_attempts(connection)
    ]
    applied = [
        (cluster, f"apply_{cluster}", name, name.removeprefix(f"apply_{cluster}."))
        for cluster, name in open_applications(connection)
    ]
    for cluster, dag, name, dag_run in advised + applied:
        if cluster in config.entries or cluster in config.refused or not ti.get_dr_count(dag, run_ids=[dag_run]):
            continue
        words = (
            f"[clusters.{cluster}] was removed from {file} during the run: Airflow runs none of its tasks any more; "
            f"put the table back, or end the run with: airflow dags delete {dag}"
        )
        if dag.startswith("apply_") and not give_up_application(connection, name, words):
            continue
        record_failure(connection, TaskFailure(cluster, dag, "report_health", dag_run, words))
        _log.warning("%s: %s", name, words)
