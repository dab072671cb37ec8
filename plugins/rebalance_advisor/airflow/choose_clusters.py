"""The first task of each DAG: which clusters this run is about."""

from __future__ import annotations

from typing import Any

from airflow.sdk import task

from rebalance_advisor.airflow.cluster_config import choose, clusters_file, read_clusters
from rebalance_advisor.airflow.fail_without_retry import no_retry


@task
def choose_clusters(params: dict[str, Any] | None = None) -> list[str]:
    """The cluster that the form names, or all of clusters.toml."""
    with no_retry():
        return choose(read_clusters(clusters_file()), (params or {}).get("cluster"))
