"""librdkafka's partitioners (confluent-kafka for Python, Go, .NET, C++). Its default is ``consistent_random``.

| partitioner | key → partition | null | empty |
|---|---|---|---|
| consistent | crc32 % n | 0 (crc 0) | 0 |
| consistent_random (default) | crc32 % n | by lot | by lot |
| murmur2 | as Java | hashed as empty | hashed |
| murmur2_random | as Java | by lot | hashed (as Java) |
| fnv1a | abs(int32 fnv1a) % n | hashed as empty | hashed |
| fnv1a_random | as fnv1a | by lot | hashed |

The lots are drawn for each record; ``sticky.partitioning.linger.ms`` keeps a partition for some milliseconds instead,
which a sample without times cannot show. So the default puts equal keys elsewhere than Java does.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from kafka_rebalance.arrays import Flags, Ints
from kafka_rebalance.java.seeded_random import java_random
from kafka_rebalance.partitioners.contract import RecordSample, TopicTarget
from kafka_rebalance.partitioners.key_column import KeyColumn
from kafka_rebalance.partitioners.keyless import by_lot
from kafka_rebalance.partitioners.murmur2 import murmur2_partitions
from kafka_rebalance.partitioners.other_hashes import crc32_hashes, fnv1a_hashes

_EMPTY_KEY = KeyColumn.of([b""])


class Hash(StrEnum):
    """Which hash a librdkafka partitioner takes."""

    CRC32 = "crc32"
    MURMUR2 = "murmur2"
    FNV1A = "fnv1a"


class ByLot(StrEnum):
    """Which records go by lot instead."""

    NONE = "none"
    NULL = "null keys"
    NULL_OR_EMPTY = "null and empty keys"


@dataclass(frozen=True, slots=True)
class LibrdkafkaPartitioner:
    """One of librdkafka's ``partitioner`` settings."""

    name: str
    hash: Hash
    by_lot: ByLot
    versions: str = "librdkafka 1.x – 2.x"

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:
        """A null key is hashed as an empty one, where it is hashed."""
        places = hashed_partitions(self.hash, sample.keys, target.partitions)
        places[sample.keys.nulls] = hashed_partitions(self.hash, _EMPTY_KEY, target.partitions)[0]
        is_drawn = self._is_drawn(sample.keys)
        if is_drawn.any():
            places[is_drawn] = by_lot(int(is_drawn.sum()), target.available, java_random(seed))
        return places

    def _is_drawn(self, keys: KeyColumn) -> Flags:
        if self.by_lot is ByLot.NONE:
            return np.zeros(len(keys), np.bool_)
        if self.by_lot is ByLot.NULL:
            return keys.nulls
        is_drawn: Flags = keys.nulls | (keys.lengths == 0)
        return is_drawn


def hashed_partitions(hash: Hash, keys: KeyColumn, partitions: int) -> Ints:  # noqa: A002
    """Partition of each key, int32[N]; a null key's row means nothing."""
    match hash:
        case Hash.MURMUR2:
            return murmur2_partitions(keys, partitions)
        case Hash.CRC32:
            return (crc32_hashes(keys) % np.uint32(partitions)).astype(np.int32)
        case Hash.FNV1A:
            # |least int| stays 2^31: the remainder is taken of an unsigned number.
            signed = fnv1a_hashes(keys).view(np.int32).astype(np.int64)
            return (np.abs(signed) % partitions).astype(np.int32)


def consistent() -> LibrdkafkaPartitioner:
    return LibrdkafkaPartitioner("librdkafka-consistent", Hash.CRC32, ByLot.NONE)


def consistent_random() -> LibrdkafkaPartitioner:
    return LibrdkafkaPartitioner("librdkafka-consistent-random", Hash.CRC32, ByLot.NULL_OR_EMPTY)


def murmur2() -> LibrdkafkaPartitioner:
    return LibrdkafkaPartitioner("librdkafka-murmur2", Hash.MURMUR2, ByLot.NONE)


def murmur2_random() -> LibrdkafkaPartitioner:
    return LibrdkafkaPartitioner("librdkafka-murmur2-random", Hash.MURMUR2, ByLot.NULL)


def fnv1a() -> LibrdkafkaPartitioner:
    return LibrdkafkaPartitioner("librdkafka-fnv1a", Hash.FNV1A, ByLot.NONE)


def fnv1a_random() -> LibrdkafkaPartitioner:
    return LibrdkafkaPartitioner("librdkafka-fnv1a-random", Hash.FNV1A, ByLot.NULL)
