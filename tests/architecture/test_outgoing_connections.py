"""The table of docs/security.md names every module that opens a connection, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.test_outgoing_http import CALLERS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "plugins" / "rebalance_advisor"
# What opens a connection, or makes what opens one, by the full names that a module imports and uses.
DOORS = re.compile(
    r"socket\.(?!gethostname\b)|ssl\.|asyncio\.(open_|start_server|create_connection)|multiprocessing\.connection\b"
    r"|(urllib\.request|http\.client|http\.server|xmlrpc|ftplib|imaplib|poplib|telnetlib|smtplib)\b"
    r"|(httpx|requests|aiohttp|urllib3|aiosmtplib|websockets|paramiko|grpc|botocore|boto3|aiobotocore|fsspec|s3fs|upath"
    r"|slack_sdk|asyncpg|psycopg_pool|confluent_kafka|aiokafka|redis|pymysql|ldap3|gssapi)(\.|$)"
    r"|psycopg2?\.(connect|AsyncConnection|Connection\.connect)\b|sqlalchemy\.(create_engine|engine_from_config)\b"
    r"|great_expectations\.get_context\b|subprocess\.Popen\b"
    r"|kafka\.(net\.(manager|inet|transport|sasl\.get_sasl_mechanism)|Kafka|admin|client|consumer|producer)"
    r"|airflow\.providers\.(?!common\.compat|standard)|airflow\.sdk\.ObjectStoragePath\b"
    r"|rebalance_advisor\.outgoing_http\.ask\b"
)
# A process on this machine that compiles.
NO_CONNECTION = {"compiling/first_compile.py"}


def table() -> dict[str, list[str]]:
    """First cell of each row → its other cells."""
    lines = [line for line in (ROOT / "docs" / "security.md").read_text().splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {row[0]: row[1:] for row in rows}


def names_in(tree: ast.AST) -> Iterator[str]:
    """Each import and each call of one, by its full name."""
    full: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                yield one.name
                full[one.asname or one.name.split(".")[0]] = one.name if one.asname else one.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module:
            for one in node.names:
                yield f"{node.module}.{one.name}"
                full[one.asname or one.name] = f"{node.module}.{one.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            inner, parts = node.func, []
            while isinstance(inner, ast.Attribute):
                parts.append(inner.attr)
                inner = inner.value
            if isinstance(inner, ast.Name) and inner.id in full:
                yield ".".join([full[inner.id], *reversed(parts)])


def is_door(code: str) -> bool:
    return any(map(DOORS.match, names_in(ast.parse(code))))


def test_the_table_names_every_module_that_opens_a_connection_and_no_other() -> None:
    opening = {
        file.relative_to(PACKAGE if file.is_relative_to(PACKAGE) else ROOT).as_posix()
        for folder in ("plugins", "dags", "spark_jobs")
        for file in (ROOT / folder).rglob("*.py")
        if is_door(file.read_text())
    }
    listed = {name for cells in table().values() for name in re.findall(r"`([^`]+\.py)`", cells[0])}
    assert opening - listed == NO_CONNECTION, "say in docs/security.md what it connects to"
    assert listed - opening == set(), "the table names a module that opens nothing"


def test_each_row_says_everything_and_requests_of_outgoing_http_are_tried() -> None:
    rows = table()
    assert len(rows) > 9
    assert all(len(cells) == 6 and all(cells) for cells in rows.values())
    tried = {name for name, cells in rows.items() if "`outgoing_http.py`" in cells[0]}
    assert tried == CALLERS.keys() | {"Slack"}  # tests/unit/airflow/test_senders.py
    assert {rows[name][3] for name in tried} == {"not followed"}


@pytest.mark.parametrize(
    "code",
    [
        "import requests", "from http.client import HTTPSConnection", "import socket as s\ns.create_connection(x)",
        "from sqlalchemy import create_engine", "import psycopg as p\np.connect()", "import fsspec",
        "from airflow.providers.amazon.aws.hooks.s3 import S3Hook", "from kafka import KafkaProducer",
        "from rebalance_advisor.outgoing_http import ask", "def f():\n    import smtplib", "import urllib.request",
        "import ssl\nssl.create_default_context()",
    ],
)  # fmt: skip
def test_a_new_door_would_be_seen(code: str) -> None:
    assert is_door(code)
