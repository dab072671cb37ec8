"""Airflow's postgres connections as libpq strings, without Airflow."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from psycopg import pq
from psycopg.conninfo import make_conninfo

from kafka_assignors.visible_text import excerpt
from kafka_rebalance.errors import UsageError

_DATABASE = "advisor"
# libpq must not get them.
AIRFLOW_EXTRAS = frozenset(
    {
        "aws_conn_id", "azure_conn_id", "cluster-identifier", "cursor", "iam", "redshift", "redshift-serverless",
        "sqlalchemy_query", "sqlalchemy_scheme", "workgroup-name",
    }
)  # fmt: skip
_HOST = re.compile(r"(?:\[(?P<ipv6>[^]]*)\]|(?P<name>[^:]*))(?::\d*)?")


def string_of_fields(label: str, fields: Mapping[str, Any], extra: Any) -> str:
    """Keywords in the extra win, as in Airflow's hook. Raises UsageError for other extras."""
    if not isinstance(extra, Mapping):
        raise UsageError.at(f"{label}, extra", "is no JSON object", 'write it as {"sslmode": "require"}')
    given = {
        "host": fields.get("host"), "port": fields.get("port"), "user": fields.get("login"),
        "password": fields.get("password"), "dbname": fields.get("schema"),
    }  # fmt: skip
    keywords = {option.keyword.decode() for option in pq.Conninfo.get_defaults()}
    for name, value in extra.items():
        if name in AIRFLOW_EXTRAS:
            continue
        if name not in keywords:
            raise UsageError.at(
                f"{label}, extra", f"{excerpt(name)} is no setting of PostgreSQL's client library (libpq)",
                "correct its name or remove it",
            )  # fmt: skip
        given[name] = value
    if not extra.get("service"):
        given["dbname"] = given["dbname"] or _DATABASE
    return make_conninfo(
        "", **{name: _text(label, name, value) for name, value in given.items() if value not in (None, "")}
    )


def string_of_variable(name: str, value: str) -> str:
    """JSON, or a URL with extras in its query. Raises UsageError without the value."""
    try:
        fields = json.loads(value) if value.lstrip().startswith("{") else _fields_of_url(value)
        extra = fields.get("extra") or {}
        extra = json.loads(extra) if isinstance(extra, str) else extra
    except ValueError:
        hint = "write JSON or postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with special characters as %XX"
        raise UsageError.at(name, "is neither JSON nor a PostgreSQL URL", hint) from None
    return string_of_fields(name, fields, extra)


def _fields_of_url(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    match = _HOST.fullmatch(parts.netloc.rpartition("@")[2])  # .hostname lower-cases socket paths
    if match is None or parts.scheme.partition("+")[0] not in ("postgres", "postgresql"):
        raise ValueError("no URL of PostgreSQL")
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    return {
        "host": unquote(match["ipv6"] or match["name"] or ""), "port": parts.port,
        "login": unquote(parts.username or ""), "password": unquote(parts.password or ""),
        "schema": unquote(parts.path[1:]), "extra": query.get("__extra__", query),
    }  # fmt: skip


def _text(label: str, name: str, value: Any) -> str:
    text = str(int(value)) if isinstance(value, bool) else str(value)
    if not isinstance(value, str | int) or "\0" in text:
        raise UsageError.at(label, f"{name} is no text or number, or holds a NUL character", "correct its value")
    return text
