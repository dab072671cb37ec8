"""Files that are on the disk, not only in memory, before anything points to them; and errors that name the file."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

# What file systems answer that have no way to sync a folder: there is nothing more to be done on them.
_CANNOT_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF})


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """An error of the system inside names ``path``: writing and syncing name none, and a name beside tells nobody.

    One that names something under ``path`` stays as it is.
    """
    try:
        yield
    except OSError as error:
        named = error.filename
        if error.errno is None or (isinstance(named, str) and Path(named).is_relative_to(path)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_file(path: Path, content: bytes) -> None:
    """A new file, synced."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        write_all(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes) -> None:
    """All of it: the system may take less at a time."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def write_files(folder: Path, files: Mapping[str, bytes], shown: Path) -> None:
    """New files under ``folder``, by their paths in it, and all of it synced. Errors name them as under ``shown``."""
    inner = sorted({name.rpartition("/")[0] for name in files} - {""})
    for name in inner:
        with naming(shown / name):
            (folder / name).mkdir()
    for name, content in files.items():
        with naming(shown / name):
            write_file(folder / name, content)
    for name in (*inner, "."):
        with naming(shown / name):
            sync_folder(folder / name)


def sync_folder(folder: Path) -> None:
    """What was made or renamed in the folder is on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(descriptor)
