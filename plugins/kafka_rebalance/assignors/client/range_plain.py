"""Kafka's range assignor before racks: each topic's partitions in consecutive shares.

Promises, in this order: each topic evenly (counts differ by one at most) · partition p of equally large topics with
equal subscribers at the same member. Nothing is promised over topics: with many small topics the first members get
one more of each. t0 and t1 of 3 partitions, C0 and C1: C0 t0-0 t0-1 t1-0 t1-1, C1 t0-2 t1-2.

Source: ``RangeAssignor`` of kafka-clients 0.9 to 2.3 (members by id; from 2.1 on topics come in another order of
Java's map), 2.4 to 3.4 (static members first, by instance id). A topic that a member lists twice counts twice: it gets
two shares. Complexity: O(subscriptions + partitions).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Longs
from kafka_rebalance.assignors.assignment import Assignment
from kafka_rebalance.assignors.orders import by_member_id, by_member_info, first_seen_topics, member_walk
from kafka_rebalance.assignors.owned_lists import assignment_by_owner
from kafka_rebalance.assignors.ranges import plain_ranges, subscriber_counts
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.java.hash_order import COMPUTE_IF_ABSENT, DEFAULT_CAPACITY, PUT, order_after
from kafka_rebalance.java.strings import hash_codes


@dataclass(frozen=True, slots=True)
class LegacyRangeAssignor:
    """Range as of Kafka 0.9 to 2.0: members in the order of their ids."""

    name: str = "range@2.0"
    versions: str = "Kafka 0.9 – 2.0"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Lists follow the HashMap of subscribed topics, whatever map the topics came in."""
        return _assign(request, by_member_id(request.members), PUT)


@dataclass(frozen=True, slots=True)
class LegacyRangeAssignorOf21:
    """Range as of Kafka 2.1 to 2.3: the same partitions, but lists follow a map that was filled in another way."""

    name: str = "range@2.1"
    versions: str = "Kafka 2.1 – 2.3"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """As the one before it, in another order of topics."""
        return _assign(request, by_member_id(request.members), COMPUTE_IF_ABSENT)


@dataclass(frozen=True, slots=True)
class StaticFirstRangeAssignor:
    """Range as of Kafka 2.4 to 3.4: static members first, by instance id, then the others by id."""

    name: str = "range@2.4"
    versions: str = "Kafka 2.4 – 3.4"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """As the legacy one, in another order of members."""
        return _assign(request, by_member_info(request.members, member_walk(request)), COMPUTE_IF_ABSENT)


def _assign(request: AssignmentRequest, order: Longs, step: int) -> Assignment:
    """``step``: how the map of subscribed topics, which the lists follow, was filled."""
    members, topics = request.members, request.topics
    names, columns = topics.names, (members.subscription_offsets, members.subscription_topics)
    subscribers = subscriber_counts(*columns, len(topics), False)
    owner = plain_ranges(order, *columns, topics.first_row, subscribers, False)
    subscription_order = member_walk(request)
    seen = first_seen_topics(subscription_order, *columns, len(topics))
    keys = np.arange(len(seen), dtype=np.int32)
    if step == COMPUTE_IF_ABSENT and _goes_on_after_last_topic(request, subscription_order, seen):
        # The map is asked for each subscription, and grows before it answers, for a topic that it has, too.
        keys = np.append(keys, np.int32(0))
    hashes = hash_codes(names.data, names.offsets)[seen]
    walk = seen[order_after(hashes, np.full(len(keys), step, dtype=np.int8), keys, DEFAULT_CAPACITY)]
    return assignment_by_owner(owner, topics, walk, len(members))


def _goes_on_after_last_topic(request: AssignmentRequest, subscription_order: Longs, seen: Longs) -> bool:
    """A walk over all subscriptions goes on after it has met the last new topic."""
    members = request.members
    busy = subscription_order[np.diff(members.subscription_offsets)[subscription_order] > 0]
    if len(busy) == 0:
        return False
    last = members.subscription_topics[members.subscription_offsets[busy[-1] + 1] - 1]
    return bool(last != seen[-1] or np.count_nonzero(members.subscription_topics == last) > 1)
