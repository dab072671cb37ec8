"""A real PostgreSQL for the session, a migrated template database, and a copy of it for each test."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from rebalance_advisor import store
from stack.postgres.server import THROW_AWAY, EmbeddedPostgres

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
    yield from _database(admin, "template1")


@pytest.fixture
def dsn(admin: str) -> Iterator[str]:
    """A database of the test's own, migrated."""
    yield from _database(admin, TEMPLATE)


@pytest.fixture
def connection(dsn: str) -> Iterator[store.Connection]:
    with store.connect(dsn) as connection:
        yield connection


def _database(admin: str, template: str) -> Iterator[str]:
    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    yield with_database(admin, name)
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
