"""Tally of a sample: exact counts, heavy keys, a sample of the distinct keys. Tallies merge in any order. O(bytes +
records x placements).

``DifferentKeys``: the ``size`` smallest identities, a fair sample since identities are like random draws (Bar-Yossef et
al. 2002). Up to ``size`` keys it is exact. Beyond, the estimate is (size - 1) / (largest kept / 2^64) with a standard
error of 1 / sqrt(size - 2), 1.6 % for 4,096.

``FrequentKeys``: Misra and Gries' counters, which merge (Agarwal et al. 2012). When ``capacity`` counters are full,
their median is subtracted from all, and counters at zero or below are freed. ``error`` sums the subtractions:

    counter <= true count <= counter + error          (counter 0: the key has none)

Each time at least half of ``capacity`` counters lose the whole median, and together they lose at most the total:
``error <= 2 * records / capacity``. Merging cuts the summed tables in the same way.

Scores of a tally: loads and skew, heavy keys, moved keys, disagreeing clients and topics.

Skew is the most loaded partition over the mean, of all records; the rest counts keyed records. Clients disagree on a
key if they send it to different partitions of topics with equally many: joins lose rows without an error. Shares of
records are exact; shares of distinct keys come from a sample (``is_exact``: it holds all). O(N log N) for N records.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Flags, Ints, Longs
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_assignors.partitioners.key_column import Bytes, KeyColumn, Offsets
from kafka_rebalance.key_tally.plan import (
    Identities,
    KeyBatch,
    KeyFacts,
    Pair,
    Pairing,
    Placement,
    TallyPlan,
    read_together,
)

SIZE = 4096
_NO_LIMIT = 2**64 - 1


@dataclass(frozen=True, slots=True, eq=False)
class DifferentKeys:
    """``identity`` ascending, at most ``size``; complete up to ``limit`` (2^64 - 1: all)."""

    identity: Identities
    limit: int = _NO_LIMIT
    size: int = SIZE

    @classmethod
    def none(cls, size: int = SIZE) -> DifferentKeys:
        return cls(np.zeros(0, np.uint64), size=size)

    @property
    def is_exact(self) -> bool:
        return self.limit == _NO_LIMIT

    @property
    def estimate(self) -> float:
        return float(len(self.identity)) if self.is_exact else (self.size - 1) / (self.limit / 2**64)

    @property
    def standard_error(self) -> float:
        return 0.0 if self.is_exact else float(1 / np.sqrt(self.size - 2))

    def with_batch(self, identity: Identities, is_counted: Flags) -> tuple[DifferentKeys, Longs]:
        """Add a batch; also return each key's row of the batch, -1 if known before."""
        slots = 1 << int(4 * self.size - 1).bit_length()
        smallest, rows, cut = _smallest(
            identity, is_counted, self.identity, self.size, (np.zeros(slots, np.uint64), np.zeros(slots, np.int64)),
            np.uint64(self.limit),
        )  # fmt: skip
        order = np.argsort(smallest)[: self.size]
        limit = int(cut) if len(smallest) <= self.size else int(smallest[order[-1]])
        return replace(self, identity=smallest[order], limit=limit), rows[order]

    def merged(self, other: DifferentKeys) -> DifferentKeys:
        identity = np.unique(np.concatenate([self.identity, other.identity]))
        limit = min(self.limit, other.limit)
        identity = identity[identity <= np.uint64(limit)]
        if len(identity) > self.size:
            identity = identity[: self.size]
            limit = int(identity[-1])
        return replace(self, identity=identity, limit=limit)


_FREE, _KNOWN = 0, 1
_FIRST_ROW = 2  # mark of a slot: free, known, or row of the batch + 2


