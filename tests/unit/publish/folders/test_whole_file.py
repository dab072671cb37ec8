import errno
import fcntl
import os
import stat
import threading
from functools import partial
from pathlib import Path

import pytest

from kafka_rebalance.errors import UsageError
from rebalance_advisor.cli.main import main
from rebalance_advisor.publish.folders import check_file, replace_file
from tests.sample import sample
from tests.unit.publish.file_moments import Strike, Striker, end_of


@pytest.mark.parametrize("name", ["cluster.json", "n" * 255, os.fsdecode(b"no\xfftext")])
def test_what_stood_there_goes_whole(tmp_path: Path, name: str) -> None:
    for content in (b"old", b"", b"new"):
        check_file(tmp_path / name)
        replace_file(tmp_path / name, content)
        assert (tmp_path / name).read_bytes() == content
    assert len(list(tmp_path.iterdir())) == 1


def test_a_link_and_a_mode_stay(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    replace_file(tmp_path / "link", b"new")
    assert (tmp_path / "link").readlink() == Path("real")
    assert (tmp_path / "real").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    check_file(tmp_path / "pipe")
    writer = threading.Thread(target=replace_file, args=(tmp_path / "pipe", b"new"))
    writer.start()
    assert (tmp_path / "pipe").read_bytes() == b"new"
    writer.join()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_what_cannot_be_is_refused_before_the_cluster_is_asked(tmp_path: Path, capsys) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        check_file(tmp_path)
    (tmp_path / "file").touch()
    for wrong, reason in ((tmp_path / "none" / "x", "No such file"), (tmp_path / "file" / "x", "Not a directory")):
        with pytest.raises(OSError, match=reason) as refused:
            check_file(wrong)
        assert refused.value.filename == str(wrong)
    assert main(["snapshot", "--bootstrap", "127.0.0.1:1", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"error: {tmp_path}: is a folder; give the name of a file",
        "see: rebalance-advisor snapshot --help",
    ]


def test_two_runs_at_once_do_not_mix(tmp_path: Path) -> None:
    replace_file(tmp_path / "file", b"old")
    with (tmp_path / ".file.part").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(BlockingIOError, match="another run is writing it"):
            replace_file(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    replace_file(tmp_path / "file", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("strike", Strike)
@pytest.mark.parametrize("before", sample([b"", b"old" * 99], [b"old" * 99]))
def test_at_every_moment_the_old_or_the_new_stands(tmp_path: Path, strike: Strike, before: bytes) -> None:
    file, new = tmp_path / "file", b"new" * 77
    replace_file(file, before)
    work = partial(write_new, file, new)
    moments = len(end_of(work, Striker()).seen)
    assert moments > 5
    for moment in range(1, moments + 1):
        replace_file(file, before)
        ending = end_of(work, Striker(moment, strike))
        assert file.read_bytes() in (before, new)
        assert ending.is_killed == (strike in (Strike.KILL, Strike.KILL_WITHIN))
        if isinstance(ending.error, OSError):
            assert (ending.error.errno, ending.error.filename) == (errno.ENOSPC, str(file))
        replace_file(file, new)
        assert file.read_bytes() == new
        assert [path.name for path in tmp_path.iterdir()] == ["file"]


def write_new(file: Path, content: bytes, _striker: Striker) -> None:
    replace_file(file, content)
