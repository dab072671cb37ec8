"""Other clients' range: librdkafka (with racks), Sarama, aiokafka, kafka-python and franz-go.

``LibrdkafkaRange`` has the promises of Java's range from 3.5 on (``client.range``), with two differences:
- members are in the order of ``member_orders.as_librdkafka_sorts``;
- groups of two topics and more are matched by racks even where no topic needs it, and only members with a rack take
  part: the others get the rest.
Example: t and u, partition 0 on rack x, 1 on rack y; a without a rack, b in rack x. Java gives partition 0 to a,
which comes first and matches anything; librdkafka gives it to b, and a gets 1. O(subscriptions + partitions · racks).

``PlainRangeAssignor``, without racks: each topic evenly among its subscribers (counts differ by one at most), no
stickiness. Members: Sarama, aiokafka and kafka-python 2 as Java up to 2.3, franz-go as Java from 2.4; kafka-python 3
omits some in groups of static and dynamic ones. O(subscriptions + partitions + M log M).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kafka_assignors.arrays import ABSENT, Ints, Longs
from kafka_assignors.client.range import Racks, Subscribers, matched_ranges, topics_that_need_racks
from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.other_clients.member_orders import (
    Readers,
    as_librdkafka_sorts,
    by_code_points,
    by_id,
    has_both_kinds,
    last_runs,
    readers_in_one_order,
    readers_sorted_by_topic,
    refuse_unknown_topics,
    static_first,
)
from kafka_assignors.owned_lists import assignment_by_owner
from kafka_assignors.racks import partition_racks, reader_racks, word_count


@dataclass(frozen=True, slots=True)
class PlainRangeAssignor:
    readers: Callable[[AssignmentRequest], Readers]
    name: str = "range"
    versions: str = ""

    def assign(self, request: AssignmentRequest) -> Assignment:
        owner = ranges_of(*self.readers(request), request.topics.first_row)
        walk = by_code_points(request.topics.names)
        return assignment_by_owner(owner, request.topics, walk, len(request.members))


def ranges_of(starts: Longs, readers: Ints, first_row: Longs) -> Ints:
    """Owners int32[P]: reader i of k gets ⌊n/k⌋ partitions, one more where i < n mod k."""
    owner = np.full(int(first_row[-1]), ABSENT, dtype=np.int32)
    topics = zip(pairwise(starts.tolist()), pairwise(first_row.tolist()), strict=True)
    for (first_reader, last_reader), (first, end) in topics:
        if first_reader < last_reader and first < end:
            share, extra = divmod(end - first, last_reader - first_reader)
            counts = np.full(last_reader - first_reader, share)
            counts[:extra] += 1
            owner[first:end] = np.repeat(readers[first_reader:last_reader], counts)
    return owner


def by_member_id() -> PlainRangeAssignor:
    return PlainRangeAssignor(lambda request: readers_in_one_order(request, by_id(request.members)))


def of_sarama() -> PlainRangeAssignor:
    def readers(request: AssignmentRequest) -> Readers:
        refuse_unknown_topics(request)
        return readers_in_one_order(request, by_id(request.members))

    return PlainRangeAssignor(readers)


def of_franz_go() -> PlainRangeAssignor:
    return PlainRangeAssignor(lambda request: readers_in_one_order(request, static_first(request.members)))


def of_kafka_python_3() -> PlainRangeAssignor:
    def readers(request: AssignmentRequest) -> Readers:
        if has_both_kinds(request.members):
            return readers_sorted_by_topic(request, last_runs)
        return readers_in_one_order(request, static_first(request.members))

    return PlainRangeAssignor(readers)


@dataclass(frozen=True, slots=True)
class LibrdkafkaRange:
    name: str = "range@librdkafka"
    versions: str = "librdkafka 2.15.0"

    def assign(self, request: AssignmentRequest) -> Assignment:
        members, topics = request.members, request.topics
        starts, readers = _readers(request)
        if (members.racks >= 0).any():
            owner = _match_racks(request, (starts, readers))
        else:
            owner = ranges_of(starts, readers, topics.first_row)
        return assignment_by_owner(owner, topics, by_code_points(topics.names), len(members))


def _readers(request: AssignmentRequest) -> Readers:
    """Each topic's list is sorted separately, which matters with static and dynamic members."""
    if has_both_kinds(request.members):
        return readers_sorted_by_topic(request, as_librdkafka_sorts)
    return readers_in_one_order(request, as_librdkafka_sorts(request.members))


def _match_racks(request: AssignmentRequest, of_topics: Readers) -> Ints:
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
