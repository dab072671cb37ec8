"""Kafka's range assignor with racks and co-partitioning (KIP-881).

Promises, in this order: each topic evenly (counts differ by one at most) · partition p of topics that have equally
many partitions and the same subscribers at the same member · as many partitions as possible read from the member's own
rack. Only topics whose racks can matter are matched (``racks.use_racks``), but as soon as one topic of the group is,
so is every group of co-partitioned topics. No stickiness.

Example: t0 with partitions on racks b, a and members m0 in rack a, m1 in rack b: m0 gets t0-1, m1 gets t0-0.

Source: ``RangeAssignor`` of kafka-clients 3.5 to 4.3. A topic that a member lists twice counts once. Lists follow the
map of topics, or, if racks were used, are sorted by topic and partition.
Complexity: O(subscriptions + partitions · racks).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment
from kafka_rebalance.assignors.client.range_racks import Racks, Subscribers, matched_ranges, topics_that_need_racks
from kafka_rebalance.assignors.orders import by_member_info, member_walk, topic_walk
from kafka_rebalance.assignors.owned_lists import assignment_by_owner
from kafka_rebalance.assignors.racks import partition_racks, reader_racks, word_count
from kafka_rebalance.assignors.ranges import plain_ranges, subscriber_counts
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.subscribers import subscribers_by_topic
from kafka_rebalance.java.strings import sorted_order


@dataclass(frozen=True, slots=True)
class RangeAssignor:
    """Range as of Kafka 3.5 to 4.3."""

    name: str = "range"
    versions: str = "Kafka 3.5 – 4.3"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Ranges, matched with racks where any topic needs it."""
        members, topics = request.members, request.topics
        columns = (members.subscription_offsets, members.subscription_topics)
        subscription_order = member_walk(request)
        order, walk = by_member_info(members, subscription_order), topic_walk(request, subscription_order)
        owner = _matched(request, order, walk)
        if owner is None:
            subscribers = subscriber_counts(*columns, len(topics), True)
            owner = plain_ranges(order, *columns, topics.first_row, subscribers, True)
        else:
            names = sorted_order(topics.names.data, topics.names.offsets)
            walk = names[np.isin(names, walk)]
        return assignment_by_owner(owner, topics, walk, len(members))


def _matched(request: AssignmentRequest, order: Longs, walk: Longs) -> Ints | None:
    """Owners after matching racks; ``None`` where no topic needs it."""
    members, topics = request.members, request.topics
    if not (members.racks >= 0).any():
        return None
    columns, words = (members.subscription_offsets, members.subscription_topics), word_count(request)
    sets = partition_racks(topics.rack_offsets, topics.racks, words)
    readers = reader_racks(*columns, members.racks, len(topics), words)
    needs = topics_that_need_racks(readers, sets, topics.first_row, walk, request.prefer_rack_aware)
    if not needs.any():
        return None
    starts, readers_of = subscribers_by_topic(order, *columns, len(topics), True)
    has_readers_racks = readers.any(axis=1)
    subscribers, racks = Subscribers(starts, readers_of), Racks(members.racks, sets)
    owner: Ints = matched_ranges(subscribers, racks, topics.first_row, walk, needs, has_readers_racks)
    return owner
