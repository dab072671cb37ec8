"""The table of docs/internals/connections.md names every module that opens a connection, and no other."""

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
HTTP = [
    f"tests/unit/test_outgoing_http.py::{name}"
    for name in (
        "test_credentials_do_not_follow_a_redirect", "test_certificates_and_host_names_are_verified",
        "test_a_server_that_is_silent_or_drips_is_abandoned",
    )
]  # fmt: skip
# By the row of docs/internals/connections.md: the tests that put a hostile server, or process, at the other end.
HOSTILE = {
    "Kafka brokers": [
        "tests/unit/kafka/connection/test_probe.py::test_a_broker_that_hangs",
        "tests/unit/kafka/connection/test_probe.py::test_a_wrong_ca",
        "tests/unit/kafka/connection/test_scram.py::test_a_listener_that_offers_a_weaker_mechanism_is_sent_nothing",
        "tests/unit/kafka/connection/test_whole_answers.py::test_a_length_that_no_answer_has_is_refused_at_once",
        "tests/unit/kafka/connection/test_whole_answers.py::test_a_broker_that_drips_is_slow_at_its_address_and_what_it_sent_is_told",
    ],
    "OAuth token endpoint": HTTP,
    "AWS (credentials for `AWS_MSK_IAM`)": [
        "tests/unit/kafka/connection/test_logins.py::test_what_credentials_are_asked_for_with_follows_no_redirect",
    ],
    "Prometheus": HTTP,
    "Slack": [
        "tests/unit/airflow/test_senders.py::test_a_message_follows_no_redirect_and_a_silent_slack_is_abandoned",
        "tests/unit/airflow/test_senders.py::test_the_certificate_of_slack_is_verified_by_the_systems_authorities",
    ],
    "SMTP": [
        "tests/unit/airflow/test_senders.py::test_a_mail_server_that_is_silent_or_speaks_nonsense_is_abandoned",
        "tests/unit/airflow/test_senders.py::test_the_login_of_the_mail_server_waits_for_verified_tls",
    ],
    "Postgres": [
        "tests/unit/store/schema/test_connection.py::test_a_server_that_accepts_and_never_answers_is_abandoned",
        "tests/unit/store/schema/test_connection.py::test_a_server_without_tls_that_asks_for_the_password_does_not_get_it",
        "tests/unit/store/schema/test_connection.py::test_a_certificate_of_an_unknown_authority_is_refused_by_verify_full",
    ],
    "Object store": [
        f"tests/unit/airflow/publishing/test_object_storage.py::{name}"
        for name in (
            "test_no_redirect_is_followed", "test_a_store_that_never_answers_is_abandoned_by_the_connections_limits",
            "test_a_store_that_drips_is_abandoned_by_the_limit_of_a_call",
            "test_the_stores_certificate_is_verified_by_the_connections_authority",
        )
    ],
    "Spark": ["tests/spark/standalone/test_secret.py::test_only_who_knows_the_secret_joins_and_submits"],
    "Process of a custom assignor": [
        "tests/unit/own_strategies/test_isolated.py::test_its_process_sees_nothing_of_the_advisors_environment",
        "tests/unit/own_strategies/test_isolated.py::test_its_process_reads_no_environment_and_no_memory_of_any_process_above_it",
    ],
}  # fmt: skip
# No server of it runs on loopback alone.
NO_HOSTILE_SERVER = {"Kerberos"}
# A process on this machine that compiles.
NO_CONNECTION = {"compiling/first_compile.py"}


def table() -> dict[str, list[str]]:
    """First cell of each row → its other cells."""
    page = (ROOT / "docs" / "internals" / "connections.md").read_text()
    lines = [line for line in page.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {row[0]: row[1:] for row in rows}


def names_in(tree: ast.AST) -> Iterator[str]:
    """Each import and each call of one, by its full name."""
    full: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
                full[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield f"{node.module}.{alias.name}"
                full[alias.asname or alias.name] = f"{node.module}.{alias.name}"
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
    assert opening - listed == NO_CONNECTION, "say in docs/internals/connections.md what it connects to"
    assert listed - opening == set(), "the table names a module that opens nothing"


def test_each_row_says_everything_and_requests_of_outgoing_http_are_tried() -> None:
    rows = table()
    assert len(rows) > 9
    assert all(len(cells) == 6 and all(cells) for cells in rows.values())
    tried = {name for name, cells in rows.items() if "`outgoing_http.py`" in cells[0]}
    assert tried == CALLERS.keys() | {"Slack"}  # tests/unit/airflow/test_senders.py
    assert {rows[name][3] for name in tried} == {"not followed"}


def test_each_row_names_its_tests_with_a_hostile_server() -> None:
    assert HOSTILE.keys() | NO_HOSTILE_SERVER == table().keys()
    for file, name in (test.split("::") for tests in HOSTILE.values() for test in tests):
        assert f"def {name}(" in (ROOT / file).read_text(), f"{file} has no {name}"


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
