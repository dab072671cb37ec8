"""The inputs of Kafka's own server assignor benchmark (jmh-benchmarks, ``ServerSideAssignorBenchmark``), as columns.

``members × ratio // topics`` partitions a topic; members ``member0`` …, in five buckets with topics of their own where
subscriptions are HETEROGENEOUS; INCREMENTAL: all but one member own what FULL gave them, and ``newMember`` joins with
the topics of the last one. Racks play no part in the server's assignors, so the grid's rack axis is left out.
Topic ids are made by splitmix64, on the Java side too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from kafka_assignors.contract import Assignment, AssignmentRequest, Assignor, MapOrder, MemberColumns, TopicColumns
from kafka_assignors.string_column import StringColumn

MEMBERS = (100, 500, 1000, 5000, 10000)
RATIOS = (5, 10, 50)
TOPICS = (10, 100, 1000)
_BUCKETS = 5
_NEW_MEMBER = 999_999_999

Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the grid. ``assignor``: range or uniform."""

    assignor: str
    members: int
    ratio: int
    topics: int
    homogeneous: bool
    incremental: bool

    @property
    def strategy(self) -> str:
        """Name in the registry."""
        return f"server-{self.assignor}"

    def question(self) -> dict[str, object]:
        """What the Java side is asked."""
        return asdict(self)

    def __str__(self) -> str:
        kind = "homogeneous" if self.homogeneous else "heterogeneous"
        mode = "INCREMENTAL" if self.incremental else "FULL"
        return f"{self.assignor} {self.members} members x{self.ratio}, {self.topics} topics, {kind}, {mode}"


def grid(assignor: str) -> Iterator[Cell]:
    """All 180 cells of one assignor, small ones first."""
    for members in MEMBERS:
        for ratio in RATIOS:
            for topics in TOPICS:
                for homogeneous in (True, False):
                    for incremental in (False, True):
                        yield Cell(assignor, members, ratio, topics, homogeneous, incremental)


def mixed(values: Words) -> Words:
    """splitmix64 of each."""
    z = values + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def request_of(cell: Cell, assignor: Assignor) -> AssignmentRequest:
    """The columns that the cell's assignment is asked with; ``assignor`` makes what is owned, where something is."""
    count = cell.members - 1 if cell.incremental else cell.members
    ids = [f"member{i}" for i in range(count)]
    offsets, subscribed = _subscriptions(cell, count)
    request = _request(cell, ids, offsets, subscribed, None)
    if not cell.incremental:
        return request
    before = assignor.assign(request)
    last = subscribed[offsets[-2] :]
    owner = np.repeat(np.arange(count), before.counts)
    by_topic = np.lexsort((before.partitions, before.topics, owner))
    owned = (np.append(before.offsets, before.offsets[-1]), before.topics[by_topic], before.partitions[by_topic])
    return _request(
        cell,
        [*ids, "newMember"],
        np.append(offsets, offsets[-1] + len(last)),
        np.concatenate((subscribed, last)),
        owned,
    )


def _request(
    cell: Cell,
    ids: list[str],
    offsets: Longs,
    subscribed: npt.NDArray[np.int32],
    owned: tuple[Longs, npt.NDArray[np.int32], npt.NDArray[np.int32]] | None,
) -> AssignmentRequest:
    halves = mixed(np.arange(2 * cell.topics, dtype=np.uint64)).view(np.int64)
    return AssignmentRequest(
        topics=TopicColumns.of(
            StringColumn.of(f"topic-{i}" for i in range(cell.topics)),
            np.full(cell.topics, cell.members * cell.ratio // cell.topics, np.int32),
            uuid_msb=halves[0::2].copy(),
            uuid_lsb=halves[1::2].copy(),
        ),
        members=MemberColumns.of(StringColumn.of(ids), offsets, subscribed, owned=owned),
        order=MapOrder.HASH,
        # The coordinator knows it before it asks, here as in Kafka.
        is_homogeneous=cell.homogeneous,
    )


def _subscriptions(cell: Cell, count: int) -> tuple[Longs, npt.NDArray[np.int32]]:
    everything = np.arange(cell.topics, dtype=np.int32)
    buckets = 1 if cell.homogeneous else min(_BUCKETS, count)
    topics_each, members_each = -(-cell.topics // buckets), -(-count // buckets)
    lists = [everything[b * topics_each : (b + 1) * topics_each] for b in np.arange(count) // members_each]
    return np.concatenate(([0], np.cumsum([len(topics) for topics in lists]))).astype(np.int64), np.concatenate(lists)


def checksum(request: AssignmentRequest, assignment: Assignment) -> int:
    """Of all (member, topic, partition), whatever their order; a signed 64-bit number as Java's."""
    numbers = np.arange(len(request.members), dtype=np.int64)
    if request.members.ids[len(numbers) - 1] == "newMember":
        numbers[-1] = _NEW_MEMBER
    members = np.repeat(numbers, assignment.counts)
    triples = (members << 32) ^ (assignment.topics.astype(np.int64) << 20) ^ assignment.partitions.astype(np.int64)
    return int(mixed(triples.view(np.uint64)).sum().view(np.int64))
