"""Airflow's connections → what the modules below need: client properties of a cluster, the address of the store."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

STORE = "advisor_postgres"
READER = "advisor_reader"
# Parts of secrets' names that Airflow's own list lacks: of Kafka's clients, schema registries, object stores.
_SECRET_NAMES = (
    "jaas.config", "key.pem", "keystore.key", "user.info", "oauthbearer.config", "private.key", "access.key", "api.key",
    "account.key",
)  # fmt: skip
# For AIRFLOW__CORE__SENSITIVE_VAR_CONN_NAMES: Airflow 3.3 reads a dot in a name as _, older ones as a dot.
SENSITIVE_NAMES = ",".join(spelled for name in _SECRET_NAMES for spelled in (name, name.replace(".", "_")))
# Inside a secret: a password of a JAAS entry, a line of a key.
_PARTS = re.compile(r"""(?i:password|secret|token)\w*\s*=\s*["']([^"']+)|([A-Za-z0-9+/]{32,}={0,2})""")


def store_dsn(connection_id: str = STORE) -> str:
    """The store's address as a libpq string, from a connection of type postgres (so Airflow masks its password)."""
    from airflow.sdk import BaseHook

    return _libpq_string(BaseHook.get_connection(connection_id), connection_id)


def reader_dsn() -> str:
    """The address by which the page reads the public views. For Airflow's api-server, which is no task."""
    from airflow.models.connection import Connection

    return _libpq_string(Connection.get_connection_from_secrets(READER), READER)


def _libpq_string(known: Any, connection_id: str) -> str:
    from airflow.providers.common.compat.sdk import mask_secret

    from rebalance_advisor.store.schema.airflow_connection import string_of_fields

    fields = {name: getattr(known, name) for name in ("host", "port", "login", "password", "schema")}
    found = string_of_fields(f"connection {connection_id}", fields, known.extra_dejson)
    mask_secret(found)  # the password in it is masked as it is, not with the backslashes that it may have here
    return found


def kafka_properties(connection_id: str) -> dict[str, Any]:
    """The client properties in a connection of type kafka (librdkafka's names, in its extra)."""
    from airflow.sdk import BaseHook

    extra = dict(BaseHook.get_connection(connection_id).extra_dejson)
    mask_secrets(extra)
    return extra


def mask_secrets(extra: Mapping[str, Any]) -> None:
    """Mask in Airflow's logs what an extra holds under a name of ``SENSITIVE_NAMES``; Airflow masks its own names."""
    from airflow.providers.common.compat.sdk import mask_secret

    for name, value in extra.items():
        if isinstance(value, Mapping):
            mask_secrets(value)
        elif isinstance(value, str) and any(part in name.lower().replace("_", ".") for part in _SECRET_NAMES):
            mask_secret([value, *filter(None, (part for found in _PARTS.findall(value) for part in found))])
