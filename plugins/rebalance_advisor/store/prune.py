"""Retention: snapshots are kept whole for some days, then the last of each day, then none. Inputs of advisories stay.

Two steps, which may be interrupted and run beside others:

1. Mark (``is_pruned``) in one transaction. Loads and views skip marked snapshots. Snapshots in use are never marked;
   ``start_run`` locks its snapshot's row.
2. Drop or rewrite the weeks with marked snapshots (``store.sweep_week``), one transaction a table. Marks let a later
   call finish an interrupted one.

A snapshot's own row stays while an advisory needs it, or its week exists. For n snapshots step 1 costs O(n), step 2 the
remaining rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import psycopg
from psycopg import sql

from kafka_rebalance.snapshot.times import CLOCK_TOLERANCE, format_span, time_text
from rebalance_advisor.store.load_history import KEPT_DAYS
from rebalance_advisor.store.run import RESULT_TABLES
from rebalance_advisor.store.schema.connection import Connection, StoreError, named

WEEK = timedelta(days=7)
READING_TABLES = (
    "broker", "log_dir", "topic", "partition", "load", "consumer_group", "member", "committed_offset", "broker_level",
    "resource_skew", "group_lag",
)  # fmt: skip
# Without weeks; kept as long as the run.
_DETAIL_TABLES = ("load_source", "coverage_gap", "quarantine")
_FORGET_DETAILS = ("forget_load_sources", "forget_coverage", "forget_all_quarantine")
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Weeks:
    done: int
    in_use: tuple[str, ...] = ()

    def __add__(self, other: Weeks) -> Weeks:
        return Weeks(self.done + other.done, tuple(dict.fromkeys((*self.in_use, *other.in_use))))

    def require_none_in_use(self) -> None:
        """Raises StoreError with the tables in use."""
        if self.in_use:
            raise StoreError(
                f"{len(self.in_use)} weekly tables were in use for {_TRIES} × 10 s and keep their space:"
                f" {', '.join(self.in_use)}; the next prune_history takes them"
            )


def mark_old(connection: Connection, before: datetime) -> int:
    with connection.transaction():
        return _mark(connection, "lock_old_readings", {"before": before})


def mark_thinned(connection: Connection, now: datetime, whole_days: int) -> int:
    """Mark all but each day's last passed snapshot, before the week of the cluster's newest less ``whole_days``: so "a
    week ago" stays the same snapshot.
    """
    with connection.transaction():
        return _mark(connection, "lock_thinned_readings", {"now": now, "days": whole_days})


def _mark(connection: Connection, candidates: str, parameters: dict[str, object]) -> int:
    """Lock rows before checking for use: a run starts either before (kept) or after (pruned)."""
    keys = _keys(connection, candidates, parameters)
    marked = _keys(connection, "mark_pruned", {"candidates": keys})
    for query in _FORGET_DETAILS:
        connection.execute(named(query), {"marked": marked})
    return len(marked)


def sweep(connection: Connection) -> Weeks:
    rows = connection.execute(named("weeks_with_leavings"), {"tables": list(READING_TABLES)}).fetchall()
    return _each(connection, "sweep_week", [name for (name,) in rows])


def clear_reading(connection: Connection, snapshot_key: int, moment: object) -> None:
    """Before a pruned snapshot is saved again, in the caller's transaction."""
    for table in READING_TABLES:
        _delete(connection, table, sql.SQL("snapshot_key = %s AND captured_at = %s"), (snapshot_key, moment))
    for table in _DETAIL_TABLES:
        _delete(connection, table, sql.SQL("snapshot_key = %s"), (snapshot_key,))


def drop_weeks(connection: Connection, before: datetime, kept: Collection[datetime], tables: Collection[str]) -> Weeks:
    rows = connection.execute(named("old_weeks"), {"before": before}).fetchall()
    names = [
        name
        for name, parent, start in rows
        if parent in tables and not any(start <= time < start + WEEK for time in kept)
    ]
    return _each(connection, "drop_week", names)


def _each(connection: Connection, query: str, names: Collection[str]) -> Weeks:
    done, in_use = 0, []
    for name in names:
        try:
            done += _patiently(connection, query, name)
        except psycopg.errors.LockNotAvailable:
            in_use.append(name)
    return Weeks(done, tuple(in_use))


def _patiently(connection: Connection, query: str, name: str) -> bool:
    """Whether there was work. Raises LockNotAvailable after the last try."""
    for trial in range(1, _TRIES + 1):
        try:
            row = connection.execute(named(query), {"table_name": name}).fetchone()
        except psycopg.errors.LockNotAvailable:
            if trial == _TRIES:
                raise
        else:
            return row is not None and row[0] is not False
    return False


