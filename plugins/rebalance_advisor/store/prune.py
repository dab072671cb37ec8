"""Retention: readings are thinned, then go, old weeks whole; what the last advisory of each cluster rests on stays.

What becomes of readings: whole for some days, then the last of each day, then nothing.

A reading loses its rows in two steps, so that it may be interrupted anywhere and is beside runs at work:

1. It is marked (``is_pruned``), in one transaction: from then on nobody loads it and views do not show it. Readings
   that something rests on are never marked; a run that is just being started holds its reading's line (``start_run``).
2. The weeks in which marked readings lie are dropped, or written anew without them (``store.sweep_week``), a table a
   transaction. What was left over by an interruption is found by the marks at the next time.

Its line stays as long as an advisory rests on it, that of a thinned one also until its week is over for good.
Of n readings, the first costs O(n), the second the rows that stay.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import psycopg
from psycopg import sql

from kafka_rebalance.snapshot.times import CLOCK_TOLERANCE, span_words, time_text
from rebalance_advisor.store.load_history import KEPT_DAYS
from rebalance_advisor.store.run import RESULT_TABLES
from rebalance_advisor.store.schema.connection import Connection, StoreError, named

WEEK = timedelta(days=7)
# Tables by week of which every row belongs to a reading and goes with it.
READING_TABLES = (
    "broker", "log_dir", "topic", "partition", "load", "consumer_group", "member", "committed_offset", "broker_level",
    "resource_skew", "group_lag",
)  # fmt: skip
# Small ones, not by week: what a run rests on is told as long as the run.
_DETAIL_TABLES = ("load_source", "coverage_gap", "quarantine")
_FORGET_DETAILS = ("forget_load_sources", "forget_coverage", "forget_all_quarantine")
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Weeks:
    """How many weekly partitions were dropped or written anew, and which could not be locked in ten seconds, thrice."""

    done: int
    in_use: tuple[str, ...] = ()

    def __add__(self, other: Weeks) -> Weeks:
        return Weeks(self.done + other.done, tuple(dict.fromkeys((*self.in_use, *other.in_use))))

    def require_none_in_use(self) -> None:
        """Raises StoreError that names those that keep their space for now."""
        if self.in_use:
            raise StoreError(
                f"{len(self.in_use)} weekly tables were in use for {_TRIES} × 10 s and keep their space:"
                f" {', '.join(self.in_use)}; the next prune_history takes them"
            )


def mark_old(connection: Connection, before: datetime) -> int:
    """Mark the readings before a moment of which nothing is kept; returns how many. One transaction."""
    with connection.transaction():
        return _mark(connection, "lock_old_readings", {"before": before})


def mark_thinned(connection: Connection, now: datetime, whole_days: int) -> int:
    """Of each cluster's days before the week of its newest reading less ``whole_days``, mark all but the last reading.

    The last that passed the gate, which is the one that trends look at (view ``daily_snapshot``); counted from each
    cluster's own newest reading, so that "a week ago" is the same reading as if nothing had been thinned. One
    transaction.
    """
    with connection.transaction():
        return _mark(connection, "lock_thinned_readings", {"now": now, "days": whole_days})


def _mark(connection: Connection, candidates: str, parameters: dict[str, object]) -> int:
    """Lines are locked first and what is kept is asked afterwards: whoever starts a run on one of them comes before
    (then it is kept) or after (then it is pruned), never between.
    """
    keys = _keys(connection, candidates, parameters)
    marked = _keys(connection, "mark_pruned", {"candidates": keys})
    for query in _FORGET_DETAILS:
        connection.execute(named(query), {"marked": marked})
    return len(marked)


def sweep(connection: Connection) -> Weeks:
    """Write anew the weeks that hold rows of marked readings. A transaction each."""
    found = connection.execute(named("weeks_with_leavings"), {"tables": list(READING_TABLES)}).fetchall()
    return _each(connection, "sweep_week", [name for (name,) in found])


def clear_reading(connection: Connection, snapshot_key: int, moment: object) -> None:
    """Remove what is left of a pruned reading that is about to be saved again. In the caller's transaction."""
    for table in READING_TABLES:
        _delete(connection, table, sql.SQL("snapshot_key = %s AND captured_at = %s"), (snapshot_key, moment))
    for table in _DETAIL_TABLES:
        _delete(connection, table, sql.SQL("snapshot_key = %s"), (snapshot_key,))


def drop_weeks(connection: Connection, before: datetime, kept: Collection[datetime], tables: Collection[str]) -> Weeks:
    """Drop the partitions before a Monday in whose weeks no kept moment lies. A transaction each."""
    found = connection.execute(named("old_weeks"), {"before": before}).fetchall()
    names = [
        name
        for name, parent, start in found
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
    """Whether there was something to do. Raises LockNotAvailable after the last try."""
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
_GIVEN_UP = timedelta(days=7)  # an unfinished run that old will not be tried again
_HISTORY_TABLES = ("load_history",)
_HOURS_KEPT = timedelta(days=400)  # of roll-ups by the hour: last year's season beside this one's; days stay for good
_TOLD_KEPT = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many readings and runs lost their rows, and how many weekly partitions were dropped; how many readings lost
    theirs to the last one of their day, and how many weekly partitions were written anew without them. Hourly loads are
    kept for a time of their own.
    """

    snapshots: int
    runs: int
    weeks: int
    thinned: int = 0
    swept: int = 0


def agreed_now(connection: Connection, here: datetime) -> datetime:
    """Return Postgres' time. ``here``: this machine's.

    Raises StoreError where the two clocks disagree: one is wrong, and what it would remove cannot be brought back.
    """
    row = connection.execute(named("clock")).fetchone()
    assert row is not None
    there: datetime = row[0]
    if abs(there - here) > CLOCK_TOLERANCE:
        raise StoreError(
            f"this machine's clock says {time_text(here)} and Postgres' {time_text(there)}, more than"
            f" {span_words(CLOCK_TOLERANCE)} apart: nothing was removed; set the wrong one right and try again"
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
    """Remove readings and runs older than the first day of the week in which their time to be kept began; of readings
    before the week in which a cluster's last ``keep_whole_days`` began, the last of each day stays.

    Each cluster's newest reading, its newest published run and that run's reading stay, readings of runs and approvals
    under way, and roll-ups by the day; those by the hour stay 400 days. Small transactions: what readers see changes at
    once, and whatever an interruption leaves over the next call removes.
    Raises StoreError for less than a day, and where tables were in use all the time (the rest is done then).
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
    # Lines last: by their marks the rows are found.
    connection.execute(named("forget_snapshots"), {"before": before})
    return Pruned(snapshots, runs, weeks.done, thinned, swept.done)


def _prune_runs(connection: Connection, before: datetime, now: datetime) -> tuple[int, Weeks]:
    """Lines first: without its line no view shows anything of a run, so that its rows may go table after table."""
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
