"""Orders of the group coordinator's maps.

Members are in a ``HashMap<memberId, …>`` (``orders.member_walk``), a member's claims in a ``HashMap<Uuid,
HashSet<Integer>>``. LEADER, as in the coordinator: subscribed topics are a ``HashSet<String>`` of names (wrapped by
``TopicIds``), and each set of claims is a ``new HashSet<>(list)`` of a record (``Assignment.fromRecord``): 12
partitions have a table of 32. HASH, as in the recorded cases: topics are a ``HashSet<Uuid>``, and sets of claims grew.
GIVEN: by column (LinkedHashMaps in tests).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.contract import AssignmentRequest, MapOrder
from kafka_assignors.errors import AssignorError
from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, put_order, set_copy_capacity, spread
from kafka_assignors.java.keys import uuid_hash_codes
from kafka_assignors.java.strings import Bytes, hash_codes
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_assignors.orders import member_capacity
from kafka_assignors.ranges import subscriber_counts

PARTITION_ASSIGNOR_EXCEPTION = "org.apache.kafka.coordinator.group.api.assignor.PartitionAssignorException"


# Results of the kernels of ``uniform``.
NO_TOPICS, MISSING_TOPIC, BEYOND_LAST, LEFT_OVER, CONTRADICTORY, SPREAD = range(6)
# A table of 16 holds 8 keys whatever their bins.
_SMALL_MAP, _LAST_BIN = 8, 15
_AS_THEY_STAND = np.zeros(0, np.int64)
_NO_NAMES = np.zeros(0, np.int32)


class JavaMaps(NamedTuple):
    """By topic hashes int32[T] where ``is_hashed``, else column order. ``is_copied``: sets of lists of partitions."""

    uuid_hashes: Ints
    is_hashed: bool
    is_copied: bool


def is_hashed(request: AssignmentRequest) -> bool:
    return request.order is not MapOrder.GIVEN


def topic_hashes(request: AssignmentRequest) -> Ints:
    hashes: Ints = uuid_hash_codes(request.topics.uuid_msb, request.topics.uuid_lsb)
    return hashes


def name_hashes(request: AssignmentRequest) -> Ints:
    """``String.hashCode``, int32[T]; empty where topics are not walked by name."""
    names = request.topics.names
    codes: Ints = hash_codes(names.data, names.offsets) if request.order is MapOrder.LEADER else _NO_NAMES
    return codes


def subscription_of(request: AssignmentRequest, member: int, hashes: Ints, names: Ints = _NO_NAMES) -> Ints:
    """Each topic once, in the order of its set, of ``names`` where given."""
    bounds = request.members.subscription_offsets
    listed = request.members.subscription_topics[int(bounds[member]) : int(bounds[member + 1])]
    distinct: Ints = in_set_order(listed, names, hashes, is_hashed(request), False)
    return distinct


@kernel
def in_set_order(
    listed: Ints,
    names: Ints,
    hashes: Ints,
    is_hashed: bool,  # noqa: FBT001
    is_copied: bool,  # noqa: FBT001
) -> Ints:
    """``names``: hashes of names, empty where the set holds ids (``hashes``). ``is_copied``: into a HashSet<Uuid>."""
    is_seen = np.zeros(len(hashes), np.bool_)
    topics = np.empty(len(listed), np.int32)
    count = 0
    for topic in listed:
        if not is_seen[topic]:
            is_seen[topic] = True
            topics[count] = topic
            count += 1
    topics = topics[:count]
    if is_hashed and len(names):
        topics = _visit_order(topics, names, set_copy_capacity(count))
    elif is_hashed:
        topics = _visit_order(topics, hashes, DEFAULT_CAPACITY)
    return _visit_order(topics, hashes, set_copy_capacity(count)) if is_copied else topics


@inner_kernel
def _visit_order(topics: Ints, hashes: Ints, capacity: int) -> Ints:
    codes = np.empty(len(topics), np.int32)
    for k in range(len(topics)):
        codes[k] = hashes[topics[k]]
    order = put_order(codes, capacity)
    visit_order = np.empty(len(topics), np.int32)
    for k in range(len(topics)):
        visit_order[k] = topics[order[k]]
    return visit_order


Walk = tuple[Bytes, Longs, Longs, int, bool]


def walk_columns(request: AssignmentRequest) -> Walk:
    ids, fed = request.members.ids, request.member_order
    fed = _AS_THEY_STAND if fed is None else fed
    return ids.data, ids.offsets, fed, member_capacity(request), is_hashed(request)


@inner_kernel
def map_walk(data: Bytes, offsets: Longs, fed: Longs, capacity: int, is_hashed: bool) -> Longs:  # noqa: FBT001
    if not is_hashed:
        return np.arange(len(offsets) - 1)
    hashes = hash_codes(data, offsets)
    if len(fed) == 0:
        return put_order(hashes, capacity)
    order = put_order(hashes[fed], capacity)
    for k in range(len(order)):
        order[k] = fed[order[k]]
    return order


def refuse_missing_topic(request: AssignmentRequest, topic: int) -> None:
    if topic >= 0:
        raise AssignorError(
            PARTITION_ASSIGNOR_EXCEPTION,
            f"Members are subscribed to topic {request.topics.names[topic]} which doesn't exist in the topic metadata.",
        )


@inner_kernel
def first_missing(topics: Ints, counts: Ints) -> np.int64:
    for topic in topics:
        if counts[topic] < 0:
            return np.int64(topic)
    return np.int64(-1)


def refuse_missing_topics(request: AssignmentRequest, topics: Ints) -> None:
    counts = request.topics.partition_counts[topics]
    if len(counts) and counts.min() < 0:
        missing = topics[counts < 0]
        raise AssignorError(
            PARTITION_ASSIGNOR_EXCEPTION,
            f"Members are subscribed to topic {request.topics.names[int(missing[0])]} which doesn't exist in the"
            " topic metadata.",
        )


def is_homogeneous(request: AssignmentRequest) -> bool:
    """The coordinator's flag: each subscribed topic has all members."""
    if request.is_homogeneous is not None:
        return request.is_homogeneous
    counts = subscriber_counts(
        request.members.subscription_offsets, request.members.subscription_topics, len(request.topics), True
    )
    return bool(np.all(counts[counts > 0] == len(request.members)))


