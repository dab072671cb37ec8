"""Assets that the DAGs update, one a cluster and purpose. DAGs of other teams can be scheduled on them."""

from __future__ import annotations

from urllib.parse import quote

from airflow.sdk import Asset


def cluster_snapshot(cluster: str) -> Asset:
    """Return the asset that ``collect_CLUSTER`` updates when the input gate has passed a snapshot."""
    return _asset("cluster_snapshot", cluster)


def advisory(cluster: str) -> Asset:
    """Return the asset that ``advise_CLUSTER`` updates when an advisory is published."""
    return _asset("advisory", cluster)


def _asset(purpose: str, cluster: str) -> Asset:
    """Escape the cluster: two names never share an asset, and Airflow changes nothing in the URI."""
    name = f"{purpose}/{quote(cluster, safe='')}"
    return Asset(name=name, uri=f"advisor://store/{name}", group="advisor")
