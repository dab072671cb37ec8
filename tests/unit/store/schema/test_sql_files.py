from __future__ import annotations

from pathlib import Path

import pytest

from rebalance_advisor.store.schema import migrate, sql_files
from rebalance_advisor.store.schema.migrate import read_migrations, read_views
from rebalance_advisor.store.schema.sql_files import SqlFilesError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("migrations", "views", "queries", "checks"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(migrate, "folder", lambda: tmp_path)
    return tmp_path


def test_migrations_are_numbered_without_a_gap_from_one() -> None:
    assert [migration.version for migration in read_migrations()] == list(range(1, len(read_migrations()) + 1))
    assert all(migration.name.split("_")[1] in ("pre", "post") for migration in read_migrations())


@pytest.mark.parametrize("name", ["0002_pre_skip.sql", "0001_make.sql", "1_pre_make.sql"])
def test_a_migration_with_a_wrong_name_is_refused(folder: Path, name: str) -> None:
    (folder / "migrations" / name).write_text("")
    with pytest.raises(SqlFilesError, match=f"{name}: expected 0001_pre_verb_noun.sql"):
        read_migrations()


def test_the_checksum_is_the_files_own(folder: Path) -> None:
    (folder / "migrations" / "0001_pre_make.sql").write_text("SELECT 1")
    (before,) = read_migrations()
    (folder / "migrations" / "0001_pre_make.sql").write_text("SELECT 2")
    (after,) = read_migrations()
    assert before.checksum != after.checksum


def test_a_view_file_creates_the_view_of_its_name(folder: Path) -> None:
    for name, view in (("_newest_snapshot", "store.newest_snapshot"), ("a", "advisor.a"), ("_day", "store.day")):
        (folder / "views" / f"{name}.sql").write_text(f"-- Why.\nCREATE OR REPLACE VIEW {view} AS\nSELECT 1;")
    assert list(read_views()) == ["store.newest_snapshot", "store.day", "advisor.a"]
    (folder / "views" / "b.sql").write_text("CREATE OR REPLACE VIEW advisor.c AS\nSELECT 1;")
    with pytest.raises(SqlFilesError, match=r"b\.sql: expected CREATE OR REPLACE VIEW of that name"):
        read_views()


def test_an_unknown_query_is_refused_with_what_is_known() -> None:
    with pytest.raises(SqlFilesError, match=r"no query is named nothing; known: .*find_snapshot"):
        sql_files.query("nothing")


def test_a_query_is_its_text_without_its_name() -> None:
    text = sql_files.query("newest_published")
    assert text.startswith("-- Newest published run of a cluster")
    assert "-- name:" not in text


def test_the_files_are_found_in_the_checkout_and_would_be_in_a_wheel() -> None:
    assert (sql_files.folder() / "README.md").is_file()
    # pyproject.toml puts sql/ beside the module in the wheel: the first place that is looked at.
    assert "rebalance_advisor/store/sql" in (sql_files.folder().parent / "pyproject.toml").read_text()
