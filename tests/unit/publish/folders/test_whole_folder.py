import errno
import fcntl
import json
import os
import stat
import sys
import tempfile
from pathlib import Path
from subprocess import run

import pytest

from kafka_rebalance.errors import UsageError
from rebalance_advisor.publish.folders import (
    MARKER,
    NotExchangeableError,
    advisory_folder,
    check_folder,
    exchange_folders,
    plan_path,
    replace_folder,
)

OLD = {"plan.json": b"old", "waves/01.json": b"1", "waves/02.json": b"2", "report.html": b"old"}
NEW = {"plan.json": b"new", "waves/01.json": b"3", "findings.json": b"new"}


def cannot_exchange(_one: Path, _other: Path) -> None:
    raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))


both_layouts = pytest.mark.parametrize("exchange", [exchange_folders, cannot_exchange])


def content(folder: Path) -> dict[str, bytes]:
    """Files by path, without the marker."""
    version_folder = advisory_folder(folder)
    files = sorted(path for path in version_folder.rglob("*") if path.is_file() and path.name != MARKER)
    return {str(path.relative_to(version_folder)): path.read_bytes() for path in files}


def beside(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.parent.iterdir() if path != folder)


@both_layouts
@pytest.mark.parametrize("is_made", [True, False])
def test_what_stood_there_goes_whole(tmp_path: Path, exchange, is_made: bool) -> None:
    folder = tmp_path / "a" / "plan"
    if is_made:
        folder.mkdir(parents=True)
    check_folder(folder, exchange=exchange)
    for files in (OLD, NEW, NEW, OLD):
        version_folder = replace_folder(folder, files, "0123456789abcdef", exchange=exchange)
        assert content(folder) == files
        assert (version_folder / "plan.json").read_bytes() == files["plan.json"]
    assert beside(folder) == []


def test_the_marker_is_one_line_of_json_with_format_and_plan_id(tmp_path: Path) -> None:
    replace_folder(tmp_path / "plan", NEW, "abc")
    line = (tmp_path / "plan" / MARKER).read_text()
    assert line.count("\n") == 1
    assert json.loads(line) == {"format": 1, "plan_id": "abc", "files": sorted(NEW)}


def test_the_link_layout_holds_one_version_and_nothing_else(tmp_path: Path) -> None:
    for plan_id in ("a" * 64, "b" * 64):
        version_folder = replace_folder(tmp_path / "plan", NEW, plan_id, exchange=cannot_exchange)
    assert version_folder == tmp_path / "plan" / "current"
    assert {path.name for path in (tmp_path / "plan").iterdir()} == {MARKER, "current", "versions"}
    versions = list((tmp_path / "plan" / "versions").iterdir())
    assert [path.name[:12] for path in versions] == ["b" * 12]
    assert json.loads((versions[0] / MARKER).read_text())["plan_id"] == "b" * 64


def test_a_plan_is_found_in_both_layouts(tmp_path: Path) -> None:
    replace_folder(tmp_path / "one", OLD, "x")
    replace_folder(tmp_path / "two", NEW, "x", exchange=cannot_exchange)
    assert plan_path(str(tmp_path / "one")) == tmp_path / "one"
    assert plan_path(str(tmp_path / "one" / "plan.json")).read_bytes() == b"old"
    assert (plan_path(str(tmp_path / "two")) / "plan.json").read_bytes() == b"new"
    assert plan_path(str(tmp_path / "two" / "plan.json")).read_bytes() == b"new"
    assert plan_path(str(tmp_path / "two" / "current")).joinpath("plan.json").read_bytes() == b"new"
    assert plan_path(str(tmp_path / "none" / "plan.json")) == tmp_path / "none" / "plan.json"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plan.json", "{}"),
        ("notes.txt", "mine"),
        (MARKER, "{"),
        (MARKER, '{"format": 2, "plan_id": "x", "files": []}'),
        (MARKER, '{"format": 1, "plan_id": "x", "files": ["../mine"]}'),
        (MARKER, '{"format": 1, "plan_id": "x", "files": ["/etc/passwd"]}'),
        (MARKER, '{"format": 1, "plan_id": "x", "files": 7}'),
        (MARKER, "[" * 100_000),
    ],
)
@both_layouts
def test_a_folder_of_somebody_else_is_refused_and_stays(tmp_path: Path, name: str, text: str, exchange) -> None:
    folder = tmp_path / "plan"
    folder.mkdir()
    (folder / "mine").write_text("mine")
    (folder / name).write_text(text)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for attempt in (check_folder, lambda path, exchange: replace_folder(path, NEW, "x", exchange=exchange)):
        with pytest.raises(UsageError, match="plan: holds"):
            attempt(folder, exchange=exchange)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert beside(folder) == []


