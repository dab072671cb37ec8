"""Public views have COMMENTs and listed columns, and the reader role sees them and nothing else."""

from __future__ import annotations

import re

import psycopg
import pytest

from rebalance_advisor.store.rows import results
from rebalance_advisor.store.schema import sql_files
from rebalance_advisor.store.schema.migrate import read_migrations, read_views
from stack.postgres.dump_schema import PAGE, with_views

pytestmark = pytest.mark.stack


def contract_columns(connection) -> list[tuple[str, str, str, str | None]]:
    """(view, column, type, comment) of every column of the contract."""
    return connection.execute(
        """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), col_description(c.oid, a.attnum)
        FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
        WHERE c.relnamespace = 'advisor'::regnamespace
        ORDER BY c.relname, a.attnum
        """
    ).fetchall()


def test_every_view_and_every_column_has_a_comment(connection) -> None:
    without = [f"{view}.{column}" for view, column, _, comment in contract_columns(connection) if not comment]
    assert without == []
    views = connection.execute(
        "SELECT relname, obj_description(oid, 'pg_class') FROM pg_class WHERE relnamespace = 'advisor'::regnamespace"
    ).fetchall()
    assert len(views) > 60
    assert [name for name, comment in views if not comment] == []


def test_a_twin_has_the_columns_and_comments_of_its_history(connection) -> None:
    columns: dict[str, list[tuple[str, str, str | None]]] = {}
    for view, *column in contract_columns(connection):
        columns.setdefault(view, []).append(tuple(column))
    twins = [view for view in columns if f"{view}_latest" in columns and view not in ("snapshot", "run")]
    assert len(twins) > 20
    assert [view for view in twins if columns[view] != columns[f"{view}_latest"]] == []


def test_scores_are_saved_in_columns_of_the_public_views(connection) -> None:
    """Jobs may write just those columns of a score that readers see."""
    columns = contract_columns(connection)
    for table, required in results._REQUIRED.items():
        written = {*required, *results._OPTIONAL[table]}
        shown = {column for view, column, *_ in columns if view == table} - {"started_at", "cluster", "run_id"}
        if table == "group_score":
            shown.remove("type")  # of the reading's group
            written -= {"advice", "rollover", "lag_seconds"}  # of group_drain_latest, group_overview_latest
        assert written == shown, table


def test_every_view_begins_with_a_time_with_zone_and_the_cluster(connection) -> None:
    columns: dict[str, list[tuple[str, str]]] = {}
    for view, column, kind, _ in contract_columns(connection):
        columns.setdefault(view, []).append((column, kind))
    times = {view: first for view, (first, *_) in columns.items()}
    assert {kind for _, kind in times.values()} == {"timestamp with time zone"}
    assert {name for name, _ in times.values()} == {
        "captured_at", "started_at", "period_start", "checked_at", "asked_at", "failed_at", "last_activity_at",
    }  # fmt: skip
    assert {second for _, (_, second, *_) in columns.items()} == {("cluster", "text")}


def test_no_time_of_the_contract_lacks_a_zone(connection) -> None:
    naive = [
        f"{view}.{column}" for view, column, kind, _ in contract_columns(connection) if "without time zone" in kind
    ]
    assert naive == []


def test_no_private_key_is_part_of_the_contract(connection) -> None:
    assert [f"{view}.{column}" for view, column, *_ in contract_columns(connection) if column.endswith("_key")
            and column != "finding_key"] == []  # fmt: skip


def test_the_contract_holds_views_only(connection) -> None:
    kinds = connection.execute(
        "SELECT DISTINCT relkind FROM pg_class WHERE relnamespace = 'advisor'::regnamespace"
    ).fetchall()
    assert kinds == [("v",)]


@pytest.mark.parametrize("folder", ["views", "queries", "migrations"])
def test_no_sql_file_asks_for_every_column(folder) -> None:
    asks = [
        file.name
        for file in sorted((sql_files.folder() / folder).glob("*.sql"))
        if re.search(r"(SELECT|,)\s+(\w+\.)?\*", re.sub(r"--[^\n]*|count\(\*\)", "", file.read_text()))
    ]
    assert asks == []


def test_every_view_is_listed_and_no_other_stands(connection) -> None:
    listed = {name for (name,) in connection.execute("SELECT viewname FROM pg_views WHERE schemaname = 'advisor'")}
    assert {f"advisor.{name}" for name in listed} == {name for name in read_views() if name.startswith("advisor.")}


def test_the_reader_sees_every_view_of_the_contract(connection) -> None:
    views = sorted({view for view, *_ in contract_columns(connection)})
    with connection.transaction():
        connection.execute("SET LOCAL ROLE advisor_reader")
        for view in views:
            connection.execute(f"SELECT count(*) FROM advisor.{view}")


def test_the_reader_sees_and_changes_nothing_else(connection) -> None:
    rights = connection.execute(
        """
        SELECT c.oid::regclass::text, p.name
        FROM pg_class c
        CROSS JOIN (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE'), ('TRUNCATE')) AS p (name)
        WHERE c.relnamespace IN ('store'::regnamespace, 'advisor'::regnamespace) AND c.relkind IN ('r', 'v', 'p')
            AND has_table_privilege('advisor_reader', c.oid, p.name)
            AND NOT (c.relnamespace = 'advisor'::regnamespace AND p.name = 'SELECT')
        """
    ).fetchall()
    assert rights == []
    assert connection.execute("SELECT has_schema_privilege('advisor_reader', 'store', 'USAGE')").fetchone() == (False,)
    for statement in ("SELECT FROM store.run", "SELECT store.ensure_week(now())", "CREATE VIEW advisor.x AS SELECT 1"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            as_reader(connection, statement)


def as_reader(connection, statement: str) -> None:
    with connection.transaction():
        connection.execute("SET LOCAL ROLE advisor_reader")
        connection.execute(statement)


def test_every_index_says_which_query_it_serves_or_is_of_a_snapshot_or_run() -> None:
    """The head of 0001 speaks for the indices by which one snapshot is read; others have a line above them."""
    silent = []
    for migration in read_migrations():
        lines = migration.text.splitlines()
        for before, line in zip(["", *lines], lines, strict=False):
            if line.startswith("CREATE INDEX") and not before.startswith("--"):
                name = line.split()[2]
                if not name.endswith(("_of_snapshot", "_of_run")):
                    silent.append(name)
    assert silent == []


def test_the_readme_lists_every_view_with_its_comment(dsn) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_views(text, dsn) == text, "run: python -m stack.postgres.dump_schema"
    assert "(views/finding_latest.sql)" in text


def test_every_named_query_says_what_for() -> None:
    silent = [name for name in sql_files.query_names() if not sql_files.query(name).startswith("-- ")]
    assert silent == []
    assert len(sql_files.query_names()) > 20
