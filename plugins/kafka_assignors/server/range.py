"""The group coordinator's ``range`` (KIP-848): Kafka 3.9 – 4.4, and the preview of 3.8.

``ServerRangeAssignor`` promises, in priority order: every partition of a subscribed topic has one owner; per topic,
loads differ by one at most; with equal subscriptions and partition counts, a member gets the same partition numbers of
each topic. No racks, no stickiness. Static members by instance id (equal ones in the coordinator's map order), then
dynamic ones by member id. A topic without metadata is an error (the client's range skips it). Example: topics of 6
partitions and members c0, c1, c2: c0 gets 0–1, c1 2–3, c2 4–5. Source: KAFKA-16944. O(M log M + S + P) for M members
with S subscriptions in all and P partitions.

``PreviewRangeAssignor`` (3.8) is sticky. Per topic: members keep their lowest partitions up to their share; one that
holds more keeps one more while extras last; the rest is dealt by number in the coordinator's map order, the remaining
extras to the first. Kept partitions are not checked. O(P + S + W log W) for W partitions held.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.contract import Assignment, AssignmentRequest, Withheld
from kafka_assignors.errors import AssignorError
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_assignors.orders import by_member_id, by_member_info, member_walk
from kafka_assignors.owned_lists import owned_columns
from kafka_assignors.ranges import subscriber_counts
from kafka_assignors.server.orders import PARTITION_ASSIGNOR_EXCEPTION, is_homogeneous
from kafka_assignors.server.uniform_heterogeneous import list_subscribers


@dataclass(frozen=True, slots=True)
class ServerRangeAssignor:
    name: str = "server-range"
    versions: str = "Kafka 3.9 – 4.4"

    def assign(self, request: AssignmentRequest) -> Assignment:
        members, counts = request.members, request.topics.partition_counts
        if len(members) == 0:
            return Assignment.of(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32))
        # Only instance ids can be equal.
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
    """Rank i gets [q·i + min(i, r), … + q (+1 while i < r)) of each topic.

    Empty, and True, if a topic is not in the metadata.
    """
    members = len(ranked)
    topics, is_missing = _distinct(listed, counts)
    if is_missing:
        return _no_lists(), True
    # Partitions by rank: quotas, and one more below r.
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
        # With a quota of 0, only the first ranks get one.
        for rank in range(members if quota else extra):
            member = ranked[rank]
            start = at[member]
            length = quota + 1 if rank < extra else quota
            for k in range(start, start + length):
                out_topics[k] = topic
                out_partitions[k] = partition
                partition += 1
            at[member] = start + length
    return (offsets, out_topics, out_partitions), False


@inner_kernel
def _no_lists() -> Lists:
    return np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32)


@inner_kernel
def _distinct(listed: Ints, counts: Ints) -> tuple[Ints, bool]:
    is_listed = np.zeros(len(counts), np.bool_)
    count, is_missing = 0, False
    for topic in listed:
        count += not is_listed[topic]
        is_listed[topic] = True
        is_missing |= counts[topic] < 0
    topics = np.empty(count, np.int32)
    at = 0
    for topic in range(len(counts)):
        if is_listed[topic]:
            topics[at] = topic
            at += 1
    return topics, is_missing


@kernel
def _share_by_subscription(ranked: Longs, bounds: Longs, subscribed: Ints, counts: Ints) -> tuple[Lists, bool]:
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
    # And the last one (a topic may be listed twice).
    turn = np.zeros(len(counts), np.int32)
    last = np.full(len(counts), -1, np.int32)
    for member in ranked:
        out_index = offsets[member]
        for k in range(bounds[member], bounds[member + 1]):
            topic = subscribed[k]
            if last[topic] == member:
                continue
            last[topic] = member
            first = quotas[topic] * turn[topic] + min(turn[topic], extras[topic])
            end = first + quotas[topic] + (turn[topic] < extras[topic])
            turn[topic] += 1
            for partition in range(first, end):
                out_topics[out_index] = topic
                out_partitions[out_index] = partition
                out_index += 1
    return (offsets, out_topics, out_partitions), False


@inner_kernel
def _lengths(ranked: Longs, bounds: Longs, subscribed: Ints, quotas: Ints, extras: Ints) -> Longs:
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


@dataclass(frozen=True, slots=True)
class PreviewRangeAssignor:
    name: str = "server-range@3.8"
    versions: str = "Kafka 3.8"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError (IndexOutOfBoundsException) where vanished or twice held partitions leave too little."""
        members, counts, order = request.members, request.topics.partition_counts, member_walk(request)
        if len(members) == 0 and is_homogeneous(request):
            raise AssignorError("java.util.NoSuchElementException")
        offsets, subscribed = members.subscription_offsets, members.subscription_topics
        starts, positions = list_subscribers(order, offsets, subscribed, len(counts))
        if is_homogeneous(request) and len(members):  # the first member decides for all
            listed = np.unique(subscribed[int(offsets[order[0]]) : int(offsets[order[0] + 1])])
            readers = np.zeros(len(counts), np.int64)
            readers[listed] = len(members)
            starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(readers)))
            positions = np.tile(np.arange(len(members), dtype=np.int32), len(listed))
        if (counts[np.diff(starts) > 0] < 0).any():
            raise AssignorError(PARTITION_ASSIGNOR_EXCEPTION, "Member is subscribed to a non-existent topic")
        held = _held_by_topic(request, order)
        positions_given, topics, partitions, is_short = _share_kept(starts, positions, counts, held, len(members))
        if is_short:
            raise AssignorError("java.lang.IndexOutOfBoundsException")
        return _as_lists(order[positions_given], topics, partitions, len(members))