@pytest.mark.parametrize("name", ["notes.txt", "waves/notes.txt", "waves/77.json", "own/notes.txt"])
def test_a_strangers_file_in_our_folder_is_named_and_never_lost(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "plan"
    replace_folder(folder, OLD, "x")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("mine")
    for attempt in (check_folder, lambda path: replace_folder(path, NEW, "x")):
        with pytest.raises(UsageError, match=name.replace("own/notes.txt", "own/")):
            attempt(folder)
    assert content(folder) == OLD | {name: b"mine"}


def test_a_folder_of_ours_that_became_a_link_is_no_way_out(tmp_path: Path) -> None:
    folder, outside = tmp_path / "plan", tmp_path / "outside"
    replace_folder(folder, OLD, "x")
    (folder / "waves").rename(outside)
    (folder / "waves").symlink_to(outside)
    with pytest.raises(UsageError, match="waves"):
        replace_folder(folder, NEW, "x")
    assert sorted(path.name for path in outside.iterdir()) == ["01.json", "02.json"]


def test_files_of_ours_that_were_removed_or_changed_are_no_hindrance(tmp_path: Path) -> None:
    folder = tmp_path / "plan"
    replace_folder(folder, OLD, "x")
    (folder / "plan.json").unlink()
    (folder / "waves" / "01.json").write_text("changed")
    replace_folder(folder, NEW, "x")
    assert content(folder) == NEW


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "loop").symlink_to("loop")
    for folder in (tmp_path / "file", tmp_path / "file" / "plan"):
        with pytest.raises(UsageError, match="is no folder"):
            check_folder(folder)
    with pytest.raises(OSError, match="loop") as refused:
        check_folder(tmp_path / "loop")
    assert refused.value.filename == str(tmp_path / "loop")


@both_layouts
def test_a_link_to_a_folder_stays_a_link(tmp_path: Path, exchange) -> None:
    target, link = tmp_path / "real", tmp_path / "link"
    link.symlink_to("real")
    for files in (OLD, NEW):
        replace_folder(link, files, "x", exchange=exchange)
        assert content(target) == files
        assert link.readlink() == Path("real")


@both_layouts
@pytest.mark.parametrize("shown", [".", "../plan", "./", "../plan/."])
def test_relative_paths_and_the_folder_itself(tmp_path: Path, exchange, shown: str, monkeypatch) -> None:
    folder = tmp_path / "plan"
    folder.mkdir()
    for files in (OLD, NEW):
        monkeypatch.chdir(folder)
        replace_folder(Path(shown), files, "x", exchange=exchange)
        assert content(folder) == files


@both_layouts
def test_names_as_long_as_names_may_be_and_bytes_that_are_no_text(tmp_path: Path, exchange) -> None:
    for name in ("n" * 255, "ü" * 127, os.fsdecode(b"no\xfftext"), "with space\nand line"):
        for files in (OLD, NEW):
            replace_folder(tmp_path / name, files, "x", exchange=exchange)
        assert content(tmp_path / name) == NEW


def test_mode_and_group_of_the_folder_stay(tmp_path: Path) -> None:
    folder = tmp_path / "plan"
    replace_folder(folder, OLD, "x")
    folder.chmod(0o2750)
    replace_folder(folder, NEW, "x")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o2750


