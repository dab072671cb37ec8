"""Java's ``.properties`` format, which Kafka's own tools read: comments, continued lines, escapes, three separators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rebalance_advisor.input_bytes import MAX_SETTINGS_BYTES, ByteBudget, read_text

_LINE_END = re.compile(r"\r\n|\r|\n")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


@dataclass(frozen=True, slots=True)
class Properties:
    """Properties with the place of each, for messages: ``file:line``.

    ``overridden`` says of those that stand twice with two values, in words, which one holds.
    """

    values: dict[str, str]
    places: dict[str, str]
    overridden: tuple[str, ...] = ()


def read_properties(path: Path) -> Properties:
    """The properties of a file. Raises InvalidInputError for a file that cannot be read."""
    return parse_properties(read_text(path, ByteBudget(MAX_SETTINGS_BYTES)), str(path))


def parse_properties(text: str, source: str) -> Properties:
    """The properties of ``text`` as ``java.util.Properties.load`` reads them: of a key given twice, the last stands."""
    values: dict[str, str] = {}
    places: dict[str, str] = {}
    overridden: list[str] = []
    for line, content in _logical_lines(text):
        key, value = _split(content)
        place = f"{source}:{line}"
        if key in values and values[key] != value:
            overridden.append(f"{key} of {places[key]} gives way to {place}")
        values[key], places[key] = value, place
    return Properties(values, places, tuple(overridden))


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """(number of its first line, content) of each line that is no comment; a lone backslash at the end continues it."""
    content, first = "", 0
    for number, raw in enumerate(_LINE_END.split(text), 1):
        line = raw.lstrip(" \t\f")
        if not content and (not line or line[0] in "#!"):
            continue
        first = first if content else number
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            content += line[:-1]
            continue
        yield first, content + line
        content = ""
    if content:
        yield first, content


def _split(line: str) -> tuple[str, str]:
    """At the first ``=``, ``:`` or blank that no backslash protects."""
    end, is_protected = len(line), False
    for i, character in enumerate(line):
        if not is_protected and character in "=: \t\f":
            end = i
            break
        is_protected = character == "\\" and not is_protected
    rest = line[end:].lstrip(" \t\f")
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(" \t\f")
    return _unescaped(line[:end]), _unescaped(rest)


def _unescaped(value: str) -> str:
    def plain(found: re.Match[str]) -> str:
        code = found[1]
        return chr(int(code[1:], 16)) if len(code) == 5 else _CONTROL.get(code, code)

    return _ESCAPE.sub(plain, value)
