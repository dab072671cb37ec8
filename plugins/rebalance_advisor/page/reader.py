"""A read-only connection to the public views, with a time limit for each statement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine, Select, create_engine
from sqlalchemy.engine import make_url

from rebalance_advisor.store.schema.names import Names

_DEFAULT_SCHEMA = Names().contract
_STATEMENT_MILLISECONDS = 15_000
_POOL_SIZE = 4
_SESSION = f"-c default_transaction_read_only=on -c statement_timeout={_STATEMENT_MILLISECONDS} -c timezone=UTC"

Row = Mapping[str, Any]


class Reader:
    """Answers statements over the contract's views; thread-safe, connects at the first question."""

    def __init__(self, dsn: str, names: Names | None = None) -> None:
        """``dsn``: a postgresql:// address of a login that may read the contract; its libpq ``options`` are kept."""
        url = make_url(dsn).set(drivername="postgresql+psycopg")
        given = url.query.get("options", "")
        options = f"{given if isinstance(given, str) else ' '.join(given)} {_SESSION}".strip()
        schema = (names or Names.from_environment()).contract
        self._engine: Engine = create_engine(
            url.update_query_dict({"options": options}), pool_size=_POOL_SIZE, pool_pre_ping=True
        ).execution_options(schema_translate_map={_DEFAULT_SCHEMA: schema})

    def rows(self, statement: Select[Any]) -> list[Row]:
        """All rows, by column name."""
        with self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(statement).mappings()]

    def first(self, statement: Select[Any]) -> Row | None:
        """The first row, if there is one."""
        with self._engine.connect() as connection:
            row = connection.execute(statement).mappings().first()
            return None if row is None else dict(row)

    def close(self) -> None:
        """Give all connections back to the server."""
        self._engine.dispose()
