from __future__ import annotations

from psycopg.rows import class_row

from kafka_rebalance.advisory.advisory import DiskForecast
from rebalance_advisor.store.schema.connection import Connection, named


def load_disk_forecasts(connection: Connection, run_id: str) -> tuple[DiskForecast, ...]:
    """Return () when a newer snapshot is stored."""
    with connection.cursor(row_factory=class_row(DiskForecast)) as cursor:
        return tuple(cursor.execute(named("disk_forecasts"), {"run_id": run_id}).fetchall())
