"""Read one input file, plain or gzipped.

Limits count unpacked bytes. Only regular files: a pipe or device may never end.
"""

from __future__ import annotations

import errno
import os
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from kafka_assignors.errors import InvalidInputError

MAX_INPUT_BYTES = 8 * 2**30
# Far above any handwritten file.
MAX_SETTINGS_BYTES = 16 * 2**20


class PartOfInputError(InvalidInputError):
    """Other files cannot replace the rest."""


_PIECE_BYTES = 64 * 2**20
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP = 31  # zlib: header and checksum
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_KINDS = (
    (stat.S_ISDIR, "is a folder, a file is expected"),
    (stat.S_ISFIFO, "is a pipe, which may never end"),
    (stat.S_ISCHR, "is a device, which may never end"),
    (stat.S_ISBLK, "is a device, a file is expected"),
    (stat.S_ISSOCK, "is a socket, a file is expected"),
)


@dataclass(slots=True)
class ByteBudget:
    limit: int = MAX_INPUT_BYTES
    used: int = 0

    @property
    def left(self) -> int:
        return self.limit - self.used

    def exceeded(self, path: Path, *, is_packed: bool) -> InvalidInputError:
        unpacked = "unpacks to" if is_packed else "holds"
        before = f" beside the {self.used:,} before it" if self.used else ""
        return PartOfInputError.at(
            str(path),
            f"{unpacked} more than the {self.left:,} bytes that may be read{before}",
            "--max-input-bytes raises the limit",
        )


def read_bytes(path: Path, budget: ByteBudget) -> bytes:
    """The first bytes decide on gzip."""
    try:
        data = _regular_bytes(path, budget)
        if data.startswith(_GZIP_MAGIC):
            data = _unpacked(data, path, budget)
    except MemoryError as error:
        raise InvalidInputError.at(str(path), "does not fit into memory") from error
    budget.used += len(data)
    return data


def read_text(path: Path, budget: ByteBudget | None = None) -> str:
    """UTF-8, or as the byte order mark says (PowerShell writes UTF-16)."""
    data = read_bytes(path, ByteBudget() if budget is None else budget)
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding, path)
    return _decoded(data, "utf-8", path)


def folder_entries(folder: Path, *, keeps_odd: bool = False) -> tuple[list[Path], list[Path]]:
    """(files, folders) by name without hidden ones.

    Raises InvalidInputError for an unreadable folder, and for pipes, devices and broken links; with ``keeps_odd`` these
    are files, which ``read_bytes`` refuses.
    """
    files: list[Path] = []
    folders: list[Path] = []
    try:
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        raise InvalidInputError.at(str(folder), f"cannot be listed ({error.strerror})") from error
    for entry in entries:
        try:
            mode = _mode_of(entry)
            if not stat.S_ISDIR(mode):
                _require_regular(mode, entry)
        except InvalidInputError:
            if not keeps_odd:
                raise
            mode = 0
        (folders if stat.S_ISDIR(mode) else files).append(entry)
    return files, folders


def is_folder(path: Path) -> bool:
    """Raises InvalidInputError for a missing path or broken link."""
    return stat.S_ISDIR(_mode_of(path))


def _mode_of(path: Path) -> int:
    try:
        return path.stat().st_mode
    except ValueError as error:  # a NUL in the name
        raise InvalidInputError.at(str(path), "is no name of a file") from error
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> InvalidInputError:
    if path.is_symlink() and error.errno in (errno.ENOENT, errno.ELOOP):
        return InvalidInputError.at(str(path), f"is a link that leads nowhere ({path.readlink()})")
    if isinstance(error, FileNotFoundError):
        return InvalidInputError.at(str(path), "does not exist")
    return InvalidInputError.at(str(path), f"cannot be read ({error.strerror})")


def _require_regular(mode: int, path: Path) -> None:
    for is_kind, problem in _KINDS:
        if is_kind(mode):
            raise InvalidInputError.at(str(path), problem, "write its content into a file first")
    if not stat.S_ISREG(mode):
        raise InvalidInputError.at(str(path), "is no regular file")


def _regular_bytes(path: Path, budget: ByteBudget) -> bytes:
    _require_regular(_mode_of(path), path)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            _require_regular(status.st_mode, path)
            if status.st_size > budget.left:
                raise budget.exceeded(path, is_packed=False)
            data = b"".join(_pieces(file, budget.left + 1))
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(data) > budget.left:
        raise budget.exceeded(path, is_packed=False)
    return data


def _pieces(file: BinaryIO, most: int) -> Iterator[bytes]:
    """The size may be unknown or growing."""
    while most > 0 and (piece := file.read(_PIECE_BYTES)):
        yield piece
        most -= len(piece)


def _unpacked(data: bytes, path: Path, budget: ByteBudget) -> bytes:
    parts: list[bytes] = []
    left = budget.left
    while data:
        member = zlib.decompressobj(_GZIP)
        try:
            part = member.decompress(data, left + 1)
        except zlib.error as error:
            raise PartOfInputError.at(str(path), f"is gzip, but broken ({error})", "copy the file again") from error
        if len(part) > left:
            raise budget.exceeded(path, is_packed=True)
        if not member.eof:
            raise PartOfInputError.at(str(path), "is gzip, but broken (its end is missing)", "copy the file again")
        parts.append(part)
        left -= len(part)
        data = member.unused_data.lstrip(b"\0")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _decoded(data: bytes, encoding: str, path: Path) -> str:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInputError.at(f"{path}:{line}", f"is no {encoding} text (byte {error.start})") from error
    if (nul := text.find("\0")) >= 0:
        line = text.count("\n", 0, nul) + 1
        raise InvalidInputError.at(
            f"{path}:{line}", "holds a NUL character", "write the file as UTF-8; UTF-16 needs its byte order mark"
        )
    return text
