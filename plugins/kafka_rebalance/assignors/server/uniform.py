"""The group coordinator's ``uniform`` (KIP-848): counts as even as subscriptions allow, then as sticky as that allows.

Promises, in this order: every partition of a subscribed topic has one owner; where all members subscribe to the same
topics, counts differ by one at most (elsewhere nearly so: the evening out is capped); members keep what they hold as
far as that goes. Which of several equally good answers comes out hangs on the order of Java's maps.

Stands for Kafka 4.0.1 – 4.3 (``server-uniform``) and 4.0.0 (``server-uniform@4.0.0``), which differ where all members
subscribe alike. The older heterogeneous builder of 3.8 and 3.9 is not modelled. Racks play no part since 3.8.

See ``uniform_homogeneous`` and ``uniform_heterogeneous`` for the two ways, with examples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment, Withheld
from kafka_rebalance.assignors.orders import member_walk
from kafka_rebalance.assignors.owned_lists import owned_columns
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.server.orders import (
    PARTITION_ASSIGNOR_EXCEPTION,
    copied_subscription_of,
    is_hashed,
    is_homogeneous,
    refuse_missing_topics,
    topic_hashes,
)
from kafka_rebalance.assignors.server.uniform_heterogeneous import (
    deal_and_even_out,
    keep_subscribed,
    list_subscribers,
    lists_of,
    topic_priority,
)
from kafka_rebalance.assignors.server.uniform_homogeneous import spread_evenly
from kafka_rebalance.errors import AssignorError
from kafka_rebalance.kernels.decorators import kernel


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
        order = member_walk(request)
        if is_homogeneous(request):
            return self._homogeneous(request, order)
        return _heterogeneous(request, order)

    def _homogeneous(self, request: AssignmentRequest, order: Longs) -> Assignment:
        topics, members = request.topics, request.members
        hashes = topic_hashes(request)
        subscribed = copied_subscription_of(request, int(order[0]), hashes)
        if len(subscribed) == 0:
            return no_entries(len(members))
        refuse_missing_topics(request, subscribed)
        is_assigned, is_contradictory = _owned_rows(
            members.owned_topics, members.owned_partitions, topics.first_row, topics.partition_counts
        )
        if request.is_assigned is not None:
            is_assigned, is_contradictory = request.is_assigned, True
        offsets, owned, partitions, is_complete = spread_evenly(
            order,
            subscribed,
            (topics.partition_counts, topics.first_row),
            owned_columns(members),
            is_assigned,
            (hashes, is_hashed(request)),
            self.is_extra_given_back,
        )
        if not is_complete:
            raise AssignorError(PARTITION_ASSIGNOR_EXCEPTION, "Partitions were left unassigned")
        lists = (offsets, owned, partitions)
        return Assignment.of(*(_as_sets(*lists) if is_contradictory else lists))


def as_of_4_0_0() -> ServerUniformAssignor:
    """The first KIP-848 release: the extra partitions go to the first members of the map, whatever they hold."""
    return ServerUniformAssignor("server-uniform@4.0.0", "Kafka 4.0.0", is_extra_given_back=False)


def _heterogeneous(request: AssignmentRequest, order: Longs) -> Assignment:
    topics, members = request.topics, request.members
    counts = topics.partition_counts
    bounds, subscribed = members.subscription_offsets, members.subscription_topics
    starts, places = list_subscribers(order, bounds, subscribed, len(topics))
    if len(places) == 0:
        return no_entries(len(members))
    refuse_missing_topics(request, np.flatnonzero(np.diff(starts)).astype(np.int32))
    rows = (counts, topics.first_row)
    held, shadows, beyond = keep_subscribed(order, bounds, subscribed, rows, owned_columns(members))
    if beyond >= 0:
        count = counts[members.owned_topics[beyond]]
        raise AssignorError(
            "java.lang.ArrayIndexOutOfBoundsException",
            f"Index {members.owned_partitions[beyond]} out of bounds for length {count}",
        )
    priority = topic_priority(counts, np.diff(starts), topics.uuid_msb, topics.uuid_lsb)
    deal_and_even_out(priority, rows, (starts, places), held, shadows)
    return Assignment.of(*lists_of(order, rows, held[0], shadows))


def no_entries(members: int) -> Assignment:
    """Java's empty answer: no member appears in it."""
    nothing = np.zeros(0, np.int32)
    entries = np.zeros(members, np.bool_)
    return Assignment(np.zeros(members + 1, np.int64), nothing, nothing, Withheld.nothing(), has_entry=entries)


@kernel
def _owned_rows(topics: Ints, partitions: Ints, first_row: Longs, counts: Ints) -> tuple[Flags, bool]:
    """bool[P]: what members own, which is what the coordinator takes for assigned unless it says otherwise.

    And whether some partition is owned twice or does not exist.
    """
    # The row behind the last takes what does not exist.
    is_owned = np.zeros(first_row[-1] + 1, np.bool_)
    for k in range(len(topics)):
        topic, partition = np.uint32(topics[k]), partitions[k]
        exists = (partition >= 0) & (partition < counts[topic])
        is_owned[np.uint64(first_row[topic] + partition if exists else first_row[-1])] = True
    rows = is_owned[:-1]
    owned = 0
    for flag in rows:
        owned += flag
    return rows, owned < len(topics)


def _as_sets(offsets: Longs, topics: Ints, partitions: Ints) -> tuple[Longs, Ints, Ints]:
    """The same lists, each partition once a member: Java's are sets, and quotas count what was put, not what is there.

    Where a partition has two owners, or is said to be free while somebody holds it, a member may be given it again.
    """
    members = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    _, first = np.unique(np.stack([members, topics, partitions]), axis=1, return_index=True)
    kept = np.sort(first)
    counts = np.bincount(members[kept], minlength=len(offsets) - 1)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]), topics[kept], partitions[kept]
