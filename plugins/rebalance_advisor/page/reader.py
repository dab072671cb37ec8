"""Read-only connections to the public views, one a page thread, with time limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from sqlalchemy import Engine, Select, create_engine

from rebalance_advisor.page.threads import AT_ONCE
from rebalance_advisor.store.schema.connection import libpq_string

_STATEMENT_MILLISECONDS = 15_000
_LOCK_MILLISECONDS = 3_000
_POOL_SECONDS = 2
_SESSION = (
    f"-c default_transaction_read_only=on -c statement_timeout={_STATEMENT_MILLISECONDS}"
    f" -c lock_timeout={_LOCK_MILLISECONDS} -c timezone=UTC"
)
# A silent server: the connection ends after 10 s; connecting takes 5 s at most.
_CLIENT: Mapping[str, Any] = {
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "application_name": "rebalance-advisor page",
}

Row = Mapping[str, Any]


class Reader:
    """Thread-safe; connects at the first query."""

    def __init__(self, dsn: str) -> None:
        """``dsn``: a login that may read the contract; its ``options`` and timeouts are kept."""
        address = libpq_string(dsn, options=_SESSION, **_CLIENT)
        self._engine: Engine = create_engine(
            "postgresql+psycopg://",
            creator=lambda: psycopg.connect(address),
            pool_size=AT_ONCE,
            max_overflow=0,
            pool_timeout=_POOL_SECONDS,
            pool_pre_ping=True,
        )

    def rows(self, statement: Select[Any]) -> list[Row]:
        with self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(statement).mappings()]

    def first(self, statement: Select[Any]) -> Row | None:
        with self._engine.connect() as connection:
            row = connection.execute(statement).mappings().first()
            return None if row is None else dict(row)

    def close(self) -> None:
        self._engine.dispose()
