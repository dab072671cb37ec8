"""A change of the schema beside runs and readers: it gives way, and is tried again.

Promises, in order: no run and no reader ever fails because of it; nobody waits longer than it takes, and a moment; it
is made whole or not at all; it is made in the end, or it is said who was in the way.

Whoever changes a table waits for those who use it, and everybody who comes later waits behind that change: a run that
writes for a minute would stop every dashboard for a minute. And a query takes the locks of its views one after the
other, as the change does in another order: each may come to wait for the other, and the server would end one of both.
So everything is locked at once, before anything is changed, in less time than the server waits until it looks for such
a knot (``deadlock_timeout``); where that does not succeed it is taken back, others go first, and it is tried again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import psycopg
from psycopg import sql

from rebalance_advisor.store.schema.connection import Connection, StoreError, named
from rebalance_advisor.store.schema.names import Names

Found = TypeVar("Found")
_IN_THE_WAY = (psycopg.errors.QueryCanceled, psycopg.errors.DeadlockDetected)


@dataclass(frozen=True, slots=True)
class Patience:
    """``share`` of the server's ``deadlock_timeout`` for all locks; seconds between two tries, and until it ends."""

    share: float = 0.5
    pause_s: float = 1.0
    all_s: float = 900.0


PATIENCE = Patience()


def giving_way(connection: Connection, change: Callable[[], Found], patience: Patience) -> Found:
    """What ``change`` returns, made in one transaction. It calls ``lock_all`` before it changes what others may use.

    Raises StoreError with who is in the way, at the end.
    """
    until = time.monotonic() + patience.all_s
    while True:
        try:
            with connection.transaction():
                return change()
        except _IN_THE_WAY as error:
            if time.monotonic() >= until:
                raise StoreError(_words(connection, patience)) from error
        time.sleep(patience.pause_s)


def lock_all(connection: Connection, names: Names, patience: Patience) -> None:
    """Every table and view of ours, for this transaction alone. Raises QueryCanceled where that takes too long."""
    found = connection.execute(named("list_own_relations"), {"schemas": [names.store, names.contract]}).fetchall()
    if not found:
        return
    (knot_ms,) = connection.execute(named("find_deadlock_milliseconds")).fetchone() or (1000,)
    listed = sql.SQL(", ").join(sql.Identifier(schema, name) for schema, name in found)
    connection.execute(_LIMIT, (f"{max(1, round(knot_ms * patience.share))}ms",))
    connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(listed))
    connection.execute(_LIMIT, ("0",))


_LIMIT = "SELECT set_config('statement_timeout', %s, true)"


def _words(connection: Connection, patience: Patience) -> str:
    rows = connection.execute(named("list_open_transactions")).fetchall()
    who = "; ".join(f"pid {pid} ({name or 'no name'}) since {since:%H:%M:%S} UTC" for pid, name, since in rows)
    return (
        f"the database is in use, and was not changed within {patience.all_s:.0f} seconds: open transactions: "
        f"{who or 'none that this login may see'}; wait until they end, or end them, and migrate again"
    )
