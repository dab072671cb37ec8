"""Iteration order of a Java HashMap or HashSet, from hash codes of distinct keys. O(keys + table).

``java.util.HashMap`` with plain bins:

- a table of a power of two, 16 by default (``new HashMap(n)`` rounds n up); a key is in bin
  ``(hash ^ hash >>> 16) & (table - 1)``; the order is bin by bin, in a bin along its chain;
- ``put`` adds at the tail of the chain, ``computeIfAbsent`` at its head; a present key keeps its place;
- the table doubles when more than 0.75 of it are keys (``put``: right after the insertion; ``computeIfAbsent``: before
  the next one), keeping the order inside bins; it never shrinks;
- a ninth key in a bin by ``put`` (eighth by ``computeIfAbsent``) doubles a table smaller than 64. From 64 on the bin
  becomes a red-black tree, whose root comes first: ``put_order_with_trees`` alone knows it.

Example: the Integers 16, 1, 0 in ``new HashMap()``: bin 0 holds 16 then 0, bin 1 holds 1: the order is 16, 0, 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.java.strings import hash_codes
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_assignors.string_column import StringColumn

Codes = npt.NDArray[np.int8]

DEFAULT_CAPACITY = 0
PUT, COMPUTE_IF_ABSENT, REMOVE = 0, 1, 2

_DEFAULT_TABLE = 16
_TREE_TABLE = 64
_TREE_BIN = 8
_CHAIN_AGAIN = 6  # keys of a halved tree
_NONE = -1


@kernel
def spread(hash_code: int) -> np.int64:
    """``HashMap.hash``."""
    unsigned = np.uint32(hash_code)
    return np.int64(unsigned ^ (unsigned >> np.uint32(16)))


@kernel
def table_for(capacity: int) -> int:
    """First table of ``new HashMap(capacity)``; 0 for ``new HashMap()``."""
    if capacity == DEFAULT_CAPACITY:
        return _DEFAULT_TABLE
    table = 1
    while table < capacity:
        table *= 2
    return table


def table_of(keys: int) -> int:
    """Table of ``new HashMap()`` with so many keys."""
    table = _DEFAULT_TABLE
    while keys > table * 3 // 4:
        table *= 2
    return table


@kernel
def set_copy_capacity(n: int) -> np.int64:
    """``new HashSet(collection)``: max((int)(n / .75f) + 1, 16)."""
    return max(np.int64(np.float32(n) / np.float32(0.75)) + np.int64(1), np.int64(16))


@kernel
def map_copy_capacity(n: int) -> np.int64:
    """``new HashMap(map)`` and clones: (int)(n / .75f + 1)."""
    return np.int64(np.float32(n) / np.float32(0.75) + np.float32(1 if n else 0))


@kernel
def put_order(hashes: Ints, capacity: int) -> Longs:
    """``new HashMap(capacity)`` after a ``put`` of each key."""
    n = len(hashes)
    table = _table_after_puts(hashes, capacity)
    mask = table - 1
    ends = np.zeros(table + 1, np.int32)
    for i in range(n):
        ends[(spread(hashes[i]) & mask) + 1] += 1
    for b in range(table):
        ends[b + 1] += ends[b]
    order = np.empty(n, np.int64)
    for i in range(n):
        at = spread(hashes[i]) & mask
        order[ends[at]] = i
        ends[at] += 1
    return order


@inner_kernel
def _table_after_puts(hashes: Ints, capacity: int) -> np.int64:
    """Small tables also grow at a bin's ninth key."""
    n = len(hashes)
    table = np.int64(table_for(capacity))
    if n > _TREE_BIN and table < _TREE_TABLE:
        sizes = np.zeros(_TREE_TABLE, np.int32)
        # More than 48 keys fill any table below 64.
        for i in range(min(n, _TREE_TABLE)):
            b = spread(hashes[i]) & (table - 1)
            sizes[b] += 1
            needed = table * 2 if sizes[b] > _TREE_BIN else table
            if i + 1 > needed * 3 // 4:
                needed *= 2
            if needed == table:
                continue
            table = needed
            if table >= _TREE_TABLE:
                break
            sizes[:] = 0
            for k in range(i + 1):
                sizes[spread(hashes[k]) & (table - 1)] += 1
    while n > table * 3 // 4:
        table *= 2
    return table


def put_order_with_trees(hashes: Ints, capacity: int) -> Longs:
    """As ``put_order``, and exact where a bin became a tree. Not for kernels."""
    if _has_tree(hashes, capacity):
        return _TreeBins(hashes, int(table_for(capacity))).order()
    order: Longs = put_order(hashes, capacity)
    return order


