"""Damage to a text, a JSON document or the bytes of a file, drawn at random and the same for the same seed."""

from __future__ import annotations

import copy
import gzip
import json
import random
import re
from collections.abc import Callable
from typing import Any

Draw = random.Random

# What has broken readers before, here or elsewhere.
NUMBERS = (
    0, -1, 1, 2, 9, 255, 65_536, 2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64, 10**30,
    -(2**63), 0.5, -0.0, 1e-320, 5e-324, 1e-9, 1e15, 1e16, 1e300, 1e308, -1e308, 4e12,
)  # fmt: skip
LITERALS = (
    "NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 400, "9" * 5000, "0x10", "01", "1.", "tru", "'a'",
)  # fmt: skip
TEXTS = (
    "", " ", "\x1b[2J", "\u202e", "a\nb", "\ud800", "é", "\u0000", "-", "0", "-1", "1.5", "true", "none", "..", "a/b",
    "=1+1", "x" * 300, "x" * 70_000, "2026-11-20T06:00:00Z", "9999-12-31T23:59:59Z", "0000-00-00", "٣", "1_000", "+5",
    "1e5", "[", "(?:a+)+$", "\\", "%", "${x}",
)  # fmt: skip
TOKENS = (
    b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n\n", b"\t", b"\t\t", b",", b",,", b":", b"-",
    b'"', b"'", b"{", b"}", b"[", b"]", b"\\", b"\\u0000", b"\\ud800", b"#", b"=", b"none", b"-1", b"9" * 20, b"1e308",
    b"NaN", b"Topic: ", b"Leader: ", b"\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n", b"GROUP ",
    b"Error while executing ", b"\xe2\x80\xae", b"\xc3", b"[" * 500, b'{"a":' * 200, b"x" * 5000, b" " * 5000,
)  # fmt: skip
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_MARK = "\ufdd0"  # around a literal that json would not write


def damaged_text(draw: Draw, text: str) -> bytes:
    """``text`` with one to four changes, as the bytes of a file."""
    data = text.encode()
    for _ in range(draw.choice((1, 1, 1, 2, 2, 4))):
        data = draw.choice(_BYTE_CHANGES)(draw, data)
    return _as_file(draw, data)


def damaged_json(draw: Draw, document: Any) -> bytes:
    """``document`` with changes to its structure, its text, or both."""
    if draw.random() < 0.25:
        return damaged_text(draw, json.dumps(document, indent=draw.choice((None, 1))))
    return _as_file(draw, json_text(draw, damaged_document(draw, document)).encode("utf-8", "surrogatepass"))


def damaged_document(draw: Draw, document: Any) -> Any:
    """A copy of ``document`` with one to three places changed."""
    holder = [copy.deepcopy(document)]
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        parent, key = _place(draw, holder)
        draw.choice(_VALUE_CHANGES)(draw, parent, key)
    return holder[0]


def json_text(draw: Draw, document: Any) -> str:
    """``document`` as JSON, literals raw, now and then a key twice."""
    text = json.dumps(document, ensure_ascii=draw.random() < 0.7, indent=draw.choice((None, None, 2)))
    mark = re.escape(json.dumps(_MARK)[1:-1])
    text = re.sub(rf'"(?:{mark}|{_MARK})(.*?)(?:{mark}|{_MARK})"', lambda match: match[1], text)
    if draw.random() < 0.05 and (keys := re.findall(r'"\w+": ', text)):
        key = draw.choice(keys)
        text = text.replace(key, f"{key}1, {key}", 1)
    return text


def _place(draw: Draw, holder: list[Any]) -> tuple[Any, Any]:
    """A container and a key in it; each step down is as likely as any other."""
    parent: Any = holder
    key: Any = 0
    while isinstance(parent[key], (dict, list)) and parent[key] and draw.random() < 0.85:
        parent = parent[key]
        key = draw.choice(list(parent)) if isinstance(parent, dict) else draw.randrange(len(parent))
    return parent, key


