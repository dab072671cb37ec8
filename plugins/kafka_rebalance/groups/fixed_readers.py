"""How evenly readers without a group share partitions: subtasks of Flink jobs, tasks of MirrorMaker connectors. A user
names their topics and number.

Promise: who reads what is the framework's own answer (``kafka_assignors.fixed_readers``). Skew: fullest reader over
mean.

Example: a Flink job of parallelism 4 on 8 topics of one partition. Starts fall by hash, so one subtask may read three
topics (skew 1.5) and another one none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np

from kafka_assignors.errors import InvalidInputError, UnknownNameError
from kafka_assignors.fixed_readers import Readers, flink_readers, mirror_maker_readers
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.scoring.assignment_scores import per_member
from kafka_rebalance.snapshot.codec import Fields, text
from kafka_rebalance.snapshot.group import Group, Member
from kafka_rebalance.snapshot.model import ClusterSnapshot

MOST_READERS = 100_000


class ReaderKind(StrEnum):
    FLINK = "flink"
    MIRROR_MAKER = "mirror_maker"


_READERS: Mapping[ReaderKind, Callable[[Mapping[str, int], int], Readers]] = MappingProxyType(
    {ReaderKind.FLINK: flink_readers, ReaderKind.MIRROR_MAKER: mirror_maker_readers}
)
_COUNTS = MappingProxyType({ReaderKind.FLINK: "parallelism", ReaderKind.MIRROR_MAKER: "tasks_max"})


@dataclass(frozen=True, slots=True)
class FixedReaders:
    """Job or connector: ``count`` is its parallelism, or ``tasks.max``."""

    name: str
    kind: ReaderKind
    count: int
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FixedReadersScore:
    """``readers``: those that exist; MirrorMaker has no more tasks than partitions.

    Tuples are along the readers.
    """

    name: str
    kind: ReaderKind
    readers: int
    idle_readers: int
    partitions: tuple[int, ...]
    in_bytes_per_s: tuple[float, ...] | None
    skew_count: float | None
    skew_rate: float | None


def read_fixed_readers(document: Any, path: str) -> tuple[FixedReaders, ...]:
    """Read ``{"readers": [{"name", "kind", "topics", "parallelism" or "tasks_max"}, …]}``. Raises InvalidInputError
    naming the wrong field.
    """
    fields = Fields(document, path)
    readers = fields.each("readers", _read)
    fields.done()
    if len({reader.name for reader in readers}) != len(readers):
        raise InvalidInputError.at(f"{path}.readers", "one name is there twice", "names are unique")
    return readers


def _read(item: Any, path: str) -> FixedReaders:
    fields = Fields(item, path)
    kind = fields.get("kind", str)
    if kind not in set(ReaderKind):
        raise InvalidInputError.at(f"{path}.kind", f"{excerpt(kind)} is unknown", f"known: {', '.join(ReaderKind)}")
    topics = tuple(dict.fromkeys(fields.each("topics", text)))
    if not topics:
        raise InvalidInputError.at(f"{path}.topics", "there are none", "name the topics that are read")
    readers = FixedReaders(
        fields.get("name", str),
        ReaderKind(kind),
        fields.whole(_COUNTS[ReaderKind(kind)], 1, MOST_READERS),
        topics,
    )
    fields.done()
    return readers


def score_fixed_readers(readers: FixedReaders, snapshot: ClusterSnapshot) -> FixedReadersScore:
    """Raises UnknownNameError for a topic that is not in the snapshot."""
    topics = [topic.name for topic in snapshot.topics]
    number_of = {topic: number for number, topic in enumerate(topics)}
    for topic in readers.topics:
        if topic not in number_of:
            raise UnknownNameError.among("topic", topic, topics)
    sizes = np.bincount(snapshot.partitions.topic, minlength=len(topics)).tolist()
    counts = {topic: sizes[number_of[topic]] for topic in readers.topics}
    owners = _READERS[readers.kind](counts, readers.count)
    exist = readers.count if readers.kind is ReaderKind.FLINK else min(readers.count, sum(counts.values()))
    group = Group(readers.name, members=(Member("readers", subscription=tuple(sorted(counts))),))
    (group_input,) = group_inputs(replace(snapshot, groups=(group,)))
    reader = np.array([number for topic in group_input.topics for number in owners[topic]], np.int32)
    partitions = per_member(reader, np.ones(len(reader)), exist)
    rates = per_member(reader, group_input.rates.in_bytes_per_s, exist)
    return FixedReadersScore(
        name=readers.name,
        kind=readers.kind,
        readers=exist,
        idle_readers=int((partitions == 0).sum()),
        partitions=tuple(int(count) for count in partitions),
        in_bytes_per_s=None if np.isnan(rates).any() else tuple(rates.tolist()),
        skew_count=_skew(partitions),
        skew_rate=_skew(rates),
    )


def _skew(loads: Any) -> float | None:
    mean = float(loads.mean()) if len(loads) else 0.0
    return float(loads.max()) / mean if mean > 0 else None
