"""Kafka's range: with racks and co-partitioning (3.5 on, KIP-881), and before racks.

Promises, in priority order: each topic evenly (counts differ by one at most) · co-partitioned topics (equal partition
counts and subscribers) have partition p at the same member · as many partitions as possible from the member's own rack.
No stickiness. If racks can matter for a topic (``racks.use_racks``), all groups of co-partitioned topics are matched:
whole groups, then single topics, then the rest. Example: t0 with partitions on racks b, a; m0 in rack a, m1 in rack b:
m0 gets t0-1, m1 gets t0-0.

Source: ``RangeAssignor`` of kafka-clients 3.5 to 4.4, 0.9 to 2.3 (members by id; from 2.1 on topics in another order of
Java's map), 2.4 to 3.4 (static members first, by instance id). A topic listed twice counts once from 3.5 on, twice
before. Lists follow the map of topics; with racks they are sorted. O(subscriptions + partitions · racks), without racks
O(subscriptions + partitions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import ABSENT, Flags, Ints, Longs
from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.java.hash_order import COMPUTE_IF_ABSENT, DEFAULT_CAPACITY, PUT, order_after
from kafka_assignors.java.strings import hash_codes, sorted_order
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_assignors.orders import by_member_id, by_member_info, first_seen_topics, member_walk, topic_walk
from kafka_assignors.owned_lists import assignment_by_owner
from kafka_assignors.racks import has_rack, partition_racks, reader_racks, use_racks, word_count
from kafka_assignors.ranges import plain_ranges, subscriber_counts
from kafka_assignors.subscribers import same_readers, subscribers_by_topic

Words = npt.NDArray[np.uint64]


class Subscribers(NamedTuple):
    """Of topic t, in order: ``readers[starts[t]:starts[t + 1]]``."""

    starts: Longs
    readers: Ints


class Racks(NamedTuple):
    """``members`` int32[M]: rack or -1; ``sets`` uint64[P, words]: of each partition.

    ``rackless_match``: a member without a rack matches any partition of a group of topics (Java), or none (librdkafka).
    """

    members: Ints
    sets: Words
    rackless_match: bool = True


class Filling(NamedTuple):
    owner: Ints
    taken: Ints
    extras: Ints


@kernel
def topics_that_need_racks(readers: Words, sets: Words, first_row: Longs, walk: Longs, prefer: bool) -> Flags:  # noqa: FBT001
    needs = np.zeros(len(readers), np.bool_)
    for topic in walk:
        needs[topic] = use_racks(readers[topic], sets, first_row[topic], first_row[topic + 1], prefer)
    return needs


@kernel
def matched_ranges(
    subscribers: Subscribers, racks: Racks, first_row: Longs, walk: Longs, needs: Flags, has_reader_racks: Flags
) -> Ints:
    starts, readers = subscribers
    owner = np.full(first_row[-1], ABSENT, np.int32)
    taken = np.zeros(len(readers), np.int32)
    extras = np.zeros(len(first_row) - 1, np.int32)
    for topic in walk:
        k = starts[topic + 1] - starts[topic]
        extras[topic] = (first_row[topic + 1] - first_row[topic]) % k if k > 0 else 0
    group = _co_partitioned(starts, readers, first_row, walk, has_reader_racks)
    filling = Filling(owner, taken, extras)
    for leader in walk:
        size = 0
        for topic in walk:
            size += group[topic] == leader
        if size > 1:
            _assign_group(leader, group, walk, subscribers, racks, first_row, filling)
        elif size == 1 and needs[leader]:
            _assign_matching(leader, subscribers, racks, first_row, filling)
    for topic in walk:
        _assign_rest(topic, subscribers, first_row, filling)
    return owner


@inner_kernel
def _co_partitioned(starts: Longs, readers: Ints, first_row: Longs, walk: Longs, has_reader_racks: Flags) -> Ints:
    """int32[T]: first topic of ``walk`` with the same readers and partition count; −1: not in a relevant group.

    Java skips topics without any reader rack.
    """
    alike = same_readers(starts, readers)
    group = np.full(len(alike), -1, np.int32)
    for i in range(len(walk)):
        topic = walk[i]
        if not has_reader_racks[topic]:
            continue
        group[topic] = topic
        n = first_row[topic + 1] - first_row[topic]
        for j in range(i):
            other = walk[j]
            if group[other] == other and alike[other] == alike[topic] and first_row[other + 1] - first_row[other] == n:
                group[topic] = other
                break
    return group


@inner_kernel
def _assign_group(
    leader: int,
    group: Ints,
    walk: Longs,
    subscribers: Subscribers,
    racks: Racks,
    first_row: Longs,
    filling: Filling,
) -> None:
    """Give partition p of all topics of the group to the first reader with room whose rack has all of them.

    Topics of a group are filled alike: the counts of ``leader`` are those of each.
    """
    starts, readers = subscribers
    owner, taken, extras = filling
    sets = racks.sets
    n = first_row[leader + 1] - first_row[leader]
    k = starts[leader + 1] - starts[leader]
    common = np.full((n, sets.shape[1]), ~np.uint64(0), np.uint64)
    for topic in walk:
        if group[topic] == leader:
            for p in range(n):
                for word in range(sets.shape[1]):
                    common[p, word] &= sets[first_row[topic] + p, word]
    queues = sets.shape[1] * 64 + (1 if racks.rackless_match else 0)
    reader_of = _spread(common, readers[starts[leader] : starts[leader + 1]], racks.members, queues, (n // k, n % k))
    for topic in walk:
        if group[topic] != leader:
            continue
        for p in range(n):
            if reader_of[p] == ABSENT:
                continue
            i = starts[topic] + reader_of[p]
            owner[first_row[topic] + p] = readers[i]
            taken[i] += 1
            extras[topic] -= taken[i] > n // k


@inner_kernel
def _spread(common: Words, readers: Ints, member_racks: Ints, queues: int, quota: tuple[int, int]) -> Ints:
    """int32[n]: place of each partition's reader.

    O(n · racks): one queue of readers a rack, the last for readers without. ``queues``: number to use. ``quota``: room
    of each reader, and how many have room for one more.
    """
    n, k = len(common), len(readers)
    share, left = quota
    rack_count = common.shape[1] * 64
    following = np.full(k, k, np.int32)
    heads = np.full(rack_count + 1, k, np.int32)
    for i in range(k - 1, -1, -1):
        rack = member_racks[readers[i]]
        queue = rack if rack >= 0 else rack_count
        following[i] = heads[queue]
        heads[queue] = i
    reader_of = np.full(n, ABSENT, np.int32)
    taken = np.zeros(k, np.int32)
    for p in range(n):
        best = k
        for queue in range(queues):
            if heads[queue] == k or (queue < rack_count and not has_rack(common[p], queue)):
                continue
            # Room only shrinks.
            while heads[queue] < k and taken[heads[queue]] >= share + (left > 0):
                heads[queue] = following[heads[queue]]
            best = min(best, heads[queue])
        if best < k:
            reader_of[p] = best
            taken[best] += 1
            left -= taken[best] > share
    return reader_of


@inner_kernel
def _assign_matching(topic: int, subscribers: Subscribers, racks: Racks, first_row: Longs, filling: Filling) -> None:
    starts, readers = subscribers
    owner, taken, extras = filling
    member_racks, sets, _ = racks
    first, end = first_row[topic], first_row[topic + 1]
    share = (end - first) // max(1, starts[topic + 1] - starts[topic])
    rack_count = sets.shape[1] * 64
    # Partitions before it are taken or of other racks.
    marks = np.full(rack_count + 1, first, np.int64)
    for i in range(starts[topic], starts[topic + 1]):
        quota = share + (extras[topic] > 0)
        rack = member_racks[readers[i]]
        queue = rack if rack >= 0 else rack_count
        row = marks[queue]
        while row < end and taken[i] < quota:
            if owner[row] == ABSENT and (rack < 0 or has_rack(sets[row], rack)):
                owner[row] = readers[i]
                taken[i] += 1
            row += 1
        marks[queue] = row
        extras[topic] -= taken[i] > share


@inner_kernel
def _assign_rest(topic: int, subscribers: Subscribers, first_row: Longs, filling: Filling) -> None:
    starts, readers = subscribers
    owner, taken, extras = filling
    end = first_row[topic + 1]
    row = first_row[topic]
    share = (end - row) // max(1, starts[topic + 1] - starts[topic])
    for i in range(starts[topic], starts[topic + 1]):
        before = taken[i]
        quota = share + (extras[topic] > 0)
        while row < end and taken[i] < quota:
            if owner[row] == ABSENT:
                owner[row] = readers[i]
                taken[i] += 1
            row += 1
        extras[topic] -= taken[i] > before and taken[i] > share


@dataclass(frozen=True, slots=True)
class RangeAssignor:
    """Kafka 3.5 to 4.4."""

    name: str = "range"
    versions: str = "Kafka 3.5 – 4.4"

    def assign(self, request: AssignmentRequest) -> Assignment:
        members, topics = request.members, request.topics
        columns = (members.subscription_offsets, members.subscription_topics)
        subscription_order = member_walk(request)
        order, walk = by_member_info(members, subscription_order), topic_walk(request, subscription_order)
        owner = _match_racks(request, order, walk)
        if owner is None:
            subscribers = subscriber_counts(*columns, len(topics), True)
            owner = plain_ranges(order, *columns, topics.first_row, subscribers, True)
        else:
            names = sorted_order(topics.names.data, topics.names.offsets)
            walk = names[np.isin(names, walk)]
        return assignment_by_owner(owner, topics, walk, len(members))


def _match_racks(request: AssignmentRequest, order: Longs, walk: Longs) -> Ints | None:
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


@dataclass(frozen=True, slots=True)
class LegacyRangeAssignor:
    """Kafka 0.9 to 2.0: members by id."""

    name: str = "range@2.0"
    versions: str = "Kafka 0.9 – 2.0"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Lists follow the HashMap of topics, even in ``GIVEN``."""
        return _assign(request, by_member_id(request.members), PUT)


