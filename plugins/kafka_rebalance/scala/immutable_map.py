"""Scala 2.13's immutable ``HashMap``: a trie over the improved hash, five bits a level.

A node gives its own keys first, by the five bits of its level, then its children in the same way; keys that share the
bits of a level lie in a child. The order follows from the set of keys alone; only keys of one improved hash keep the
order in which they came.

Example: "cooperative-sticky", "roundrobin", "range", "sticky" come in this order, whatever the order of insertion.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_rebalance.java.strings import hash_code

_BITS = 5
_HASH_BITS = 32


def improved(code: int) -> int:
    """``Hashing.improve`` of a hash code, as an unsigned number."""
    h = code & 0xFFFFFFFF
    h = h + ~(h << 9) & 0xFFFFFFFF
    h ^= h >> 14
    h = h + (h << 4) & 0xFFFFFFFF
    return h ^ h >> 10


def immutable_order(keys: Sequence[str]) -> tuple[str, ...]:
    """Different keys as an iterator gives them: O(n) nodes of at most seven levels."""
    return tuple(key for _, key in _node([(improved(hash_code(key)), key) for key in keys], 0))


def _node(entries: list[tuple[int, str]], shift: int) -> list[tuple[int, str]]:
    if shift >= _HASH_BITS:
        return entries  # one hash: a collision node keeps the order of insertion
    branches: dict[int, list[tuple[int, str]]] = {}
    for entry in entries:
        branches.setdefault(entry[0] >> shift & (1 << _BITS) - 1, []).append(entry)
    own = [branches[bits][0] for bits in sorted(branches) if len(branches[bits]) == 1]
    for bits in sorted(branches):
        if len(branches[bits]) > 1:
            own += _node(branches[bits], shift + _BITS)
    return own
