"""Contract of every partitioner. A custom one gets one key at a time.

>>> class ByFirstByte:
...     name = "by-first-byte"
...
...     def partition_of(self, key, partitions):
...         return key[0] % partitions if key else 0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from kafka_assignors.arrays import Flags, Ints, Longs
from kafka_assignors.errors import AssignorError, InvalidInputError
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_assignors.visible_text import excerpt, visible
from kafka_assignors.whole_number import whole_number

DEFAULT_BATCH_BYTES = 16384


@dataclass(frozen=True, slots=True, eq=False)
class RecordSample:
    """In sending order; ``record_bytes`` int64[N]: whole records."""

    keys: KeyColumn
    record_bytes: Longs

    def __post_init__(self) -> None:
        if len(self.record_bytes) != len(self.keys):
            raise InvalidInputError.at("record_bytes", f"{len(self.record_bytes)} values, expected {len(self.keys)}")

    @classmethod
    def of_keys(cls, keys: KeyColumn) -> RecordSample:
        return cls(keys, keys.lengths)

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True, eq=False)
class TopicTarget:
    """``is_available`` bool[n]: partitions with a leader (``None``: all).

    ``queue_sizes`` int64[n]: waiting batches, for adaptive partitioning (``None``: not used); ``batch_bytes``:
    batch.size.
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
        """Ascending; all if none has a leader, as in every client."""
        if self.is_available is None or not self.is_available.any():
            return np.arange(self.partitions, dtype=np.int32)
        return np.flatnonzero(self.is_available).astype(np.int32)


@runtime_checkable
class Partitioner(Protocol):
    """Pure: same sample, target and seed, same answer. ``seed`` replaces the client's random numbers."""

    @property
    def name(self) -> str: ...

    @property
    def versions(self) -> str: ...

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints: ...


@runtime_checkable
class CustomPartitioner(Protocol):
    @property
    def name(self) -> str: ...

    def partition_of(self, key: bytes | None, partitions: int) -> int: ...


@dataclass(frozen=True, slots=True)
class CustomPartitionerAdapter:
    own: CustomPartitioner

    @property
    def name(self) -> str:
        return self.own.name

    @property
    def versions(self) -> str:
        return str(getattr(self.own, "versions", ""))

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:  # noqa: ARG002
        keys = different_keys(sample)
        try:
            answers = {key: self.own.partition_of(key, target.partitions) for key in keys}
        except Exception as error:
            raise AssignorError("Raised", visible(f"{type(error).__name__}: {error}")) from error
        return partitions_of(sample, target, answers)


def different_keys(sample: RecordSample) -> Sequence[bytes | None]:
    return tuple(dict.fromkeys(sample.keys.key(i) for i in range(len(sample))))


def partitions_of(sample: RecordSample, target: TopicTarget, answers: Mapping[bytes | None, object]) -> Ints:
    """int32[N] from the answer to each distinct key. Raises AssignorError for a partition that the topic lacks."""
    for key, answer in answers.items():
        partition = whole_number(answer)
        if partition is None or not 0 <= partition < target.partitions:
            raise AssignorError(
                "UnknownPartition", f"answers {excerpt(answer)} for key {excerpt(key)}, not 0 … {target.partitions - 1}"
            )
    return np.array([answers[sample.keys.key(i)] for i in range(len(sample))], np.int32)
