"""The group coordinator's ``range`` (KIP-848): each topic cut into contiguous ranges, static members first.

Promises, in this order: every partition of a subscribed topic has one owner; per topic, loads differ by one at most;
where all members subscribe to the same topics and these have equally many partitions, a member gets the same partition
numbers of each (co-partitioning). It looks at neither racks nor what members own: one member more moves nearly all.

Stands for Kafka 3.9 – 4.3 (KAFKA-16944); ``range_preview`` for 3.8.

Static members come first, by instance id, then dynamic ones by member id;
two static members of one instance id keep the order of the coordinator's map. A topic without metadata is an error
(the client's range passes over it).

Example: topics of 6 partitions and members c0, c1, c2: c0 gets 0–1, c1 2–3, c2 4–5.

Complexity: O(M log M + S + P) for M members with S subscriptions in all and P partitions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment
from kafka_rebalance.assignors.orders import by_member_id, by_member_info, member_walk
from kafka_rebalance.assignors.ranges import subscriber_counts
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.server.orders import PARTITION_ASSIGNOR_EXCEPTION, is_homogeneous
from kafka_rebalance.errors import AssignorError
from kafka_rebalance.kernels.decorators import inner_kernel, kernel


@dataclass(frozen=True, slots=True)
class ServerRangeAssignor:
    """``org.apache.kafka.coordinator.group.assignor.RangeAssignor``."""

    name: str = "server-range"
    versions: str = "Kafka 3.9 – 4.3"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError (PartitionAssignorException) when somebody subscribes to a topic without metadata."""
        members, counts = request.members, request.topics.partition_counts
        if len(members) == 0:
            return Assignment.of(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32))
        # Ids are different, instance ids need not be: only there does the order of the coordinator's map decide.
        has_static = members.has_instance_id.any()
        ranked = by_member_info(members, member_walk(request)) if has_static else by_member_id(members)
        offsets, subscribed = members.subscription_offsets, members.subscription_topics
        if is_homogeneous(request):
            first = int(ranked[0])
            listed = subscribed[int(offsets[first]) : int(offsets[first + 1])]
            lists, is_missing = _share_topics(ranked, listed, counts)
        else:
            lists, is_missing = _share_by_subscription(ranked, offsets, subscribed, counts)
        if is_missing:
            raise AssignorError(PARTITION_ASSIGNOR_EXCEPTION, "Member is subscribed to a non-existent topic")
        return Assignment.of(*lists)


Lists = tuple[Longs, Ints, Ints]


@kernel
def _share_topics(ranked: Longs, listed: Ints, counts: Ints) -> tuple[Lists, bool]:
    """All subscribe to what is ``listed``: the member of rank i gets [q·i + min(i, r), … + q (+1 while i < r)).

    Nothing, and True, where a topic is not in the metadata.
    """
    members = len(ranked)
    topics, is_missing = _distinct(listed, counts)
    if is_missing:
        return _no_lists(), True
    # Partitions a member of each rank gets: everybody the quotas, ranks below r one more.
    extras = np.zeros(members + 1, np.int64)
    quotas = np.int64(0)
    for topic in topics:
        quotas += counts[topic] // members
        extras[counts[topic] % members] += 1
    offsets = np.zeros(members + 1, np.int64)
    with_extra = np.int64(0)
    for rank in range(members - 1, -1, -1):
        with_extra += extras[rank + 1]
        offsets[ranked[rank] + 1] = quotas + with_extra
    for member in range(members):
        offsets[member + 1] += offsets[member]
    out_topics = np.empty(offsets[members], np.int32)
    out_partitions = np.empty(offsets[members], np.int32)
    at = offsets[:-1].copy()
    for topic in topics:
        quota, extra = counts[topic] // members, counts[topic] % members
        partition = 0
        # Where the quota is nothing, only the first ranks get their one.
        for rank in range(members if quota else extra):
            member = ranked[rank]
            place = at[member]
            length = quota + 1 if rank < extra else quota
            for k in range(place, place + length):
                out_topics[k] = topic
                out_partitions[k] = partition
                partition += 1
            at[member] = place + length
    return (offsets, out_topics, out_partitions), False


@inner_kernel
def _no_lists() -> Lists:
    return np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32)


@inner_kernel
def _distinct(listed: Ints, counts: Ints) -> tuple[Ints, bool]:
    """The topics of a subscription, each once, ascending; and whether one of them is not in the metadata."""
    is_listed = np.zeros(len(counts), np.bool_)
    found, is_missing = 0, False
    for topic in listed:
        found += not is_listed[topic]
        is_listed[topic] = True
        is_missing |= counts[topic] < 0
    topics = np.empty(found, np.int32)
    at = 0
    for topic in range(len(counts)):
        if is_listed[topic]:
            topics[at] = topic
            at += 1
    return topics, is_missing


@kernel
def _share_by_subscription(ranked: Longs, bounds: Longs, subscribed: Ints, counts: Ints) -> tuple[Lists, bool]:
    """Ranges over each topic's own subscribers. Nothing, and True, where a topic is not in the metadata."""
    subscribers = subscriber_counts(bounds, subscribed, len(counts), True)
    quotas = np.zeros(len(counts), np.int32)
    extras = np.zeros(len(counts), np.int32)
    for topic in range(len(counts)):
        if subscribers[topic]:
            if counts[topic] < 0:
                return _no_lists(), True
            quotas[topic] = counts[topic] // subscribers[topic]
            extras[topic] = counts[topic] % subscribers[topic]
    offsets = _lengths(ranked, bounds, subscribed, quotas, extras)
    for member in range(len(ranked)):
        offsets[member + 1] += offsets[member]
    out_topics = np.empty(offsets[-1], np.int32)
    out_partitions = np.empty(offsets[-1], np.int32)
    # How many subscribers have had their turn, and which one was the last (a topic may be listed twice).
    turn = np.zeros(len(counts), np.int32)
    last = np.full(len(counts), -1, np.int32)
    for member in ranked:
        place = offsets[member]
        for k in range(bounds[member], bounds[member + 1]):
            topic = subscribed[k]
            if last[topic] == member:
                continue
            last[topic] = member
            first = quotas[topic] * turn[topic] + min(turn[topic], extras[topic])
            end = first + quotas[topic] + (turn[topic] < extras[topic])
            turn[topic] += 1
            for partition in range(first, end):
                out_topics[place] = topic
                out_partitions[place] = partition
                place += 1
    return (offsets, out_topics, out_partitions), False


@inner_kernel
def _lengths(ranked: Longs, bounds: Longs, subscribed: Ints, quotas: Ints, extras: Ints) -> Longs:
    """Partitions of each member, behind a zero: int64[M + 1]."""
    lengths = np.zeros(len(ranked) + 1, np.int64)
    turn = np.zeros(len(quotas), np.int32)
    last = np.full(len(quotas), -1, np.int32)
    for member in ranked:
        length = 0
        for k in range(bounds[member], bounds[member + 1]):
            topic = subscribed[k]
            if last[topic] != member:
                last[topic] = member
                length += quotas[topic] + (turn[topic] < extras[topic])
                turn[topic] += 1
        lengths[member + 1] = length
    return lengths
