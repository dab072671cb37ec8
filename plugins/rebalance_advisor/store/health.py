from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from rebalance_advisor.store.schema.connection import Connection, named


@dataclass(frozen=True, slots=True)
class ClusterHealth:
    """None: never. Counts cover seven days."""

    cluster: str
    last_snapshot_at: datetime | None
    last_run_state: str | None
    last_published_at: datetime | None
    published_duration_seconds: float | None
    published_7d: int
    unpublished_7d: int
    refused_snapshots_7d: int
    failures_7d: int


def load_health(connection: Connection) -> tuple[ClusterHealth, ...]:
    with connection.cursor(row_factory=class_row(ClusterHealth)) as cursor:
        return tuple(cursor.execute(named("cluster_health")).fetchall())
