"""Connecting to the advisor's database."""

from __future__ import annotations

import os
from typing import TypeAlias
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from kafka_rebalance.errors import AdvisorError
from rebalance_advisor.store.schema.sql_files import query

Connection: TypeAlias = psycopg.Connection[TupleRow]

# The first one that is set counts.
_SETTINGS = ("ADVISOR_POSTGRES_DSN", "AIRFLOW_CONN_ADVISOR_POSTGRES")


class StoreError(AdvisorError):
    """The database cannot be used as it is, or refuses what it is asked; the message says what to do."""


def dsn_from_environment() -> str:
    """The address that the environment names."""
    for name in _SETTINGS:
        if os.environ.get(name):
            return os.environ[name]
    raise StoreError(f"no database is named; set {' or '.join(_SETTINGS)} to a postgresql:// address")


def connect(dsn: str) -> Connection:
    """Open a connection: every statement is its own transaction unless ``connection.transaction()`` says otherwise.

    ``dsn`` is a postgresql:// address (SQLAlchemy's and Airflow's spellings pass) or a libpq string.
    """
    try:
        return psycopg.connect(
            _plain(dsn), autocommit=True, application_name="rebalance-advisor", options="-c timezone=UTC"
        )
    except psycopg.OperationalError as error:
        raise StoreError(f"cannot connect to the advisor's database: {' '.join(str(error).split())}") from error


def _plain(dsn: str) -> str:
    if "://" not in dsn:
        return dsn
    parts = urlsplit(dsn)
    if parts.scheme.partition("+")[0] not in ("postgresql", "postgres"):
        raise StoreError(f"{parts.scheme}:// is no PostgreSQL address; expected postgresql://user@host:port/database")
    return urlunsplit(parts._replace(scheme="postgresql"))


def named(name: str) -> sql.SQL:
    """A named query for ``execute``; its text comes from a file of ours, never from input."""
    return sql.SQL(query(name))
