"""Saving a snapshot: whole or not at all, and once."""

from __future__ import annotations

from psycopg.types.json import Jsonb

from kafka_rebalance.snapshot import codec
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.times import optional_time_text
from rebalance_advisor.garbage_collection import without_collector
from rebalance_advisor.store.load_history import save_load_history
from rebalance_advisor.store.reading_levels import roll_up, save_levels
from rebalance_advisor.store.retention.readings import clear_reading
from rebalance_advisor.store.rows import snapshot_rows
from rebalance_advisor.store.rows.copy_rows import copy_columns
from rebalance_advisor.store.schema.connection import Connection, StoreError, named
from rebalance_advisor.store.statistics import analyze_copied


def save_snapshot(connection: Connection, snapshot: ClusterSnapshot) -> str:
    """Save it in one transaction; returns its id. One that is there already is left as it is.

    Its ``time`` is ``captured_at``; for input without one, the moment of saving. The input gate has not looked at it
    yet: views show it once it has. Raises StoreError for values that PostgreSQL cannot hold.
    """
    with without_collector():
        return _saved(connection, snapshot)


def _saved(connection: Connection, snapshot: ClusterSnapshot) -> str:
    snapshot_id = codec.snapshot_id(snapshot)
    if connection.execute(named("find_snapshot"), {"snapshot_id": snapshot_id}).fetchone() is not None:
        return snapshot_id
    # Weeks are made in a transaction of their own: others who make the same week wait for its end.
    captured_at = optional_time_text(snapshot.captured_at)
    moment = _ensure_week(connection, captured_at)
    with connection.transaction():
        row = {
            "snapshot_id": snapshot_id, "time": moment, "captured_at": captured_at, "source": snapshot.source,
            "cluster": snapshot.cluster, "cluster_id": snapshot.cluster_id, "kafka_version": snapshot.kafka_version,
            "features": Jsonb(dict(snapshot.features)) if snapshot.features else None,
            "quotas": Jsonb([codec.quota_document(quota) for quota in snapshot.quotas]) if snapshot.quotas else None,
        }  # fmt: skip
        inserted = connection.execute(named("insert_snapshot"), row | snapshot_rows.counts(snapshot)).fetchone()
        if inserted is not None:  # else somebody else has just saved it
            if inserted[1]:
                clear_reading(connection, int(inserted[0]), moment)
            tables = snapshot_rows.tables(snapshot, int(inserted[0]), str(moment))
            copied = {table: copy_columns(connection, table, columns) for table, columns in tables}
            analyze_copied(connection, copied, moment)
            save_load_history(connection, snapshot, int(inserted[0]))
            save_levels(connection, snapshot, int(inserted[0]), moment)
    return snapshot_id


def latest_snapshot_id(connection: Connection, cluster: str) -> str | None:
    """The newest snapshot of a cluster that the input gate has not refused; ``None`` where there is none."""
    row = connection.execute(named("latest_snapshot"), {"cluster": cluster}).fetchone()
    return None if row is None else str(row[0])


def mark_snapshot(connection: Connection, snapshot_id: str, *, is_blocked: bool) -> None:
    """Write down what the input gate decided; a reading that passed is counted into its hour and day.

    One transaction. Raises StoreError for an unknown snapshot.
    """
    with connection.transaction():
        found = connection.execute(named("mark_snapshot"), {"snapshot_id": snapshot_id, "is_blocked": is_blocked})
        if found.rowcount == 0:
            raise StoreError(f"no snapshot {snapshot_id} is stored")
        if not is_blocked:
            roll_up(connection, snapshot_id)


def _ensure_week(connection: Connection, captured_at: str | None) -> object:
    row = connection.execute(named("ensure_week_of"), {"captured_at": captured_at}).fetchone()
    assert row is not None
    return row[0]