@inner_kernel
def owned_walk(topics: Ints, partitions: Ints, maps: JavaMaps, group_of: Ints) -> Longs:
    """Positions of one member's owned partitions in the order of a ``HashMap<Uuid, HashSet<Integer>>``.

    ``topics`` and ``partitions``: the member's own, in insertion order. ``group_of`` int32[T] is scratch: -1
    everywhere, before and after.
    """
    n = len(topics)
    if n <= _SMALL_MAP:
        return _walk_of_few(topics, partitions, maps.uuid_hashes)
    if _are_all(topics, topics[0]):
        return put_order(partitions, set_copy_capacity(n) if maps.is_copied else DEFAULT_CAPACITY)
    starts, positions, first = _by_topic(topics, group_of)
    hashes = np.empty(len(first), np.int32)
    for group in range(len(first)):
        hashes[group] = maps.uuid_hashes[first[group]]
    order = np.empty(n, np.int64)
    inside = np.empty(n, np.int32)
    filled = 0
    for group in put_order(hashes, DEFAULT_CAPACITY):
        count = starts[group + 1] - starts[group]
        for k in range(count):
            inside[k] = partitions[positions[starts[group] + k]]
        for k in put_order(inside[:count], set_copy_capacity(count) if maps.is_copied else DEFAULT_CAPACITY):
            order[filled] = positions[starts[group] + k]
            filled += 1
    return order


@inner_kernel
def _walk_of_few(topics: Ints, partitions: Ints, uuid_hashes: Ints) -> Longs:
    """Where no table grows, which saves half the time of a small group."""
    n = len(topics)
    order = np.empty(n, np.int64)
    for k in range(n):
        first = 0
        while topics[first] != topics[k]:
            first += 1
        topic_bin, partition_bin = spread(uuid_hashes[topics[k]]) & _LAST_BIN, spread(partitions[k]) & _LAST_BIN
        key = (((topic_bin * 16 + first) * 16) + partition_bin) * 16 + k
        position = k
        while position > 0 and order[position - 1] > key:
            order[position] = order[position - 1]
            position -= 1
        order[position] = key
    for k in range(n):
        order[k] &= 15
    return order


@inner_kernel
def _are_all(topics: Ints, topic: int) -> bool:
    for other in topics:  # noqa: SIM110 (numba knows no generators)
        if other != topic:
            return False
    return True


@inner_kernel
def _by_topic(topics: Ints, group_of: Ints) -> tuple[Longs, Longs, Ints]:
    """Group starts, positions, topics in order of appearance."""
    n = len(topics)
    first = np.empty(n, np.int32)
    sizes = np.zeros(n + 1, np.int64)
    group_count = 0
    for k in range(n):
        if group_of[topics[k]] < 0:
            group_of[topics[k]] = group_count
            first[group_count] = topics[k]
            group_count += 1
        sizes[group_of[topics[k]] + 1] += 1
    for group in range(group_count):
        sizes[group + 1] += sizes[group]
    filled = sizes.copy()
    positions = np.empty(n, np.int64)
    for k in range(n):
        group = group_of[topics[k]]
        positions[filled[group]] = k
        filled[group] += 1
    for group in range(group_count):
        group_of[first[group]] = -1
    return sizes[: group_count + 1], positions, first[:group_count]
