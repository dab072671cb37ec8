"""One's own partitioner: one class with one method, which sees one key at a time.

>>> class ByFirstByte:
...     name = "by-first-byte"
...
...     def partition_of(self, key, partitions):
...         return key[0] % partitions if key else 0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from kafka_rebalance.arrays import Ints
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.partitioners.contract import RecordSample, TopicTarget


@runtime_checkable
class CustomPartitioner(Protocol):
    """What one's own class looks like. ``key`` is ``None`` for a record without."""

    @property
    def name(self) -> str: ...

    def partition_of(self, key: bytes | None, partitions: int) -> int: ...


@dataclass(frozen=True, slots=True)
class CustomPartitionerAdapter:
    """Makes an ``CustomPartitioner`` a ``Partitioner``: every different key is asked for once."""

    own: CustomPartitioner

    @property
    def name(self) -> str:
        return self.own.name

    @property
    def versions(self) -> str:
        return str(getattr(self.own, "versions", "one's own"))

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:  # noqa: ARG002
        """Raises InvalidInputError when an answer is no partition of the topic."""
        keys = [sample.keys.key(i) for i in range(len(sample))]
        answers = {key: int(self.own.partition_of(key, target.partitions)) for key in dict.fromkeys(keys)}
        for key, partition in answers.items():
            if not 0 <= partition < target.partitions:
                raise InvalidInputError.at(
                    f"partitioner {self.name}", f"{partition} for key {key!r}", f"answer 0 … {target.partitions - 1}"
                )
        return np.array([answers[key] for key in keys], np.int32)
