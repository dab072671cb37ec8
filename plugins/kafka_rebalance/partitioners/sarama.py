"""Sarama's partitioners (Go). Null keys go by lot, empty keys are hashed.

| partitioner | key → partition |
|---|---|
| NewHashPartitioner (default) | int32 fnv1a % n, negated if negative |
| NewReferenceHashPartitioner | (fnv1a & 0x7fffffff) % n |
| NewConsistentCRCHashPartitioner | crc32 % n, as librdkafka |

The default differs from the reference one, and both from Java, librdkafka's default and each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from kafka_rebalance.arrays import Ints
from kafka_rebalance.java.seeded_random import java_random
from kafka_rebalance.partitioners.contract import RecordSample, TopicTarget
from kafka_rebalance.partitioners.key_column import KeyColumn
from kafka_rebalance.partitioners.keyless import by_lot
from kafka_rebalance.partitioners.other_hashes import crc32_hashes, fnv1a_hashes


class Way(StrEnum):
    """From hash to partition."""

    NEGATED = "default"
    MASKED = "reference"
    CRC = "crc"


@dataclass(frozen=True, slots=True)
class SaramaPartitioner:
    """One of Sarama's partitioner constructors."""

    name: str
    way: Way
    versions: str = "Sarama 1.x"

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:
        """Lots are drawn among available partitions: Sarama asks for consistency of keyed records only."""
        places = self.hashed(sample.keys, target.partitions)
        nulls = sample.keys.nulls
        if nulls.any():
            places[nulls] = by_lot(int(nulls.sum()), target.available, java_random(seed))
        return places

    def hashed(self, keys: KeyColumn, partitions: int) -> Ints:
        """Partition of each key, int32[N]; a null key's row means nothing."""
        match self.way:
            case Way.CRC:
                return (crc32_hashes(keys) % np.uint32(partitions)).astype(np.int32)
            case Way.MASKED:
                return ((fnv1a_hashes(keys) & np.uint32(0x7FFFFFFF)) % np.uint32(partitions)).astype(np.int32)
            case Way.NEGATED:
                signed = fnv1a_hashes(keys).view(np.int32).astype(np.int64)
                # Go's remainder keeps the sign of the dividend, the absolute value follows it.
                return (np.abs(signed) % partitions).astype(np.int32)


def default() -> SaramaPartitioner:
    return SaramaPartitioner("sarama-hash", Way.NEGATED)


def reference() -> SaramaPartitioner:
    return SaramaPartitioner("sarama-reference", Way.MASKED)


def crc() -> SaramaPartitioner:
    return SaramaPartitioner("sarama-crc", Way.CRC)
