"""Strict JSON with a depth limit (parsers recurse) and line numbers, also among other lines of a dump."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from rebalance_advisor.dumps.text_lines import dump_lines
from rebalance_advisor.input_bytes import ByteBudget, read_text

MAX_DEPTH = 100

_ALL = bytes(range(256))
_STRUCTURE = b'"\\[]{}'
_OTHER = bytes(code for code in _ALL if code not in _STRUCTURE)
_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[list(b"[{")] = 1
_STEPS[list(b"]}")] = -1
_STRING_OR_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)


def too_deep_at(raw: bytes) -> int | None:
    """Return the line (from 0) nested deeper than MAX_DEPTH; exact for valid JSON.

    Only quotes and brackets are kept; adjacent quotes are strings without brackets and are removed.
    """
    kept = raw.translate(None, _OTHER)
    if b"\\" in kept:
        # An escaped quote ends no string. ``kept`` may lack the character after a backslash, so look at ``raw``.
        kept = raw.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, _OTHER)
    kept = kept.replace(b'""', b"")
    if b'"' in kept:
        kept = b"".join(kept.split(b'"')[::2])
    if len(kept) <= MAX_DEPTH:
        return None
    depth = np.cumsum(_STEPS[np.frombuffer(kept, dtype=np.uint8)], dtype=np.int32)
    return None if int(depth.max()) <= MAX_DEPTH else _line_of_excess(raw)


def _line_of_excess(raw: bytes) -> int:
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(raw):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(match[0], 0)
        if depth > MAX_DEPTH:
            return raw.count(b"\n", 0, match.start())
    return 0


_LONGEST_INT = 300
_CONTAINERS = frozenset((dict, list))
_HALF = re.compile("[\ud800-\udfff]")


def read_json(path: Path, budget: ByteBudget | None = None) -> Any:
    text = read_text(path, budget)
    if not text or text.isspace():
        raise InvalidInputError.at(str(path), "is empty")
    return parse_json(text, str(path))


def parse_json(text: str, location: str, first_line: int = 1) -> Any:
    """Refuse duplicate keys, NaN, Infinity, lone surrogates and depth above MAX_DEPTH.

    Large texts use orjson (three times as fast), which keeps the last of equal keys: its key count must match the
    text's.
    """
    try:
        raw = text.encode()
    except UnicodeEncodeError as error:
        line = first_line + text.count("\n", 0, error.start)
        raise InvalidInputError.at(f"{location}:{line}", "holds half a character (a lone surrogate)") from error
    line_from_0 = too_deep_at(raw)
    if line_from_0 is not None:
        raise InvalidInputError.at(f"{location}:{first_line + line_from_0}", f"is nested more than {MAX_DEPTH} deep")
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _parse_strictly(text, location, first_line)
    return value if _key_count(value) == _written_keys(raw) else _parse_strictly(text, location, first_line)


def _key_count(value: Any) -> int:
    """Skips lists that begin with a plain value; a wrong count only selects the strict parser."""
    count = 0
    level: list[Any] = [value]
    while level:
        objects = [item for item in level if type(item) is dict]
        lists = [item for item in level if type(item) is list and item and type(item[0]) in _CONTAINERS]
        count += sum(map(len, objects))
        items: Iterable[Any] = chain(chain.from_iterable(map(dict.values, objects)), chain.from_iterable(lists))
        level = [item for item in items if type(item) in _CONTAINERS]
    return count


def _written_keys(raw: bytes) -> int:
    """Quotes before a colon; -1 for a blank before a colon."""
    codes = np.frombuffer(raw, dtype=np.uint8)
    before = codes[np.flatnonzero(codes[1:] == ord(":"))]
    return -1 if (before <= ord(" ")).any() else int((before == ord('"')).sum())


def _parse_strictly(text: str, location: str, first_line: int) -> Any:
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_short_int
        )
        _refuse_half_characters(value)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise InvalidInputError.at(f"{location}:{line}", f"is no JSON: {error.msg} (column {error.colno})") from error
    except _WrongJsonError as error:
        line = first_line + text.count("\n", 0, max(text.find(error.needle), 0))
        raise InvalidInputError.at(f"{location}:{line}", str(error)) from error
    return value


class _WrongJsonError(ValueError):
    """``needle``: a text near the place; the message quotes nothing of a possibly private file."""

    def __init__(self, message: str, needle: str) -> None:
        super().__init__(message)
        self.needle = needle


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys: set[str] = set()
        twice = next(key for key, _ in pairs if key in keys or keys.add(key))  # type: ignore[func-returns-value]
        raise _WrongJsonError("a key stands twice in one object", f'"{twice}"')
    return result


def _refuse_constant(name: str) -> Any:
    raise _WrongJsonError(f"{name} is no JSON number; unknown is null", name)


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _WrongJsonError("holds a number that is too large", digits)
    return value


def _short_int(digits: str) -> int:
    if len(digits) > _LONGEST_INT:
        raise _WrongJsonError("holds a number that is too large", digits)
    return int(digits)


def _refuse_half_characters(value: Any) -> None:
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if _HALF.search(item):
                raise _WrongJsonError("holds half a character (a lone surrogate)", "\\ud")
        elif isinstance(item, dict):
            stack.extend(item)
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)


# A quoted text is one token.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]')


def json_documents(text: str, location: str, is_prose: Callable[[str], bool]) -> list[tuple[int, str]]:
    """(first line number, text) of each object; skips prose.

    An object spans from a line's first brace to a line's last one. Raises InvalidInputError for other text after an
    object.
    """
    documents: list[tuple[int, list[str]]] = []
    depth = 0
    for line in dump_lines(text, location):
        stripped = line.text.strip()
        number = int(line.location.rpartition(":")[2])
        if depth > 0:
            lines = documents[-1][1]
            lines += [""] * (number - documents[-1][0] - len(lines))  # keep line numbers
            lines.append(line.text)
            depth += brace_depth(line.text)
        elif stripped.startswith("{"):
            documents.append((number, [line.text]))
            depth = brace_depth(line.text)
        elif documents and stripped and not is_prose(stripped):
            raise line.refuse(f"follows a JSON object: {excerpt(stripped)}", "nothing but another one may stand there")
    return [(first, "\n".join(lines)) for first, lines in documents]


def brace_depth(text: str) -> int:
    """Opening less closing braces; equal counts are a fast path."""
    opening, closing = text.count("{"), text.count("}")
    if opening == closing:
        return 0
    return sum({"{": 1, "}": -1}.get(token[0], 0) for token in _TOKEN.finditer(text))
