"""Airflow's connections → what the modules below need: client properties of a cluster, the address of the store."""

from __future__ import annotations

from typing import Any

STORE = "advisor_postgres"
READER = "advisor_reader"


def store_dsn(connection_id: str = STORE) -> str:
    """The store's address as a libpq string, from a connection of type postgres (so Airflow masks its password)."""
    from airflow.sdk import BaseHook

    return _libpq_string(BaseHook.get_connection(connection_id), connection_id)


def reader_dsn() -> str:
    """The address by which the page reads the public views. For Airflow's api-server, which is no task."""
    from airflow.models.connection import Connection

    return _libpq_string(Connection.get_connection_from_secrets(READER), READER)


def _libpq_string(known: Any, connection_id: str) -> str:
    from rebalance_advisor.store.schema.airflow_connection import string_of_fields

    fields = {name: getattr(known, name) for name in ("host", "port", "login", "password", "schema")}
    return string_of_fields(f"connection {connection_id}", fields, known.extra_dejson)


def kafka_properties(connection_id: str) -> dict[str, Any]:
    """The client properties in a connection of type kafka (librdkafka's names, in its extra)."""
    from airflow.sdk import BaseHook

    return dict(BaseHook.get_connection(connection_id).extra_dejson)
