"""What stands in one input file, plain or gzipped: its text, or its JSON value; refused with file, line and reason."""

from __future__ import annotations

import gc
import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from kafka_rebalance.errors import InvalidInputError

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def read_text(path: Path) -> str:
    """The text of ``path``, unpacked if it is gzipped (seen by its first bytes, not by its name).

    UTF-8, or what a byte order mark says (PowerShell's ``>`` writes UTF-16). Raises InvalidInputError for a file that
    is missing, cut short or no text.
    """
    data = _read_bytes(path)
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decode(data[len(mark) :], encoding, path)
    return _decode(data, "utf-8", path)


@contextmanager
def without_collector() -> Iterator[None]:
    """A million small objects are about to be built and none can be garbage: looking for some doubles the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def parse_json(text: str, place: str, first_line: int = 1) -> Any:
    """The JSON value in ``text``, which begins at ``first_line`` of ``place``.

    Stricter than the standard library: a key that stands twice in one object, NaN and Infinity are refused, because
    half of what was written would be lost without a word. orjson reads what is large three times as fast; it keeps the
    last of two equal keys, so its answer counts only if it holds as many keys as the text has.
    """
    try:
        value = orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return _parse_strictly(text, place, first_line)
    return value if _key_count(value) == text.count('":') else _parse_strictly(text, place, first_line)


def _key_count(value: Any) -> int:
    """Keys of all objects. A list is looked into if it begins with an object or a list: others hold plain values, or
    the counts differ and the strict parser decides.
    """
    count = 0
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if type(item) is dict:
            count += len(item)
            items: Iterable[Any] = item.values()
        elif type(item) is list and item and type(item[0]) in (dict, list):
            items = item
        else:
            continue
        stack.extend(each for each in items if type(each) is dict or type(each) is list)
    return count


def _parse_strictly(text: str, place: str, first_line: int) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise InvalidInputError.at(f"{place}:{line}", f"is no JSON: {error.msg} (column {error.colno})") from error
    except _WrongJsonError as error:
        line = first_line + text.count("\n", 0, max(text.find(error.needle), 0))
        raise InvalidInputError.at(f"{place}:{line}", str(error)) from error
    except RecursionError as error:
        raise InvalidInputError.at(place, "is nested too deeply to be an input of this advisor") from error
    except ValueError as error:  # an integer of more than 4,300 digits
        raise InvalidInputError.at(place, f"holds a number that cannot be right ({error})") from error


class _WrongJsonError(ValueError):
    """Valid for json, wrong for us; ``needle`` is a text near which it stands."""

    def __init__(self, message: str, needle: str) -> None:
        super().__init__(message)
        self.needle = needle


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _WrongJsonError(f"key {twice!r} stands twice in one object", f'"{twice}"')
    return result


def _refuse_constant(name: str) -> Any:
    raise _WrongJsonError(f"{name} is no JSON number; unknown is null", name)


def _read_bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidInputError.at(str(path), f"cannot be read ({error.strerror})") from error
    if not data.startswith(_GZIP_MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInputError.at(str(path), f"is gzip, but broken ({error})", "copy the file again") from error


def _decode(data: bytes, encoding: str, path: Path) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInputError.at(f"{path}:{line}", f"is no {encoding} text (byte {error.start})") from error
