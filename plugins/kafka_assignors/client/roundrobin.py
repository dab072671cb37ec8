"""Kafka's round robin: all partitions of all topics dealt one by one to the members in turn. O(subscriptions +
partitions).

Promises, in priority order: completeness · with equal subscriptions, counts differ by one at most. Unequal
subscriptions may be very uneven: the pointer is not reset between topics and skips members that do not subscribe. No
racks, no stickiness.

Example: t0 and t1 of 3 partitions, C0 and C1: C0 t0-0 t0-2 t1-1, C1 t0-1 t1-0 t1-2. Source: ``RoundRobinAssignor`` of
kafka-clients: 0.9 to 2.3 (members by id), 2.4 to 4.4 (static members first). An empty group is refused, as in Java.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_assignors.arrays import ABSENT, Ints, Longs
from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.errors import AssignorError
from kafka_assignors.java.strings import sorted_order
from kafka_assignors.kernels import kernel
from kafka_assignors.orders import by_member_id, by_member_info, member_walk
from kafka_assignors.owned_lists import assignment_by_owner
from kafka_assignors.subscribers import subscribers_by_topic


@dataclass(frozen=True, slots=True)
class RoundRobinAssignor:
    """Kafka 2.4 to 4.4: static members first, by instance id."""

    name: str = "roundrobin"
    versions: str = "Kafka 2.4 – 4.4"

    def assign(self, request: AssignmentRequest) -> Assignment:
        return _assign(request, by_member_info(request.members, member_walk(request)))


@dataclass(frozen=True, slots=True)
class LegacyRoundRobinAssignor:
    """Kafka 0.9 to 2.3: members by id."""

    name: str = "roundrobin@2.0"
    versions: str = "Kafka 0.9 – 2.3"

    def assign(self, request: AssignmentRequest) -> Assignment:
        return _assign(request, by_member_id(request.members))


def _assign(request: AssignmentRequest, order: Longs) -> Assignment:
    members, topics = request.members, request.topics
    if len(members) == 0:
        raise AssignorError(
            "java.lang.IllegalArgumentException", "CircularIterator can only be used on non-empty lists"
        )
    columns = (members.subscription_offsets, members.subscription_topics)
    starts, readers = subscribers_by_topic(order, *columns, len(topics), True)
    names = sorted_order(topics.names.data, topics.names.offsets)
    owner = deal(names, topics.first_row, starts, readers, order)
    return assignment_by_owner(owner, topics, names, len(members))


@kernel
def deal(names: Longs, first_row: Longs, starts: Longs, readers: Ints, order: Longs) -> Ints:
    """Owners int32[P]; ``readers`` of each topic follow ``order``."""
    owner = np.full(first_row[-1], ABSENT, np.int32)
    position = np.empty(len(order), np.int64)
    for i in range(len(order)):
        position[order[i]] = i
    pointer = 0
    for topic in names:
        first, end = starts[topic], starts[topic + 1]
        if first == end or first_row[topic] == first_row[topic + 1]:
            continue
        low, high = first, end
        while low < high:
            middle = (low + high) // 2
            if position[readers[middle]] < pointer:
                low = middle + 1
            else:
                high = middle
        at = low if low < end else first
        for row in range(first_row[topic], first_row[topic + 1]):
            owner[row] = readers[at]
            pointer = position[readers[at]] + 1
            at = at + 1 if at + 1 < end else first
        pointer = pointer if pointer < len(order) else 0
    return owner
