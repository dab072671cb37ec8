"""Java's maps, and Kafka's own comparisons."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.contract import AssignmentRequest, MapOrder, MemberColumns
from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, put_order, table_of
from kafka_assignors.java.strings import hash_codes, sorted_order
from kafka_assignors.kernels import kernel


def member_walk(request: AssignmentRequest) -> Longs:
    """int64[M]: Java's map of subscriptions."""
    ids = request.members.ids
    if request.order is MapOrder.GIVEN:
        return np.arange(len(ids))
    hashes, capacity = hash_codes(ids.data, ids.offsets), member_capacity(request)
    if request.member_order is None:
        walk: Longs = put_order(hashes, capacity)
        return walk
    fed: Longs = request.member_order
    return fed[put_order(hashes[fed], capacity)]


def member_capacity(request: AssignmentRequest) -> int:
    """Return the capacity of Java's map of members: its table never shrinks."""
    return table_of(len(request.members) + 1) if request.held_replaced else DEFAULT_CAPACITY


def topic_walk(request: AssignmentRequest, members: Longs) -> Longs:
    """Java's ``partitionsPerTopic``.

    GIVEN and HASH: every topic with metadata. LEADER: subscribed topics with partitions, as
    ``AbstractPartitionAssignor.assign(Cluster, …)`` collects them.
    """
    topics = request.topics
    if request.order is MapOrder.GIVEN:
        return np.flatnonzero(topics.has_metadata)
    hashes = hash_codes(topics.names.data, topics.names.offsets)
    if request.order is MapOrder.HASH:
        kept = np.flatnonzero(topics.has_metadata)
    else:
        columns = request.members
        listed_topics = first_seen_topics(
            members, columns.subscription_offsets, columns.subscription_topics, len(topics)
        )
        subscribed = listed_topics[put_order(hashes[listed_topics], DEFAULT_CAPACITY)]
        kept = subscribed[topics.partition_counts[subscribed] > 0]
    walk: Longs = kept[put_order(hashes[kept], DEFAULT_CAPACITY)]
    return walk


@kernel
def first_seen_topics(walk: Longs, offsets: Longs, topics: Ints, topic_count: int) -> Longs:
    is_seen = np.zeros(topic_count, np.bool_)
    subscribed = np.empty(topic_count, np.int64)
    count = 0
    for member in walk:
        if count == topic_count:
            break
        for at in range(offsets[member], offsets[member + 1]):
            topic = topics[at]
            if not is_seen[topic]:
                is_seen[topic] = True
                subscribed[count] = topic
                count += 1
    return subscribed[:count]


def by_member_id(members: MemberColumns) -> Longs:
    order: Longs = sorted_order(members.ids.data, members.ids.offsets)
    return order


def by_member_info(members: MemberColumns, walk: Longs) -> Longs:
    """int64[M]: ``MemberInfo`` (2.4 and later): static members by instance id (equal ones in ``walk`` order), then
    dynamic ones by member id.
    """
    order = by_member_id(members)
    if not members.has_instance_id.any():
        return order
    position = np.empty(len(walk), dtype=np.int64)
    position[walk] = np.arange(len(walk))
    by_instance = sorted_order(members.instance_ids.data, members.instance_ids.offsets)
    rank = instance_ranks(members.instance_ids.data, members.instance_ids.offsets, by_instance)
    static = np.flatnonzero(members.has_instance_id)
    static = static[np.lexsort((position[static], rank[static]))]
    return np.concatenate((static, order[~members.has_instance_id[order]]))


@kernel
def instance_ranks(data: npt.NDArray[np.uint8], offsets: Longs, order: Longs) -> Longs:
    ranks = np.zeros(len(order), np.int64)
    for i in range(1, len(order)):
        previous, current = order[i - 1], order[i]
        length = offsets[previous + 1] - offsets[previous]
        is_equal = length == offsets[current + 1] - offsets[current]
        k = 0
        while is_equal and k < length:
            is_equal = data[offsets[previous] + k] == data[offsets[current] + k]
            k += 1
        ranks[current] = ranks[previous] + (0 if is_equal else 1)
    return ranks


def ranks_of(order: Longs) -> Ints:
    """Inverse of a permutation, int32."""
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks


def ranks_among(order: Longs, count: int) -> Ints:
    """int32[count]: place in ``order``, or −1."""
    ranks = np.full(count, -1, dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks
