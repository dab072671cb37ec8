"""The group coordinator's ``uniform`` (KIP-848): counts as even as subscriptions allow, then as sticky as that allows.

Promises, in this order: every partition of a subscribed topic has one owner; where all members subscribe to the same
topics, counts differ by one at most (elsewhere nearly so: the evening out is capped); members keep what they hold as
far as that goes. Which of several equally good answers comes out hangs on the order of Java's maps.

Stands for Kafka 4.0.1 – 4.3 (``server-uniform``) and 4.0.0 (``server-uniform@4.0.0``), which differ where all members
subscribe alike; ``uniform_preview`` for 3.8 – 3.9. Racks play no part since 3.8.

See ``uniform_homogeneous`` and ``uniform_heterogeneous`` for the two ways, with examples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment, Withheld
from kafka_rebalance.assignors.owned_lists import owned_columns
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.server.orders import (
    BEYOND_LAST,
    CONTRADICTORY,
    LEFT_OVER,
    MISSING_TOPIC,
    NO_TOPICS,
    PARTITION_ASSIGNOR_EXCEPTION,
    is_homogeneous,
    refuse_missing_topic,
    walk_columns,
)
from kafka_rebalance.assignors.server.uniform_heterogeneous import spread_by_topic
from kafka_rebalance.assignors.server.uniform_homogeneous import spread_evenly
from kafka_rebalance.errors import AssignorError

_NOTHING_TOLD = np.zeros(0, np.bool_)
_NOTHING_TOLD.setflags(write=False)  # as a request's own flags are: one variant of the kernel serves both


@dataclass(frozen=True, slots=True)
class ServerUniformAssignor:
    """``org.apache.kafka.coordinator.group.assignor.UniformAssignor``."""

    name: str = "server-uniform"
    versions: str = "Kafka 4.0.1 – 4.3"
    # A member that cannot use its extra place leaves it to one that can (KAFKA-18688).
    is_extra_given_back: bool = True

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError (PartitionAssignorException and, for partitions beyond a topic's last where
        subscriptions differ, ArrayIndexOutOfBoundsException).
        """
        if len(request.members) == 0:
            return no_entries(0)
        return self._homogeneous(request) if is_homogeneous(request) else _heterogeneous(request)

    def _homogeneous(self, request: AssignmentRequest) -> Assignment:
        topics, members, told = request.topics, request.members, request.is_assigned
        status, missing, offsets, given, partitions = spread_evenly(
            walk_columns(request),
            (members.subscription_offsets, members.subscription_topics),
            (topics.partition_counts, topics.first_row, topics.uuid_msb, topics.uuid_lsb),
            owned_columns(members),
            (_NOTHING_TOLD if told is None else told, told is not None),
            self.is_extra_given_back,
        )
        refuse_missing_topic(request, int(missing))
        if status == NO_TOPICS:
            return no_entries(len(members))
        if status == LEFT_OVER:
            raise AssignorError(PARTITION_ASSIGNOR_EXCEPTION, "Partitions were left unassigned")
        lists = (offsets, given, partitions)
        return Assignment.of(*(_as_sets(*lists) if status == CONTRADICTORY else lists))


def as_of_4_0_0() -> ServerUniformAssignor:
    """The first KIP-848 release: the extra partitions go to the first members of the map, whatever they hold."""
    return ServerUniformAssignor("server-uniform@4.0.0", "Kafka 4.0.0", is_extra_given_back=False)


def _heterogeneous(request: AssignmentRequest) -> Assignment:
    topics, members = request.topics, request.members
    status, at, offsets, given, partitions = spread_by_topic(
        walk_columns(request),
        (members.subscription_offsets, members.subscription_topics),
        (topics.partition_counts, topics.first_row, topics.uuid_msb, topics.uuid_lsb),
        owned_columns(members),
    )
    if status == NO_TOPICS:
        return no_entries(len(members))
    if status == MISSING_TOPIC:
        refuse_missing_topic(request, int(at))
    if status == BEYOND_LAST:
        count = topics.partition_counts[members.owned_topics[at]]
        raise AssignorError(
            "java.lang.ArrayIndexOutOfBoundsException",
            f"Index {members.owned_partitions[at]} out of bounds for length {count}",
        )
    return Assignment.of(offsets, given, partitions)


def no_entries(members: int) -> Assignment:
    """Java's empty answer: no member appears in it."""
    nothing = np.zeros(0, np.int32)
    entries = np.zeros(members, np.bool_)
    return Assignment(np.zeros(members + 1, np.int64), nothing, nothing, Withheld.nothing(), has_entry=entries)


def _as_sets(offsets: Longs, topics: Ints, partitions: Ints) -> tuple[Longs, Ints, Ints]:
    """The same lists, each partition once a member: Java's are sets, and quotas count what was put, not what is there.

    Where a partition has two owners, or is said to be free while somebody holds it, a member may be given it again.
    """
    members = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    _, first = np.unique(np.stack([members, topics, partitions]), axis=1, return_index=True)
    kept = np.sort(first)
    counts = np.bincount(members[kept], minlength=len(offsets) - 1)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]), topics[kept], partitions[kept]