def _odd_value(draw: Draw) -> Any:
    kind = draw.randrange(8)
    if kind == 0:
        return f"{_MARK}{draw.choice(LITERALS)}{_MARK}"
    if kind == 1:
        depth = draw.choice((3, 90, 101, 200, 2000, 100_000))
        return f"{_MARK}{'[' * depth}{']' * depth}{_MARK}"
    return draw.choice((None, True, False, [], {}, [1], {"a": 1}, draw.choice(NUMBERS), draw.choice(TEXTS)))


def _replace(draw: Draw, parent: Any, key: Any) -> None:
    parent[key] = _odd_value(draw)


def _number(draw: Draw, parent: Any, key: Any) -> None:
    parent[key] = draw.choice(NUMBERS)


def _text(draw: Draw, parent: Any, key: Any) -> None:
    parent[key] = draw.choice(TEXTS)


def _nudge(draw: Draw, parent: Any, key: Any) -> None:
    value = parent[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        parent[key] = [value, value]
    else:
        others = (value + 1, -value, value * 1000, value * 10**9, float(value), str(value), bool(value))
        parent[key] = draw.choice(others)


def _delete(draw: Draw, parent: Any, key: Any) -> None:
    if isinstance(parent, dict) or len(parent) > 1:
        del parent[key]
    else:
        parent[key] = None
    if not parent:
        parent.append(None) if isinstance(parent, list) else parent.update({"x": draw.random()})


def _add(draw: Draw, parent: Any, key: Any) -> None:
    if isinstance(parent, dict):
        parent[draw.choice((*TEXTS[:8], "id", "topic", key + "s" if isinstance(key, str) else "x"))] = _odd_value(draw)
    else:
        parent.insert(draw.randrange(len(parent) + 1), copy.deepcopy(draw.choice((parent[key], draw.choice(parent)))))


def _swap(draw: Draw, parent: Any, key: Any) -> None:
    other = draw.choice(list(parent)) if isinstance(parent, dict) else draw.randrange(len(parent))
    parent[key], parent[other] = parent[other], parent[key]


_VALUE_CHANGES = (_replace, _number, _text, _nudge, _nudge, _delete, _add, _swap, _swap)


def _flip(draw: Draw, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 3, 20))):
        if changed:
            changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _cut(draw: Draw, data: bytes) -> bytes:
    begin = draw.randrange(len(data) + 1)
    return data[:begin] if draw.random() < 0.5 else data[:begin] + data[begin + draw.randrange(200) :]


def _insert(draw: Draw, data: bytes) -> bytes:
    begin = draw.randrange(len(data) + 1)
    return data[:begin] + draw.choice(TOKENS) + data[begin:]


def _numbers(draw: Draw, data: bytes) -> bytes:
    matches = list(_NUMBER.finditer(data))
    if not matches:
        return data
    first = draw.choice(matches)
    number = draw.randrange(10) if draw.random() < 0.5 else draw.choice((*NUMBERS, *LITERALS))
    return data[: first.start()] + str(number).encode() + data[first.end() :]


def _lines(draw: Draw, data: bytes) -> bytes:
    lines = data.split(b"\n")
    a, b = draw.randrange(len(lines)), draw.randrange(len(lines))
    change = draw.randrange(4)
    if change == 0:
        lines[a], lines[b] = lines[b], lines[a]
    elif change == 1:
        lines.insert(b, lines[a])
    elif change == 2:
        del lines[a]
    else:
        lines[a : a + 2] = [b"".join(lines[a : a + 2])]
    return b"\n".join(lines)


_BYTE_CHANGES: tuple[Callable[[Draw, bytes], bytes], ...] = (_flip, _cut, _insert, _numbers, _numbers, _numbers, _lines)


def _as_file(draw: Draw, data: bytes) -> bytes:
    """Now and then in another encoding, with other line ends, or packed, and sometimes the packing is damaged."""
    if draw.random() < 0.9:
        return data
    kind = draw.randrange(6)
    if kind == 0:
        return data.replace(b"\n", b"\r\n")
    if kind == 1:
        return b"\xef\xbb\xbf" + data
    if kind == 2:
        encoding = draw.choice(("utf-16", "utf-16-le", "utf-32", "cp1252"))
        return data.decode("utf-8", "replace").encode(encoding, "replace")
    packed = gzip.compress(data, mtime=0)
    return _flip(draw, packed) if kind == 3 else packed[: draw.randrange(len(packed))] if kind == 4 else packed
