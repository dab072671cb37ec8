"""Folders in which something is being made, each locked by the process that makes it: what a killed run left is known.

The lock is on the folder's marker, its first file and the last to go. The system lets go of it when the process ends,
however it ends, so no process id can be mistaken for another's.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from rebalance_advisor.publish.folders.durable_files import write_all
from rebalance_advisor.publish.folders.folder_marker import MARKER, Marker, read_marker

_TRIES = 5
_log = logging.getLogger(__name__)


def _never(_: Path) -> bool:
    return False


@contextlib.contextmanager
def work_folder(
    parent: Path, prefix: str, marker: Marker, is_wanted: Callable[[Path], bool] = _never
) -> Iterator[Path]:
    """A new folder in ``parent``, its name begins with ``prefix``, holding its marker, locked until the block ends.

    Then what stands at its path is removed, unless ``is_wanted``: what was made, where it was not finished; what it was
    exchanged for; nothing, where it was renamed.
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
    """Remove what killed runs left under names that begin with ``prefix``; a run that is under way keeps its own."""
    with contextlib.suppress(OSError):  # not ours to list or to remove: no reason not to write
        for path in sorted(parent.iterdir()):
            if path.name.startswith(prefix):
                _remove_if_dead(path, is_wanted)


def remove_ours(folder: Path) -> None:
    """Remove the files that the folder's marker names, the marker last, and the folder if nothing else is in it."""
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
        if any(path.name != MARKER for path in folder.iterdir()):  # without its marker, no run would remove it
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(folder))
        with contextlib.suppress(FileNotFoundError):
            (folder / MARKER).unlink()
        folder.rmdir()


def _make(parent: Path, prefix: str, marker: Marker) -> tuple[Path, int]:
    for _ in range(_TRIES):
        path = parent / f"{prefix}{os.urandom(4).hex()}"
        path.mkdir()
        with contextlib.suppress(FileNotFoundError):  # a run that cleans up came between: the folder was still empty
            lock = os.open(path / MARKER, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
            if _begin(path, lock, marker):
                return path, lock
    raise BlockingIOError(errno.EAGAIN, "other runs remove folders as fast as this one makes them", str(parent))


def _begin(path: Path, lock: int, marker: Marker) -> bool:
    """Lock and write the marker. False where a run that cleans up was quicker."""
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
    """Locked now, or on a file system that has no locks, where nobody can take it for dead either."""
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
            path.rmdir()  # killed before its first file; a folder that holds anything stays
        return
    except OSError:
        return  # no folder, or somebody else's
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not is_wanted(path):  # asked under the lock: until here it may have become what is wanted
            remove_ours(path)
    except OSError:
        return  # a run is under way
    finally:
        os.close(lock)
