"""What the DAGs make, as Airflow sees it: other teams' DAGs can be scheduled on them."""

from __future__ import annotations

from airflow.sdk import Asset

CLUSTER_SNAPSHOT = Asset(name="cluster_snapshot", uri="advisor://store/cluster_snapshot", group="advisor")
ADVISORY = Asset(name="advisory", uri="advisor://store/advisory", group="advisor")
