"""Range of clients that know no racks: per topic, its subscribers in order take the next share of partitions.

Promises: each topic evenly among its subscribers (counts differ by one at most). kafka-python 3 breaks it in groups of
static and dynamic members, of which it forgets some. No stickiness, no racks.

Example: 5 partitions for a and b: a 0-2, b 3-4. They differ in the order of members (``member_orders``) alone:
Sarama, aiokafka and kafka-python 2 answer as Java up to 2.3, franz-go as Java from 2.4.

Complexity: O(subscriptions + partitions + M log M).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kafka_rebalance.arrays import NOBODY, Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment
from kafka_rebalance.assignors.other_clients.member_orders import (
    Readers,
    by_code_points,
    by_id,
    has_both_kinds,
    last_runs,
    readers_in_one_order,
    readers_sorted_by_topic,
    static_first,
)
from kafka_rebalance.assignors.other_clients.refusals import refuse_unknown_topics
from kafka_rebalance.assignors.owned_lists import assignment_by_owner
from kafka_rebalance.assignors.request import AssignmentRequest


@dataclass(frozen=True, slots=True)
class PlainRangeAssignor:
    """Ranges among ``readers`` of each topic."""

    readers: Callable[[AssignmentRequest], Readers]
    name: str = "range"
    versions: str = ""

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Topics without metadata are skipped, but by Sarama, which refuses the whole group."""
        owner = ranges_of(*self.readers(request), request.topics.first_row)
        walk = by_code_points(request.topics.names)
        return assignment_by_owner(owner, request.topics, walk, len(request.members))


def ranges_of(starts: Longs, readers: Ints, first_row: Longs) -> Ints:
    """Owner of each partition, int32[P]: reader i of k gets ⌊n/k⌋ partitions, one more where i < n mod k."""
    owner = np.full(int(first_row[-1]), NOBODY, dtype=np.int32)
    topics = zip(pairwise(starts.tolist()), pairwise(first_row.tolist()), strict=True)
    for (first_reader, last_reader), (first, end) in topics:
        if first_reader < last_reader and first < end:
            share, extra = divmod(end - first, last_reader - first_reader)
            counts = np.full(last_reader - first_reader, share)
            counts[:extra] += 1
            owner[first:end] = np.repeat(readers[first_reader:last_reader], counts)
    return owner


def by_member_id() -> PlainRangeAssignor:
    """aiokafka, kafka-python 2."""
    return PlainRangeAssignor(lambda request: readers_in_one_order(request, by_id(request.members)))


def of_sarama() -> PlainRangeAssignor:
    """By member id; a subscribed topic without metadata fails the group's rebalance."""

    def readers(request: AssignmentRequest) -> Readers:
        refuse_unknown_topics(request)
        return readers_in_one_order(request, by_id(request.members))

    return PlainRangeAssignor(readers)


def of_franz_go() -> PlainRangeAssignor:
    """Static members first."""
    return PlainRangeAssignor(lambda request: readers_in_one_order(request, static_first(request.members)))


def of_kafka_python_3() -> PlainRangeAssignor:
    """Topic by topic the last run of each kind of members; where all are of one kind, nobody is forgotten."""

    def readers(request: AssignmentRequest) -> Readers:
        if has_both_kinds(request.members):
            return readers_sorted_by_topic(request, last_runs)
        return readers_in_one_order(request, static_first(request.members))

    return PlainRangeAssignor(readers)
