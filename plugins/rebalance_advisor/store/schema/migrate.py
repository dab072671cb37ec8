"""Brings a database forward: roles, schemas, migrations, views, rights; all or nothing, one at a time."""

from __future__ import annotations

from typing import LiteralString

import psycopg
from psycopg import sql

from rebalance_advisor.store.schema import sql_files
from rebalance_advisor.store.schema.connection import Connection, StoreError
from rebalance_advisor.store.schema.giving_way import PATIENCE, Patience, giving_way, lock_all
from rebalance_advisor.store.schema.names import Names
from rebalance_advisor.store.schema.views import View, views

_LOCK = 0x6B_61_66_6B_61  # "kafka"
_OLDEST_SERVER = 150000
_ROLES_HAVE_SET_RIGHT = 160000


def migrate(connection: Connection, names: Names | None = None, patience: Patience = PATIENCE) -> tuple[str, ...]:
    """Apply what is missing, in one transaction under an advisory lock; returns the migrations applied now.

    Roles and schemas that exist are used as they are. Runs and readers may go on meanwhile: it waits for them with
    ``patience``. Needs a superuser, or a member of the owner role. Raises StoreError where an applied migration has
    changed since, where the database is ahead of this code or in use all the time, or where rights are missing.
    """
    names = names or Names.from_environment()
    _require_server(connection)

    def forward() -> tuple[str, ...]:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))  # whoever else migrates
        _make_roles(connection, names)
        _make_schemas(connection, names)
        connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(names.owner)))
        lock_all(connection, names, patience)
        applied = _apply(connection, names)
        _make_views(connection, names)
        _run(connection, names, sql_files.roles())
        return applied

    try:
        return giving_way(connection, forward, patience)
    except psycopg.errors.InsufficientPrivilege as error:
        raise StoreError(
            f"not allowed: {error.diag.message_primary}; connect as a superuser or as a member of {names.owner}, "
            f"or let an administrator make roles {names.owner}, {names.writer}, {names.reader} and schemas "
            f"{names.store}, {names.contract} owned by {names.owner}"
        ) from error


def _require_server(connection: Connection) -> None:
    if connection.info.server_version < _OLDEST_SERVER:
        raise StoreError(
            f"PostgreSQL {connection.info.server_version // 10000} is too old; 15 is the oldest that works"
        )


def _make_roles(connection: Connection, names: Names) -> None:
    for role in (names.owner, names.writer, names.reader):
        if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (role,)).rowcount == 0:
            connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role)))
    right = "SET" if connection.info.server_version >= _ROLES_HAVE_SET_RIGHT else "MEMBER"
    if not _one(connection, "SELECT pg_has_role(current_user, %s, %s)", names.owner, right):
        connection.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(sql.Identifier(names.owner)))


def _make_schemas(connection: Connection, names: Names) -> None:
    for schema in (names.store, names.contract):
        if connection.execute("SELECT FROM pg_namespace WHERE nspname = %s", (schema,)).rowcount == 0:
            statement = sql.SQL("CREATE SCHEMA {} AUTHORIZATION {}")
            connection.execute(statement.format(sql.Identifier(schema), sql.Identifier(names.owner)))


def _apply(connection: Connection, names: Names) -> tuple[str, ...]:
    table = sql.Identifier(names.store, "migration")
    connection.execute(sql.SQL(_MIGRATION_TABLE).format(table=table))
    done: dict[int, str] = dict(
        connection.execute(sql.SQL("SELECT version, checksum FROM {}").format(table)).fetchall()
    )
    known = {migration.version: migration for migration in sql_files.migrations()}
    for version in sorted(done):
        if version not in known:
            raise StoreError(f"the database has migration {version}, which this version does not know: use a newer one")
        if done[version] != known[version].checksum:
            raise StoreError(
                f"{known[version].name} has changed since it was applied: "
                "write a new migration, or migrate an empty database"
            )
    missing = [migration for version, migration in sorted(known.items()) if version not in done]
    for migration in missing:
        _run_under_views(connection, names, migration.text)
        statement = sql.SQL("INSERT INTO {} (version, name, checksum) VALUES (%s, %s, %s)").format(table)
        connection.execute(statement, (migration.version, migration.name, migration.checksum))
    return tuple(migration.name for migration in missing)


def _run_under_views(connection: Connection, names: Names, text: str) -> None:
    """A column that a view reads keeps its type: where one has to change our views go first, and are made anew."""
    try:
        with connection.transaction():
            _run(connection, names, text)
    except psycopg.errors.FeatureNotSupported:  # cannot alter type of a column used by a view or rule
        _drop_views(connection, names, [view.name for view in reversed(views())])
        _drop_views_without_a_file(connection, names, ())
        _run(connection, names, text)


_MIGRATION_TABLE = """
CREATE TABLE IF NOT EXISTS {table} (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT migration_pk PRIMARY KEY (version)
)
"""


def _make_views(connection: Connection, names: Names) -> None:
    """Replace them in place, so that rights and other people's views on them last; rebuild only where that fails."""
    listed = views()
    try:
        with connection.transaction():
            for view in listed:
                _run(connection, names, view.text)
            _drop_views_without_a_file(connection, names, listed)
    except psycopg.errors.InvalidTableDefinition:  # a column was dropped, renamed or retyped
        _drop_views(connection, names, [view.name for view in reversed(listed)])
        for view in listed:
            _run(connection, names, view.text)
        _drop_views_without_a_file(connection, names, listed)


def _drop_views_without_a_file(connection: Connection, names: Names, kept: tuple[View, ...]) -> None:
    statement = "SELECT viewname FROM pg_views WHERE schemaname = %s AND viewowner = %s"
    found = connection.execute(statement, (names.contract, names.owner)).fetchall()
    _drop_views(connection, names, sorted({name for (name,) in found} - {view.name for view in kept}))


def _drop_views(connection: Connection, names: Names, listed: list[str]) -> None:
    for name in listed:
        schema, bare = (names.store, name[1:]) if name.startswith("_") else (names.contract, name)
        try:
            connection.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(sql.Identifier(schema, bare)))
        except psycopg.errors.DependentObjectsStillExist as error:
            raise StoreError(
                f"view {schema}.{bare} changes its columns, but something else reads it: {error.diag.message_detail}; "
                "drop that, migrate again, make it anew"
            ) from error


def _run(connection: Connection, names: Names, text: str) -> None:
    connection.execute(sql.SQL(names.put_into(text)))


def _one(connection: Connection, statement: LiteralString, *parameters: object) -> object:
    row = connection.execute(statement, parameters).fetchone()
    assert row is not None
    return row[0]
