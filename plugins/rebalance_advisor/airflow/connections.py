"""Airflow's connections → what the modules below need: client properties of a cluster, the address of the store."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

STORE = "advisor_postgres"
_LIBPQ_EXTRAS = ("sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "options", "target_session_attrs")


def store_dsn(connection_id: str = STORE) -> str:
    """The store's postgresql:// address, from a connection of type postgres (so Airflow masks its password in logs)."""
    from airflow.sdk import BaseHook

    known = BaseHook.get_connection(connection_id)
    login = ":".join(quote(part, safe="") for part in (known.login, known.password) if part)
    extras = {key: value for key, value in known.extra_dejson.items() if key in _LIBPQ_EXTRAS}
    address = f"{login}@{known.host}" if login else f"{known.host}"
    return f"postgresql://{address}:{known.port or 5432}/{known.schema or 'advisor'}?{urlencode(extras)}".rstrip("?")


def kafka_properties(connection_id: str) -> dict[str, Any]:
    """The client properties in a connection of type kafka (librdkafka's names, in its extra)."""
    from airflow.sdk import BaseHook

    return dict(BaseHook.get_connection(connection_id).extra_dejson)
