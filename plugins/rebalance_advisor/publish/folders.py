"""Replace a folder of files atomically: a reader finds the old advisory or the new one.

Files are written to a sibling folder, synced, and exchanged by Linux's ``renameat2`` with ``RENAME_EXCHANGE``. The next
run removes leftovers (``.DIR.new-*``) of killed runs, recognised by an unlocked marker.

Where folders cannot be exchanged (NFS, other systems, mount points, foreign parents), a new link is renamed over
``DIR/current`` -> ``DIR/versions/NAME``. The first write chooses the form; a folder copied to a place without exchange
is refused.

The marker ``.rebalance-advisor`` (JSON: ``format``, ``plan_id``, ``files``, ``run_id``) makes a folder ours; only files
that it names are removed. ``CLUSTER/latest`` links to the newest published advisory, set by one process at a time after
readers see the run.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import hashlib
import json
import logging
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

from kafka_assignors.errors import AdvisorError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.errors import UsageError

MARKER = ".rebalance-advisor"
_FORMAT = 1
# At most one folder deep, so that a foreign marker or manifest names no files outside.
PUBLISHED_NAME = re.compile(r"(?:[\w-]+/)?[\w-][\w.-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Marker:
    """``has_versions``: behind the link ``current``."""

    files: tuple[str, ...]
    plan_id: str | None = None
    has_versions: bool = False
    run_id: str | None = None

    @property
    def folders(self) -> tuple[str, ...]:
        return tuple(sorted({name.partition("/")[0] for name in self.files if "/" in name}))

    def line(self) -> bytes:
        document: dict[str, Any] = {"format": _FORMAT, "plan_id": self.plan_id, "files": sorted(self.files)}
        if self.has_versions:
            document["has_versions"] = True
        if self.run_id is not None:
            document["run_id"] = self.run_id
        return json.dumps(document).encode() + b"\n"


class Standing(Enum):
    ABSENT = "absent"
    EMPTY = "empty"
    OURS = "ours"
    VERSIONS = "ours, with versions behind a link"


def read_marker(folder: Path) -> Marker | None:
    """None for a missing, incomplete or unknown marker."""
    try:
        document = json.loads(_content(folder / MARKER))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        return None
    names, plan_id, run_id = document.get("files"), document.get("plan_id"), document.get("run_id")
    if not isinstance(names, list) or not all(
        isinstance(name, str) and PUBLISHED_NAME.fullmatch(name) for name in names
    ):
        return None
    return Marker(
        files=tuple(names),
        plan_id=plan_id if isinstance(plan_id, str) else None,
        has_versions=document.get("has_versions") is True,
        run_id=run_id if isinstance(run_id, str) else None,
    )


def standing_of(target: Path, display_path: Path) -> Standing:
    try:
        entries = [entry.name for entry in target.iterdir()]
    except FileNotFoundError:
        return Standing.ABSENT
    except NotADirectoryError:
        raise UsageError(f"{display_path}: is no folder; give a folder, or a name that does not exist yet") from None
    if not entries:
        return Standing.EMPTY
    marker = read_marker(target)
    # A run writes the marker first: alone, even partial, it is a killed run's.
    if (marker is None and entries == [MARKER]) or (marker is not None and marker.has_versions):
        return Standing.VERSIONS
    if marker is None:
        raise UsageError(
            f"{display_path}: holds {min(entries)!r} and no readable {MARKER}, so it was not written by this advisor; "
            "give a folder that is empty or does not exist yet, or move this one away"
        )
    stranger = _stranger(target, marker)
    if stranger is not None:
        raise UsageError(
            f"{display_path}: {stranger!r} was not written by this advisor and would be lost; "
            "move it away, or give another folder"
        )
    return Standing.OURS


def _content(file: Path) -> bytes:
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
        return stream.read()


def _stranger(folder: Path, marker: Marker) -> str | None:
    for name in _names_in(folder, marker.folders):
        if name != MARKER and name not in marker.files:
            return name
    return None


def _names_in(folder: Path, expected: Iterable[str]) -> list[str]:
    names: list[str] = []
    for entry in os.scandir(folder):
        if entry.name in expected and entry.is_dir(follow_symlinks=False):
            names += [f"{entry.name}/{inner.name}" + "/" * _is_folder(inner) for inner in os.scandir(entry.path)]
        else:
            names.append(entry.name + "/" * _is_folder(entry))
    return sorted(names)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


# The file system cannot sync folders.
_CANNOT_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF})


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add ``path`` to system errors without a path below it (write, sync)."""
    try:
        yield
    except OSError as error:
        named = error.filename
        if error.errno is None or (isinstance(named, str) and Path(named).is_relative_to(path)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_file(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        write_all(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def write_files(folder: Path, files: Mapping[str, bytes], display_path: Path) -> None:
    inner = sorted({name.rpartition("/")[0] for name in files} - {""})
    for name in inner:
        with naming(display_path / name):
            (folder / name).mkdir()
    for name, content in files.items():
        with naming(display_path / name):
            write_file(folder / name, content)
    for name in (*inner, "."):
        with naming(display_path / name):
            sync_folder(folder / name)


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(descriptor)


_TRIES = 5
_log = logging.getLogger(__name__)


def _never(_: Path) -> bool:
    return False


@contextlib.contextmanager
def work_folder(
    parent: Path, prefix: str, marker: Marker, is_wanted: Callable[[Path], bool] = _never
) -> Iterator[Path]:
    """Yield a new folder with its marker, locked until the block ends.

    Then the content of its path (unfinished files or the exchanged old folder) is removed, unless ``is_wanted``.
    """
    path, lock = _make(parent, prefix, marker)
    try:
        yield path
    finally:
        try:
            if not is_wanted(path):
                remove_ours(path)
        except OSError as error:
            _log.warning("%s could not be removed: %s", path, error.strerror)
        os.close(lock)


def remove_left_over(parent: Path, prefix: str, is_wanted: Callable[[Path], bool] = _never) -> None:
    """Locked leftovers belong to active runs."""
    with contextlib.suppress(OSError):  # foreign folders do not matter
        for path in sorted(parent.iterdir()):
            if path.name.startswith(prefix):
                _remove_if_dead(path, is_wanted)


def remove_ours(folder: Path) -> None:
    marker = read_marker(folder) or Marker(())
    if any((folder / name).is_symlink() for name in marker.folders):
        raise OSError(errno.ELOOP, "a link stands where a folder of ours stood", str(folder))
    with contextlib.suppress(FileNotFoundError):
        for name in marker.files:
            with contextlib.suppress(FileNotFoundError):
                (folder / name).unlink()
        for name in marker.folders:
            with contextlib.suppress(FileNotFoundError):
                (folder / name).rmdir()
        if any(path.name != MARKER for path in folder.iterdir()):  # no run would remove it without its marker
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(folder))
        with contextlib.suppress(FileNotFoundError):
            (folder / MARKER).unlink()
        folder.rmdir()


def _make(parent: Path, prefix: str, marker: Marker) -> tuple[Path, int]:
    for _ in range(_TRIES):
        path = parent / f"{prefix}{os.urandom(4).hex()}"
        path.mkdir()
        with contextlib.suppress(FileNotFoundError):  # a cleaning run was quicker
            lock = os.open(path / MARKER, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
            if _begin(path, lock, marker):
                return path, lock
    raise BlockingIOError(errno.EAGAIN, "other runs remove folders as fast as this one makes them", str(parent))


def _begin(path: Path, lock: int, marker: Marker) -> bool:
    """False when a cleaning run was quicker."""
    is_begun = False
    try:
        is_begun = _is_locked(lock) and os.fstat(lock).st_nlink > 0
        if is_begun:
            write_all(lock, marker.line())
            os.fsync(lock)
    except BaseException:
        is_begun = False
        with contextlib.suppress(OSError):
            (path / MARKER).unlink()
            path.rmdir()
        raise
    finally:
        if not is_begun:
            os.close(lock)
    return is_begun


def _is_locked(lock: int) -> bool:
    """True also without locks: no run may mistake it for a leftover."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _remove_if_dead(path: Path, is_wanted: Callable[[Path], bool]) -> None:
    try:
        lock = os.open(path / MARKER, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        with contextlib.suppress(OSError):
            path.rmdir()  # killed before its first file
        return
    except OSError:
        return  # none, or foreign
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not is_wanted(path):  # again, under the lock
            remove_ours(path)
    except OSError:
        return  # an active run
    finally:
        os.close(lock)


CURRENT, VERSIONS = "current", "versions"
_NEXT = ".current-"
_PLAN_ID_SHOWN = 12


def replace_version(target: Path, files: Mapping[str, bytes], marker: Marker, display_path: Path) -> None:
    """Write a version behind ``target/current``; create ``target`` if missing."""
    versions = target / VERSIONS
    with naming(display_path):
        target.mkdir(exist_ok=True)
        _mark(target)
        versions.mkdir(exist_ok=True)
        _remove_unwanted(target)
        with work_folder(versions, f"{(marker.plan_id or '')[:_PLAN_ID_SHOWN]}-", marker, _is_current) as version:
            write_files(version, files, display_path)
            sync_folder(versions)
            link = target / f"{_NEXT}{version.name}"
            link.symlink_to(f"{VERSIONS}/{version.name}")
            link.replace(target / CURRENT)
            sync_folder(target)
    _remove_unwanted(target)


def advisory_folder(folder: Path) -> Path:
    """The link ``current`` is resolved once, so that all files are of one advisory."""
    current = folder / CURRENT
    marker = read_marker(folder)
    return Path(os.path.realpath(current)) if marker and marker.has_versions and current.is_symlink() else folder


def plan_path(text: str) -> Path:
    path = Path(text)
    folder = advisory_folder(path if path.is_dir() else path.parent)
    return folder if path.is_dir() else folder / path.name if folder != path.parent else path


def _mark(target: Path) -> None:
    marker = read_marker(target)
    if marker is None or not marker.has_versions:
        descriptor = os.open(target / MARKER, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o666)
        try:
            write_all(descriptor, Marker((), has_versions=True).line())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _is_current(version: Path) -> bool:
    try:
        return (version.parents[1] / CURRENT).readlink() == Path(VERSIONS, version.name)
    except OSError:
        return False


def _remove_unwanted(target: Path) -> None:
    remove_left_over(target / VERSIONS, "", _is_current)
    with contextlib.suppress(OSError):
        for link in target.glob(f"{_NEXT}*"):
            if not (target / VERSIONS / link.name.removeprefix(_NEXT)).exists():
                link.unlink()


_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def exchange_folders(first: Path, second: Path) -> None:
    """Swap atomically. Raises OSError: ENOSYS without the call, EINVAL if the file system cannot."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), str(second))
    call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    if call(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(second))


Exchange = Callable[[Path, Path], None]
_NOT_ALLOWED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_LONGEST_NAME = 200
_PROBES = ("one", "other")


class NotExchangeableError(AdvisorError):
    @classmethod
    def of(cls, folder: Path, reason: str) -> NotExchangeableError:
        return cls(
            f"{folder}: cannot be replaced in one step: {reason}; nothing was changed: "
            "give a folder that is empty or does not exist yet"
        )


def check_folder(folder: Path, *, exchange: Exchange = exchange_folders) -> None:
    """Raises UsageError for a foreign or a pipeline's folder, OSError if not writable."""
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
    """Return the files' path. On UsageError and OSError the old content stays."""
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


def _require_same_run(target: Path, marker: Marker, display_path: Path) -> None:
    """Another run's advisory may be in execution. Raises UsageError."""
    there = read_marker(advisory_folder(target))
    if there is None or there.has_versions or there.run_id == marker.run_id:
        return
    owner = "no run" if there.run_id is None else f"run {excerpt(there.run_id)}"
    raise UsageError(f"{display_path}: holds an advisory of {owner}; move it away, or give another folder")


def _put(work: Path, target: Path, display_path: Path, exchange: Exchange) -> None:
    """The target is checked again, because it may have changed."""
    standing = standing_of(target, display_path)
    if standing is Standing.ABSENT:
        work.rename(target)
        return
    _take_rights(work, target)
    if standing is Standing.EMPTY:
        work.rename(target)
    else:
        exchange(work, target)


def _has_versions(target: Path, standing: Standing, display_path: Path, exchange: Exchange) -> bool:
    """An existing folder keeps its form."""
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
            raise NotExchangeableError.of(
                display_path, f"nothing may be written beside it ({error.strerror})"
            ) from error
    if standing is Standing.OURS:
        raise NotExchangeableError.of(display_path, "folders cannot be exchanged here")
    if standing is Standing.EMPTY:
        _require_writable(target)
    return True


def _can_exchange_beside(target: Path, exchange: Exchange) -> bool:
    """Raises OSError if ``target``'s parent is not writable."""
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
    name = target.name
    if len(os.fsencode(name)) > _LONGEST_NAME:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return f".{name}.new-"


def _require_writable(folder: Path) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def _take_rights(work: Path, target: Path) -> None:
    status = target.stat()
    with contextlib.suppress(PermissionError):
        if work.stat().st_gid != status.st_gid:
            os.chown(work, -1, status.st_gid)
        work.chmod(stat.S_IMODE(status.st_mode))


def check_file(file: Path) -> None:
    target = Path(os.path.realpath(file))
    if target.is_dir():
        raise UsageError(f"{file}: is a folder; give the name of a file")
    with naming(file):
        if _is_special(file):
            return
        status = target.parent.stat()
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(target))
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))


