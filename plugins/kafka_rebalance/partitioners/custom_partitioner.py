"""One's own partitioner: one class with one method, which sees one key at a time.

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

from kafka_rebalance.arrays import Ints
from kafka_rebalance.errors import AssignorError
from kafka_rebalance.partitioners.contract import RecordSample, TopicTarget
from kafka_rebalance.visible_text import excerpt, visible
from kafka_rebalance.whole_number import whole_number


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
        return str(getattr(self.own, "versions", ""))

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:  # noqa: ARG002
        """Raises AssignorError when it raises, or an answer is no partition of the topic."""
        keys = different_keys(sample)
        try:
            answers = {key: self.own.partition_of(key, target.partitions) for key in keys}
        except Exception as error:
            raise AssignorError("Raised", visible(f"{type(error).__name__}: {error}")) from error
        return partitions_of(sample, target, answers)


def different_keys(sample: RecordSample) -> Sequence[bytes | None]:
    """Each key once, in the order of first appearance."""
    return tuple(dict.fromkeys(sample.keys.key(i) for i in range(len(sample))))


def partitions_of(sample: RecordSample, target: TopicTarget, answers: Mapping[bytes | None, object]) -> Ints:
    """int32[N] of the answers to each different key. Raises AssignorError where one is no partition of the topic."""
    for key, answer in answers.items():
        partition = whole_number(answer)
        if partition is None or not 0 <= partition < target.partitions:
            raise AssignorError(
                "UnknownPartition", f"answers {excerpt(answer)} for key {excerpt(key)}, not 0 … {target.partitions - 1}"
            )
    return np.array([answers[sample.keys.key(i)] for i in range(len(sample))], np.int32)