@kernel
def _smallest(
    identity: Identities, is_counted: Flags, earlier: Identities, size: int, slots: tuple[Identities, Longs],
    limit: np.uint64,
) -> tuple[Identities, Longs, np.uint64]:  # fmt: skip
    table, marks = slots
    mask = np.uint64(len(table) - 1)
    used = len(earlier)
    for k in range(len(earlier)):
        at = _place(table, marks, earlier[k], mask)
        table[at] = earlier[k]
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
    smallest, rows = np.empty(used, np.uint64), np.empty(used, np.int64)
    n = 0
    for k in range(len(marks)):
        if marks[k] != _FREE:
            smallest[n] = table[k]
            rows[n] = marks[k] - _FIRST_ROW
            n += 1
    return smallest, rows, limit


@inner_kernel
def _place(table: Identities, marks: Longs, identity: np.uint64, mask: np.uint64) -> int:
    at = identity & mask
    while marks[at] != _FREE and table[at] != identity:
        at = (at + np.uint64(1)) & mask
    return int(at)


@inner_kernel
def _keep_smallest(table: Identities, marks: Longs, used: int, size: int, mask: np.uint64) -> tuple[int, np.uint64]:
    identities = np.empty(used, np.uint64)
    n = 0
    for k in range(len(marks)):
        if marks[k] != _FREE:
            identities[n] = table[k]
            n += 1
    limit = np.sort(identities)[size - 1]
    old_table, old_marks = table.copy(), marks.copy()
    marks[:] = _FREE
    for k in range(len(old_marks)):
        if old_marks[k] != _FREE and old_table[k] <= limit:
            at = _place(table, marks, old_table[k], mask)
            table[at] = old_table[k]
            marks[at] = old_marks[k]
    return size, limit


CAPACITY = 8192


@dataclass(frozen=True, slots=True, eq=False)
class FrequentKeys:
    """``identity`` ascending with counters ``records``; ``total`` records."""

    identity: Identities
    records: Longs
    error: int = 0
    total: int = 0
    capacity: int = CAPACITY

    @classmethod
    def none(cls, capacity: int = CAPACITY) -> FrequentKeys:
        return cls(np.zeros(0, np.uint64), np.zeros(0, np.int64), capacity=capacity)

    def counted(self, identity: Identities, is_counted: Flags) -> tuple[FrequentKeys, Longs]:
        """Add a batch; also return each key's row of the batch, -1 if none."""
        slots = _slot_count(self.capacity)
        table, counts, rows = np.zeros(slots, np.uint64), np.zeros(slots, np.int64), np.full(slots, -1, np.int64)
        error = self.error + _count(
            identity, is_counted, self.identity, self.records, self.capacity, (table, counts, rows)
        )
        return self._of_table(table, counts, error, self.total + int(is_counted.sum()), rows)

    def merged(self, other: FrequentKeys) -> FrequentKeys:
        identity, inverse = np.unique(np.concatenate([self.identity, other.identity]), return_inverse=True)
        records = np.zeros(len(identity), np.int64)
        np.add.at(records, inverse, np.concatenate([self.records, other.records]))
        error = self.error + other.error
        if len(identity) > self.capacity:
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
    return 1 << int(2 * capacity - 1).bit_length()


@kernel
def _count(
    identity: Identities, is_counted: Flags, earlier: Identities, earlier_counts: Longs, capacity: int,
    slots: tuple[Identities, Longs, Longs],
) -> int:  # fmt: skip
    """Fill the slots (identity, count, row); return the subtracted median."""
    table, counts, rows = slots
    mask = np.uint64(len(table) - 1)
    used = len(earlier)
    for k in range(len(earlier)):
        at = _slot(table, counts, earlier[k], mask)
        table[at] = earlier[k]
        counts[at] = earlier_counts[k]
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
    at = identity & mask
    while counts[at] > 0 and table[at] != identity:
        at = (at + np.uint64(1)) & mask
    return int(at)


