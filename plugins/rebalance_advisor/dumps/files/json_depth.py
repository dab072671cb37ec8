"""How deep a JSON text is nested, before a parser follows it down: parsers and printers recurse, stacks are finite."""

from __future__ import annotations

import re

import numpy as np

MAX_DEPTH = 100

_ALL = bytes(range(256))
_STRUCTURE = b'"\\[]{}'
_OTHER = bytes(code for code in _ALL if code not in _STRUCTURE)
_STEPS = np.zeros(256, dtype=np.int8)
_STEPS[list(b"[{")] = 1
_STEPS[list(b"]}")] = -1
_STRING_OR_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)


def too_deep_at(raw: bytes) -> int | None:
    """The line (from 0) on which ``raw``, a JSON text, is nested deeper than MAX_DEPTH; None where it never is.

    Exact for a text that is JSON. One pass over the bytes keeps quotes and brackets; two quotes without anything
    between them are a string without brackets and fall away, so that in nearly every document brackets alone remain.
    """
    kept = raw.translate(None, _OTHER)
    if b"\\" in kept:
        # An escaped quote ends no string. In ``kept`` a backslash may have lost what it escaped, so look at ``raw``.
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
    for found in _STRING_OR_BRACKET.finditer(raw):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(found[0], 0)
        if depth > MAX_DEPTH:
            return raw.count(b"\n", 0, found.start())
    return 0
