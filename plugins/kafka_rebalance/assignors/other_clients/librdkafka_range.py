"""librdkafka's range assignor: Java's from 3.5, but for the order of members and who matches groups of topics.

Promises, in this order: each topic evenly (counts differ by one at most) · partition p of topics that have equally
many partitions and the same subscribers at the same member · many partitions read from the member's own rack.

What is not as in Java:
- members are ordered as ``member_orders.as_librdkafka_sorts`` says;
- groups of two topics and more are matched by racks whether or not any topic needs it, and only members that have a
  rack take part: one without gets what is left. (A topic alone in its group is matched as in Java.)

Example: t and u, partition 0 on rack x, 1 on rack y; a without a rack, b in rack x. Java gives partition 0 to a, which
comes first and matches anything; librdkafka gives it to b, and a gets 1.

Complexity: O(subscriptions + partitions · racks).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Ints
from kafka_rebalance.assignors.assignment import Assignment
from kafka_rebalance.assignors.client.range_racks import Racks, Subscribers, matched_ranges, topics_that_need_racks
from kafka_rebalance.assignors.other_clients.member_orders import (
    Readers,
    as_librdkafka_sorts,
    by_code_points,
    has_both_kinds,
    readers_in_one_order,
    readers_sorted_by_topic,
)
from kafka_rebalance.assignors.other_clients.plain_range import ranges_of
from kafka_rebalance.assignors.owned_lists import assignment_by_owner
from kafka_rebalance.assignors.racks import partition_racks, reader_racks, word_count
from kafka_rebalance.assignors.request import AssignmentRequest


@dataclass(frozen=True, slots=True)
class LibrdkafkaRange:
    """librdkafka, and confluent-kafka, node-rdkafka, rdkafka-ruby, rust-rdkafka, which run it."""

    name: str = "range@librdkafka"
    versions: str = "librdkafka 2.15.0"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Plain ranges where no member has a rack."""
        members, topics = request.members, request.topics
        starts, readers = _readers(request)
        if (members.racks >= 0).any():
            owner = _matched(request, (starts, readers))
        else:
            owner = ranges_of(starts, readers, topics.first_row)
        return assignment_by_owner(owner, topics, by_code_points(topics.names), len(members))


def _readers(request: AssignmentRequest) -> Readers:
    """Each topic's list is sorted by itself, which may matter where static and dynamic members mix."""
    if has_both_kinds(request.members):
        return readers_sorted_by_topic(request, as_librdkafka_sorts)
    return readers_in_one_order(request, as_librdkafka_sorts(request.members))


def _matched(request: AssignmentRequest, of_topics: Readers) -> Ints:
    members, topics = request.members, request.topics
    words = word_count(request)
    sets = partition_racks(topics.rack_offsets, topics.racks, words)
    columns = (members.subscription_offsets, members.subscription_topics)
    racks_of_readers = reader_racks(*columns, members.racks, len(topics), words)
    walk = by_code_points(topics.names)
    needs = topics_that_need_racks(racks_of_readers, sets, topics.first_row, walk, request.prefer_rack_aware)
    any_topic = np.ones(len(topics), dtype=np.bool_)
    owner: Ints = matched_ranges(
        Subscribers(*of_topics),
        Racks(members.racks, sets, rackless_match=False),
        topics.first_row,
        walk,
        needs,
        any_topic,
    )
    return owner
