"""Retention: old weeks go whole; what the last advisory of each cluster rests on stays however old it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from psycopg import sql

from rebalance_advisor.store.load_history import KEPT_DAYS
from rebalance_advisor.store.run import RESULT_TABLES
from rebalance_advisor.store.schema.connection import Connection, StoreError, named
from rebalance_advisor.store.schema.names import Names

_WEEK = timedelta(days=7)
_GIVEN_UP = timedelta(days=7)  # an unfinished run that old will not be tried again
_HISTORY_TABLES = ("load_history",)
_SNAPSHOT_DETAILS = ("forget_load_sources", "forget_coverage", "forget_all_quarantine")


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many readings and runs lost their rows, and how many weekly partitions were dropped. Hourly loads are kept
    for a time of their own.
    """

    snapshots: int
    runs: int
    weeks: int


def prune(connection: Connection, *, keep_snapshots_days: int, keep_runs_days: int, now: datetime) -> Pruned:
    """Remove readings and runs older than the first day of the week in which their time to be kept began.

    Each cluster's newest reading, its newest published run and that run's reading stay. One transaction.
    Raises StoreError for less than a day.
    """
    for name, days in (("keep_snapshots_days", keep_snapshots_days), ("keep_runs_days", keep_runs_days)):
        if days < 1:
            raise StoreError(f"{name} = {days}: keep one day at least")
    with connection.transaction():
        runs, weeks = _prune_runs(connection, _monday(connection, now, keep_runs_days), now)
        snapshots, more_weeks = _prune_snapshots(connection, _monday(connection, now, keep_snapshots_days))
        weeks += more_weeks + _prune_history(connection, _monday(connection, now, KEPT_DAYS))
    return Pruned(snapshots, runs, weeks)


def _prune_runs(connection: Connection, before: datetime, now: datetime) -> tuple[int, int]:
    old = _keys(connection, "old_runs", {"before": before, "given_up_before": now - _GIVEN_UP})
    kept = connection.execute(named("kept_run_times"), {"old": old, "before": before}).fetchall()
    weeks = _drop_weeks(connection, before, [time for (time,) in kept], RESULT_TABLES)
    for table in RESULT_TABLES:
        _delete(connection, table, "run_key", old)
    connection.execute(named("forget_runs"), {"old": old})
    return len(old), weeks


def _prune_snapshots(connection: Connection, before: datetime) -> tuple[int, int]:
    kept = connection.execute(named("kept_snapshots")).fetchall()
    keys = {"before": before, "kept": [key for key, _ in kept]}
    old = _keys(connection, "old_snapshots", keys)
    tables = _snapshot_tables(connection)
    weeks = _drop_weeks(connection, before, [time for _, time in kept], tables)
    for table in tables:
        _delete(connection, table, "snapshot_key", old)
    for query in (*_SNAPSHOT_DETAILS, "mark_pruned", "forget_snapshots"):
        connection.execute(named(query), {"old": old})
    return len(old), weeks


def _prune_history(connection: Connection, before: datetime) -> int:
    weeks = _drop_weeks(connection, before, [], _HISTORY_TABLES)
    connection.execute(named("forget_load_readings"), {"before": before})
    return weeks


def _drop_weeks(connection: Connection, before: datetime, kept: Sequence[datetime], tables: Collection[str]) -> int:
    """Drop the partitions before a Monday in whose weeks nothing is kept."""
    dropped = 0
    for table, parent, start in connection.execute(named("old_weeks"), {"before": before}).fetchall():
        if parent in tables and not any(start <= time < start + _WEEK for time in kept):
            connection.execute(named("drop_week"), {"table_name": table})
            dropped += 1
    return dropped


def _snapshot_tables(connection: Connection) -> list[str]:
    parents = connection.execute(sql.SQL("SELECT DISTINCT parent FROM {}()").format(_store("weeks"))).fetchall()
    return sorted(parent for (parent,) in parents if parent not in (*RESULT_TABLES, *_HISTORY_TABLES))


def _delete(connection: Connection, table: str, column: str, keys: list[int]) -> None:
    if keys:
        statement = sql.SQL("DELETE FROM {} WHERE {} = ANY (%s)").format(_store(table), sql.Identifier(column))
        connection.execute(statement, (keys,))


def _store(name: str) -> sql.Identifier:
    return sql.Identifier(Names.from_environment().store, name)


def _keys(connection: Connection, query: str, parameters: dict[str, object]) -> list[int]:
    return [int(key) for (key,) in connection.execute(named(query), parameters).fetchall()]


def _monday(connection: Connection, now: datetime, days: int) -> datetime:
    row = connection.execute(named("week_before"), {"now": now, "days": days}).fetchone()
    assert row is not None
    monday: datetime = row[0]
    return monday
