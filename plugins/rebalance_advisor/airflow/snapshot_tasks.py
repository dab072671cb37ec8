"""The tasks of ``collect_NAME``."""

from __future__ import annotations

from typing import Any

from airflow.sdk import task

from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.fail_without_retry import fail_without_retry


@task
@fail_without_retry
def collect(cluster: str, params: dict[str, Any] | None = None) -> str:
    """Read the cluster and save the snapshot; returns its id."""
    from rebalance_advisor import store
    from rebalance_advisor.airflow.collecting import collect as collect_now
    from rebalance_advisor.airflow.requested_runs import of_cluster
    from rebalance_advisor.request.run_request import require_known

    require_known(of_cluster(cluster, params or {}), ["cluster"])
    with store.connect(store_dsn()) as connection:
        return collect_now(connection, cluster)


@task
@fail_without_retry
def check_snapshot(snapshot_id: str) -> None:
    """The input gate."""
    from rebalance_advisor.airflow.gate_tasks import check_snapshot_or_refuse

    check_snapshot_or_refuse(store_dsn(), snapshot_id)
