"""An even sample of a topic's different keys: those with the smallest identities (Bar-Yossef et al. 2002).

Identities are as good as drawn by lot, so the ``size`` smallest are a fair sample of the different keys, each as likely
whether it has one record or millions; samples of parts merge into that of the whole. Up to ``size`` different keys it
holds all of them and every figure is exact; beyond, their number is (size - 1) / (largest kept / 2^64) with a standard
error of 1 / sqrt(size - 2), 1.6 % for 4,096, and a share among them one of at most 0.8 points.

A HyperLogLog would count as well in less memory, but has no keys to ask where they go.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import Flags, Longs
from kafka_rebalance.kernels.decorators import inner_kernel, kernel
from kafka_rebalance.partitioners.tally.identity import Identities

SIZE = 4096
_NO_LIMIT = 2**64 - 1


@dataclass(frozen=True, slots=True, eq=False)
class DifferentKeys:
    """``identity`` ascending, at most ``size``; ``limit``: all different keys up to it are here (2^64 - 1: all)."""

    identity: Identities
    limit: int = _NO_LIMIT
    size: int = SIZE

    @classmethod
    def none(cls, size: int = SIZE) -> DifferentKeys:
        """No key seen yet."""
        return cls(np.zeros(0, np.uint64), size=size)

    @property
    def is_exact(self) -> bool:
        """Every different key is here."""
        return self.limit == _NO_LIMIT

    @property
    def estimate(self) -> float:
        """How many different keys there are."""
        return float(len(self.identity)) if self.is_exact else (self.size - 1) / (self.limit / 2**64)

    @property
    def standard_error(self) -> float:
        """Of the estimate, as a share of it."""
        return 0.0 if self.is_exact else float(1 / np.sqrt(self.size - 2))

    def with_batch(self, identity: Identities, is_counted: Flags) -> tuple[DifferentKeys, Longs]:
        """With the keys of a batch, and for each key its row of the batch, -1 where it was here before."""
        slots = 1 << int(4 * self.size - 1).bit_length()
        found, rows, cut = _smallest(
            identity, is_counted, self.identity, self.size, (np.zeros(slots, np.uint64), np.zeros(slots, np.int64)),
            np.uint64(self.limit),
        )  # fmt: skip
        order = np.argsort(found)[: self.size]
        limit = int(cut) if len(found) <= self.size else int(found[order[-1]])
        return replace(self, identity=found[order], limit=limit), rows[order]

    def merged(self, other: DifferentKeys) -> DifferentKeys:
        """Of both samples as one."""
        identity = np.unique(np.concatenate([self.identity, other.identity]))
        limit = min(self.limit, other.limit)
        identity = identity[identity <= np.uint64(limit)]
        if len(identity) > self.size:
            identity = identity[: self.size]
            limit = int(identity[-1])
        return replace(self, identity=identity, limit=limit)


_FREE, _KNOWN = 0, 1
_FIRST_ROW = 2  # a slot's mark: free, known before, or the row of the batch + 2


@kernel
def _smallest(
    identity: Identities, is_counted: Flags, known: Identities, size: int, slots: tuple[Identities, Longs],
    limit: np.uint64,
) -> tuple[Identities, Longs, np.uint64]:  # fmt: skip
    """(identities, their rows or -1, limit): all different ones up to the limit, at most twice ``size``."""
    table, marks = slots
    mask = np.uint64(len(table) - 1)
    used = len(known)
    for k in range(len(known)):
        at = _place(table, marks, known[k], mask)
        table[at] = known[k]
        marks[at] = _KNOWN
    for i in range(len(identity)):
        if not is_counted[i] or identity[i] > limit:
            continue
        at = _place(table, marks, identity[i], mask)
        if marks[at] != _FREE:
            continue
        table[at] = identity[i]
        marks[at] = i + _FIRST_ROW
        used += 1
        if used >= 2 * size:
            used, limit = _keep_smallest(table, marks, used, size, mask)
    found, rows = np.empty(used, np.uint64), np.empty(used, np.int64)
    n = 0
    for k in range(len(marks)):
        if marks[k] != _FREE:
            found[n] = table[k]
            rows[n] = marks[k] - _FIRST_ROW
            n += 1
    return found, rows, limit


@inner_kernel
def _place(table: Identities, marks: Longs, identity: np.uint64, mask: np.uint64) -> int:
    """Where the key stands, or would, by its lower bits: small identities differ in these."""
    at = identity & mask
    while marks[at] != _FREE and table[at] != identity:
        at = (at + np.uint64(1)) & mask
    return int(at)


@inner_kernel
def _keep_smallest(table: Identities, marks: Longs, used: int, size: int, mask: np.uint64) -> tuple[int, np.uint64]:
    found = np.empty(used, np.uint64)
    n = 0
    for k in range(len(marks)):
        if marks[k] != _FREE:
            found[n] = table[k]
            n += 1
    limit = np.sort(found)[size - 1]
    old_table, old_marks = table.copy(), marks.copy()
    marks[:] = _FREE
    for k in range(len(old_marks)):
        if old_marks[k] != _FREE and old_table[k] <= limit:
            at = _place(table, marks, old_table[k], mask)
            table[at] = old_table[k]
            marks[at] = old_marks[k]
    return size, limit
