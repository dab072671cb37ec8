"""Scores of a tally: loads and skew, heavy keys, moved keys, disagreeing clients and topics.

Skew is the most loaded partition over the mean, of all records; the rest counts keyed records. Clients disagree on a
key if they send it to different partitions of topics with equally many: joins lose rows without an error. Shares of
records are exact; shares of distinct keys come from a sample (``is_exact``: it holds all). O(N log N) for N records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Longs
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.java.strings import compare, sort_positions
from kafka_assignors.kernels.decorators import kernel
from kafka_assignors.partitioners.contract import Partitioner, RecordSample, TopicTarget
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_rebalance.key_tally.plan import KeyFacts, Pair, Pairing, Placement, read_together
from kafka_rebalance.key_tally.tally import KeyTally

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class PartitionLoad:
    records: Longs
    bytes: Longs

    @property
    def record_skew(self) -> float:
        return _skew(self.records)

    @property
    def byte_skew(self) -> float:
        return _skew(self.bytes)


@dataclass(frozen=True, slots=True)
class HotKey:
    """``key`` None: null keys, which have no ``partition``."""

    key: bytes | None
    records: int
    bytes: int
    record_ratio: float
    partition: int | None


def partition_load(sample: RecordSample, target: TopicTarget, partitioner: Partitioner, seed: int = 0) -> PartitionLoad:
    places = partitioner.partition(sample, target, seed)
    records = np.bincount(places, minlength=target.partitions)
    weights = np.bincount(places, weights=sample.record_bytes.astype(np.float64), minlength=target.partitions)
    return PartitionLoad(records.astype(np.int64), weights.astype(np.int64))


def hottest_keys(
    sample: RecordSample, target: TopicTarget, partitioner: Partitioner, count: int = 10
) -> tuple[HotKey, ...]:
    """Return keys with most records, ties by first appearance."""
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
    keyed = _one_of_each(sample)
    if len(keyed) == 0:
        return 0.0
    old = partitioner.partition(keyed, TopicTarget(before))
    new = partitioner.partition(keyed, TopicTarget(after))
    return float((old != new).mean())


def disagreements(
    sample: RecordSample, partitions: int, partitioners: Sequence[Partitioner]
) -> Mapping[tuple[str, str], float]:
    keyed = _one_of_each(sample)
    places = {partitioner.name: partitioner.partition(keyed, TopicTarget(partitions)) for partitioner in partitioners}
    names = list(places)
    return {
        (one, other): float((places[one] != places[other]).mean()) if len(keyed) else 0.0
        for i, one in enumerate(names)
        for other in names[i + 1 :]
    }


def distinct_keys(keys: KeyColumn) -> tuple[Longs, Longs]:
    """Return key numbers by first appearance, and each key's first record."""
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
    _, first = distinct_keys(sample.keys)
    return RecordSample.of_keys(sample.keys.taken(first[~sample.keys.nulls[first]]))


def _skew(loads: Longs) -> float:
    return float(loads.max() / loads.mean()) if loads.sum() else 1.0


HEAVY_KEYS = 20
EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class HeavyKey:
    """``records_at_least`` <= records <= ``records_at_most``; ``partitions`` by placement. ``key``: its first bytes;
    ``key_bytes``: its length.
    """

    identity: str
    key: bytes | None
    key_bytes: int | None
    records_at_least: int
    records_at_most: int
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PlacementScore:
    """``by_lot_records``: placed at random; ``agreeing_ratio``: of records with a known partition, those that the
    placement puts there.
    """

    placement: Placement
    load: PartitionLoad
    by_lot_records: int
    agreeing_ratio: float | None


@dataclass(frozen=True, slots=True)
class PairScore:
    """Shares of keyed records (exact) and distinct keys (estimate) in different partitions."""

    one: Placement
    other: Placement
    pairing: Pairing
    keyed_records: int
    records_apart: int
    key_ratio: float
    examples: tuple[HeavyKey, ...]

    @property
    def record_ratio(self) -> float:
        return self.records_apart / self.keyed_records if self.keyed_records else 0.0


@dataclass(frozen=True, slots=True)
class KeyScores:
    """``frequent_error``: of heavy keys' counts; ``observed`` records by partition."""

    records: int
    null_keys: int
    empty_keys: int
    bytes: int | None
    different_keys: float
    different_is_exact: bool
    different_error: float
    frequent_error: int
    placements: tuple[PlacementScore, ...]
    pairs: tuple[PairScore, ...]
    heavy: tuple[HeavyKey, ...]
    observed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MeetingScore:
    """Keys shared by two topics; about ``key_ratio`` have different partition numbers.

    ``is_exact``: both samples hold all keys; else among ``sampled_keys``.
    """

    shared_keys: float
    sampled_keys: int
    key_ratio: float
    is_exact: bool