def _has_tree(hashes: Ints, capacity: int) -> bool:
    """A bin of a table of 64 or more held nine keys, before the table grew or today."""
    codes = hashes.astype(np.int32).view(np.uint32)
    codes, table = codes ^ codes >> np.uint32(16), max(int(table_for(capacity)), _TREE_TABLE)
    while len(codes) > _TREE_BIN:
        if np.bincount(codes[: table * 3 // 4 + 1] & np.uint32(table - 1)).max() > _TREE_BIN:
            return True
        if len(codes) <= table * 3 // 4:
            break
        table *= 2
    return False


class _TreeBins:
    """``HashMap`` with its trees (``TreeNode`` of OpenJDK): slow, for maps that have one.

    A new key follows its parent in the tree, then the root comes to the front. A doubled table halves a bin in order;
    six keys or fewer become a chain. Of keys with one hash the later is taken for the greater, as it is where sorted
    names were put.
    """

    def __init__(self, hashes: Ints, table: int) -> None:
        keys = len(hashes)
        self._codes = [int(np.int32(np.uint32(spread(code)))) for code in hashes]
        self._heads, self._trees = [_NONE] * table, set[int]()
        self._next, self._previous, self._parent = [_NONE] * keys, [_NONE] * keys, [_NONE] * keys
        self._children = ([_NONE] * keys, [_NONE] * keys)
        self._red = [False] * keys
        for key in range(keys):
            self._put(key)
            if key + 1 > len(self._heads) * 3 // 4:
                self._double()

    def order(self) -> Longs:
        return np.array([key for b in range(len(self._heads)) for key in self._keys(b)], dtype=np.int64)

    def _keys(self, b: int) -> list[int]:
        keys, at = [], self._heads[b]
        while at != _NONE:
            keys.append(at)
            at = self._next[at]
        return keys

    def _put(self, key: int) -> None:
        b = self._codes[key] & (len(self._heads) - 1)
        if b in self._trees:
            before = self._grow(self._heads[b], key)
            self._link(key, self._next[before])
            self._link(before, key)
            self._to_front(b, self._balance(self._heads[b], key))
            return
        keys = [*self._keys(b), key]
        self._chain(b, keys)
        if len(keys) > _TREE_BIN:
            if len(self._heads) < _TREE_TABLE:
                self._double()
            else:
                self._make_tree(b)

    def _chain(self, b: int, keys: list[int]) -> None:
        self._heads[b] = keys[0] if keys else _NONE
        for before, after in zip([_NONE, *keys], [*keys, _NONE], strict=True):
            self._link(before, after)

    def _link(self, before: int, after: int) -> None:
        if before != _NONE:
            self._next[before] = after
        if after != _NONE:
            self._previous[after] = before

    def _double(self) -> None:
        before, trees, table = [self._keys(b) for b in range(len(self._heads))], self._trees, len(self._heads)
        self._heads, self._trees = [_NONE] * (2 * table), set()
        for b, keys in enumerate(before):
            halves = [[key for key in keys if bool(self._codes[key] & table) is is_high] for is_high in (False, True)]
            for target_bin, half in zip((b, b + table), halves, strict=True):
                self._chain(target_bin, half)
                if b in trees and len(half) > _CHAIN_AGAIN:
                    self._trees.add(target_bin)
                    if len(half) < len(keys):
                        self._make_tree(target_bin)

    def _make_tree(self, b: int) -> None:
        root, *others = self._keys(b)
        self._trees.add(b)
        self._parent[root], self._red[root] = _NONE, False
        self._children[0][root] = self._children[1][root] = _NONE
        for key in others:
            self._grow(root, key)
            root = self._balance(root, key)
        self._to_front(b, root)

    def _grow(self, root: int, key: int) -> int:
        """Hang the key below its parent, which is returned."""
        parent, at, side = root, root, 0
        while at != _NONE:
            parent, side = at, int((self._codes[key], key) > (self._codes[at], at))
            at = self._children[side][at]
        self._children[0][key] = self._children[1][key] = _NONE
        self._parent[key], self._children[side][parent] = parent, key
        return parent

    def _to_front(self, b: int, root: int) -> None:
        first = self._heads[b]
        if root != first:
            self._link(self._previous[root], self._next[root])
            self._link(root, first)
            self._previous[root], self._heads[b] = _NONE, root

    def _balance(self, root: int, key: int) -> int:
        """Return the root (``balanceInsertion``)."""
        self._red[key] = True
        while True:
            parent = self._parent[key]
            if parent == _NONE:
                self._red[key] = False
                return key
            above = self._parent[parent]
            if above == _NONE or not self._red[parent]:
                return root
            side = int(self._children[1][above] == parent)
            uncle = self._children[1 - side][above]
            if uncle != _NONE and self._red[uncle]:
                self._red[uncle] = self._red[parent] = False
                self._red[above] = True
                key = above
                continue
            if self._children[1 - side][parent] == key:
                key, parent = parent, key
                root = self._rotate(root, key, side)
            self._red[parent], self._red[above] = False, True
            root = self._rotate(root, above, 1 - side)

    def _rotate(self, root: int, key: int, side: int) -> int:
        """Let the key sink to ``side`` (0: left) below its other child; return the root."""
        up, above = self._children[1 - side][key], self._parent[key]
        inner = self._children[side][up]
        self._children[1 - side][key] = inner
        if inner != _NONE:
            self._parent[inner] = key
        self._parent[up] = above
        if above == _NONE:
            root = up
            self._red[root] = False
        else:
            self._children[int(self._children[1][above] == key)][above] = up
        self._children[side][up], self._parent[key] = key, up
        return root


def set_copy_order(hashes: Ints) -> Longs:
    """``new HashSet(collection)``, in array order."""
    order: Longs = put_order(hashes, set_copy_capacity(len(hashes)))
    return order


@kernel
def order_after(hashes: Ints, steps: Codes, keys: Ints, capacity: int) -> Longs:
    """After any history: ``steps[i]`` (PUT, COMPUTE_IF_ABSENT, REMOVE) with key ``keys[i]``, an index into
    ``hashes``.
    """
    table = table_for(capacity)
    heads = np.full(table, -1, np.int32)
    chain = np.full(len(hashes), -1, np.int32)
    present = np.zeros(len(hashes), np.bool_)
    size = 0
    for step, key in zip(steps, keys):  # noqa: B905 (numba knows no `strict`)
        if step == REMOVE:
            if present[key]:
                _unlink(heads, chain, hashes, key)
                present[key] = False
                size -= 1
            continue
        if step == COMPUTE_IF_ABSENT and size > len(heads) * 3 // 4:
            heads = _double_table(heads, chain, hashes)
        if present[key]:
            continue
        present[key] = True
        size += 1
        others = _link(heads, chain, hashes, key, step == PUT)
        if others >= (_TREE_BIN if step == PUT else _TREE_BIN - 1) and len(heads) < _TREE_TABLE:
            heads = _double_table(heads, chain, hashes)
        if step == PUT and size > len(heads) * 3 // 4:
            heads = _double_table(heads, chain, hashes)
    order: Longs = _walk(heads, chain, size)
    return order


@inner_kernel
def _link(heads: Ints, chain: Ints, hashes: Ints, key: int, is_at_tail: bool) -> int:  # noqa: FBT001
    b = spread(hashes[key]) & (len(heads) - 1)
    others = 0
    last = -1
    at = heads[b]
    while at >= 0:
        others += 1
        last = at
        at = chain[at]
    if is_at_tail and last >= 0:
        chain[last] = key
        chain[key] = -1
    else:
        chain[key] = heads[b]
        heads[b] = key
    return others


@inner_kernel
def _unlink(heads: Ints, chain: Ints, hashes: Ints, key: int) -> None:
    b = spread(hashes[key]) & (len(heads) - 1)
    if heads[b] == key:
        heads[b] = chain[key]
        return
    at = heads[b]
    while chain[at] != key:
        at = chain[at]
    chain[at] = chain[key]


@inner_kernel
def _double_table(heads: Ints, chain: Ints, hashes: Ints) -> Ints:
    doubled = np.full(2 * len(heads), -1, np.int32)
    tails = np.full(2 * len(heads), -1, np.int32)
    for b in range(len(heads)):
        at = heads[b]
        while at >= 0:
            following = chain[at]
            target_bin = spread(hashes[at]) & (len(doubled) - 1)
            if tails[target_bin] < 0:
                doubled[target_bin] = at
            else:
                chain[tails[target_bin]] = at
            chain[at] = -1
            tails[target_bin] = at
            at = following
    return doubled


@inner_kernel
def _walk(heads: Ints, chain: Ints, size: int) -> Longs:
    order = np.empty(size, np.int64)
    filled = 0
    for b in range(len(heads)):
        at = heads[b]
        while at >= 0:
            order[filled] = at
            filled += 1
            at = chain[at]
    return order


_FIRST_TABLE = 16


@dataclass(frozen=True, slots=True)
class JavaHashMap:
    """``keys`` in insertion order; ``table``: number of bins."""

    keys: tuple[str, ...] = ()
    table: int = _FIRST_TABLE

    def with_key(self, key: str) -> JavaHashMap:
        if key in self.keys:
            return self
        keys, table = (*self.keys, key), self.table
        if table < _TREE_TABLE:
            bins = _bins(keys, table)
            if bins.count(bins[-1]) > _TREE_BIN:
                table *= 2
        return JavaHashMap(keys, table * 2 if len(keys) > table * 3 // 4 else table)

    def without_key(self, key: str) -> JavaHashMap:
        return JavaHashMap(tuple(kept for kept in self.keys if kept != key), self.table)

    def order(self) -> tuple[str, ...]:
        bins = _bins(self.keys, self.table)
        return tuple(self.keys[index] for index in sorted(range(len(bins)), key=lambda index: bins[index]))


def _bins(keys: tuple[str, ...], table: int) -> list[int]:
    column = StringColumn.of(keys)
    codes = hash_codes(column.data, column.offsets)
    return [int(spread(code)) & (table - 1) for code in codes]
