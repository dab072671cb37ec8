"""Migrations: roles and schemas, numbered steps, views, rights; in one transaction, one runner at a time.

It locks all our tables and views at once, with a timeout below the server's ``deadlock_timeout``; on failure it rolls
back, pauses and retries. So it never blocks or kills runs and readers for long.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Collection
from dataclasses import dataclass

import psycopg
from psycopg import sql

from rebalance_advisor.store.schema.connection import Connection, StoreError, named
from rebalance_advisor.store.schema.sql_files import SqlFilesError, folder

_OLDEST_SERVER = 150000
_FILE_NAME = re.compile(r"(\d{4})_(pre|post)_(\w+)\.sql")
_CREATE_VIEW = re.compile(r"^CREATE OR REPLACE VIEW (\w+)\.(\w+) AS$", re.MULTILINE)
# Created first; other internal views (_NAME) sort before public ones.
_VIEWS_READ_BY_VIEWS = ("_newest_run", "_newest_snapshot", "_published_run", "run_attempt")
_LOCK_FAILED = (psycopg.errors.QueryCanceled, psycopg.errors.DeadlockDetected)
# A view blocks a column's change, or would itself drop, rename or retype one.
_VIEW_IN_THE_WAY = (
    psycopg.errors.FeatureNotSupported,
    psycopg.errors.DependentObjectsStillExist,
    psycopg.errors.InvalidTableDefinition,
)


@dataclass(frozen=True, slots=True)
class Migration:
    """``pre`` is safe before the new code runs, ``post`` only after."""

    version: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        """An applied migration never changes."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def read_migrations() -> tuple[Migration, ...]:
    migrations: list[Migration] = []
    for file in sorted((folder() / "migrations").glob("*.sql")):
        match = _FILE_NAME.fullmatch(file.name)
        if match is None or int(match[1]) != len(migrations) + 1:
            raise SqlFilesError(f"{file.name}: expected {len(migrations) + 1:04d}_pre_verb_noun.sql (or _post_)")
        migrations.append(Migration(int(match[1]), file.stem, file.read_text(encoding="utf-8")))
    return tuple(migrations)


def read_views() -> dict[str, str]:
    """SQL by ``schema.name`` in order of creation."""
    views: dict[str, str] = {}
    files = (folder() / "views").glob("*.sql")
    for file in sorted(files, key=lambda file: (file.stem not in _VIEWS_READ_BY_VIEWS, file.stem)):
        text = file.read_text(encoding="utf-8")
        match = _CREATE_VIEW.search(text)
        if match is None or match[2] != file.stem.removeprefix("_"):
            raise SqlFilesError(f"{file.name}: expected CREATE OR REPLACE VIEW of that name")
        views[f"{match[1]}.{match[2]}"] = text
    return views


def migrate(connection: Connection, *, pause_s: float = 1.0, give_up_s: float = 900.0) -> tuple[str, ...]:
    """Return the migrations applied now.

    Needs a superuser or member of ``advisor_owner``. Raises StoreError for a changed migration, a newer database, one
    in use for ``give_up_s`` seconds, and missing rights.
    """
    if connection.info.server_version < _OLDEST_SERVER:
        version = connection.info.server_version // 10000
        raise StoreError(f"PostgreSQL {version} is too old; 15 is the oldest that works")
    give_up_at = time.monotonic() + give_up_s
    while True:
        try:
            with connection.transaction():
                return _migrate_once(connection)
        except psycopg.errors.InsufficientPrivilege as error:
            raise StoreError(
                f"not allowed: {error.diag.message_primary}; connect as a superuser or a member of advisor_owner, or "
                "let an administrator create roles advisor_owner, advisor_writer, advisor_reader and schemas store, "
                "advisor owned by advisor_owner"
            ) from error
        except _LOCK_FAILED as error:
            if time.monotonic() >= give_up_at:
                raise StoreError(_describe_blockers(connection, give_up_s)) from error
        time.sleep(pause_s)


def _migrate_once(connection: Connection) -> tuple[str, ...]:
    connection.execute(named("lock_migrations"))
    _run_file(connection, "bootstrap.sql")
    _lock_relations(connection)
    try:
        with connection.transaction():
            applied = _apply_migrations(connection)
            _create_views(connection)
    except _VIEW_IN_THE_WAY:
        _drop_views(connection)
        applied = _apply_migrations(connection)
        _create_views(connection)
    _run_file(connection, "roles.sql")
    return applied


def _lock_relations(connection: Connection) -> None:
    relations = connection.execute(named("list_own_relations")).fetchall()
    names = sql.SQL(", ").join(sql.Identifier(*relation) for relation in relations)
    connection.execute(named("limit_lock_wait"))
    connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(names))
    connection.execute("SET LOCAL statement_timeout = 0")


def _apply_migrations(connection: Connection) -> tuple[str, ...]:
    applied: dict[int, str] = dict(connection.execute(named("list_migrations")).fetchall())
    migrations = read_migrations()
    if unknown := sorted(applied.keys() - {migration.version for migration in migrations}):
        raise StoreError(f"the database has migration {unknown[0]}, which this version does not know: use a newer one")
    missing = [migration for migration in migrations if migration.version not in applied]
    for migration in migrations:
        if applied.get(migration.version, migration.checksum) != migration.checksum:
            raise StoreError(
                f"{migration.name} has changed since it was applied: write a new migration, "
                "or migrate an empty database"
            )
    for migration in missing:
        connection.execute(sql.SQL(migration.text))
        values = {"version": migration.version, "name": migration.name, "checksum": migration.checksum}
        connection.execute(named("record_migration"), values)
    return tuple(migration.name for migration in missing)


def _create_views(connection: Connection) -> None:
    """In place, which keeps rights and dependent views; drop ours without a file."""
    views = read_views()
    for text in views.values():
        connection.execute(sql.SQL(text))
    _drop_views(connection, keep=views)


def _drop_views(connection: Connection, keep: Collection[str] = ()) -> None:
    """In one statement, because they depend on each other."""
    views = connection.execute(named("list_own_views")).fetchall()
    dropped = [sql.Identifier(schema, name) for schema, name in views if f"{schema}.{name}" not in keep]
    if not dropped:
        return
    try:
        connection.execute(sql.SQL("DROP VIEW {}").format(sql.SQL(", ").join(dropped)))
    except psycopg.errors.DependentObjectsStillExist as error:
        raise StoreError(
            f"views change their columns, but another object reads them: {error.diag.message_detail}; drop it, migrate "
            "again, create it again"
        ) from error


def _run_file(connection: Connection, name: str) -> None:
    connection.execute(sql.SQL((folder() / name).read_text(encoding="utf-8")))


def _describe_blockers(connection: Connection, give_up_s: float) -> str:
    rows = connection.execute(named("list_open_transactions")).fetchall()
    blockers = "; ".join(f"pid {pid} ({name or 'no name'}) since {since:%H:%M:%S} UTC" for pid, name, since in rows)
    return (
        f"no lock on the database within {give_up_s:.0f} seconds: open transactions: "
        f"{blockers or 'none that this login may see'}; wait until they end, or end them, and migrate again"
    )
