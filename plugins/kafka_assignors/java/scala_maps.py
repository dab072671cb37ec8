"""Iteration order of Scala 2.13's ``HashMap`` of strings, immutable and mutable.

Immutable: a trie over the improved hash, five bits a level. A node gives its own keys first, by the five bits of its
level, then its children in the same way. Only keys of one improved hash keep insertion order. Example:
"cooperative-sticky", "roundrobin", "range", "sticky" come in this order.

Mutable: a key is in bin ``h & (table - 1)`` with h = hashCode ^ hashCode >>> 16, inside a bin by the signed h (equal
ones by insertion). The table has 16 bins, doubles *before* an insertion that would fill three quarters (the 12th key),
and never shrinks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kafka_assignors.java.strings import hash_code, hash_codes
from kafka_assignors.string_column import StringColumn

_BITS = 5
_HASH_BITS = 32


def improve_hash(code: int) -> int:
    """``Hashing.improve``, unsigned."""
    h = code & 0xFFFFFFFF
    h = h + ~(h << 9) & 0xFFFFFFFF
    h ^= h >> 14
    h = h + (h << 4) & 0xFFFFFFFF
    return h ^ h >> 10


def immutable_order(keys: Sequence[str]) -> tuple[str, ...]:
    """Visits O(n) nodes of at most seven levels."""
    return tuple(key for _, key in _node([(improve_hash(hash_code(key)), key) for key in keys], 0))


def _node(entries: list[tuple[int, str]], shift: int) -> list[tuple[int, str]]:
    if shift >= _HASH_BITS:
        return entries  # a collision node
    branches: dict[int, list[tuple[int, str]]] = {}
    for entry in entries:
        branches.setdefault(entry[0] >> shift & (1 << _BITS) - 1, []).append(entry)
    own = [branches[bits][0] for bits in sorted(branches) if len(branches[bits]) == 1]
    for bits in sorted(branches):
        if len(branches[bits]) > 1:
            own += _node(branches[bits], shift + _BITS)
    return own


_FIRST_TABLE = 16


@dataclass(frozen=True, slots=True)
class ScalaMutableMap:
    """``keys`` in insertion order; ``table``: number of bins."""

    keys: tuple[str, ...] = ()
    table: int = _FIRST_TABLE

    @classmethod
    def of(cls, keys: Iterable[str]) -> ScalaMutableMap:
        added, table = tuple(keys), _FIRST_TABLE
        while len(added) >= table * 3 // 4:
            table *= 2
        return cls(added, table)

    def with_key(self, key: str) -> ScalaMutableMap:
        """A present key may still make the table grow."""
        is_full = len(self.keys) + 1 >= self.table * 3 // 4
        keys = self.keys if key in self.keys else (*self.keys, key)
        return ScalaMutableMap(keys, self.table * 2 if is_full else self.table)

    def without_key(self, key: str) -> ScalaMutableMap:
        return ScalaMutableMap(tuple(kept for kept in self.keys if kept != key), self.table)

    def order(self) -> tuple[str, ...]:
        column = StringColumn.of(self.keys)
        mixed = [code ^ (code & 0xFFFFFFFF) >> 16 for code in hash_codes(column.data, column.offsets).tolist()]
        indices = sorted(range(len(mixed)), key=lambda index: (mixed[index] & (self.table - 1), mixed[index]))
        return tuple(self.keys[index] for index in indices)
