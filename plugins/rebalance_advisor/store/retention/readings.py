"""What becomes of readings: whole for some days, then the last of each day, then nothing.

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
