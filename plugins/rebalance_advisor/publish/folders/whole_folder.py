"""A folder of files that is replaced whole: a reader finds the old advisory or the new one, never a mixture.

Everything is written into a folder beside, synced, and then changes places with what stands there; the old one, now
under the name beside, is removed. So a kill, a full disk or Ctrl-C at any moment leaves the old advisory or the new
one; what it leaves beside (``.DIR.new-*``) is removed by the next run.

Where the file system cannot exchange two folders (NFS, systems other than Linux), or nothing can be made beside (a
mount point, a parent of somebody else), the folder keeps its advisory behind a link: see ``version_folders``. Which of
the two it is, is decided when the folder is first written. A folder that was copied from elsewhere to where it cannot
be exchanged is refused: no step would turn the one into the other.

A link to a folder stays a link: what it points to is replaced. A shell whose current directory is the folder stands in
the old one afterwards, and finds the new one by ``cd .``.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from kafka_rebalance.errors import AdvisorError, UsageError
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.publish.folders.durable_files import naming, sync_folder, write_files
from rebalance_advisor.publish.folders.exchange import exchange_folders
from rebalance_advisor.publish.folders.folder_marker import Marker, Standing, read_marker, standing_of
from rebalance_advisor.publish.folders.version_folders import CURRENT, advisory_folder, replace_version
from rebalance_advisor.publish.folders.work_folder import remove_left_over, work_folder

Exchange = Callable[[Path, Path], None]
_NOT_ALLOWED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_LONGEST_NAME = 200
_PROBES = ("one", "other")


class NotExchangeableError(AdvisorError):
    """A folder of ours stands where folders cannot be exchanged: it cannot be replaced in one step."""

    @classmethod
    def of(cls, folder: Path, reason: str) -> NotExchangeableError:
        """Say why, and what to do."""
        return cls(
            f"{folder}: cannot be replaced in one step: {reason}; nothing was changed: "
            "give a folder that is empty or does not exist yet"
        )


def check_folder(folder: Path, *, exchange: Exchange = exchange_folders) -> None:
    """May an advisory be written here? Asked before the work, so that nobody waits for a refusal.

    Raises UsageError where the folder is not absent, empty or ours, or holds an advisory of the pipeline, OSError where
    nothing can be written.
    """
    target = Path(os.path.realpath(folder))
    with naming(folder):
        _require_same_run(target, Marker(()), folder)
        _has_versions(target, standing_of(target, folder), folder, exchange)


def replace_folder(
    folder: Path,
    files: Mapping[str, bytes],
    plan_id: str,
    *,
    run_id: str | None = None,
    exchange: Exchange = exchange_folders,
) -> Path:
    """Let ``files``, by their paths in it, be all that ``folder`` holds; returns where they are to be read.

    ``run_id``: of the pipeline's run that writes. Raises UsageError where the folder is not absent, empty or ours, or
    holds an advisory of another run, OSError, which names the file, where it cannot be written; what stood there then
    still stands.
    """
    target = Path(os.path.realpath(folder))
    marker = Marker(tuple(files), plan_id, run_id=run_id)
    parent, prefix = target.parent, _prefix(target)
    with naming(folder):
        standing = standing_of(target, folder)
        _require_same_run(target, marker, folder)
        parent.mkdir(parents=True, exist_ok=True)
        remove_left_over(parent, prefix)
        if _has_versions(target, standing, folder, exchange):
            replace_version(target, files, marker, folder)
            return folder / CURRENT
        with work_folder(parent, prefix, marker) as work:
            write_files(work, files, folder)
            _require_same_run(target, marker, folder)
            _put(work, target, folder, exchange)
            sync_folder(parent)
    return folder


def _require_same_run(target: Path, marker: Marker, shown: Path) -> None:
    """Raise UsageError where the folder holds an advisory of another run: a person may be carrying it out."""
    there = read_marker(advisory_folder(target))
    if there is None or there.has_versions or there.run_id == marker.run_id:
        return
    owner = "no run" if there.run_id is None else f"run {excerpt(there.run_id)}"
    raise UsageError(f"{shown}: holds an advisory of {owner}; move it away, or give another folder")


def _put(work: Path, target: Path, shown: Path, exchange: Exchange) -> None:
    """Asked again: what stands there may have changed while the plan was made."""
    standing = standing_of(target, shown)
    if standing is Standing.ABSENT:
        work.rename(target)
        return
    _take_rights(work, target)
    if standing is Standing.EMPTY:
        work.rename(target)
    else:
        exchange(work, target)


def _has_versions(target: Path, standing: Standing, shown: Path, exchange: Exchange) -> bool:
    """Whether the advisory goes behind a link; a folder of ours stays as it was made."""
    if standing is Standing.VERSIONS:
        _require_writable(target)
        return True
    is_mounted = os.path.ismount(target)
    try:
        if not is_mounted and _can_exchange_beside(target, exchange):
            return False
    except OSError as error:
        if standing is Standing.ABSENT or error.errno not in _NOT_ALLOWED:
            raise
        if standing is Standing.OURS:
            raise NotExchangeableError.of(shown, f"nothing may be written beside it ({error.strerror})") from error
    if standing is Standing.OURS:
        raise NotExchangeableError.of(shown, "folders cannot be exchanged here")
    if standing is Standing.EMPTY:
        _require_writable(target)
    return True


def _can_exchange_beside(target: Path, exchange: Exchange) -> bool:
    """Tried, for no table of file systems tells. Raises OSError where nothing can be made beside ``target``."""
    beside = target
    while not beside.parent.exists():
        beside = beside.parent
    with work_folder(beside.parent, _prefix(beside), Marker(_PROBES)) as work:
        for name in _PROBES:
            os.close(os.open(work / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        try:
            exchange(work / _PROBES[0], work / _PROBES[1])
        except OSError:
            return False
    return True


def _prefix(target: Path) -> str:
    """How the names of folders beside begin; a long name is told by its hash, for names have a longest length."""
    name = target.name
    if len(os.fsencode(name)) > _LONGEST_NAME:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return f".{name}.new-"


def _require_writable(folder: Path) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def _take_rights(work: Path, target: Path) -> None:
    """Mode and group of the folder whose place it takes: who could read the old advisory can read the new one."""
    status = target.stat()
    with contextlib.suppress(PermissionError):
        if work.stat().st_gid != status.st_gid:
            os.chown(work, -1, status.st_gid)
        work.chmod(stat.S_IMODE(status.st_mode))
