"""The contract's description, without a database: files, page and code go together."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from sqlalchemy import BigInteger, Double

from rebalance_advisor.store.rows import results
from rebalance_advisor.store.schema import sql_files
from rebalance_advisor.store.schema.contract import CONTRACT, history_of, unit_of
from rebalance_advisor.store.schema.contract.page import with_contract
from rebalance_advisor.store.schema.sql_files import SqlFilesError
from rebalance_advisor.store.schema.views import comments, in_order, latest_twin, views

TABLES = {table.name: table for table in CONTRACT.sorted_tables}
PAGE = sql_files.folder() / "README.md"


def test_every_view_has_a_description_and_every_description_a_view() -> None:
    assert {view.name for view in views() if not view.is_internal} == set(TABLES)
    assert len(TABLES) > 60


def test_everything_described_has_a_comment() -> None:
    assert [table.name for table in TABLES.values() if not table.comment] == []
    assert [str(column) for table in TABLES.values() for column in table.columns if not column.comment] == []


def test_a_view_selects_its_columns_in_the_order_of_the_contract() -> None:
    """By the file alone: the last word of each line of its first SELECT list."""
    compared = 0
    for name, text in sql_files.view_texts().items():
        found = re.match(r"CREATE OR REPLACE VIEW advisor\.\w+ AS\nSELECT\n((?:    \S.*\n|      .*\n)+?)FROM ", text)
        if name in TABLES and found is not None:
            lines = [line for line in found[1].splitlines() if re.match(r"    \S", line)]
            selected = [re.split(r"[ .]", line.rstrip(","))[-1] for line in lines]
            assert selected == [column.name for column in TABLES[name].columns], name
            compared += 1
    assert compared >= 30


def test_twins_have_the_columns_of_their_history() -> None:
    twins = {table.name: history_of(table) for table in TABLES.values() if history_of(table)}
    assert len(twins) >= 24
    for name, history in twins.items():
        assert name == f"{history}_latest"
        described = [(column.name, str(column.type), column.comment) for column in TABLES[name].columns]
        assert described == [(column.name, str(column.type), column.comment) for column in TABLES[history].columns]


def test_a_twin_is_of_the_newest_instead_of_all() -> None:
    text = (
        "CREATE OR REPLACE VIEW advisor.move AS\nSELECT\n    run.time,\n    move.topic,\n    store.run.x\n"
        "FROM store.run\nJOIN store.move\n    ON move.run_key = run.run_key\nWHERE run.status = 'published';\n"
    )
    assert latest_twin(text, "move") == (
        "CREATE OR REPLACE VIEW advisor.move_latest AS\nSELECT\n    newest.time,\n    move.topic,\n    store.run.x\n"
        "FROM store.newest_run AS newest\nJOIN store.move\n    ON move.run_key = newest.run_key;\n"
    )
    with pytest.raises(SqlFilesError, match="write its twin"):
        latest_twin("CREATE VIEW advisor.a AS SELECT 1;", "a")


def test_comments_are_quoted() -> None:
    text = comments(TABLES["snapshot"])
    assert "COMMENT ON COLUMN advisor.snapshot.snapshot_id IS 'sha256 of the reading''s content.';" in text
    assert comments(None) == ""


def test_a_file_without_a_description_is_refused(monkeypatch, tmp_path: Path) -> None:
    texts = {
        "_newest_run": "CREATE VIEW store.newest_run AS SELECT 1",
        "stray": "CREATE VIEW advisor.stray AS SELECT 1",
    }
    monkeypatch.setattr(sql_files, "view_texts", lambda: dict(texts))
    with pytest.raises(SqlFilesError, match="needs both a file in sql/views and an entry"):
        views()
    assert [view.name for view in in_order(texts)] == ["_newest_run", "stray"]


def test_units_are_those_of_the_names() -> None:
    units = {column.name: unit_of(column) for table in TABLES.values() for column in table.columns}
    assert units["capacity_in_bytes_per_s"] == "bytes/s"
    assert units["total_bytes"] == "bytes"
    assert units["lag_messages"] == "messages"
    assert units["broker"] is units["plan_id"] is None
    measured = {column.name for table in TABLES.values() for column in table.columns
                if isinstance(column.type, Double | BigInteger) and "bytes" in column.name}  # fmt: skip
    assert [name for name in measured if not (units[name] or "").startswith("bytes")] == []


def test_the_page_is_what_the_contract_says() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_contract(text) == text, "run: python -m stack.postgres.dump_schema"
    assert [name for name in TABLES if f"`{name}`" not in text] == []


def test_scores_are_saved_in_columns_of_the_contract() -> None:
    """What a run's jobs may write of each score is what readers see of it."""
    for table, required in results._REQUIRED.items():
        own = {*required, *results._OPTIONAL[table]}
        shown = {column.name for column in TABLES[table].columns} - {"time", "cluster", "run_id"}
        if table == "group_score":
            shown.remove("type")  # of the reading's group
        assert own == shown, table


def test_only_what_the_database_needs_imports_sqlalchemy() -> None:
    """The base install has none: modules outside the contract import it late or for types alone."""
    root = sql_files.folder().parent / "plugins"
    loud = []
    for file in sorted(root.rglob("*.py")):
        if file.parent.name == "contract" or "page" in file.relative_to(root).parts:  # the page is made late itself
            continue
        top = [node for node in ast.parse(file.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)]
        names = [node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name for node in top]
        if any(name.startswith("sqlalchemy") or ".schema.contract" in name for name in names):
            loud.append(file.name)
    assert loud == []