def _held_by_topic(request: AssignmentRequest, order: Longs) -> tuple[Longs, Longs, Ints]:
    """By (topic, position, number): keys topic · M + position, ascending, their starts, and numbers."""
    offsets, topics, partitions = owned_columns(request.members)
    place_of = np.empty(len(order), np.int64)
    place_of[order] = np.arange(len(order))
    keys = topics.astype(np.int64) * len(order) + np.repeat(place_of, np.diff(offsets))
    by_key = np.lexsort((partitions, keys))
    distinct, begins = np.unique(keys[by_key], return_index=True)
    return distinct, np.append(begins, len(keys)), partitions[by_key]


@kernel
def _share_kept(
    starts: Longs, positions: Ints, counts: Ints, held: tuple[Longs, Longs, Ints], member_count: int
) -> tuple[Ints, Ints, Ints, bool]:
    """The last: whether a topic had too little left."""
    numbers = held[2]
    capacity = len(numbers) + len(positions) + np.maximum(counts, 0).sum()
    receivers, topics, partitions = (
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
    )
    filled = 0
    for topic in range(len(counts)):
        readers = positions[starts[topic] : starts[topic + 1]]
        if len(readers) == 0:
            continue
        share, extras = counts[topic] // len(readers), counts[topic] % len(readers)
        is_kept = np.zeros(counts[topic], np.bool_)
        missing = np.zeros(len(readers), np.int64)  # of those that keep no extra, else -1
        for k in range(len(readers)):
            first, size = _holding(held, np.int64(topic) * member_count + readers[k])
            has_extra = size > share and extras > 0
            extras -= has_extra
            missing[k] = -1 if has_extra else max(share - size, 0)
            for number in numbers[first : first + min(size, share + has_extra)]:
                receivers[filled], topics[filled], partitions[filled] = readers[k], topic, number
                filled += 1
                if number < counts[topic]:
                    is_kept[number] = True
        free = np.flatnonzero(~is_kept)
        quotas = _with_extras(missing, extras)
        if quotas.sum() > len(free):
            return receivers[:0], topics[:0], partitions[:0], True
        end = filled + quotas.sum()
        receivers[filled:end] = np.repeat(readers, quotas)
        topics[filled:end] = topic
        partitions[filled:end] = free[: end - filled]
        filled = end
    return receivers[:filled], topics[:filled], partitions[:filled], False


@inner_kernel
def _holding(held: tuple[Longs, Longs, Ints], key: int) -> tuple[np.int64, np.int64]:
    keys, begins, _ = held
    at = np.searchsorted(keys, key)
    if at == len(keys) or keys[at] != key:
        return np.int64(0), np.int64(0)
    return np.int64(begins[at]), np.int64(begins[at + 1] - begins[at])


@inner_kernel
def _with_extras(missing: Longs, extras: int) -> Longs:
    quotas = np.maximum(missing, 0)
    for k in range(len(missing)):
        if extras > 0 and missing[k] >= 0:
            quotas[k] += 1
            extras -= 1
    return quotas


def _as_lists(holders: Longs, topics: Ints, partitions: Ints, member_count: int) -> Assignment:
    in_order = np.lexsort((partitions, topics, holders))
    counts = np.bincount(holders, minlength=member_count)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    return Assignment(
        offsets, topics[in_order], partitions[in_order], Withheld.nothing(), has_entry=counts.astype(np.bool_)
    )
