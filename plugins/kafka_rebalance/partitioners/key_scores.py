"""What a sample of records shows about a topic's keys: skew, hottest keys, other partition counts, other clients.

Skew is the most loaded partition over the plain mean. Remapping compares keys, not records: adding partitions moves a
key's future records away from its past ones. Two clients disagree on a key when they would send it to different
partitions of a topic with as many partitions: joins on such topics lose rows in silence.

Only keyed records count where keys are compared; skew counts all of them. Complexity: O(N log N) for N records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import Longs
from kafka_rebalance.java.strings import compare, sort_positions
from kafka_rebalance.kernels.decorators import kernel
from kafka_rebalance.partitioners.contract import Partitioner, RecordSample, TopicTarget
from kafka_rebalance.partitioners.key_column import KeyColumn

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class PartitionLoad:
    """``records`` and ``bytes`` int64[n] of each partition."""

    records: Longs
    bytes: Longs

    @property
    def record_skew(self) -> float:
        """Most records over the mean; 1 for an empty sample."""
        return _skew(self.records)

    @property
    def byte_skew(self) -> float:
        """Most bytes over the mean; 1 for an empty sample."""
        return _skew(self.bytes)


@dataclass(frozen=True, slots=True)
class HotKey:
    """One key (``None``: no key), its share of the sample, and where it goes (``None`` for no key: in many places)."""

    key: bytes | None
    records: int
    bytes: int
    record_ratio: float
    partition: int | None


def partition_load(sample: RecordSample, target: TopicTarget, partitioner: Partitioner, seed: int = 0) -> PartitionLoad:
    """What each partition would get of this sample."""
    places = partitioner.partition(sample, target, seed)
    records = np.bincount(places, minlength=target.partitions)
    weights = np.bincount(places, weights=sample.record_bytes.astype(np.float64), minlength=target.partitions)
    return PartitionLoad(records.astype(np.int64), weights.astype(np.int64))


def hottest_keys(
    sample: RecordSample, target: TopicTarget, partitioner: Partitioner, count: int = 10
) -> tuple[HotKey, ...]:
    """The keys with most records, ties by first appearance."""
    key_of, first = distinct_keys(sample.keys)
    records = np.bincount(key_of, minlength=len(first))
    weights = np.bincount(key_of, weights=sample.record_bytes.astype(np.float64), minlength=len(first))
    hottest = np.lexsort((first, -records))[:count]
    places = partitioner.partition(sample, target)
    return tuple(
        HotKey(
            key=(key := sample.keys.key(int(first[i]))),
            records=int(records[i]),
            bytes=int(weights[i]),
            record_ratio=float(records[i] / len(sample)),
            partition=None if key is None else int(places[first[i]]),
        )
        for i in hottest
    )


def remapped_ratio(sample: RecordSample, partitioner: Partitioner, before: int, after: int) -> float:
    """Share of the different keys that another partition count sends elsewhere; 0 for a sample without keys."""
    keyed = _one_of_each(sample)
    if len(keyed) == 0:
        return 0.0
    old = partitioner.partition(keyed, TopicTarget(before))
    new = partitioner.partition(keyed, TopicTarget(after))
    return float((old != new).mean())


def disagreements(
    sample: RecordSample, partitions: int, partitioners: Sequence[Partitioner]
) -> Mapping[tuple[str, str], float]:
    """For each pair of clients the share of the different keys that they send to different partitions."""
    keyed = _one_of_each(sample)
    places = {partitioner.name: partitioner.partition(keyed, TopicTarget(partitions)) for partitioner in partitioners}
    names = list(places)
    return {
        (one, other): float((places[one] != places[other]).mean()) if len(keyed) else 0.0
        for i, one in enumerate(names)
        for other in names[i + 1 :]
    }


def distinct_keys(keys: KeyColumn) -> tuple[Longs, Longs]:
    """Number of each record's key (by first appearance), and the first record of each different key."""
    offsets = keys.offsets.astype(np.int64)
    in_order = np.flatnonzero(~keys.nulls)
    sort_positions(keys.data, offsets, in_order)
    group, first = _groups(keys.data, offsets, in_order, np.flatnonzero(keys.nulls))
    by_appearance = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[by_appearance] = np.arange(len(first))
    return rank[group], first[by_appearance]


@kernel
def _groups(data: Bytes, offsets: Longs, in_order: Longs, nulls: Longs) -> tuple[Longs, Longs]:
    """Group of each record and each group's first record; ``in_order``: keyed records, sorted stably by key."""
    group = np.empty(len(in_order) + len(nulls), np.int64)
    first = np.empty(len(group), np.int64)
    found = 0
    for k in range(len(in_order)):
        if k == 0 or compare(data, offsets, in_order[k - 1], in_order[k], 0) != 0:
            first[found] = in_order[k]
            found += 1
        group[in_order[k]] = found - 1
    if len(nulls):
        first[found] = nulls[0]
        group[nulls] = found
        found += 1
    return group, first[:found]


def _one_of_each(sample: RecordSample) -> RecordSample:
    """One record of each different key, null left out."""
    _, first = distinct_keys(sample.keys)
    return RecordSample.of_keys(sample.keys.taken(first[~sample.keys.nulls[first]]))


def _skew(loads: Longs) -> float:
    return float(loads.max() / loads.mean()) if loads.sum() else 1.0
