"""Airflow's connections → what the modules below need: client properties of a cluster, the address of the store."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

STORE = "advisor_postgres"
READER = "advisor_reader"
_LIBPQ_EXTRAS = ("sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "options", "target_session_attrs")


def store_dsn(connection_id: str = STORE) -> str:
    """The store's postgresql:// address, from a connection of type postgres (so Airflow masks its password in logs)."""
    from airflow.sdk import BaseHook

    return _dsn(BaseHook.get_connection(connection_id))


def reader_dsn() -> str:
    """The address by which the page reads the public views. For Airflow's api-server, which is no task."""
    from airflow.models.connection import Connection

    return _dsn(Connection.get_connection_from_secrets(READER))


def _dsn(known: Any) -> str:
    login = ":".join(quote(part, safe="") for part in (known.login, known.password) if part)
    extras = {key: value for key, value in known.extra_dejson.items() if key in _LIBPQ_EXTRAS}
    address = f"{login}@{known.host}" if login else f"{known.host}"
    asked = urlencode(extras, quote_via=quote)  # to libpq a plus is a plus
    return f"postgresql://{address}:{known.port or 5432}/{known.schema or 'advisor'}?{asked}".rstrip("?")


def kafka_properties(connection_id: str) -> dict[str, Any]:
    """The client properties in a connection of type kafka (librdkafka's names, in its extra)."""
    from airflow.sdk import BaseHook

    return dict(BaseHook.get_connection(connection_id).extra_dejson)