@dataclass(frozen=True, slots=True)
class LegacyRangeAssignorOf21:
    """Kafka 2.1 to 2.3: lists in the order of a map filled otherwise."""

    name: str = "range@2.1"
    versions: str = "Kafka 2.1 – 2.3"

    def assign(self, request: AssignmentRequest) -> Assignment:
        return _assign(request, by_member_id(request.members), COMPUTE_IF_ABSENT)


@dataclass(frozen=True, slots=True)
class StaticFirstRangeAssignor:
    """Kafka 2.4 to 3.4: static members first."""

    name: str = "range@2.4"
    versions: str = "Kafka 2.4 – 3.4"

    def assign(self, request: AssignmentRequest) -> Assignment:
        return _assign(request, by_member_info(request.members, member_walk(request)), COMPUTE_IF_ABSENT)


def _assign(request: AssignmentRequest, order: Longs, step: int) -> Assignment:
    members, topics = request.members, request.topics
    names, columns = topics.names, (members.subscription_offsets, members.subscription_topics)
    subscribers = subscriber_counts(*columns, len(topics), False)
    owner = plain_ranges(order, *columns, topics.first_row, subscribers, False)
    subscription_order = member_walk(request)
    subscribed = first_seen_topics(subscription_order, *columns, len(topics))
    keys = np.arange(len(subscribed), dtype=np.int32)
    if step == COMPUTE_IF_ABSENT and _goes_on_after_last_topic(request, subscription_order, subscribed):
        # The map grows before each subscription's look-up, even for a present topic.
        keys = np.append(keys, np.int32(0))
    hashes = hash_codes(names.data, names.offsets)[subscribed]
    walk = subscribed[order_after(hashes, np.full(len(keys), step, dtype=np.int8), keys, DEFAULT_CAPACITY)]
    return assignment_by_owner(owner, topics, walk, len(members))


def _goes_on_after_last_topic(request: AssignmentRequest, subscription_order: Longs, subscribed: Longs) -> bool:
    members = request.members
    busy = subscription_order[np.diff(members.subscription_offsets)[subscription_order] > 0]
    if len(busy) == 0:
        return False
    last = members.subscription_topics[members.subscription_offsets[busy[-1] + 1] - 1]
    return bool(last != subscribed[-1] or np.count_nonzero(members.subscription_topics == last) > 1)
