"""Plan of a tally: placements (partitioner and number of partitions) and pairs of them.

Partition of a key from its hash, as the remainder by the number of partitions

| hash | part used | clients |
|---|---|---|
| murmur2 | lower 31 bits | Java 0.8.2 and later, librdkafka murmur2 |
| crc32 | all 32 bits | librdkafka consistent, Sarama crc |
| fnv1a | absolute value, 2^31 for the least int | librdkafka fnv1a, Sarama hash |
| fnv1a | lower 31 bits | Sarama reference |
| java_text | absolute value, 0 for the least int | Scala 0.8 |

Randomly placed keys (null, for some clients empty) are counted apart. A key's identity has 64 bits: among 50 million
keys the chance of any collision is 7 in 100,000. It is not secret: a guessed key has a known identity.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Flags, Ints, Longs
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.kernels import inlined_kernel, kernel, wraps_around
from kafka_assignors.partitioners.contract import Partitioner
from kafka_assignors.partitioners.hashing import (
    BuiltInPartitioner,
    ByLot,
    Hash,
    LibrdkafkaPartitioner,
    RoundRobinWithoutKey,
    SaramaPartitioner,
    ScalaPartitioner,
    StickyWithoutKey,
    Way,
    crc32_hashes,
    fnv1a_hashes,
    four_bytes,
    murmur2_hashes,
    text_hash_codes,
)
from kafka_assignors.partitioners.key_column import Bytes, KeyColumn, Offsets
from kafka_assignors.partitioners.registry import by_name

Words = npt.NDArray[np.uint32]


class KeyHash(StrEnum):
    MURMUR2 = "murmur2"
    CRC32 = "crc32"
    FNV1A = "fnv1a"
    JAVA_TEXT = "java_text"


class HashBits(StrEnum):
    LOWER_BITS = "lower_bits"
    ALL_BITS = "all_bits"
    ABSOLUTE = "absolute"
    ABSOLUTE_OR_ZERO = "absolute_or_zero"  # 0 for the least int


@dataclass(frozen=True, slots=True)
class KeyRule:
    """Partitioner by keys; ``by_lot``: records that it places at random."""

    partitioner: str
    hash: KeyHash
    taken: HashBits
    by_lot: ByLot

    def is_by_lot(self, is_null: Flags, is_empty: Flags) -> Flags:
        if self.by_lot is ByLot.NONE:
            return np.zeros(len(is_null), np.bool_)
        return is_null if self.by_lot is ByLot.NULL else is_null | is_empty

    def places(self, hashes: Words, partitions: int) -> Ints:
        places = np.empty(len(hashes), np.int32)
        match self.taken:
            case HashBits.LOWER_BITS:
                _remainders(hashes, np.uint32(0x7FFFFFFF), partitions, places)
            case HashBits.ALL_BITS:
                _remainders(hashes, np.uint32(0xFFFFFFFF), partitions, places)
            case HashBits.ABSOLUTE | HashBits.ABSOLUTE_OR_ZERO:
                least = 0 if self.taken is HashBits.ABSOLUTE_OR_ZERO else 2**31
                _absolute_remainders(hashes.view(np.int32), least, partitions, places)
        return places


def rule_of(name: str) -> KeyRule:
    """Raises UnknownNameError, or InvalidInputError for one that does not hash keys."""
    rule = _rule(by_name(name))
    if rule is None:
        raise InvalidInputError.at(
            f"partitioner {name}", "does not place records by a hash of their key",
            "round robin and sticky ones spread any keys; `replay` asks a custom one",
        )  # fmt: skip
    return rule


def _rule(partitioner: Partitioner) -> KeyRule | None:
    name = partitioner.name
    match partitioner:
        case ScalaPartitioner():
            return KeyRule(name, KeyHash.JAVA_TEXT, HashBits.ABSOLUTE_OR_ZERO, ByLot.NULL)
        case RoundRobinWithoutKey() | StickyWithoutKey(is_key_ignored=False) | BuiltInPartitioner(is_key_ignored=False):
            return KeyRule(name, KeyHash.MURMUR2, HashBits.LOWER_BITS, ByLot.NULL)
        case LibrdkafkaPartitioner(hash=hash_of):
            key_hash, taken = _LIBRDKAFKA[hash_of]
            return KeyRule(name, key_hash, taken, partitioner.by_lot)
        case SaramaPartitioner(way=way):
            key_hash, taken = _SARAMA[way]
            return KeyRule(name, key_hash, taken, ByLot.NULL)
    return None


_LIBRDKAFKA = {
    Hash.MURMUR2: (KeyHash.MURMUR2, HashBits.LOWER_BITS),
    Hash.CRC32: (KeyHash.CRC32, HashBits.ALL_BITS),
    Hash.FNV1A: (KeyHash.FNV1A, HashBits.ABSOLUTE),
}
_SARAMA = {
    Way.NEGATED: (KeyHash.FNV1A, HashBits.ABSOLUTE),
    Way.MASKED: (KeyHash.FNV1A, HashBits.LOWER_BITS),
    Way.CRC: (KeyHash.CRC32, HashBits.ALL_BITS),
}
_EMPTY_KEY = KeyColumn.of([b""])


def hashes_of(key_hash: KeyHash, keys: KeyColumn) -> Words:
    """uint32[N]; a null key hashes as the empty one, as in every client."""
    hashes = _hash(key_hash, keys)
    if keys.is_null is not None:
        hashes[keys.is_null] = _hash(key_hash, _EMPTY_KEY)[0]
    return hashes


def _hash(key_hash: KeyHash, keys: KeyColumn) -> Words:
    match key_hash:
        case KeyHash.MURMUR2:
            return murmur2_hashes(keys).view(np.uint32)
        case KeyHash.CRC32:
            return crc32_hashes(keys)
        case KeyHash.FNV1A:
            return fnv1a_hashes(keys)
        case KeyHash.JAVA_TEXT:
            return np.ascontiguousarray(text_hash_codes(keys), np.int32).view(np.uint32)


@kernel
def _remainders(hashes: Words, mask: np.uint32, partitions: int, places: Ints) -> None:
    """The quotient in doubles is off by at most one; a division is slower."""
    inverse = 1.0 / partitions
    for i in range(len(hashes)):
        value = np.int64(hashes[i] & mask)
        rest = value - np.int64(value * inverse) * partitions
        if rest < 0:
            rest += partitions
        if rest >= partitions:
            rest -= partitions
        places[i] = rest


@kernel
def _absolute_remainders(hashes: Ints, of_least: int, partitions: int, places: Ints) -> None:
    for i in range(len(hashes)):
        value = np.int64(hashes[i])
        if value < 0:
            value = -value if value != -(2**31) else np.int64(of_least)
        places[i] = value % partitions


Identities = npt.NDArray[np.uint64]
_SEED = np.uint64(0x9E3779B97F4A7C15)
_STEP = np.uint64(0xD6E8FEB86659FD93)
_LAST = np.uint64(0xC4CEB9FE1A85EC53)
_WORD = 4


def key_identities(keys: KeyColumn) -> Identities:
    identities = np.empty(len(keys), np.uint64)
    _identities(keys.data, keys.offsets, identities)
    return identities


def hash_identities(hashes: npt.NDArray[np.uint32]) -> Identities:
    """Return identities by hash alone: keys of one hash count as one."""
    identities = np.empty(len(hashes), np.uint64)
    _mixed_hashes(hashes, identities)
    return identities


@inlined_kernel
@wraps_around
def _mix(code: np.uint64, word: np.uint64) -> np.uint64:
    """One to one in ``word``: keys that differ in one word do not collide."""
    code = (code ^ word) * _STEP
    return code ^ (code >> np.uint64(32))


@kernel
@wraps_around
def _identities(data: Bytes, offsets: Offsets, identities: Identities) -> None:
    for i in range(len(identities)):
        at, end = np.int64(offsets[i]), np.int64(offsets[i + 1])
        code = _SEED ^ np.uint64(end - at)
        while at + _WORD <= end:
            code = _mix(code, np.uint64(four_bytes(data, at)))
            at += _WORD
        tail = np.uint64(0)
        for k in range(end - at):
            tail |= np.uint64(data[at + k]) << np.uint64(8 * k)
        code = _mix(code, tail) * _LAST
        identities[i] = code ^ (code >> np.uint64(29))


@kernel
@wraps_around
def _mixed_hashes(hashes: npt.NDArray[np.uint32], identities: Identities) -> None:
    for i in range(len(identities)):
        code = _mix(_SEED, np.uint64(hashes[i])) * _LAST
        identities[i] = code ^ (code >> np.uint64(29))


MOST_PARTITIONS = 1_000_000
MOST_VALUE_BYTES = 2**31  # Kafka counts them in an int
UNKNOWN_PARTITION = -1


@dataclass(frozen=True, slots=True, eq=False)
class KeyBatch:
    """``hashes`` uint32[H, N] in the requested order; ``observed``: partition read from."""

    identity: Identities
    hashes: Words
    is_null: Flags
    is_empty: Flags
    keys: KeyColumn | None
    record_bytes: Longs | None = None
    observed: Ints | None = None

    def __post_init__(self) -> None:
        for name in ("record_bytes", "observed"):
            column = getattr(self, name)
            if column is not None and len(column) != len(self):
                raise InvalidInputError.at(name, f"{len(column)} values, expected {len(self)}")
        _require_within(self.observed, "partition", UNKNOWN_PARTITION, MOST_PARTITIONS)

    def __len__(self) -> int:
        return len(self.identity)


def batch_of_keys(
    keys: KeyColumn, key_hashes: Iterable[KeyHash], value_bytes: Longs | None = None, observed: Ints | None = None
) -> KeyBatch:
    _require_within(value_bytes, "bytes of a value", 0, MOST_VALUE_BYTES)
    lengths = keys.lengths
    is_null = keys.nulls
    hashes = [hashes_of(key_hash, keys) for key_hash in key_hashes]
    return KeyBatch(
        identity=key_identities(keys),
        hashes=np.stack(hashes) if hashes else np.zeros((0, len(keys)), np.uint32),
        is_null=is_null,
        is_empty=(lengths == 0) & ~is_null,
        keys=keys,
        record_bytes=None if value_bytes is None else value_bytes + np.where(is_null, 0, lengths),
        observed=observed,
    )


def batch_of_hashes(
    hashes: Words, is_null: Flags, value_bytes: Longs | None = None, observed: Ints | None = None
) -> KeyBatch:
    """Return a batch of known hashes: keys of one hash count as one, none is known to be empty."""
    _require_within(value_bytes, "bytes of a value", 0, MOST_VALUE_BYTES)
    return KeyBatch(
        identity=hash_identities(hashes),
        hashes=hashes[None, :],
        is_null=is_null,
        is_empty=np.zeros(len(hashes), np.bool_),
        keys=None,
        record_bytes=value_bytes,
        observed=observed,
    )


def _require_within(column: Longs | Ints | None, name: str, least: int, end: int) -> None:
    if column is not None and len(column):
        for value in (int(column.min()), int(column.max())):
            if not least <= value < end:
                raise InvalidInputError.at(name, str(value), f"from {max(least, 0)} to {end - 1} is expected")


class Pairing(StrEnum):
    GROWN = "grown"  # other number of partitions
    OTHER_CLIENT = "other_client"
    READ_TOGETHER = "read_together"


@dataclass(frozen=True, slots=True)
class Placement:
    rule: KeyRule
    partitions: int

    def __post_init__(self) -> None:
        if not 0 < self.partitions <= MOST_PARTITIONS:
            raise InvalidInputError.at("partitions", str(self.partitions), f"1 … {MOST_PARTITIONS:,}")


@dataclass(frozen=True, slots=True)
class Pair:
    first: int
    second: int
    pairing: Pairing


@dataclass(frozen=True, slots=True)
class TallyPlan:
    """``shown_bytes`` of heavy keys are kept, 0: none."""

    placements: tuple[Placement, ...]
    pairs: tuple[Pair, ...] = ()
    shown_bytes: int = 0

    @property
    def hashes(self) -> tuple[KeyHash, ...]:
        return tuple(dict.fromkeys(placement.rule.hash for placement in self.placements))


@dataclass(frozen=True, slots=True)
class TopicLayout:
    partitions: int
    partitioner: str = "default"


def plan_for(
    topic: TopicLayout,
    *,
    clients: tuple[str, ...] = (),
    grown_to: tuple[int, ...] = (),
    read_with: TopicLayout | None = None,
    shown_bytes: int = 0,
) -> TallyPlan:
    """Return the plan: the topic's own placement, then those that pair with it. Raises as ``rule_of``."""
    own = Placement(rule_of(topic.partitioner), topic.partitions)
    others = [(Placement(rule_of(name), topic.partitions), Pairing.OTHER_CLIENT) for name in clients]
    others += [(Placement(own.rule, count), Pairing.GROWN) for count in grown_to]
    if read_with is not None:
        others.append((Placement(rule_of(read_with.partitioner), read_with.partitions), Pairing.READ_TOGETHER))
    placements = tuple(dict.fromkeys([own, *(placement for placement, _ in others)]))
    pairs = tuple(Pair(0, placements.index(placement), pairing) for placement, pairing in others)
    return TallyPlan(placements, tuple(dict.fromkeys(pairs)), shown_bytes)


