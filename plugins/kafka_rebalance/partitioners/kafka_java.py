"""Partitioners of Kafka's own producers, from Scala 0.8 to today.

With a key they have agreed since 0.8.2: ``(murmur2(key) & 0x7fffffff) % all partitions``. The Scala producer of 0.8
took ``abs(key.hashCode) % partitions`` instead. Without a key (null; the empty key is a key):

| class | releases | null key |
|---|---|---|
| Scala DefaultPartitioner | 0.8 | one partition by lot for ten minutes |
| Partitioner, DefaultPartitioner | 0.8.2 – 2.3 | round robin over available partitions, from a random start |
| DefaultPartitioner (KIP-480) | 2.4 – 3.2 | sticky: another partition by lot when a batch is full |
| built in (KIP-794) | 3.3 – 4.3 | uniformly sticky, or weighted by waiting batches |
| RoundRobinPartitioner | 2.4 – 4.3 | round robin, keys ignored, twice where a batch opens (KAFKA-9965) |
| UniformStickyPartitioner | 2.4 – 3.9 | sticky, keys ignored |

Example: key b"21" of 1,000 partitions: murmur2 = -973932308, partition 340.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.java.seeded_random import java_random, next_bits
from kafka_rebalance.java.strings import hash_codes
from kafka_rebalance.partitioners.contract import RecordSample, TopicTarget
from kafka_rebalance.partitioners.key_column import KeyColumn
from kafka_rebalance.partitioners.keyless import (
    adaptive_weights,
    by_lot,
    round_robin,
    round_robin_by_batch,
    sticky,
    uniform_sticky,
)
from kafka_rebalance.partitioners.murmur2 import murmur2_partitions
from kafka_rebalance.string_column import StringColumn


@dataclass(frozen=True, slots=True)
class ScalaPartitioner:
    """``kafka.producer.DefaultPartitioner`` of 0.8: the hash code of the key *object*, here of its text.

    A key that is a byte array has another hash code each time: nothing can be said about those.
    """

    name: str = "scala@0.8"
    versions: str = "Kafka 0.8, Scala producer"

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:
        """Keys are read as UTF-8 text."""
        places = java_abs(text_hash_codes(sample.keys)) % target.partitions
        nulls = sample.keys.nulls
        places[nulls] = by_lot(1, target.available, java_random(seed))[0]
        return places.astype(np.int32)


@dataclass(frozen=True, slots=True)
class RoundRobinWithoutKey:
    """``DefaultPartitioner`` of 0.9 to 2.3, and ``Partitioner`` of 0.8.2, which answers alike."""

    name: str = "default@0.9"
    versions: str = "Kafka 0.9 – 2.3"

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:
        """The counter starts at a random number."""
        places = murmur2_partitions(sample.keys, target.partitions)
        nulls = sample.keys.nulls
        start = int(next_bits(java_random(seed), 32))
        places[nulls] = round_robin(int(nulls.sum()), target.available, start)
        return places


def as_of_0_8_2() -> RoundRobinWithoutKey:
    """The first Java producer: its ``Utils.abs`` is a mask, so keys go where they go today."""
    return RoundRobinWithoutKey("java@0.8.2", "Kafka 0.8.2, Java producer")


@dataclass(frozen=True, slots=True)
class StickyWithoutKey:
    """``DefaultPartitioner`` of 2.4 to 3.2 (KIP-480); with ``is_key_ignored`` ``UniformStickyPartitioner``."""

    name: str = "default@2.4"
    versions: str = "Kafka 2.4 – 3.2"
    is_key_ignored: bool = False

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:
        """Batches fill as ``record_bytes`` say."""
        places = murmur2_partitions(sample.keys, target.partitions)
        is_keyless = np.ones(len(sample), np.bool_) if self.is_key_ignored else sample.keys.nulls
        places[is_keyless] = sticky(
            sample.record_bytes[is_keyless], target.available, target.partitions, target.batch_bytes, java_random(seed)
        )
        return places


def uniform_sticky_partitioner() -> StickyWithoutKey:
    """Deprecated by KIP-794, removed in 4.0."""
    return StickyWithoutKey("uniform-sticky@2.4", "Kafka 2.4 – 3.9", is_key_ignored=True)


@dataclass(frozen=True, slots=True)
class BuiltInPartitioner:
    """What a producer without ``partitioner.class`` does since 3.3 (KIP-794).

    ``is_key_ignored``: the setting ``partitioner.ignore.keys``. Adaptive where the target says how many batches wait.
    """

    name: str = "default"
    versions: str = "Kafka 3.3 – 4.3"
    is_key_ignored: bool = False

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:
        """Adaptive weights count over available partitions; without them every available one is as likely."""
        places = murmur2_partitions(sample.keys, target.partitions)
        is_keyless = np.ones(len(sample), np.bool_) if self.is_key_ignored else sample.keys.nulls
        candidates, weights = target.available, np.zeros(0, np.int64)
        if target.queue_sizes is not None:
            weights = adaptive_weights(target.queue_sizes[candidates], target.partitions)
        places[is_keyless] = uniform_sticky(
            sample.record_bytes[is_keyless], candidates, weights, target.partitions, target.batch_bytes,
            java_random(seed),
        )  # fmt: skip
        return places


@dataclass(frozen=True, slots=True)
class RoundRobinPartitioner:
    """``org.apache.kafka.clients.producer.RoundRobinPartitioner``: keys play no part."""

    name: str = "roundrobin"
    versions: str = "Kafka 2.4 – 4.3"

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:  # noqa: ARG002
        """Nothing is drawn: the counter starts at 0."""
        places: Ints = round_robin_by_batch(
            sample.record_bytes, target.available, target.partitions, target.batch_bytes
        )
        return places


def java_abs(codes: Ints) -> Longs:
    """Kafka's guarded ``abs``: 0 for the least int, which has no positive counterpart."""
    longs = codes.astype(np.int64)
    return np.where(longs == -(2**31), 0, np.abs(longs))


def text_hash_codes(keys: KeyColumn) -> Ints:
    """``String.hashCode`` of keys that are UTF-8; what is not is read with replacement characters, as Java reads it."""
    used = keys.data[int(keys.offsets[0]) : int(keys.offsets[-1])]
    if not (used & 0x80).any():
        return np.asarray(hash_codes(keys.data, keys.offsets.astype(np.int64)))
    texts = StringColumn.of((keys.key(i) or b"").decode("utf-8", "replace") for i in range(len(keys)))
    return np.asarray(hash_codes(texts.data, texts.offsets))
