"""The tally of a sample: exact counts of every placement and pair, heavy keys, a sample of the different ones.

Batches are added one after another, tallies of parts are merged in any order: the counts are sums, and what is sampled
merges. It travels as one array file without pickles. Complexity: O(bytes + records x placements).
"""

from __future__ import annotations

import io
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.kernels.decorators import kernel
from kafka_rebalance.partitioners.tally.batch import KeyBatch
from kafka_rebalance.partitioners.tally.different_keys import DifferentKeys
from kafka_rebalance.partitioners.tally.facts import KeyFacts
from kafka_rebalance.partitioners.tally.frequent_keys import FrequentKeys
from kafka_rebalance.partitioners.tally.plan import TallyPlan


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Sums over records, all int64.

    ``total`` [4]: records, null keys, empty keys, bytes. For each placement one after another: ``records`` and
    ``bytes`` [sum of partitions]; ``by_lot`` [P] records that go nowhere by key; ``agreeing`` [P] records that lie
    where it puts them, of ``with_observed`` [P] whose partition is known and which go by key. For each pair ``paired``
    [C] records that go by key in both, and ``apart`` [C] those of them in different partitions. ``observed`` [n]
    records of each partition as they lie.
    """

    total: Longs
    records: Longs
    bytes: Longs
    by_lot: Longs
    agreeing: Longs
    with_observed: Longs
    paired: Longs
    apart: Longs
    observed: Longs

    @classmethod
    def none(cls, plan: TallyPlan) -> Counts:
        """Zeros."""
        cells = sum(placement.partitions for placement in plan.placements)
        sizes = (4, cells, cells, *[len(plan.placements)] * 3, *[len(plan.pairs)] * 2, 0)
        return cls(*(np.zeros(size, np.int64) for size in sizes))

    def plus(self, other: Counts) -> Counts:
        """The sum; of ``observed`` the shorter one is filled up with zeros."""
        return Counts(*(_sum(getattr(self, field.name), getattr(other, field.name)) for field in fields(Counts)))


@dataclass(frozen=True, slots=True, eq=False)
class KeyTally:
    """What was counted of a sample by ``plan``; ``has_bytes``: every batch told what its records weigh."""

    plan: TallyPlan
    counts: Counts
    frequent: FrequentKeys
    different: DifferentKeys
    facts: KeyFacts
    has_bytes: bool = True

    @classmethod
    def none(cls, plan: TallyPlan) -> KeyTally:
        """Of no record."""
        facts = KeyFacts.none(len(plan.hashes), plan.shown_bytes)
        return cls(plan, Counts.none(plan), FrequentKeys.none(), DifferentKeys.none(), facts)

    def added(self, batch: KeyBatch) -> KeyTally:
        """With the records of a batch."""
        is_keyed = ~batch.is_null
        frequent, frequent_rows = self.frequent.counted(batch.identity, is_keyed)
        different, different_rows = self.different.with_batch(batch.identity, is_keyed)
        rows = np.concatenate([frequent_rows, different_rows])
        rows = rows[rows >= 0]
        _, first = np.unique(batch.identity[rows], return_index=True)
        facts = KeyFacts.of_rows(rows[first], batch.identity, batch.hashes, batch.keys, self.plan.shown_bytes)
        return replace(
            self,
            counts=self.counts.plus(_counts_of(batch, self.plan)),
            frequent=frequent,
            different=different,
            facts=_facts_needed(self.facts.together(facts), frequent, different),
            has_bytes=self.has_bytes and batch.record_bytes is not None,
        )

    def merged(self, other: KeyTally) -> KeyTally:
        """Both samples as one; the plans are the same."""
        if self.plan != other.plan:
            raise InvalidInputError.at("tally", "two that were counted by different plans")
        frequent, different = self.frequent.merged(other.frequent), self.different.merged(other.different)
        return replace(
            self,
            counts=self.counts.plus(other.counts),
            frequent=frequent,
            different=different,
            facts=_facts_needed(self.facts.together(other.facts), frequent, different),
            has_bytes=self.has_bytes and other.has_bytes,
        )

    def to_bytes(self) -> bytes:
        """All but the plan, for ``from_bytes``."""
        file = io.BytesIO()
        arrays: dict[str, Any] = {f"counts.{field.name}": getattr(self.counts, field.name) for field in fields(Counts)}
        arrays |= {f"facts.{field.name}": getattr(self.facts, field.name) for field in fields(KeyFacts)}
        frequent, different = self.frequent, self.different
        np.savez(
            file, **arrays, frequent=frequent.identity, frequent_records=frequent.records, different=different.identity,
            numbers=np.array([frequent.error, frequent.total, frequent.capacity, different.size, self.has_bytes]),
            limit=np.array([different.limit], np.uint64),
        )  # fmt: skip
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes, plan: TallyPlan) -> KeyTally:
        """What ``to_bytes`` of a tally by the same plan gave."""
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            error, total, capacity, size, has_bytes = (int(number) for number in arrays["numbers"])
            return cls(
                plan,
                Counts(*(arrays[f"counts.{field.name}"] for field in fields(Counts))),
                FrequentKeys(arrays["frequent"], arrays["frequent_records"], error, total, capacity),
                DifferentKeys(arrays["different"], int(arrays["limit"][0]), size),
                KeyFacts(*(arrays[f"facts.{field.name}"] for field in fields(KeyFacts))),
                bool(has_bytes),
            )


def _facts_needed(facts: KeyFacts, frequent: FrequentKeys, different: DifferentKeys) -> KeyFacts:
    return facts.of(np.union1d(frequent.identity, different.identity))


def _counts_of(batch: KeyBatch, plan: TallyPlan) -> Counts:
    counts = Counts.none(plan)
    nothing = np.zeros(0, np.int64)
    weights = nothing if batch.record_bytes is None else batch.record_bytes
    counts.total[:] = len(batch), batch.is_null.sum(), batch.is_empty.sum(), weights.sum()
    places, goes_by_key = [], []
    start = 0
    for k, placement in enumerate(plan.placements):
        hashes = batch.hashes[plan.hashes.index(placement.rule.hash)]
        placed = placement.rule.places(hashes, placement.partitions)
        is_by_lot = placement.rule.is_by_lot(batch.is_null, batch.is_empty)
        end = start + placement.partitions
        _add_up(placed, is_by_lot, weights, counts.records[start:end], counts.bytes[start:end])
        counts.by_lot[k] = is_by_lot.sum()
        places.append(placed)
        goes_by_key.append(~is_by_lot)
        start = end
    for k, pair in enumerate(plan.pairs):
        is_paired = goes_by_key[pair.one] & goes_by_key[pair.other] & ~batch.is_null
        counts.paired[k], counts.apart[k] = _apart(places[pair.one], places[pair.other], is_paired)
    return counts if batch.observed is None else _with_observed(counts, batch.observed, places, goes_by_key)


def _with_observed(counts: Counts, observed: Ints, places: list[Ints], goes_by_key: list[Flags]) -> Counts:
    is_known = observed >= 0
    for k, (placed, is_by_key) in enumerate(zip(places, goes_by_key, strict=True)):
        known, apart = _apart(placed, observed, is_by_key & is_known)
        counts.with_observed[k], counts.agreeing[k] = known, known - apart
    return replace(counts, observed=np.bincount(observed[is_known]).astype(np.int64))


@kernel
def _add_up(placed: Ints, is_by_lot: Flags, weights: Longs, records: Longs, loads: Longs) -> None:
    for i in range(len(placed)):
        if not is_by_lot[i]:
            records[placed[i]] += 1
            if len(weights):
                loads[placed[i]] += weights[i]


@kernel
def _apart(one: Ints, other: Ints, is_looked_at: Flags) -> tuple[int, int]:
    """(records looked at, those whose partitions differ)."""
    looked_at = apart = 0
    for i in range(len(one)):
        looked_at += is_looked_at[i]
        apart += is_looked_at[i] & (one[i] != other[i])
    return looked_at, apart


def _sum(one: Longs, other: Longs) -> Longs:
    if len(one) == len(other):
        return one + other
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    total = longer.copy()
    total[: len(shorter)] += shorter
    return total