def replace_file(file: Path, content: bytes) -> None:
    """Devices and pipes are written in place, a link stays. On OSError the old content stays."""
    target = Path(os.path.realpath(file))
    with naming(file):
        if _is_special(file):
            with file.open("wb", buffering=0) as stream:
                write_all(stream.fileno(), content)
            return
        part, lock = _lock_part(target)
        try:
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(lock, stat.S_IMODE(target.stat().st_mode))
            os.ftruncate(lock, 0)
            write_all(lock, content)
            os.fsync(lock)
            part.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink()
            raise
        finally:
            os.close(lock)
        sync_folder(target.parent)


def _lock_part(target: Path) -> tuple[Path, int]:
    """A killed run's file is reused, an active run's is left."""
    name = target.name if len(os.fsencode(target.name)) <= _LONGEST_NAME else target.name[: _LONGEST_NAME // 4]
    part = target.with_name(f".{name}.part")
    while True:
        lock = os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise BlockingIOError(errno.EAGAIN, "another run is writing it", str(target)) from None
        except OSError:
            return part, lock  # no locks here
        with contextlib.suppress(FileNotFoundError):
            if part.stat().st_ino == os.fstat(lock).st_ino:
                return part, lock
        os.close(lock)  # another run renamed it before


def _is_special(file: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return not stat.S_ISREG(file.stat().st_mode)
    return False


LATEST = "latest"
_BESIDE = f".{LATEST}-"


def point_latest(folder: Path) -> bool:
    """False if ``latest`` is not a link."""
    link = folder.parent / LATEST
    if folder.name == LATEST or (link.exists() and not link.is_symlink()):
        return False
    _remove_left_over(folder.parent)
    beside = folder.parent / f"{_BESIDE}{os.urandom(4).hex()}"
    try:
        beside.symlink_to(folder.name)
        beside.replace(link)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
    return True


def is_latest(folder: Path) -> bool:
    link = folder.parent / LATEST
    return link.is_symlink() and Path(os.path.realpath(link)) == Path(os.path.realpath(folder))


def _remove_left_over(parent: Path) -> None:
    for path in parent.glob(f"{_BESIDE}*"):
        if path.is_symlink():
            path.unlink(missing_ok=True)


def remove_older(root: Path, before: datetime) -> list[Path]:
    """Remove old ``root/CLUSTER/RUN``; ``latest``, foreign folders and files stay."""
    gone = []
    for folder in sorted(root.glob("*/*")):
        marker = None if folder.is_symlink() or not folder.is_dir() else read_marker(folder)
        if marker is None or is_latest(folder) or not _is_older(folder, marker, before):
            continue
        with contextlib.suppress(OSError):
            _remove(folder, marker)
        if not folder.exists():
            gone.append(folder)
    return gone


def _is_older(folder: Path, marker: Marker, before: datetime) -> bool:
    """By the newest part: behind a link, the version's."""
    written = [folder / MARKER, *(folder.glob(f"{VERSIONS}/*/{MARKER}") if marker.has_versions else ())]
    return max((file.stat().st_mtime for file in written), default=0.0) < float(before.timestamp())


def _remove(folder: Path, marker: Marker) -> None:
    if marker.has_versions:
        (folder / CURRENT).unlink(missing_ok=True)
        for version in (folder / VERSIONS).iterdir():
            remove_ours(version)
        (folder / VERSIONS).rmdir()
    remove_ours(folder)
