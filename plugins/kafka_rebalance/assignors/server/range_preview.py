"""The group coordinator's ``range`` of Kafka 3.8, a preview of KIP-848: per topic even, and sticky.

Promises, per topic and in this order: members keep their lowest partitions up to their share; who holds more than the
share keeps one more, as far as there are extras; the rest is dealt in order of numbers to the members as the
coordinator's map has them, the extras that are left to the first. It checks neither that a kept partition exists nor
that it is kept once.

Example: a and b read t with 3 partitions and a holds all: a's share is 1, it keeps 0 and, of one extra, 1; b gets 2.

Complexity: O(P + S + W log W) for S subscriptions and W partitions held.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment, Withheld
from kafka_rebalance.assignors.orders import member_walk
from kafka_rebalance.assignors.owned_lists import owned_columns
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.server.orders import PARTITION_ASSIGNOR_EXCEPTION, is_homogeneous
from kafka_rebalance.assignors.server.uniform_heterogeneous import list_subscribers
from kafka_rebalance.errors import AssignorError
from kafka_rebalance.kernels.decorators import inner_kernel, kernel


@dataclass(frozen=True, slots=True)
class PreviewRangeAssignor:
    """``org.apache.kafka.coordinator.group.assignor.RangeAssignor`` of 3.8."""

    name: str = "server-range@3.8"
    versions: str = "Kafka 3.8"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError: PartitionAssignorException for a subscribed topic without metadata,
        IndexOutOfBoundsException where members hold so much that is gone, or twice, that too little is left.
        """
        members, counts, order = request.members, request.topics.partition_counts, member_walk(request)
        if len(members) == 0 and is_homogeneous(request):
            raise AssignorError("java.util.NoSuchElementException")
        offsets, subscribed = members.subscription_offsets, members.subscription_topics
        starts, places = list_subscribers(order, offsets, subscribed, len(counts))
        if is_homogeneous(request) and len(members):  # the first member's word is taken for all
            listed = np.unique(subscribed[int(offsets[order[0]]) : int(offsets[order[0] + 1])])
            readers = np.zeros(len(counts), np.int64)
            readers[listed] = len(members)
            starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(readers)))
            places = np.tile(np.arange(len(members), dtype=np.int32), len(listed))
        if (counts[np.diff(starts) > 0] < 0).any():
            raise AssignorError(PARTITION_ASSIGNOR_EXCEPTION, "Member is subscribed to a non-existent topic")
        held = _held_by_topic(request, order)
        places_given, topics, partitions, is_short = _share_kept(starts, places, counts, held, len(members))
        if is_short:
            raise AssignorError("java.lang.IndexOutOfBoundsException")
        return _as_lists(order[places_given], topics, partitions, len(members))


def _held_by_topic(request: AssignmentRequest, order: Longs) -> tuple[Longs, Longs, Ints]:
    """What is held by (topic, place, number): keys topic · M + place, ascending, where each begins, and numbers."""
    offsets, topics, partitions = owned_columns(request.members)
    place_of = np.empty(len(order), np.int64)
    place_of[order] = np.arange(len(order))
    keys = topics.astype(np.int64) * len(order) + np.repeat(place_of, np.diff(offsets))
    by_key = np.lexsort((partitions, keys))
    distinct, begins = np.unique(keys[by_key], return_index=True)
    return distinct, np.append(begins, len(keys)), partitions[by_key]


@kernel
def _share_kept(
    starts: Longs, places: Ints, counts: Ints, held: tuple[Longs, Longs, Ints], member_count: int
) -> tuple[Ints, Ints, Ints, bool]:
    """Places, topics and numbers of all that is given; last, whether some topic had too little left."""
    numbers = held[2]
    capacity = len(numbers) + len(places) + np.maximum(counts, 0).sum()
    receivers, topics, partitions = (
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
    )
    filled = 0
    for topic in range(len(counts)):
        readers = places[starts[topic] : starts[topic + 1]]
        if len(readers) == 0:
            continue
        share, extras = counts[topic] // len(readers), counts[topic] % len(readers)
        is_kept = np.zeros(counts[topic], np.bool_)
        missing = np.zeros(len(readers), np.int64)  # of those that keep no extra: 0 and more; else -1
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
        wanted = _with_extras(missing, extras)
        if wanted.sum() > len(free):
            return receivers[:0], topics[:0], partitions[:0], True
        end = filled + wanted.sum()
        receivers[filled:end] = np.repeat(readers, wanted)
        topics[filled:end] = topic
        partitions[filled:end] = free[: end - filled]
        filled = end
    return receivers[:filled], topics[:filled], partitions[:filled], False


@inner_kernel
def _holding(held: tuple[Longs, Longs, Ints], key: int) -> tuple[np.int64, np.int64]:
    """Where one member's numbers of one topic begin, and how many there are."""
    keys, begins, _ = held
    at = np.searchsorted(keys, key)
    if at == len(keys) or keys[at] != key:
        return np.int64(0), np.int64(0)
    return np.int64(begins[at]), np.int64(begins[at + 1] - begins[at])


@inner_kernel
def _with_extras(missing: Longs, extras: int) -> Longs:
    """The extras that are left go to the first that keep none."""
    wanted = np.maximum(missing, 0)
    for k in range(len(missing)):
        if extras > 0 and missing[k] >= 0:
            wanted[k] += 1
            extras -= 1
    return wanted


def _as_lists(holders: Longs, topics: Ints, partitions: Ints, member_count: int) -> Assignment:
    """Only who has something stands in the answer."""
    in_order = np.lexsort((partitions, topics, holders))
    counts = np.bincount(holders, minlength=member_count)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    return Assignment(
        offsets, topics[in_order], partitions[in_order], Withheld.nothing(), has_entry=counts.astype(np.bool_)
    )
