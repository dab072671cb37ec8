"""The contract of every partitioner, built-in or one's own: a sample of records in, a partition each out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.partitioners.key_column import KeyColumn

DEFAULT_BATCH_BYTES = 16384


@dataclass(frozen=True, slots=True, eq=False)
class RecordSample:
    """N records of one topic in the order in which they were sent; ``record_bytes`` int64[N], all of each record."""

    keys: KeyColumn
    record_bytes: Longs

    def __post_init__(self) -> None:
        if len(self.record_bytes) != len(self.keys):
            raise InvalidInputError.at("record_bytes", f"{len(self.record_bytes)} values, expected {len(self.keys)}")

    @classmethod
    def of_keys(cls, keys: KeyColumn) -> RecordSample:
        """Keys alone: every record weighs as much as its key."""
        return cls(keys, keys.lengths)

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True, eq=False)
class TopicTarget:
    """What a client knows of the topic. ``is_available`` bool[n]: partitions with a leader (``None``: all).

    ``queue_sizes`` int64[n]: batches waiting for each partition, for adaptive partitioning (``None``: not used);
    ``batch_bytes``: the producer's batch.size.
    """

    partitions: int
    is_available: Flags | None = None
    queue_sizes: Longs | None = None
    batch_bytes: int = DEFAULT_BATCH_BYTES

    def __post_init__(self) -> None:
        if self.partitions <= 0:
            raise InvalidInputError.at("partitions", str(self.partitions), "a topic has one or more")
        for name in ("is_available", "queue_sizes"):
            column = getattr(self, name)
            if column is not None and len(column) != self.partitions:
                raise InvalidInputError.at(name, f"{len(column)} values, expected {self.partitions}")

    @property
    def available(self) -> Ints:
        """Partitions that have a leader, ascending; all of them when none has, as every client then does."""
        if self.is_available is None or not self.is_available.any():
            return np.arange(self.partitions, dtype=np.int32)
        return np.flatnonzero(self.is_available).astype(np.int32)


@runtime_checkable
class Partitioner(Protocol):
    """Decides which partition each record goes to. Pure: same sample, target and seed, same answer.

    ``name`` is what people call it, ``versions`` the client releases that answer so. Whatever the real one draws by
    lot comes from ``seed``.
    """

    @property
    def name(self) -> str: ...

    @property
    def versions(self) -> str: ...

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints: ...