@inner_kernel
def _median(counts: Longs, used: int) -> int:
    positive = np.empty(used, np.int64)
    n = 0
    for k in range(len(counts)):
        if counts[k] > 0:
            positive[n] = counts[k]
            n += 1
    return int(np.partition(positive, used // 2)[used // 2])


@inner_kernel
def _cut(table: Identities, counts: Longs, rows: Longs, cut: int, mask: np.uint64) -> int:
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


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Sums over records, int64.

    ``total`` [4]: records, null keys, empty keys, bytes. By placement, concatenated: ``records``, ``bytes`` by
    partition; ``by_lot`` [P] placed at random; ``agreeing`` [P] of ``with_observed`` [P], keyed records with a known
    partition. By pair: ``paired`` [C] keyed in both, ``apart`` [C] in different partitions. ``observed`` [n] by
    partition.
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
        cells = sum(placement.partitions for placement in plan.placements)
        sizes = (4, cells, cells, *[len(plan.placements)] * 3, *[len(plan.pairs)] * 2, 0)
        return cls(*(np.zeros(size, np.int64) for size in sizes))

    def plus(self, other: Counts) -> Counts:
        return Counts(*(_sum(getattr(self, field.name), getattr(other, field.name)) for field in fields(Counts)))


@dataclass(frozen=True, slots=True, eq=False)
class KeyTally:
    """``has_bytes``: every batch has record sizes."""

    plan: TallyPlan
    counts: Counts
    frequent: FrequentKeys
    different: DifferentKeys
    facts: KeyFacts
    has_bytes: bool = True

    @classmethod
    def none(cls, plan: TallyPlan) -> KeyTally:
        facts = KeyFacts.none(len(plan.hashes), plan.shown_bytes)
        return cls(plan, Counts.none(plan), FrequentKeys.none(), DifferentKeys.none(), facts)

    def added(self, batch: KeyBatch) -> KeyTally:
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
        is_paired = goes_by_key[pair.first] & goes_by_key[pair.second] & ~batch.is_null
        counts.paired[k], counts.apart[k] = _apart(places[pair.first], places[pair.second], is_paired)
    return counts if batch.observed is None else _with_observed(counts, batch.observed, places, goes_by_key)


def _with_observed(counts: Counts, observed: Ints, places: list[Ints], goes_by_key: list[Flags]) -> Counts:
    is_known = observed >= 0
    for k, (placed, is_by_key) in enumerate(zip(places, goes_by_key, strict=True)):
        compared, apart = _apart(placed, observed, is_by_key & is_known)
        counts.with_observed[k], counts.agreeing[k] = compared, compared - apart
    return replace(counts, observed=np.bincount(observed[is_known]).astype(np.int64))


@kernel
def _add_up(placed: Ints, is_by_lot: Flags, weights: Longs, records: Longs, loads: Longs) -> None:
    for i in range(len(placed)):
        if not is_by_lot[i]:
            records[placed[i]] += 1
            if len(weights):
                loads[placed[i]] += weights[i]


@kernel
def _apart(left: Ints, right: Ints, is_looked_at: Flags) -> tuple[int, int]:
    looked_at = apart = 0
    for i in range(len(left)):
        looked_at += is_looked_at[i]
        apart += is_looked_at[i] & (left[i] != right[i])
    return looked_at, apart


def _sum(left: Longs, right: Longs) -> Longs:
    if len(left) == len(right):
        return left + right
    longer, shorter = (left, right) if len(left) > len(right) else (right, left)
    total = longer.copy()
    total[: len(shorter)] += shorter
    return total


Values = npt.NDArray[np.int8]


class KeyEncoding(StrEnum):
    PLAIN = "plain"
    HEX = "hex"
    BASE64 = "base64"


_NO_DIGIT, _PAD = -1, -2
_BYTE_BITS = 8


def _values(*alphabets: str) -> Values:
    values = np.full(256, _NO_DIGIT, np.int8)
    for alphabet in alphabets:
        values[np.frombuffer(alphabet.encode(), np.uint8)] = np.arange(len(alphabet))
    return values


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_HEX = _values("0123456789abcdef", "0123456789ABCDEF")
_BASE64 = _values(f"{_LETTERS}+/", f"{_LETTERS}-_")
_BASE64[ord("=")] = _PAD


def decode_keys(keys: KeyColumn, encoding: KeyEncoding, first_row: int = 0) -> KeyColumn:
    """Raises InvalidInputError with the invalid row (from 1, after ``first_row``)."""
    if encoding is KeyEncoding.PLAIN:
        return keys
    values, bits = (_HEX, 4) if encoding is KeyEncoding.HEX else (_BASE64, 6)
    offsets = np.zeros(len(keys) + 1, np.int64)
    data = np.zeros(int(keys.offsets[-1] - keys.offsets[0]), np.uint8)
    bad = _decode(keys.data, keys.offsets, keys.nulls, (values, bits), (data, offsets))
    if bad >= 0:
        raise InvalidInputError.at(
            f"row {first_row + bad + 1}", f"its key is not {encoding.value}", "--key-encoding says how keys are written"
        )
    return KeyColumn(data[: offsets[-1]], offsets, keys.is_null)


@kernel
def _decode(
    data: Bytes, offsets: Offsets, is_null: npt.NDArray[np.bool_], digits: tuple[Values, int],
    output: tuple[Bytes, Longs],
) -> int:  # fmt: skip
    values, bits = digits
    bytes_, bounds = output
    n = 0
    for i in range(len(is_null)):
        value = left = 0
        is_padded = False
        for at in range(offsets[i], offsets[i + 1]):
            if is_null[i]:
                continue
            digit = int(values[data[at]])
            if digit == _PAD:
                is_padded = True
                continue
            if digit == _NO_DIGIT or is_padded:
                return i
            value = ((value << bits) | digit) & 0xFFFF
            left += bits
            if left >= _BYTE_BITS:
                left -= _BYTE_BITS
                bytes_[n] = (value >> left) & 0xFF
                n += 1
        if left >= bits:
            return i
        bounds[i + 1] = n
    return -1


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

    first: Placement
    second: Placement
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


def meeting_of(left: KeyTally, right: KeyTally) -> MeetingScore:
    pair = read_together(left.plan)
    limit = np.uint64(min(left.different.limit, right.different.limit))
    mine, theirs = (tally.different.identity[tally.different.identity <= limit] for tally in (left, right))
    shared = np.intersect1d(mine, theirs)
    facts = left.facts.of(shared)
    is_apart = _places(left, facts, pair.first) != _places(left, facts, pair.second)
    is_exact = left.different.is_exact and right.different.is_exact
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
            partitions=tuple(int(partition) for partition in places[:, i]),
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
    observed_records = int(counts.with_observed[number]) if placement.partitions == partitions else 0
    return PlacementScore(
        placement,
        PartitionLoad(counts.records[cells], counts.bytes[cells]),
        int(counts.by_lot[number]),
        int(counts.agreeing[number]) / observed_records if observed_records else None,
    )


def _pair_score(tally: KeyTally, number: int, pair: Pair) -> PairScore:
    different = _records_apart(tally, tally.facts.of(tally.different.identity), pair)
    frequent = _records_apart(tally, tally.facts.of(tally.frequent.identity), pair)
    looked_at = different[different >= 0]
    return PairScore(
        first=tally.plan.placements[pair.first],
        second=tally.plan.placements[pair.second],
        pairing=pair.pairing,
        keyed_records=int(tally.counts.paired[number]),
        records_apart=int(tally.counts.apart[number]),
        key_ratio=float(looked_at.mean()) if len(looked_at) else 0.0,
        examples=heaviest(tally, np.flatnonzero(frequent == 1), EXAMPLES),
    )


def _records_apart(tally: KeyTally, facts: KeyFacts, pair: Pair) -> Longs:
    """1: different partitions, 0: the same, -1: one is random."""
    left, right = _places(tally, facts, pair.first), _places(tally, facts, pair.second)
    return np.where((left < 0) | (right < 0), -1, left != right)