def scores_of(tally: KeyTally, own: int = 0) -> KeyScores:
    """Return scores; ``own``: the topic's placement. Raises InvalidInputError for a partition that the topic lacks."""
    counts, partitions = tally.counts, tally.plan.placements[own].partitions
    if len(counts.observed) > partitions:
        raise InvalidInputError.at(
            "partitions", f"a record lies in partition {len(counts.observed) - 1} of a topic with {partitions}",
            "is --partitions right?",
        )  # fmt: skip
    records, nulls, empties, weight = (int(number) for number in counts.total)
    return KeyScores(
        records=records,
        null_keys=nulls,
        empty_keys=empties,
        bytes=weight if tally.has_bytes else None,
        different_keys=tally.different.estimate,
        different_is_exact=tally.different.is_exact,
        different_error=tally.different.standard_error,
        frequent_error=tally.frequent.error,
        placements=tuple(_placement_score(tally, k, partitions) for k in range(len(tally.plan.placements))),
        pairs=tuple(_pair_score(tally, k, pair) for k, pair in enumerate(tally.plan.pairs)),
        heavy=heaviest(tally, np.arange(len(tally.frequent.identity)), HEAVY_KEYS),
        observed=tuple(int(count) for count in counts.observed),
    )


def hot_keys(tally: KeyTally, partition: int, *, placement: int = 0, count: int = EXAMPLES) -> tuple[HeavyKey, ...]:
    facts = tally.facts.of(tally.frequent.identity)
    return heaviest(tally, np.flatnonzero(_places(tally, facts, placement) == partition), count)


def meeting_of(one: KeyTally, other: KeyTally) -> MeetingScore:
    pair = read_together(one.plan)
    limit = np.uint64(min(one.different.limit, other.different.limit))
    mine, theirs = (tally.different.identity[tally.different.identity <= limit] for tally in (one, other))
    shared = np.intersect1d(mine, theirs)
    facts = one.facts.of(shared)
    is_apart = _places(one, facts, pair.one) != _places(one, facts, pair.other)
    is_exact = one.different.is_exact and other.different.is_exact
    return MeetingScore(
        shared_keys=float(len(shared)) if is_exact else len(shared) / ((int(limit) + 1) / 2**64),
        sampled_keys=len(shared),
        key_ratio=float(is_apart.mean()) if len(shared) else 0.0,
        is_exact=is_exact,
    )


def heaviest(tally: KeyTally, among: Longs, count: int) -> tuple[HeavyKey, ...]:
    """Return keys with most records, ties by identity."""
    records = tally.frequent.records[among]
    chosen = among[np.lexsort((among, -records))[:count]]
    facts = tally.facts.of(tally.frequent.identity)
    places = np.stack([_places(tally, facts, k) for k in range(len(tally.plan.placements))])
    return tuple(
        HeavyKey(
            identity=f"{int(tally.frequent.identity[i]):016x}",
            key=facts.key(i),
            key_bytes=None if facts.length[i] < 0 else int(facts.length[i]),
            records_at_least=int(tally.frequent.records[i]),
            records_at_most=int(tally.frequent.records[i]) + tally.frequent.error,
            partitions=tuple(int(place) for place in places[:, i]),
        )
        for i in chosen.tolist()
    )


def _places(tally: KeyTally, facts: KeyFacts, placement: int) -> Longs:
    chosen = tally.plan.placements[placement]
    hashes = facts.hashes[tally.plan.hashes.index(chosen.rule.hash)]
    places = chosen.rule.places(np.ascontiguousarray(hashes), chosen.partitions).astype(np.int64)
    is_empty = facts.length == 0
    places[chosen.rule.is_by_lot(np.zeros(len(facts), np.bool_), is_empty)] = -1
    return places


def _placement_score(tally: KeyTally, number: int, partitions: int) -> PlacementScore:
    before = sum(placement.partitions for placement in tally.plan.placements[:number])
    placement, counts = tally.plan.placements[number], tally.counts
    cells = slice(before, before + placement.partitions)
    known = int(counts.with_observed[number]) if placement.partitions == partitions else 0
    return PlacementScore(
        placement,
        PartitionLoad(counts.records[cells], counts.bytes[cells]),
        int(counts.by_lot[number]),
        int(counts.agreeing[number]) / known if known else None,
    )


def _pair_score(tally: KeyTally, number: int, pair: Pair) -> PairScore:
    different = _apart(tally, tally.facts.of(tally.different.identity), pair)
    frequent = _apart(tally, tally.facts.of(tally.frequent.identity), pair)
    looked_at = different[different >= 0]
    return PairScore(
        one=tally.plan.placements[pair.one],
        other=tally.plan.placements[pair.other],
        pairing=pair.pairing,
        keyed_records=int(tally.counts.paired[number]),
        records_apart=int(tally.counts.apart[number]),
        key_ratio=float(looked_at.mean()) if len(looked_at) else 0.0,
        examples=heaviest(tally, np.flatnonzero(frequent == 1), EXAMPLES),
    )


def _apart(tally: KeyTally, facts: KeyFacts, pair: Pair) -> Longs:
    """1: different partitions, 0: the same, -1: one is random."""
    one, other = _places(tally, facts, pair.one), _places(tally, facts, pair.other)
    return np.where((one < 0) | (other < 0), -1, one != other)
