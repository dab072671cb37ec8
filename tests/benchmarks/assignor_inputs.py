"""The inputs of Kafka's own assignor benchmark (jmh-benchmarks, ``ClientSideAssignorBenchmark``), as columns.

``members × ratio // topics`` partitions a topic (integer division: 100 × 5 // 1000 is none); replicas on all three
racks; members ``member0`` …, in five buckets of their own topics where subscriptions are HETEROGENEOUS. INCREMENTAL is
the *intended* mode: all but one member own what the FULL assignment gave them, and ``newMember`` joins. (As published
the benchmark times the assignment before that: ``UPSTREAM``.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import numpy as np
import numpy.typing as npt

from kafka_assignors.contract import Assignment, AssignmentRequest, Assignor, MapOrder, MemberColumns, TopicColumns
from kafka_assignors.string_column import StringColumn
from tests.benchmarks.server_inputs import mixed

MEMBERS = (100, 500, 1000, 5000, 10000)
RATIOS = (5, 10, 50)
TOPICS = (10, 100, 1000)
FULL, INTENDED, UPSTREAM = "FULL", "INCREMENTAL", "INCREMENTAL as published"
RACKS = 3
_BUCKETS = 5
_NEW_MEMBER = 999_999_999


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the grid. ``family``: range or cooperative-sticky, of the newest release or of a line (``@3.0``)."""

    family: str
    members: int
    ratio: int
    topics: int
    is_rack_aware: bool
    is_homogeneous: bool
    mode: str

    @property
    def partitions_per_topic(self) -> int:
        return self.members * self.ratio // self.topics

    @property
    def strategy(self) -> str:
        """Name in the registry."""
        return self.family

    def question(self) -> dict[str, object]:
        """What the Java side is asked."""
        return asdict(self) | {"strategy": self.family.partition("@")[0]}

    def __str__(self) -> str:
        racks = "racks" if self.is_rack_aware else "no racks"
        kind = "homogeneous" if self.is_homogeneous else "heterogeneous"
        return f"{self.family} {self.members}×{self.ratio} {self.topics} topics, {racks}, {kind}, {self.mode}"


def grid(family: str) -> Iterator[Cell]:
    """Every cell of one family, small ones first."""
    for members in MEMBERS:
        for ratio in RATIOS:
            for topics in TOPICS:
                for is_rack_aware in (False, True) if has_racks(family) else (False,):
                    for is_homogeneous in (True, False):
                        for mode in (FULL, INTENDED, UPSTREAM):
                            yield Cell(family, members, ratio, topics, is_rack_aware, is_homogeneous, mode)


def has_racks(family: str) -> bool:
    """Client strategies read racks since 3.5."""
    line = family.partition("@")[2]
    return not line or line.startswith("3.5")


def request_of(cell: Cell, assignor: Assignor) -> AssignmentRequest:
    """The columns that the cell's assignment is asked with; ``assignor`` makes what is owned, where something is."""
    count = cell.members if cell.mode == FULL else cell.members - 1
    topics, offsets, subscribed = _topics(cell), *_subscriptions(cell, count)
    request = AssignmentRequest(
        topics=topics,
        members=MemberColumns.of(
            StringColumn.of(f"member{i}" for i in range(count)), offsets, subscribed, racks=_racks(cell, count)
        ),
        rack_names=tuple(f"rack{i}" for i in range(RACKS)),
        order=MapOrder.LEADER,
    )
    return _joined(cell, request, assignor.assign(request)) if cell.mode == INTENDED else request


def _joined(cell: Cell, request: AssignmentRequest, owned: Assignment) -> AssignmentRequest:
    """All own what they got, and ``newMember`` comes with the subscription of the last one."""
    before = request.members
    last = before.subscription_topics[before.subscription_offsets[-2] :]
    members = MemberColumns.of(
        StringColumn.of((*before.ids.strings, "newMember")),
        np.append(before.subscription_offsets, before.subscription_offsets[-1] + len(last)),
        np.concatenate((before.subscription_topics, last)),
        racks=_racks(cell, len(before) + 1),
        owned=(np.append(owned.offsets, owned.offsets[-1]), owned.topics, owned.partitions),
    )
    return replace(request, members=members)


def _topics(cell: Cell) -> TopicColumns:
    count, n = cell.topics, cell.partitions_per_topic
    racks = (np.arange(n)[:, None] + np.arange(RACKS)[None, :]) % RACKS
    return TopicColumns.of(
        StringColumn.of(f"topic{i}" for i in range(count)),
        np.full(count, n, dtype=np.int32),
        rack_offsets=np.arange(count * n + 1, dtype=np.int64) * RACKS,
        racks=np.tile(racks.ravel(), count).astype(np.int32),
    )


def _subscriptions(cell: Cell, count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    everything = np.arange(cell.topics, dtype=np.int32)
    if cell.is_homogeneous:
        return np.arange(count + 1, dtype=np.int64) * cell.topics, np.tile(everything, count)
    buckets = min(_BUCKETS, count)
    topics_each, members_each = -(-cell.topics // buckets), -(-count // buckets)
    lists = [everything[b * topics_each : (b + 1) * topics_each] for b in np.arange(count) // members_each]
    return np.concatenate(([0], np.cumsum([len(topics) for topics in lists]))).astype(np.int64), np.concatenate(lists)


def _racks(cell: Cell, count: int) -> npt.NDArray[np.int32]:
    return (np.arange(count) % RACKS if cell.is_rack_aware else np.full(count, -1)).astype(np.int32)


def checksum(request: AssignmentRequest, assignment: Assignment) -> int:
    """Of all (member, place in its list, topic, partition); a signed 64-bit number as Java's."""
    numbers = np.arange(len(request.members), dtype=np.int64)
    if request.members.ids[len(numbers) - 1] == "newMember":
        numbers[-1] = _NEW_MEMBER
    places = np.arange(len(assignment.topics), dtype=np.int64) - np.repeat(assignment.offsets[:-1], assignment.counts)
    places += np.repeat(numbers << 32, assignment.counts)
    partitions = (assignment.topics.astype(np.int64) << 20) ^ assignment.partitions.astype(np.int64)
    return int(mixed(mixed(places.view(np.uint64)) ^ partitions.view(np.uint64)).sum().view(np.int64))
