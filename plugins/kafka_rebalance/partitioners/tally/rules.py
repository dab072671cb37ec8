"""How each partitioner gets from a key's hash to a partition: what a sample needs to be placed without its bytes.

| hash | taken of it | who |
|---|---|---|
| murmur2 | lower 31 bits | Java 0.8.2 and later, librdkafka murmur2 |
| crc32 | all 32 bits | librdkafka consistent, Sarama crc |
| fnv1a | absolute value, 2^31 for the least int | librdkafka fnv1a, Sarama hash |
| fnv1a | lower 31 bits | Sarama reference |
| java_text | absolute value, 0 for the least int | Scala 0.8 |

The partition is the remainder by the number of partitions. What goes by lot (a null key, for some an empty one) goes to
no partition here: it is counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import Flags, Ints
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.kernels.decorators import kernel
from kafka_rebalance.partitioners.contract import Partitioner
from kafka_rebalance.partitioners.kafka_java import (
    BuiltInPartitioner,
    RoundRobinWithoutKey,
    ScalaPartitioner,
    StickyWithoutKey,
    text_hash_codes,
)
from kafka_rebalance.partitioners.key_column import KeyColumn
from kafka_rebalance.partitioners.librdkafka import ByLot, Hash, LibrdkafkaPartitioner
from kafka_rebalance.partitioners.murmur2 import murmur2_hashes
from kafka_rebalance.partitioners.other_hashes import crc32_hashes, fnv1a_hashes
from kafka_rebalance.partitioners.registry import by_name
from kafka_rebalance.partitioners.sarama import SaramaPartitioner, Way

Words = npt.NDArray[np.uint32]


class KeyHash(StrEnum):
    """The 32 bits that a partitioner takes of a key."""

    MURMUR2 = "murmur2"
    CRC32 = "crc32"
    FNV1A = "fnv1a"
    JAVA_TEXT = "java_text"


class Taken(StrEnum):
    """What becomes of the sign before the remainder."""

    LOWER_BITS = "lower_bits"  # 31 of them
    ALL_BITS = "all_bits"
    ABSOLUTE = "absolute"
    ABSOLUTE_OR_ZERO = "absolute_or_zero"  # 0 for the least int, which has no absolute value


@dataclass(frozen=True, slots=True)
class KeyRule:
    """One partitioner that goes by keys; ``by_lot``: which records it sends anywhere instead."""

    partitioner: str
    hash: KeyHash
    taken: Taken
    by_lot: ByLot

    def is_by_lot(self, is_null: Flags, is_empty: Flags) -> Flags:
        """bool[N]: records that no key sends anywhere."""
        if self.by_lot is ByLot.NONE:
            return np.zeros(len(is_null), np.bool_)
        return is_null if self.by_lot is ByLot.NULL else is_null | is_empty

    def places(self, hashes: Words, partitions: int) -> Ints:
        """Partition of each hash, int32[N]."""
        places = np.empty(len(hashes), np.int32)
        match self.taken:
            case Taken.LOWER_BITS:
                _remainders(hashes, np.uint32(0x7FFFFFFF), partitions, places)
            case Taken.ALL_BITS:
                _remainders(hashes, np.uint32(0xFFFFFFFF), partitions, places)
            case Taken.ABSOLUTE | Taken.ABSOLUTE_OR_ZERO:
                least = 0 if self.taken is Taken.ABSOLUTE_OR_ZERO else 2**31
                _absolute_remainders(hashes.view(np.int32), least, partitions, places)
        return places


def rule_of(name: str) -> KeyRule:
    """The rule of a partitioner by its name in the registry.

    Raises UnknownNameError for a name that nobody has, InvalidInputError for a partitioner that does not go by a hash
    of the key.
    """
    found = _rule(by_name(name))
    if found is None:
        raise InvalidInputError.at(
            f"partitioner {name}", "does not place records by a hash of their key",
            "round robin and sticky ones spread any keys; one's own is asked by `replay`",
        )  # fmt: skip
    return found


def _rule(partitioner: Partitioner) -> KeyRule | None:
    name = partitioner.name
    match partitioner:
        case ScalaPartitioner():
            return KeyRule(name, KeyHash.JAVA_TEXT, Taken.ABSOLUTE_OR_ZERO, ByLot.NULL)
        case RoundRobinWithoutKey() | StickyWithoutKey(is_key_ignored=False) | BuiltInPartitioner(is_key_ignored=False):
            return KeyRule(name, KeyHash.MURMUR2, Taken.LOWER_BITS, ByLot.NULL)
        case LibrdkafkaPartitioner(hash=hash_of):
            key_hash, taken = _LIBRDKAFKA[hash_of]
            return KeyRule(name, key_hash, taken, partitioner.by_lot)
        case SaramaPartitioner(way=way):
            key_hash, taken = _SARAMA[way]
            return KeyRule(name, key_hash, taken, ByLot.NULL)
    return None


_LIBRDKAFKA = {
    Hash.MURMUR2: (KeyHash.MURMUR2, Taken.LOWER_BITS),
    Hash.CRC32: (KeyHash.CRC32, Taken.ALL_BITS),
    Hash.FNV1A: (KeyHash.FNV1A, Taken.ABSOLUTE),
}
_SARAMA = {
    Way.NEGATED: (KeyHash.FNV1A, Taken.ABSOLUTE),
    Way.MASKED: (KeyHash.FNV1A, Taken.LOWER_BITS),
    Way.CRC: (KeyHash.CRC32, Taken.ALL_BITS),
}
_EMPTY_KEY = KeyColumn.of([b""])


def hashes_of(key_hash: KeyHash, keys: KeyColumn) -> Words:
    """uint32[N]; a null key has the hash of the empty one, as every client that hashes it gives it."""
    hashes = _hashed(key_hash, keys)
    if keys.is_null is not None:
        hashes[keys.is_null] = _hashed(key_hash, _EMPTY_KEY)[0]
    return hashes


def _hashed(key_hash: KeyHash, keys: KeyColumn) -> Words:
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
    """The quotient in doubles is off by one at most; a division costs more."""
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
