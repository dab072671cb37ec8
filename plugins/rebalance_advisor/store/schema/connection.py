from __future__ import annotations

import os
import re
from typing import Any, TypeAlias

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow

from kafka_assignors.errors import AdvisorError
from rebalance_advisor.store.schema.airflow_connection import string_of_variable
from rebalance_advisor.store.schema.sql_files import query

Connection: TypeAlias = psycopg.Connection[TupleRow]

_SETTINGS = ("ADVISOR_POSTGRES_DSN", "AIRFLOW_CONN_ADVISOR_POSTGRES")
# For each address (psycopg: 130 s).
_CONNECT_SECONDS = 30
_URL = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://", re.IGNORECASE)


class StoreError(AdvisorError):
    """The message says what to do."""


def dsn_from_environment() -> str:
    given, airflows = (os.environ.get(name, "") for name in _SETTINGS)
    if given or not airflows:
        if not given:
            raise StoreError(f"no database is named; set {' or '.join(_SETTINGS)} to a postgresql:// address")
        return given
    return string_of_variable(_SETTINGS[1], airflows)


def connect(dsn: str) -> Connection:
    address = libpq_string(dsn, options="-c timezone=UTC", application_name="rebalance-advisor")
    try:
        return psycopg.connect(address, autocommit=True)
    except psycopg.OperationalError as error:
        raise StoreError(f"cannot connect to the advisor's database: {' '.join(str(error).split())}") from error


def libpq_string(dsn: str, *, options: str, **defaults: Any) -> str:
    """Our session ``options`` come last. Accepts URLs of SQLAlchemy and Airflow."""
    if url := _URL.match(dsn):
        if url["scheme"].lower().partition("+")[0] not in ("postgresql", "postgres"):
            raise StoreError(
                f"{url['scheme']}:// is no PostgreSQL address; expected postgresql://user@host:port/database"
            )
        dsn = f"postgresql://{dsn[url.end() :]}"
    try:
        given = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:  # its message quotes the password
        raise StoreError(
            "the database's address cannot be read; write postgresql://user:password@host:port/database "
            "with special characters as %XX, or libpq's host=… port=… user=… password=… dbname=…"
        ) from None
    limit = {} if os.environ.get("PGCONNECT_TIMEOUT") else {"connect_timeout": _CONNECT_SECONDS}
    return make_conninfo(
        "", **{**limit, **defaults, **given, "options": f"{given.get('options') or ''} {options}".strip()}
    )


def named(name: str) -> sql.SQL:
    """Only of our files, never of input."""
    return sql.SQL(query(name))
