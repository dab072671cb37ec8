"""Groups of every type, their members, committed offsets and lag: the number of messages after the committed offset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from kafka_assignors.arrays import Longs
from kafka_rebalance.errors import InvalidSnapshotError
from kafka_rebalance.snapshot.partition_table import UNKNOWN_OFFSET

# What a group of type ``streams`` (KIP-1071) tells beside members and offsets: its topology, and who runs which task.
#
# A task is one partition number of one subtopology: it reads that partition of each topic that the subtopology reads.


TaskIds = tuple[tuple[str, tuple[int, ...]], ...]  # subtopology → partition numbers


@dataclass(frozen=True, slots=True)
class Tasks:
    """Tasks of one member: active ones read and write, standby ones keep a copy of the state, warm-up ones catch up."""

    active: TaskIds = ()
    standby: TaskIds = ()
    warmup: TaskIds = ()


@dataclass(frozen=True, slots=True)
class Subtopology:
    """One part of the application: what it reads (its source topics, and repartition topics that it made itself) and
    the changelogs of its state, which it writes, and reads again to restore it.
    """

    id: str
    source_topics: tuple[str, ...] = ()
    repartition_topics: tuple[str, ...] = ()
    changelog_topics: tuple[str, ...] = ()

    @property
    def read_topics(self) -> tuple[str, ...]:
        """What its active tasks consume."""
        return tuple(sorted({*self.source_topics, *self.repartition_topics}))


def partitions_of_tasks(
    tasks: TaskIds, subtopologies: Iterable[Subtopology], partition_counts: Mapping[str, int]
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Partitions that active tasks consume, by topic. A topic may have fewer partitions than its subtopology has tasks;
    one whose count is unknown is taken to have them all.
    """
    topics_of = {subtopology.id: subtopology.read_topics for subtopology in subtopologies}
    found: dict[str, set[int]] = {}
    for subtopology_id, numbers in tasks:
        for topic in topics_of.get(subtopology_id, ()):
            count = partition_counts.get(topic)
            there = {number for number in numbers if count is None or number < count}
            if there:
                found.setdefault(topic, set()).update(there)
    return tuple((topic, tuple(sorted(found[topic]))) for topic in sorted(found))


class GroupType(StrEnum):
    """Kafka's group protocols, as ListGroups names them."""

    CLASSIC = "classic"
    CONSUMER = "consumer"  # KIP-848
    SHARE = "share"
    STREAMS = "streams"
    UNKNOWN = "unknown"

    @property
    def has_strategy(self) -> bool:
        """Its partitions are divided by a strategy that is known here: each has one reader. The tasks of streams
        groups and the many readers of share groups are divided in other ways.
        """
        return self not in (GroupType.SHARE, GroupType.STREAMS)


TopicPartitions = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a group. ``None`` means: not said or not readable (``decode_error`` tells which)."""

    id: str
    instance_id: str | None = None
    client_id: str | None = None
    host: str | None = None
    rack: str | None = None
    subscription: tuple[str, ...] | None = None
    subscribed_regex: str | None = None
    owned: TopicPartitions | None = None  # what it says it owns, in its JoinGroup
    assigned: TopicPartitions = ()  # what the group gave it; of a streams group what its active tasks read
    target: TopicPartitions | None = None  # KIP-848: where the group is going
    generation: int | None = None  # or its epoch
    user_data: bytes | None = None
    decode_error: str | None = None
    is_classic: bool | None = None  # it speaks the classic protocol in a group of a newer type, which migrates
    process_id: str | None = None  # streams: of the instance, which may have many members
    tasks: Tasks | None = None  # streams
    target_tasks: Tasks | None = None
    subscription_version: int | None = None  # classic: of the bytes of its JoinGroup, which tell clients apart
    partition_count: int | None = None  # where only their number is known; `assigned` is empty then

    @property
    def has_known_assignment(self) -> bool:
        """Return whether ``assigned`` is all that the member has."""
        return self.partition_count is None or self.partition_count == sum(len(p) for _, p in self.assigned)


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """How far a group has read one partition; of a share group where its records in flight begin.

    ``lag``: as the broker told it (share groups: records behind the start may be done already); None elsewhere, where
    it is the end minus the offset. ``read_messages_per_s``: how fast this group read it since the reading before; None
    where that is unknown (``rates.with_read_rates``).
    """

    topic: str
    partition: int
    offset: int
    lag: int | None = None
    read_messages_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """One consumer group of any type. ``protocol`` is the assignor's name, ``coordinator`` a broker id.

    ``generation`` is the group's epoch in the newer types; its members follow an assignment of ``assignment_epoch``,
    which is smaller while a new one is worked out. ``configs``: those that somebody set for this group (4.x).
    ``client``, ``client_version``: its members' client library, where a rule gives it (``options.rules.ClientRule``).
    ``member_count``: where the source gives their number and not each one; more than ``members``: not all are listed.
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
        seen: set[str] = set()
        for member in self.members:
            if member.id in seen:
                raise InvalidSnapshotError.at(f"group {self.id}", f"member {member.id} is listed twice")
            seen.add(member.id)


UNKNOWN_LAG = -1


def lag_messages(reported: Longs, end: Longs, committed: Longs) -> Longs:
    """Return int64 along the offsets: the lag as the broker reported it, else the end minus the committed offset.

    Never below 0: an offset past the end has nothing behind it. ``reported`` and the result may be UNKNOWN_LAG, ``end``
    UNKNOWN_OFFSET.
    """
    counted = np.where(end == UNKNOWN_OFFSET, UNKNOWN_LAG, np.maximum(end - committed, 0))
    return np.where(reported == UNKNOWN_LAG, counted, reported)
