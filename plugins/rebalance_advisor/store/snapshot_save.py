"""Saving a snapshot: whole or not at all, and once."""

from __future__ import annotations

from datetime import datetime

from psycopg import Rollback
from psycopg.errors import UniqueViolation
from psycopg.types.json import Jsonb

from kafka_rebalance.snapshot import codec
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.times import optional_time_text
from rebalance_advisor.garbage_collection import without_collector
from rebalance_advisor.store.load_history import save_load_history
from rebalance_advisor.store.reading_ahead import ReadingAhead, reading_ahead
from rebalance_advisor.store.reading_levels import roll_up, save_levels
from rebalance_advisor.store.retention.readings import clear_reading
from rebalance_advisor.store.rows.copy_rows import copy_columns
from rebalance_advisor.store.rows.snapshot_rows import counts, headed, row_count
from rebalance_advisor.store.schema.connection import Connection, StoreError, named
from rebalance_advisor.store.statistics import analyze_copied


def save_snapshot(connection: Connection, snapshot: ClusterSnapshot) -> str:
    """Save it in one transaction; returns its id. One that is there already is left as it is.

    Input without ``captured_at`` gets the moment of saving. The input gate has not looked at it
    yet: views show it once it has. Raises StoreError for values that PostgreSQL cannot hold.
    """
    captured_at = optional_time_text(snapshot.captured_at)
    with without_collector(), reading_ahead(snapshot) as ahead:
        known_id = None
        if _may_be_there(connection, snapshot.cluster, captured_at):  # rare: to wait for the id costs a third of a save
            known_id = ahead.snapshot_id.result()
            if connection.execute(named("find_snapshot"), {"snapshot_id": known_id}).fetchone() is not None:
                return known_id
        # Weeks are made in a transaction of their own: others who make the same week wait for its end.
        moment = _ensure_week(connection, captured_at)
        with connection.transaction():
            _save(connection, snapshot, ahead, known_id, moment)
        return ahead.snapshot_id.result()


def _may_be_there(connection: Connection, cluster: str, captured_at: str | None) -> bool:
    """A reading of a moment that none of its cluster has is a new one, whatever its id."""
    if captured_at is None:
        return True
    keys = {"cluster": cluster, "captured_at_text": captured_at}
    return connection.execute(named("find_moment"), keys).fetchone() is not None


def _save(
    connection: Connection, snapshot: ClusterSnapshot, ahead: ReadingAhead, known_id: str | None, moment: object
) -> None:
    """The reading's own row and all others; nothing where somebody else has just saved it.

    In the caller's transaction. A new reading's id is made while its rows are copied, and written when they are.
    """
    row = {
        "snapshot_id": known_id, "captured_at": moment, "captured_at_text": optional_time_text(snapshot.captured_at),
        "source": snapshot.source, "cluster": snapshot.cluster, "cluster_id": snapshot.cluster_id,
        "kafka_version": snapshot.kafka_version,
        "features": Jsonb(dict(snapshot.features)) if snapshot.features else None,
        "quotas": Jsonb([codec.quota_document(quota) for quota in snapshot.quotas]) if snapshot.quotas else None,
    }  # fmt: skip
    inserted = connection.execute(named("insert_snapshot"), row | counts(snapshot)).fetchone()
    if inserted is None:
        return
    snapshot_key, was_pruned = int(inserted[0]), bool(inserted[1])
    if was_pruned:
        clear_reading(connection, snapshot_key, moment)
    _copy(connection, snapshot.cluster, ahead, snapshot_key, moment)
    if known_id is None:
        keys = {"snapshot_key": snapshot_key, "snapshot_id": ahead.snapshot_id.result()}
        try:
            connection.execute(named("name_snapshot"), keys)
        except UniqueViolation as error:
            raise Rollback from error  # the other one was first; the caller's transaction ends quietly


def _copy(connection: Connection, cluster: str, ahead: ReadingAhead, snapshot_key: int, moment: object) -> None:
    """The rows of a reading whose own row is there, with what is kept of it for longer."""
    copied = {}
    for table, made in ahead.columns.items():
        if row_count(columns := made.result()):
            copied[table] = copy_columns(connection, table, headed(table, columns, snapshot_key, str(moment)))
    analyze_copied(connection, copied, moment)
    history = ahead.history.result()
    if history is not None:
        save_load_history(connection, cluster, history, snapshot_key)
    save_levels(connection, ahead.scores.result(), snapshot_key, moment)


def latest_snapshot_id(connection: Connection, cluster: str, before: datetime | None = None) -> str | None:
    """The newest snapshot of a cluster, or the newest before a time, that the input gate has not refused.

    ``None`` where there is none.
    """
    row = connection.execute(named("latest_snapshot"), {"cluster": cluster, "before": before}).fetchone()
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
    row = connection.execute(named("ensure_week_of"), {"captured_at_text": captured_at}).fetchone()
    assert row is not None
    return row[0]
