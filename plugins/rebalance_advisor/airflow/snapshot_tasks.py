"""The tasks of ``collect_snapshot``."""

from __future__ import annotations

from airflow.sdk import task

from rebalance_advisor.airflow.assets import CLUSTER_SNAPSHOT
from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.fail_without_retry import no_retry


@task
def collect(cluster: str) -> str:
    """Read one cluster and save the snapshot; returns its id."""
    from rebalance_advisor import store
    from rebalance_advisor.airflow.collecting import collect as collect_now

    with no_retry(), store.connect(store_dsn()) as connection:
        return collect_now(connection, cluster)


@task(outlets=[CLUSTER_SNAPSHOT])
def check_snapshot(snapshot_id: str) -> None:
    """The input gate."""
    from rebalance_advisor.airflow.gate_tasks import check_snapshot_or_refuse

    check_snapshot_or_refuse(store_dsn(), snapshot_id)