def test_a_folder_that_cannot_be_exchanged_where_it_stands_is_left_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "plan"
    replace_folder(folder, OLD, "x")
    for attempt in (check_folder, lambda path, exchange: replace_folder(path, NEW, "x", exchange=exchange)):
        with pytest.raises(NotExchangeableError, match="nothing was changed"):
            attempt(folder, exchange=cannot_exchange)
    assert content(folder) == OLD
    assert beside(folder) == []


def test_what_killed_runs_left_is_removed_and_what_is_under_way_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "plan"
    dead, empty, alive, strange = (tmp_path / f".plan.new-{name}" for name in ("dead", "empty", "alive", "strange"))
    for path in (dead, alive):
        replace_folder(path, OLD, "x")
    for path in (empty, strange):
        path.mkdir()
    (strange / "mine").write_text("mine")
    with (alive / MARKER).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        replace_folder(folder, NEW, "x")
    assert beside(folder) == [alive.name, strange.name]
    assert content(alive) == OLD
    assert content(folder) == NEW


def test_the_link_layout_keeps_a_version_that_is_being_made(tmp_path: Path) -> None:
    folder = tmp_path / "plan"
    replace_folder(folder, OLD, "x", exchange=cannot_exchange)
    replace_folder(folder / "versions" / "alive", NEW, "x")
    (folder / ".current-alive").symlink_to("versions/alive")
    (folder / ".current-dead").symlink_to("versions/dead")
    with (folder / "versions" / "alive" / MARKER).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        replace_folder(folder, NEW, "x", exchange=cannot_exchange)
    assert len(list((folder / "versions").iterdir())) == 2
    assert sorted(path.name for path in folder.iterdir()) == [".current-alive", MARKER, "current", "versions"]
    replace_folder(folder, OLD, "x", exchange=cannot_exchange)
    assert len(list((folder / "versions").iterdir())) == 1
    assert sorted(path.name for path in folder.iterdir()) == [MARKER, "current", "versions"]


AS_NOBODY = """
import os, sys
from pathlib import Path
from rebalance_advisor.publish.folders import check_folder, replace_folder
if os.geteuid() == 0:  # only now, for root's own Python may be out of others' sight
    os.setgid(65534); os.setuid(65534)
folder = Path(sys.argv[1])
try:
    check_folder(folder)
    for text in (b"old", b"new"):
        print(replace_folder(folder, {"plan.json": text}, "x").relative_to(folder.parent))
except Exception as error:
    print(type(error).__name__, error)
"""


def as_nobody(folder: Path) -> list[str]:
    """Rights do not bind root: written by a process without privileges."""
    done = run([sys.executable, "-c", AS_NOBODY, str(folder)], capture_output=True, text=True, check=False)
    return [*done.stdout.splitlines(), *done.stderr.splitlines()]


def test_a_parent_that_is_not_ours_to_write() -> None:
    with tempfile.TemporaryDirectory() as outer_folder:
        parent = Path(outer_folder) / "parent"
        Path(outer_folder).chmod(0o755)
        for name in ("empty", "closed"):
            (parent / name).mkdir(parents=True)
        (parent / "empty").chmod(0o777)
        parent.chmod(0o555)
        assert as_nobody(parent / "absent") == [
            f"PermissionError [Errno 13] Permission denied: '{parent / 'absent'}'"
        ]  # fmt: skip
        assert as_nobody(parent / "closed") == [
            f"PermissionError [Errno 13] Permission denied: '{parent / 'closed'}'"
        ]  # fmt: skip
        assert as_nobody(parent / "empty") == ["empty/current", "empty/current"]
        assert content(parent / "empty") == {"plan.json": b"new"}
        parent.chmod(0o755)


def test_ours_in_a_parent_that_is_no_longer_ours_to_write_is_left_as_it_is() -> None:
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "plan"
        replace_folder(folder, OLD, "x")
        folder.chmod(0o777)
        Path(parent).chmod(0o555)
        message = as_nobody(folder)
        Path(parent).chmod(0o755)
        assert len(message) == 1
        assert "NotExchangeableError" in message[0]
        assert "nothing may be written beside it (Permission denied); nothing was changed" in message[0]
        assert content(folder) == OLD
