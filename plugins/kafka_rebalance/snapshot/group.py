from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from kafka_assignors.arrays import Longs
from kafka_assignors.connect_work import NO_WORK, Work
from kafka_rebalance.errors import InvalidSnapshotError
from kafka_rebalance.snapshot.partition_table import UNKNOWN_OFFSET

# Topology and tasks of a Streams group (KIP-1071). A task is one partition number of one subtopology: it reads that
# partition of each topic that the subtopology reads.


TaskIds = tuple[tuple[str, tuple[int, ...]], ...]  # subtopology → partition numbers
# Subtopology → partition number and the sum of the offsets of its changelogs.
TaskOffsets = tuple[tuple[str, tuple[tuple[int, int], ...]], ...]


@dataclass(frozen=True, slots=True)
class Tasks:
    """Tasks of one member: active ones read and write, standby ones copy the state, warm-up ones catch up."""

    active: TaskIds = ()
    standby: TaskIds = ()
    warmup: TaskIds = ()


@dataclass(frozen=True, slots=True)
class Subtopology:
    """Part of a Streams application: its topics, and the changelogs of its state."""

    id: str
    source_topics: tuple[str, ...] = ()
    repartition_topics: tuple[str, ...] = ()
    changelog_topics: tuple[str, ...] = ()

    @property
    def read_topics(self) -> tuple[str, ...]:
        return tuple(sorted({*self.source_topics, *self.repartition_topics}))


def partitions_of_tasks(
    tasks: TaskIds, subtopologies: Iterable[Subtopology], partition_counts: Mapping[str, int]
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Partitions of active tasks by topic.

    A topic may have fewer partitions than tasks. A topic of unknown count is assumed to have all.
    """
    topics_of = {subtopology.id: subtopology.read_topics for subtopology in subtopologies}
    partitions_by_topic: dict[str, set[int]] = {}
    for subtopology_id, numbers in tasks:
        for topic in topics_of.get(subtopology_id, ()):
            count = partition_counts.get(topic)
            there = {number for number in numbers if count is None or number < count}
            if there:
                partitions_by_topic.setdefault(topic, set()).update(there)
    return tuple((topic, tuple(sorted(partitions_by_topic[topic]))) for topic in sorted(partitions_by_topic))


class GroupType(StrEnum):
    """Kafka's group protocols, as ListGroups names them."""

    CLASSIC = "classic"
    CONSUMER = "consumer"  # KIP-848
    SHARE = "share"
    STREAMS = "streams"
    UNKNOWN = "unknown"

    @property
    def has_strategy(self) -> bool:
        """Whether a known strategy gives each partition one reader: not of Streams and share groups."""
        return self not in (GroupType.SHARE, GroupType.STREAMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectWorker:
    """Worker of Kafka Connect, by its metadata and assignment. ``None``: unknown.

    ``version``: of its metadata, 0: eager. ``joined_with``: not of eager workers. ``assigned`` and ``revoked``: by the
    last round. ``delay_ms``: until it joins again. ``leader`` is a member id. ``error``: not 0 if the leader could not
    assign.
    """

    version: int
    url: str | None = None
    config_offset: int | None = None
    joined_with: Work | None = None
    leader: str | None = None
    leader_url: str | None = None
    assigned_offset: int | None = None
    assigned: Work | None = None
    revoked: Work = NO_WORK
    delay_ms: int = 0
    error: int = 0


TopicPartitions = tuple[tuple[str, tuple[int, ...]], ...]
RACK_AFFINITY = "rack-affinity"  # strategy of kafka-go: follows leaders, and user data is the member's rack


@dataclass(frozen=True, slots=True)
class Member:
    """Group member. ``None``: unknown or unreadable (see ``decode_error``)."""

    id: str
    instance_id: str | None = None
    client_id: str | None = None
    host: str | None = None
    rack: str | None = None
    subscription: tuple[str, ...] | None = None
    subscribed_regex: str | None = None
    owned: TopicPartitions | None = None
    assigned: TopicPartitions = ()  # Streams: partitions of active tasks
    target: TopicPartitions | None = None  # KIP-848; in a reading, as the coordinator walks it
    generation: int | None = None  # or its epoch
    user_data: bytes | None = None
    decode_error: str | None = None
    is_classic: bool | None = None  # speaks the classic protocol in a newer group
    process_id: str | None = None  # of a Streams instance, which may have many members
    tasks: Tasks | None = None
    target_tasks: Tasks | None = None
    subscription_version: int | None = None  # of the JoinGroup bytes; differs between clients
    partition_count: int | None = None  # where only the number is known; `assigned` is empty
    task_offsets: TaskOffsets | None = None  # sums over changelogs
    task_end_offsets: TaskOffsets | None = None  # sums over changelogs
    worker: ConnectWorker | None = None

    def owns(self, *, is_server: bool) -> TopicPartitions:
        """What the next assignment starts from: the coordinator's is its target."""
        return self.target if is_server and self.target is not None else self.assigned

    @property
    def has_known_assignment(self) -> bool:
        return self.partition_count is None or self.partition_count == sum(len(p) for _, p in self.assigned)


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """Committed offset; of a share group the start of its records in flight.

    ``lag``: as the broker reported it (share groups: records behind the start may be done); else None, and lag is end
    minus offset. ``read_messages_per_s``: since the previous snapshot; None: unknown (``rates.with_read_rates``).
    """

    topic: str
    partition: int
    offset: int
    lag: int | None = None
    read_messages_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Consumer group of any type. ``protocol`` is the assignor's name.

    ``generation`` is the epoch in newer types. Members follow ``assignment_epoch``, which is smaller while the group
    computes a new assignment. ``client`` and ``client_version`` come from ``options.values.ClientRule``.
    ``member_count`` may be known without ``members``; if larger, not all are listed.
    """

    id: str
    type: GroupType = GroupType.CLASSIC
    protocol_type: str = "consumer"
    protocol: str | None = None
    state: str | None = None
    generation: int | None = None
    coordinator: int | None = None
    members: tuple[Member, ...] = ()
    committed: tuple[CommittedOffset, ...] = ()
    assignment_epoch: int | None = None
    subtopologies: tuple[Subtopology, ...] = ()
    configs: Mapping[str, str] = field(default_factory=dict)
    client: str | None = None
    client_version: str | None = None
    member_count: int | None = None

    def __post_init__(self) -> None:
        ids: set[str] = set()
        for member in self.members:
            if member.id in ids:
                raise InvalidSnapshotError.at(f"group {self.id}", f"member {member.id} is listed twice")
            ids.add(member.id)


UNKNOWN_LAG = -1


def lag_messages(reported: Longs, end: Longs, committed: Longs) -> Longs:
    """Return the reported lag, else end minus committed offset, at least 0.

    ``reported`` and the result may be UNKNOWN_LAG, ``end`` UNKNOWN_OFFSET.
    """
    counted = np.where(end == UNKNOWN_OFFSET, UNKNOWN_LAG, np.maximum(end - committed, 0))
    return np.where(reported == UNKNOWN_LAG, counted, reported)
