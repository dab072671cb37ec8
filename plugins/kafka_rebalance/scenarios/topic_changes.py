"""Partitions added to a topic, topics added and removed; placed as a controller of Kafka places them.

Example: 4 partitions of 30 MB/s in all get 2 more: 5 MB/s each; what is stored stays on the first 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.java.seeded_random import java_random
from kafka_rebalance.placement.brokers import PlacementError
from kafka_rebalance.placement.striped import place_striped
from kafka_rebalance.placement.topic_replay import placement_brokers
from kafka_rebalance.scenarios.fitting import groups_with_members, matching, require_known, require_pattern
from kafka_rebalance.scenarios.new_topics import drawn_topic_id, spread_over_all
from kafka_rebalance.scenarios.newcomers import lots_of
from kafka_rebalance.scenarios.partition_rows import NewPartitions, with_partitions, without_topics
from kafka_rebalance.snapshot.load import LoadColumn, LoadKind, PartitionLoads
from kafka_rebalance.snapshot.model import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    Partition,
    Topic,
    TopicPartitions,
)
from kafka_rebalance.snapshot.ranges import LARGEST_INT32, topic_name_fault
from kafka_rebalance.visible_text import excerpt

MOST_NEW_PARTITIONS = 100_000


@dataclass(frozen=True, slots=True)
class PartitionsAdded:
    """So many more partitions of a topic, with as many replicas as its first; what is written spreads over all."""

    topic: str
    count: int

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        """Raises InvalidInputError for a topic that is not there, or whose replicas cannot be placed."""
        require_known("topic", (self.topic,), (topic.name for topic in snapshot.topics))
        number = next(at for at, topic in enumerate(snapshot.topics) if topic.name == self.topic)
        table = snapshot.partitions
        rows = np.flatnonzero(table.topic == number)
        if not len(rows):
            raise InvalidInputError.at(f"topic {self.topic}", "none of its partitions was seen", "nothing can be added")
        first = int(table.partition[rows[-1]]) + 1
        if first + self.count - 1 > LARGEST_INT32:
            raise InvalidInputError.at(f"topic {self.topic}", f"{self.count} more partitions are too many")
        places = _placed(snapshot, self.topic, self.count, int(table.replica_counts[rows[0]]), seed)
        new = NewPartitions(_empty(self.topic, first, places), dict.fromkeys(LoadKind, 0.0))
        changed = with_partitions(snapshot, snapshot.topics, new)
        loads = _spread(changed, slice(int(rows[0]), int(rows[0]) + len(rows) + self.count), len(rows))
        groups = tuple(_at_the_start(group, self.topic, range(first, first + self.count)) for group in snapshot.groups)
        return replace(changed, loads=loads, groups=groups)


@dataclass(frozen=True, slots=True)
class TopicAdded:
    """A new topic; rates are those of all its partitions together, ``None`` where nobody knows them.

    Members of groups whose whole name matches ``groups`` subscribe to it; without that nobody does.
    """

    topic: str
    partitions: int
    replication_factor: int
    in_bytes_per_s: float | None = None
    out_bytes_per_s: float | None = None
    in_messages_per_s: float | None = None
    cpu_percent: float | None = None
    log_bytes: int = 0
    groups: str | None = None

    def __post_init__(self) -> None:
        if fault := topic_name_fault(self.topic):
            raise InvalidInputError.at(f"topic {excerpt(self.topic)}", fault)
        if self.groups is not None:
            require_pattern("topic_added, groups", self.groups)

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        """Raises InvalidInputError for a topic that is there already, or whose replicas cannot be placed."""
        if any(topic.name == self.topic for topic in snapshot.topics):
            raise InvalidInputError.at(f"topic {self.topic}", "is in the cluster already", "use partitions_added")
        places = _placed(snapshot, self.topic, self.partitions, self.replication_factor, seed)
        has_ids = bool(snapshot.topics) and all(topic.topic_id is not None for topic in snapshot.topics)
        lots = lots_of(self.topic, "topic_added", seed)
        topic = Topic(self.topic, drawn_topic_id(lots) if has_ids else None)
        new = NewPartitions(_empty(self.topic, 0, places, self.log_bytes // self.partitions), self._loads())
        changed = with_partitions(snapshot, (*snapshot.topics, topic), new)
        if self.groups is None:
            return changed
        readers = groups_with_members(snapshot, self.groups)
        groups = (_subscribed(group, self.topic) if group.id in readers else group for group in snapshot.groups)
        return replace(changed, groups=tuple(groups))

    def _loads(self) -> dict[LoadKind, float]:
        given = {
            LoadKind.LOG_BYTES: self.log_bytes, LoadKind.IN_BYTES_PER_S: self.in_bytes_per_s,
            LoadKind.OUT_BYTES_PER_S: self.out_bytes_per_s, LoadKind.IN_MESSAGES_PER_S: self.in_messages_per_s,
            LoadKind.CPU_PERCENT: self.cpu_percent,
        }  # fmt: skip
        return {kind: total / self.partitions for kind, total in given.items() if total is not None}


@dataclass(frozen=True, slots=True)
class TopicRemoved:
    """Topics whose whole name matches are deleted; who subscribes to them goes on doing so, and reads nothing there."""

    topics: str

    def __post_init__(self) -> None:
        require_pattern("topic_removed, topics", self.topics)

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        """Raises InvalidInputError where no topic has such a name."""
        del seed  # nothing is drawn
        gone = matching("topic", self.topics, (topic.name for topic in snapshot.topics))
        return replace(without_topics(snapshot, gone), groups=tuple(_unread(group, gone) for group in snapshot.groups))


def _placed(snapshot: ClusterSnapshot, topic: str, count: int, factor: int, seed: int) -> list[tuple[int, ...]]:
    """Replicas of each new partition, the leader first; brokers that do not answer are given none."""
    unheard = {broker.id for broker in snapshot.brokers if broker.state.is_unheard}
    brokers = [broker for broker in placement_brokers(snapshot) if broker.id not in unheard and not broker.is_fenced]
    try:
        places = place_striped(brokers, count, factor, java_random(seed))
    except PlacementError as error:
        raise InvalidInputError.at(f"topic {topic}", str(error)) from error
    return [tuple(row) for row in places.tolist()]


def _empty(topic: str, first: int, places: Sequence[tuple[int, ...]], log_bytes: int = 0) -> list[Partition]:
    """Partitions from number ``first`` on, each with ``log_bytes``."""
    return [
        Partition(topic, number, replicas, replicas[0], isr=replicas, log_bytes=(log_bytes,) * len(replicas),
            start_offset=0, end_offset=0)
        for number, replicas in enumerate(places, start=first)
    ]  # fmt: skip


def _spread(snapshot: ClusterSnapshot, rows: slice, known: int) -> PartitionLoads:
    columns = dict(snapshot.loads.columns)
    for kind in columns.keys() - {LoadKind.LOG_BYTES}:
        values = columns[kind].values.copy()
        spread_over_all(values[rows], known)
        columns[kind] = LoadColumn(values, columns[kind].source, columns[kind].window_s)
    return PartitionLoads(columns)


def _at_the_start(group: Group, topic: str, partitions: range) -> Group:
    """A group that reads the topic has read nothing of a new partition, of which there is nothing yet."""
    if all(commit.topic != topic for commit in group.committed):
        return group
    added = tuple(CommittedOffset(topic, partition, 0, lag=0) for partition in partitions)
    return replace(group, committed=(*group.committed, *added))


def _subscribed(group: Group, topic: str) -> Group:
    """A member that did not say what it subscribes to is taken to subscribe to all that its group reads."""
    read = {name for member in group.members for name, _ in member.assigned}
    read.update(name for member in group.members for name in member.subscription or ())

    def with_topic(member: Member) -> Member:
        names = read if member.subscription is None else set(member.subscription)
        return replace(member, subscription=tuple(sorted(names | {topic})))

    return replace(group, members=tuple(with_topic(member) for member in group.members))


def _unread(group: Group, gone: frozenset[str]) -> Group:
    def left(runs: TopicPartitions) -> TopicPartitions:
        return tuple((topic, partitions) for topic, partitions in runs if topic not in gone)

    members = tuple(
        replace(
            member,
            assigned=left(member.assigned),
            owned=None if member.owned is None else left(member.owned),
            target=None if member.target is None else left(member.target),
        )
        for member in group.members
    )
    return replace(group, members=members, committed=tuple(one for one in group.committed if one.topic not in gone))