def _delete(connection: Connection, table: str, where: sql.SQL, values: Sequence[object]) -> None:
    target = sql.Identifier("store", table)
    connection.execute(sql.SQL("DELETE FROM {} WHERE {}").format(target, where), values)


def _keys(connection: Connection, query: str, parameters: dict[str, object]) -> list[int]:
    return [int(key) for (key,) in connection.execute(named(query), parameters).fetchall()]


WHOLE_DAYS = 7
_GIVEN_UP = timedelta(days=7)  # older runs are not retried
_HISTORY_TABLES = ("load_history",)
_HOURS_KEPT = timedelta(days=400)  # for a comparison with last year; daily ones stay
_TOLD_KEPT = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class Pruned:
    snapshots: int
    runs: int
    weeks: int
    thinned: int = 0
    swept: int = 0


def agreed_now(connection: Connection, here: datetime) -> datetime:
    """Postgres' time. Raises StoreError when it differs from ``here``: a wrong clock would remove too much."""
    row = connection.execute(named("clock")).fetchone()
    assert row is not None
    there: datetime = row[0]
    if abs(there - here) > CLOCK_TOLERANCE:
        raise StoreError(
            f"this machine's clock says {time_text(here)} and Postgres' {time_text(there)}, more than"
            f" {format_span(CLOCK_TOLERANCE)} apart: nothing was removed; set the wrong one right and try again"
        )
    return there


def prune(
    connection: Connection,
    *,
    keep_snapshots_days: int,
    keep_runs_days: int,
    now: datetime,
    keep_whole_days: int = WHOLE_DAYS,
) -> Pruned:
    """Remove old snapshots and runs by whole weeks, and thin out snapshots beyond ``keep_whole_days``.

    Each cluster's newest snapshot, its newest published run with its snapshot, and inputs of open runs and approvals
    stay; so do daily roll-ups, and hourly ones for 400 days. The next call finishes an interrupted one. Raises
    StoreError for less than a day, and at the end when tables were in use.
    """
    days = {
        "keep_snapshots_days": keep_snapshots_days, "keep_runs_days": keep_runs_days, "keep_whole_days": keep_whole_days
    }  # fmt: skip
    for name, value in days.items():
        if value < 1:
            raise StoreError(f"{name} = {value}: keep one day at least")
    before = _monday(connection, now, keep_snapshots_days)
    runs, weeks = _prune_runs(connection, _monday(connection, now, keep_runs_days), now)
    snapshots = mark_old(connection, before)
    thinned = mark_thinned(connection, now, keep_whole_days)
    kept = [
        captured_at for (captured_at,) in connection.execute(named("kept_reading_times"), {"before": before}).fetchall()
    ]
    weeks += drop_weeks(connection, before, kept, READING_TABLES) + drop_weeks(
        connection, _monday(connection, now, KEPT_DAYS), (), _HISTORY_TABLES
    )
    connection.execute(named("forget_load_readings"), {"before": _monday(connection, now, KEPT_DAYS)})
    for query in ("forget_skew_hours", "forget_lag_hours"):
        connection.execute(named(query), {"before": now - _HOURS_KEPT})
    connection.execute(named("forget_notifications"), {"before": now - _TOLD_KEPT})
    connection.execute(named("forget_failures"), {"before": now - timedelta(days=keep_runs_days)})
    swept = sweep(connection)
    (weeks + swept).require_none_in_use()
    # Last: their marks find the other rows.
    connection.execute(named("forget_snapshots"), {"before": before})
    return Pruned(snapshots, runs, weeks.done, thinned, swept.done)


def _prune_runs(connection: Connection, before: datetime, now: datetime) -> tuple[int, Weeks]:
    """The run's own row first: views then show nothing of it."""
    parameters = {"before": before, "given_up_before": now - _GIVEN_UP}
    old = [int(key) for (key,) in connection.execute(named("old_runs"), parameters).fetchall()]
    kept = connection.execute(named("kept_run_times"), {"old": old, "before": before}).fetchall()
    connection.execute(named("forget_runs"), {"old": old})
    weeks = drop_weeks(connection, before, [started_at for (started_at,) in kept], RESULT_TABLES)
    for table in RESULT_TABLES if old else ():
        target = sql.Identifier("store", table)
        connection.execute(sql.SQL("DELETE FROM {} WHERE run_key = ANY (%s)").format(target), (old,))
    return len(old), weeks


def _monday(connection: Connection, now: datetime, days: int) -> datetime:
    row = connection.execute(named("week_before"), {"now": now, "days": days}).fetchone()
    assert row is not None
    monday: datetime = row[0]
    return monday
