"""The tasks of ``collect_snapshot``."""

from __future__ import annotations

from typing import Any

from airflow.sdk import task

from rebalance_advisor.airflow.assets import CLUSTER_SNAPSHOT
from rebalance_advisor.airflow.cluster_config import choose, clusters_file, read_clusters
from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.fail_without_retry import fail_without_retry


@task
def choose_clusters(params: dict[str, Any] | None = None) -> list[str]:
    """The cluster that the form names, or all of clusters.toml."""
    from rebalance_advisor.request.option_table import require_known

    form = params or {}
    with fail_without_retry():
        require_known(form, ["cluster"])
        return choose(read_clusters(clusters_file()), form.get("cluster"))


@task
def collect(cluster: str) -> str:
    """Read one cluster and save the snapshot; returns its id."""
    from rebalance_advisor import store
    from rebalance_advisor.airflow.collecting import collect as collect_now

    with fail_without_retry(), store.connect(store_dsn()) as connection:
        return collect_now(connection, cluster)


@task(outlets=[CLUSTER_SNAPSHOT])
def check_snapshot(snapshot_id: str) -> None:
    """The input gate."""
    from rebalance_advisor.airflow.gate_tasks import check_snapshot_or_refuse

    check_snapshot_or_refuse(store_dsn(), snapshot_id)
