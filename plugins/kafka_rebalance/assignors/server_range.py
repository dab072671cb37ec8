"""The group coordinator's ``range`` (KIP-848): each topic cut into contiguous ranges, static members first.

Promises, in this order: every partition of a subscribed topic has one owner; per topic, loads differ by one at most;
where all members subscribe to the same topics and these have equally many partitions, a member gets the same partition
numbers of each (co-partitioning). It looks at neither racks nor what members own: one member more moves nearly all.

Stands for Kafka 4.0 – 4.3 (KAFKA-16944). Static members come first, by instance id, then dynamic ones by member id;
two static members of one instance id keep the order of the coordinator's map. A topic without metadata is an error
(the client's range passes over it).

Example: topics of 6 partitions and members c0, c1, c2: c0 gets 0–1, c1 2–3, c2 4–5.

Complexity: O(M log M + S + P) for M members with S subscriptions in all and P partitions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from kafka_rebalance.assignors.assignment import Assignment
from kafka_rebalance.assignors.orders import by_member_info, member_walk
from kafka_rebalance.assignors.owned_lists import lists_by_owner
from kafka_rebalance.assignors.ranges import plain_ranges, subscriber_counts
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.server_orders import PARTITION_ASSIGNOR_EXCEPTION, is_homogeneous
from kafka_rebalance.errors import AssignorError

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


class ServerRangeAssignor:
    """``org.apache.kafka.coordinator.group.assignor.RangeAssignor``."""

    name = "server-range"
    versions = "Kafka 4.0 – 4.3"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError (PartitionAssignorException) when somebody subscribes to a topic without metadata."""
        members, counts = request.members, request.topics.partition_counts
        if len(members) == 0:
            return Assignment.of(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32))
        # Ids are different, instance ids need not be: only there does the order of the coordinator's map decide.
        has_static = members.has_instance_id.any()
        ranked = by_member_info(members, member_walk(request) if has_static else np.arange(len(members)))
        offsets, subscribed = members.subscription_offsets, members.subscription_topics
        if is_homogeneous(request):
            first = int(ranked[0])
            shared = np.unique(subscribed[int(offsets[first]) : int(offsets[first + 1])])
            _refuse_missing(counts[shared])
            return Assignment.of(*_share_topics(ranked, shared, counts))
        subscribers = subscriber_counts(offsets, subscribed, len(counts), True)
        topics = np.flatnonzero(subscribers)
        _refuse_missing(counts[topics])
        first_row = request.topics.first_row
        owners = plain_ranges(ranked, offsets, subscribed, first_row, subscribers, True)
        return Assignment.of(*lists_by_owner(owners, first_row, topics, len(members)))


def _refuse_missing(counts: Ints) -> None:
    if (counts < 0).any():
        raise AssignorError(PARTITION_ASSIGNOR_EXCEPTION, "Member is subscribed to a non-existent topic")


@njit(cache=True)
def _share_topics(ranked: Longs, topics: Ints, counts: Ints) -> tuple[Longs, Ints, Ints]:
    """Every member subscribes to ``topics``: member of rank i gets [q·i + min(i, r), … + q (+1 while i < r))."""
    members = len(ranked)
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
    return offsets, out_topics, out_partitions
