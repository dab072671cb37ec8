"""A file that is replaced whole: written beside, synced, renamed. A reader finds the old content or the new."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from pathlib import Path

from kafka_rebalance.errors import UsageError
from rebalance_advisor.publish.folders.durable_files import naming, sync_folder, write_all

_LONGEST_NAME = 200


def check_file(file: Path) -> None:
    """Can it be written? Asked before the work. Raises UsageError for a folder, OSError where its folder is no help."""
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
    """Let ``content`` be all that ``file`` holds. A link stays one; a device or a pipe is written to as it is.

    Raises OSError, which names the file, where it cannot be written: the old content then still stands.
    """
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
    """The file beside, locked: one that a killed run left is written anew, one that is being written is let be."""
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
            return part, lock  # a file system without locks
        with contextlib.suppress(FileNotFoundError):
            if part.stat().st_ino == os.fstat(lock).st_ino:
                return part, lock
        os.close(lock)  # renamed by another run, between our opening it and locking it


def _is_special(file: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return not stat.S_ISREG(file.stat().st_mode)
    return False
