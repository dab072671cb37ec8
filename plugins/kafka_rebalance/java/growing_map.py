"""A Java ``HashMap`` of strings that lives long: members come and go, and its table remembers how many there were.

The same model as ``hash_order`` (put at the tail of a bin; the table doubles at more than three quarters, or at a
ninth key of one bin while it is smaller than 64), as a small value that can be carried along.

Example: 13 keys make the table 32; without twelve of them it is still 32, and the next key goes to one of 32 bins.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.java.hash_order import spread
from kafka_rebalance.java.strings import hash_codes
from kafka_rebalance.string_column import StringColumn

_FIRST_TABLE = 16
_TREE_TABLE = 64
_TREE_BIN = 8


@dataclass(frozen=True, slots=True)
class JavaHashMap:
    """``keys`` in the order in which they were added, which is their order inside a bin; ``table``: number of bins."""

    keys: tuple[str, ...] = ()
    table: int = _FIRST_TABLE

    def with_key(self, key: str) -> JavaHashMap:
        """After ``put``; a key that is there keeps its place."""
        if key in self.keys:
            return self
        keys, table = (*self.keys, key), self.table
        if table < _TREE_TABLE:
            bins = _bins(keys, table)
            if bins.count(bins[-1]) > _TREE_BIN:
                table *= 2
        return JavaHashMap(keys, table * 2 if len(keys) > table * 3 // 4 else table)

    def without_key(self, key: str) -> JavaHashMap:
        """After ``remove``."""
        return JavaHashMap(tuple(kept for kept in self.keys if kept != key), self.table)

    def order(self) -> tuple[str, ...]:
        """The keys as an iterator gives them: O(n log n)."""
        bins = _bins(self.keys, self.table)
        return tuple(self.keys[place] for place in sorted(range(len(bins)), key=lambda place: bins[place]))


def _bins(keys: tuple[str, ...], table: int) -> list[int]:
    column = StringColumn.of(keys)
    codes = hash_codes(column.data, column.offsets)
    return [int(spread(code)) & (table - 1) for code in codes]
