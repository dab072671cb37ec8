"""The SQL files are found, in order, and a wrong one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalance_advisor.store.schema import sql_files
from rebalance_advisor.store.schema.sql_files import SqlFilesError
from rebalance_advisor.store.schema.views import in_order


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("migrations", "views", "queries", "checks"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(sql_files, "folder", lambda: tmp_path)
    return tmp_path


def test_migrations_are_numbered_without_a_gap_from_one() -> None:
    assert [migration.version for migration in sql_files.migrations()] == list(
        range(1, len(sql_files.migrations()) + 1)
    )
    assert all(migration.name.split("_")[1] in ("pre", "post") for migration in sql_files.migrations())


@pytest.mark.parametrize("name", ["0002_pre_skip.sql", "0001_make.sql", "1_pre_make.sql"])
def test_a_migration_with_a_wrong_name_is_refused(folder: Path, name: str) -> None:
    (folder / "migrations" / name).write_text("")
    with pytest.raises(SqlFilesError, match=f"{name}: expected 0001_pre_verb_noun.sql"):
        sql_files.migrations()


def test_the_checksum_is_the_files_own(folder: Path) -> None:
    (folder / "migrations" / "0001_pre_make.sql").write_text("SELECT 1")
    (before,) = sql_files.migrations()
    (folder / "migrations" / "0001_pre_make.sql").write_text("SELECT 2")
    (after,) = sql_files.migrations()
    assert before.checksum != after.checksum


def test_a_view_comes_after_those_it_reads(folder: Path) -> None:
    (folder / "views" / "a.sql").write_text("CREATE VIEW advisor.a AS SELECT x FROM advisor.b JOIN store.newest")
    (folder / "views" / "b.sql").write_text("CREATE VIEW advisor.b AS SELECT x FROM store.table")
    (folder / "views" / "_newest.sql").write_text("CREATE VIEW store.newest AS SELECT x FROM store.table")
    placed = [view.name for view in in_order(sql_files.view_texts())]
    assert placed.index("a") > max(placed.index("b"), placed.index("_newest"))
    assert [view.is_internal for view in in_order(sql_files.view_texts()) if view.name == "_newest"] == [True]


def test_views_that_read_each_other_are_refused(folder: Path) -> None:
    (folder / "views" / "a.sql").write_text("FROM advisor.b")
    (folder / "views" / "b.sql").write_text("FROM advisor.a")
    with pytest.raises(SqlFilesError, match=r"in a circle: \['a', 'b'\]"):
        in_order(sql_files.view_texts())


def test_an_unknown_query_or_rule_is_refused_with_what_is_known() -> None:
    with pytest.raises(SqlFilesError, match=r"no query is named nothing; known: .*find_snapshot"):
        sql_files.query("nothing")
    with pytest.raises(SqlFilesError, match="no gate rule has its SQL"):
        sql_files.check("nothing")


def test_a_query_is_its_text_without_its_name() -> None:
    text = sql_files.query("newest_published")
    assert text.startswith("-- What readers see of a cluster")
    assert "-- name:" not in text


def test_the_files_are_found_in_the_checkout_and_would_be_in_a_wheel() -> None:
    assert (sql_files.folder() / "README.md").is_file()
    # pyproject.toml puts sql/ beside the module in the wheel: the first place that is looked at.
    assert "rebalance_advisor/store/sql" in (sql_files.folder().parent / "pyproject.toml").read_text()
