"""A real PostgreSQL for the session, a migrated template database, and a copy of it for each test."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from rebalance_advisor import store
from stack.postgres.server import THROW_AWAY, EmbeddedPostgres
from tests.sql.simulated_history import History, simulate

TEMPLATE = "advisor_template"


def with_database(dsn: str, name: str) -> str:
    return urlunsplit(urlsplit(dsn)._replace(path=f"/{name}"))


@pytest.fixture(autouse=True)
def publish_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever collects leaves the list of brokers there."""
    monkeypatch.setenv("ADVISOR_PUBLISH_DIR", str(tmp_path / "published"))


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedPostgres]:
    """Thrown away with the session; in a folder that every user can walk to."""
    folder = Path("/tmp") / f"advisor-test-{uuid.uuid4().hex[:12]}"
    folder.mkdir()
    folder.chmod(0o755)
    server = EmbeddedPostgres(folder, THROW_AWAY)
    server.start()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def admin(server: EmbeddedPostgres) -> str:
    """The address of a database from which others are made; the template is migrated."""
    dsn = server.dsn("postgres")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {TEMPLATE}")
    with store.connect(with_database(dsn, TEMPLATE)) as connection:
        store.migrate(connection)
    return dsn


@pytest.fixture
def empty_dsn(admin: str) -> Iterator[str]:
    """A database in which nothing was done."""
    with copied_database(admin, "template1") as dsn:
        yield dsn


@pytest.fixture
def dsn(admin: str) -> Iterator[str]:
    """A database of the test's own, migrated."""
    with copied_database(admin, TEMPLATE) as dsn:
        yield dsn


@pytest.fixture
def connection(dsn: str) -> Iterator[store.Connection]:
    with store.connect(dsn) as connection:
        yield connection


@pytest.fixture(scope="session")
def ninety_days(admin: str) -> Iterator[str]:
    """90 days of two clusters, two readings a day; nobody writes to it."""
    yield from _simulated(admin, "ninety_days", History(clusters=2, days=90, readings_a_day=2))


@pytest.fixture(scope="session")
def twelve_clusters(admin: str) -> Iterator[str]:
    """90 days of twelve clusters, a reading an hour: a minute's work, for tests of a matrix."""
    yield from _simulated(admin, "twelve_clusters", History(clusters=12, days=90, readings_a_day=24))


@pytest.fixture(scope="session")
def twelve_thinned_clusters(admin: str) -> Iterator[str]:
    """The same of 2,000 partitions each, as pruning leaves it on its worst day: 14 days whole, then a reading a day."""
    size = History(clusters=12, days=90, readings_a_day=24, topic_partitions=400, whole_days=14)
    yield from _simulated(admin, "twelve_thinned_clusters", size)


def _simulated(admin: str, name: str, history: History) -> Iterator[str]:
    with copied_database(admin, TEMPLATE, name) as dsn:
        with store.connect(dsn) as connection:
            simulate(connection, history)
        yield dsn


@contextmanager
def copied_database(admin: str, template: str, name: str = "") -> Iterator[str]:
    """The address of a copy, removed afterwards. To log each page, Postgres' default, takes three times as long."""
    name = name or f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
    yield with_database(admin, name)
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
