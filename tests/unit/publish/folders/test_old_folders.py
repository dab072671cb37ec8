from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rebalance_advisor.publish.folders import (
    LATEST,
    MARKER,
    Marker,
    is_latest,
    point_latest,
    remove_older,
    replace_folder,
    replace_version,
)

NOW = datetime(2026, 11, 20, tzinfo=UTC)
FILES = {"plan.json": b"{}", "waves/01.json": b"{}"}


def published(root: Path, name: str, days: float, *, is_linked: bool = False) -> Path:
    """A folder that was written so many days ago."""
    folder = root / "orders" / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    if is_linked:
        replace_version(folder, FILES, Marker(tuple(FILES), "f" * 64), folder)
    else:
        replace_folder(folder, FILES, "f" * 64)
    moment = (NOW - timedelta(days=days)).timestamp()
    for file in folder.rglob(MARKER):
        os.utime(file, (moment, moment))
    return folder


@pytest.mark.parametrize("is_linked", [False, True])
def test_what_is_older_goes_whole_and_what_is_not_stays(tmp_path: Path, is_linked: bool) -> None:
    old = published(tmp_path, "old", 401, is_linked=is_linked)
    young = published(tmp_path, "young", 399, is_linked=is_linked)
    assert remove_older(tmp_path, NOW - timedelta(days=400)) == [old]
    assert not old.exists()
    assert sorted(path.name for path in young.rglob("plan.json")) == ["plan.json"]


def test_the_latest_stays_however_old_it_is(tmp_path: Path) -> None:
    before, latest = published(tmp_path, "a", 900), published(tmp_path, "b", 800)
    assert point_latest(before)
    assert point_latest(latest)
    assert (is_latest(before), is_latest(latest)) == (False, True)
    assert remove_older(tmp_path, NOW) == [before]
    assert (tmp_path / "orders" / LATEST / "plan.json").read_bytes() == b"{}"
    assert sorted(path.name for path in latest.parent.iterdir()) == ["b", LATEST]


def test_a_strangers_file_and_a_strangers_folder_stay(tmp_path: Path) -> None:
    noted = published(tmp_path, "noted", 500)
    (noted / "note.txt").write_text("mine")
    strange = tmp_path / "orders" / "strange"
    strange.mkdir()
    (strange / "plan.json").write_text("mine")
    (tmp_path / "orders" / "link").symlink_to(strange)
    assert remove_older(tmp_path, NOW) == []
    assert (noted / "note.txt").read_text() == "mine"
    assert (strange / "plan.json").read_text() == "mine"
    assert remove_older(tmp_path / "absent", NOW) == []


def test_what_is_no_link_keeps_the_name_latest(tmp_path: Path) -> None:
    called, other = published(tmp_path, LATEST, 1), published(tmp_path, "b", 1)
    assert not point_latest(other)
    assert not point_latest(called)
    assert (called / "plan.json").exists()
    assert [path.name for path in called.parent.glob(".*")] == []
