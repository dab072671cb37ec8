"""Retention: readings are thinned, then go, old weeks whole; what the last advisory of each cluster rests on stays."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from psycopg import sql

from kafka_rebalance.snapshot.times import CLOCK_TOLERANCE, span_words, time_text
from rebalance_advisor.store.load_history import KEPT_DAYS
from rebalance_advisor.store.retention.readings import READING_TABLES, Weeks, drop_weeks, mark_old, mark_thinned, sweep
from rebalance_advisor.store.run import RESULT_TABLES
from rebalance_advisor.store.schema.connection import Connection, StoreError, named

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
