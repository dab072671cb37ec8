"""The heavy keys of a sample, counted in bounded memory: Misra and Gries' counters, which merge (Agarwal et al. 2012).

A key that has a counter is counted. Where ``capacity`` counters are full, the median of them is taken off all, and
those that are not above zero are free. ``error`` is all that was ever taken off, so of every key

    counter <= true count <= counter + error          (counter 0: the key has none)

Each time at least half of ``capacity`` counters lose the whole median, and together they never lose more than was
counted: ``error <= 2 * records / capacity``. The sum of two tables, cut in the same way, keeps both promises. While
``error`` is 0 the counts are exact and every key has a counter.

Complexity: O(1) a record, spread over all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import Flags, Longs
from kafka_rebalance.kernels.decorators import inner_kernel, kernel
from kafka_rebalance.partitioners.tally.identity import Identities

CAPACITY = 8192


@dataclass(frozen=True, slots=True, eq=False)
class FrequentKeys:
    """``identity`` ascending and ``records`` int64[K], the counters; ``error`` as above; ``total`` records counted."""

    identity: Identities
    records: Longs
    error: int = 0
    total: int = 0
    capacity: int = CAPACITY

    @classmethod
    def none(cls, capacity: int = CAPACITY) -> FrequentKeys:
        """Nothing counted yet."""
        return cls(np.zeros(0, np.uint64), np.zeros(0, np.int64), capacity=capacity)

    @property
    def most_error(self) -> float:
        """What ``error`` cannot exceed."""
        return 2 * self.total / self.capacity

    def counted(self, identity: Identities, is_counted: Flags) -> tuple[FrequentKeys, Longs]:
        """With the records of a batch, and for each key of the answer the row of the batch it came from, -1 if none."""
        slots = _slot_count(self.capacity)
        table, counts, rows = np.zeros(slots, np.uint64), np.zeros(slots, np.int64), np.full(slots, -1, np.int64)
        error = self.error + _count(
            identity, is_counted, self.identity, self.records, self.capacity, (table, counts, rows)
        )
        return self._of_table(table, counts, error, self.total + int(is_counted.sum()), rows)

    def merged(self, other: FrequentKeys) -> FrequentKeys:
        """Both samples as one. Both have the same capacity."""
        identity, place = np.unique(np.concatenate([self.identity, other.identity]), return_inverse=True)
        records = np.zeros(len(identity), np.int64)
        np.add.at(records, place, np.concatenate([self.records, other.records]))
        error = self.error + other.error
        if len(identity) > self.capacity:
            # More than ``capacity`` counters, of which at least half of ``capacity`` lose the whole cut.
            cut = int(np.sort(records)[len(records) - self.capacity // 2 - 1])
            records, error = records - cut, error + cut
        kept = records > 0
        return replace(
            self, identity=identity[kept], records=records[kept], error=error, total=self.total + other.total
        )

    def _of_table(
        self, table: Identities, counts: Longs, error: int, total: int, rows: Longs
    ) -> tuple[FrequentKeys, Longs]:
        used = np.flatnonzero(counts)
        used = used[np.argsort(table[used])]
        return replace(self, identity=table[used], records=counts[used], error=error, total=total), rows[used]


def _slot_count(capacity: int) -> int:
    """A power of two, at most half of it ever used."""
    return 1 << int(2 * capacity - 1).bit_length()


@kernel
def _count(
    identity: Identities, is_counted: Flags, known: Identities, known_counts: Longs, capacity: int,
    slots: tuple[Identities, Longs, Longs],
) -> int:  # fmt: skip
    """Fill the slots (identity, count, row) from what is known and the batch; what was taken off meanwhile."""
    table, counts, rows = slots
    mask = np.uint64(len(table) - 1)
    used = len(known)
    for k in range(len(known)):
        at = _slot(table, counts, known[k], mask)
        table[at] = known[k]
        counts[at] = known_counts[k]
    taken_off = 0
    for i in range(len(identity)):
        if not is_counted[i]:
            continue
        at = _slot(table, counts, identity[i], mask)
        if counts[at] > 0:
            counts[at] += 1
            continue
        while used >= capacity:
            cut = _median(counts, used)
            taken_off += cut
            used = _cut(table, counts, rows, cut, mask)
            at = _slot(table, counts, identity[i], mask)
        table[at] = identity[i]
        counts[at] = 1
        rows[at] = i
        used += 1
    return taken_off


@inner_kernel
def _slot(table: Identities, counts: Longs, identity: np.uint64, mask: np.uint64) -> int:
    """Where the key stands, or would."""
    at = identity & mask
    while counts[at] > 0 and table[at] != identity:
        at = (at + np.uint64(1)) & mask
    return int(at)


@inner_kernel
def _median(counts: Longs, used: int) -> int:
    """The upper one, so that half of the counters are at least as large."""
    found = np.empty(used, np.int64)
    n = 0
    for k in range(len(counts)):
        if counts[k] > 0:
            found[n] = counts[k]
            n += 1
    return int(np.partition(found, used // 2)[used // 2])


@inner_kernel
def _cut(table: Identities, counts: Longs, rows: Longs, cut: int, mask: np.uint64) -> int:
    """Take ``cut`` off every counter and lay the rest anew; how many are left."""
    old_table, old_counts, old_rows = table.copy(), counts.copy(), rows.copy()
    counts[:] = 0
    left = 0
    for k in range(len(old_counts)):
        if old_counts[k] > cut:
            at = _slot(table, counts, old_table[k], mask)
            table[at] = old_table[k]
            counts[at] = old_counts[k] - cut
            rows[at] = old_rows[k]
            left += 1
    return left
