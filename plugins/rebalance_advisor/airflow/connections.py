from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

STORE = "advisor_postgres"
READER = "advisor_reader"
# Secret names that Airflow's list lacks.
_SECRET_NAMES = (
    "jaas.config", "key.pem", "keystore.key", "user.info", "oauthbearer.config", "private.key", "access.key", "api.key",
    "account.key",
)  # fmt: skip
# For AIRFLOW__CORE__SENSITIVE_VAR_CONN_NAMES: Airflow 3.3 reads a dot as _.
SENSITIVE_NAMES = ",".join(spelled for name in _SECRET_NAMES for spelled in (name, name.replace(".", "_")))
# Parts of a secret: JAAS password, line of a key.
_PARTS = re.compile(r"""(?i:password|secret|token)\w*\s*=\s*["']([^"']+)|([A-Za-z0-9+/]{32,}={0,2})""")


def store_dsn(connection_id: str = STORE) -> str:
    from airflow.sdk import BaseHook

    return _libpq_string(BaseHook.get_connection(connection_id), connection_id)


def reader_dsn() -> str:
    """For the api-server, which is no task."""
    from airflow.models.connection import Connection

    return _libpq_string(Connection.get_connection_from_secrets(READER), READER)


def _libpq_string(connection: Any, connection_id: str) -> str:
    from airflow.providers.common.compat.sdk import mask_secret

    from rebalance_advisor.store.schema.airflow_connection import string_of_fields

    fields = {name: getattr(connection, name) for name in ("host", "port", "login", "password", "schema")}
    conninfo = string_of_fields(f"connection {connection_id}", fields, connection.extra_dejson)
    mask_secret(conninfo)  # also without the dsn's backslashes
    return conninfo


def kafka_properties(connection_id: str) -> dict[str, Any]:
    from airflow.sdk import BaseHook

    extra = dict(BaseHook.get_connection(connection_id).extra_dejson)
    mask_secrets(extra)
    return extra


def mask_secrets(extra: Mapping[str, Any]) -> None:
    from airflow.providers.common.compat.sdk import mask_secret

    for name, value in extra.items():
        if isinstance(value, Mapping):
            mask_secrets(value)
        elif isinstance(value, str) and any(part in name.lower().replace("_", ".") for part in _SECRET_NAMES):
            mask_secret([value, *filter(None, (part for groups in _PARTS.findall(value) for part in groups))])