def read_together(plan: TallyPlan) -> Pair:
    return next(pair for pair in plan.pairs if pair.pairing is Pairing.READ_TOGETHER)


UNKNOWN_LENGTH = -1


@dataclass(frozen=True, slots=True, eq=False)
class KeyFacts:
    """K keys by ascending ``identity``; ``hashes`` uint32[H, K]. ``length``: -1 = unknown; ``start`` uint8[K, W]: first
    bytes, W = 0 where keys are not shown.
    """

    identity: Identities
    hashes: Words
    length: npt.NDArray[np.int32]
    start: npt.NDArray[np.uint8]

    @classmethod
    def none(cls, hash_count: int, shown_bytes: int) -> KeyFacts:
        return cls(
            np.zeros(0, np.uint64), np.zeros((hash_count, 0), np.uint32), np.zeros(0, np.int32),
            np.zeros((0, shown_bytes), np.uint8),
        )  # fmt: skip

    @classmethod
    def of_rows(
        cls, rows: Longs, identity: Identities, hashes: Words, keys: KeyColumn | None, shown_bytes: int
    ) -> KeyFacts:
        rows = rows[np.argsort(identity[rows])]
        length = np.full(len(rows), UNKNOWN_LENGTH, np.int32)
        start = np.zeros((len(rows), shown_bytes), np.uint8)
        if keys is not None:
            length = (keys.offsets[rows + 1] - keys.offsets[rows]).astype(np.int32)
            if shown_bytes:
                within = np.arange(shown_bytes)
                at = keys.offsets[rows].astype(np.int64)[:, None] + within
                is_key = within < length[:, None]
                start[is_key] = keys.data[at[is_key]]
        return cls(identity[rows], hashes[:, rows], length, start)

    def __len__(self) -> int:
        return len(self.identity)

    def of(self, identity: Identities) -> KeyFacts:
        at = np.searchsorted(self.identity, identity)
        return KeyFacts(self.identity[at], self.hashes[:, at], self.length[at], self.start[at])

    def together(self, other: KeyFacts) -> KeyFacts:
        identity = np.concatenate([self.identity, other.identity])
        _, first = np.unique(identity, return_index=True)
        return KeyFacts(
            identity[first],
            np.concatenate([self.hashes, other.hashes], axis=1)[:, first],
            np.concatenate([self.length, other.length])[first],
            np.concatenate([self.start, other.start])[first],
        )

    def key(self, index: int) -> bytes | None:
        width = self.start.shape[1]
        return self.start[index, : self.length[index]].tobytes() if width and self.length[index] >= 0 else None
