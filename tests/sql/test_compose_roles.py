"""The databases of the compose file and of docs/install.md, made by their own SQL on a real server.

Each login may do its part, no more.
"""

from __future__ import annotations

import os
import re
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from rebalance_advisor import store
from stack.compose.env_file import env_text
from stack.postgres.binaries import wheel_package
from stack.postgres.server import DATABASES, THROW_AWAY, EmbeddedPostgres
from tests.sql.sample_clusters import plain_snapshot

pytestmark = pytest.mark.stack
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def values() -> dict[str, str]:
    lines = env_text((ROOT / ".env.example").read_text()).splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


@pytest.fixture(scope="module")
def address(values: dict[str, str]) -> Iterator[str]:
    """``host:port`` of a server on which the script ran once, as the image's entry point runs it."""
    yield from _server(values, ["bash", str(ROOT / "docker" / "postgres" / "create-databases.sh")], "")


@pytest.fixture(scope="module")
def own_address(values: dict[str, str]) -> Iterator[str]:
    """The same of a server on which an administrator ran what docs/install.md says."""
    (text,) = re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "install.md").read_text(), re.DOTALL)
    for role in ("OWNER", "WRITER", "READER"):
        text = text.replace("'…'", f"'{values[f'ADVISOR_{role}_PASSWORD']}'", 1)
    yield from _server(values, ["psql", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--dbname=postgres"], text)


def _server(values: dict[str, str], command: list[str], text: str) -> Iterator[str]:
    folder = Path("/tmp") / f"advisor-test-{uuid.uuid4().hex[:12]}"
    folder.mkdir()
    folder.chmod(0o755)
    server = EmbeddedPostgres(folder, THROW_AWAY)
    server.start()
    try:
        parts = urlsplit(server.dsn("postgres"))
        with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
            for name in DATABASES:
                connection.execute(f"DROP DATABASE {name}")
        psql = next(wheel_package().rglob("bin/psql"))
        environment = os.environ | values | {
            "PATH": f"{psql.parent}:{os.environ['PATH']}", "PGHOST": str(parts.hostname), "PGPORT": str(parts.port),
            "PGPASSWORD": str(parts.password), "POSTGRES_USER": str(parts.username),
            "PGUSER": str(parts.username),
        }  # fmt: skip
        made = subprocess.run(command, env=environment, input=text, check=False, capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        yield f"{parts.hostname}:{parts.port}"
    finally:
        server.remove()


def login(address: str, user: str, password: str, database: str) -> str:
    return urlunsplit(("postgresql", f"{user}:{password}@{address}", f"/{database}", "", ""))


@pytest.fixture(scope="module")
def migrated(address: str, values: dict[str, str]) -> str:
    """As airflow-init does it, with the owner's login; again, as at every start."""
    dsn = login(address, "advisor_owner", values["ADVISOR_OWNER_PASSWORD"], "advisor")
    with store.connect(dsn) as connection:
        assert store.migrate(connection)
        assert store.migrate(connection) == ()
    return address


def test_the_pipelines_login_writes_and_changes_no_table(migrated: str, values: dict[str, str]) -> None:
    dsn = login(migrated, "advisor_writer", values["ADVISOR_WRITER_PASSWORD"], "advisor")
    with store.connect(dsn) as connection:
        snapshot_id = store.save_snapshot(connection, plain_snapshot())
        assert store.load_snapshot(connection, snapshot_id).cluster == plain_snapshot().cluster
        for statement in ("CREATE TABLE store.mine (a int)", "DROP TABLE store.run", "ALTER TABLE store.run ADD a int"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


def test_the_readers_login_sees_the_contract_and_nothing_else(migrated: str, values: dict[str, str]) -> None:
    dsn = login(migrated, "advisor_reader", values["ADVISOR_READER_PASSWORD"], "advisor")
    with store.connect(dsn) as connection:
        connection.execute("SELECT count(*) FROM advisor.snapshot").fetchone()
        for statement in (
            "SELECT * FROM store.run",
            "DELETE FROM advisor.snapshot",
            "CREATE TABLE advisor.mine (a int)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


@pytest.mark.parametrize("made_by", ["migrated", "own_address"])
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TEMPORARY TABLE mine AS SELECT generate_series(1, 9)",
        "SELECT lo_create(0)",
        "SELECT lo_creat(-1)",
        "SELECT lo_from_bytea(0, 'x')",
        "SELECT lo_import('/etc/hostname')",
        "SELECT lo_import('/etc/hostname', 4711)",
        "CREATE TABLE public.mine (a int)",
        "CREATE SCHEMA mine",
    ],
)
def test_a_reader_leaves_nothing_in_the_database(request, values: dict[str, str], made_by: str, statement: str) -> None:
    dsn = login(request.getfixturevalue(made_by), "advisor_reader", values["ADVISOR_READER_PASSWORD"], "advisor")
    with psycopg.connect(dsn) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement)


def test_a_migration_takes_temporary_tables_from_everybody_else(migrated: str, values: dict[str, str]) -> None:
    """Of a database that was made before the scripts did."""
    owner = login(migrated, "advisor_owner", values["ADVISOR_OWNER_PASSWORD"], "advisor")
    with store.connect(owner) as connection:
        connection.execute("GRANT TEMPORARY ON DATABASE advisor TO PUBLIC")
        store.migrate(connection)
    reader = login(migrated, "advisor_reader", values["ADVISOR_READER_PASSWORD"], "advisor")
    with psycopg.connect(reader) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("CREATE TEMPORARY TABLE mine (a int)")


@pytest.mark.parametrize(
    ("user", "password", "database"),
    [
        ("airflow", "AIRFLOW_DB_PASSWORD", "advisor"),
        ("advisor_writer", "ADVISOR_WRITER_PASSWORD", "airflow"),
        ("advisor_reader", "ADVISOR_READER_PASSWORD", "airflow"),
    ],
)
def test_nobody_gets_into_the_others_database(
    migrated: str, values: dict[str, str], user: str, password: str, database: str
) -> None:
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        psycopg.connect(login(migrated, user, values[password], database))


def test_airflow_owns_its_own_and_nobody_is_a_superuser(migrated: str, values: dict[str, str]) -> None:
    with psycopg.connect(login(migrated, "airflow", values["AIRFLOW_DB_PASSWORD"], "airflow")) as connection:
        connection.execute("CREATE TABLE mine (a int)")
        supers = connection.execute("SELECT rolname FROM pg_roles WHERE rolsuper").fetchall()
    assert supers == [("postgres",)]
