"""``uniform`` of Kafka 3.8 and 3.9, the previews of KIP-848; with equal subscriptions that of 4.0.0.

Promises, in priority order: every partition of a subscribed topic has one owner; members keep what they hold; counts
are balanced, unless a move of a topic reverses an earlier one (then the group gets no new assignment at all).

Different subscriptions
1. Keep: members keep all that they hold of topics they subscribe to (also vanished partitions).
2. Deal: free partitions, by most partitions per subscriber, fewest subscribers, number (ties in HashSet order), each
   to the subscriber with the smallest count below its maximum, then by id.
3. Balance: in passes over all partitions of topics with two or more subscribers, a partition whose owner has at least
   two more than some subscriber goes to the first by (count, id) below its maximum; until a pass moves nothing, or
   counts are balanced.

A partition moves once. Where a move would reverse an earlier one of its topic, Kafka throws PartitionAssignorException.
Example: A holds all 4 partitions of t and reads nothing else, B reads t and u (2): B is dealt u-0 and u-1, then t-0
moves to B (4 against 2). O(P log P + P · subscribers of a topic + moves · (P + S)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_assignors.arrays import Flags, Ints, Longs
from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.errors import AssignorError
from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, put_order
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_assignors.orders import by_member_id, member_walk, ranks_of
from kafka_assignors.owned_lists import owned_columns
from kafka_assignors.server.orders import (
    PARTITION_ASSIGNOR_EXCEPTION,
    is_homogeneous,
    refuse_missing_topics,
    subscription_of,
    topic_hashes,
)
from kafka_assignors.server.uniform import as_of_4_0_0, no_entries
from kafka_assignors.server.uniform_heterogeneous import list_subscribers

DONE, LEFT_UNASSIGNED, MOVED_BACK, NO_OWNER, NOBODY_BELOW_MAXIMUM = 0, 1, 2, 3, 4
_NOBODY = np.int32(-1)


@kernel
def keep_all(
    order: Longs,
    rows: tuple[Ints, Longs],
    readers: tuple[Longs, Ints],
    owned: tuple[Longs, Ints, Ints],
) -> tuple[Ints, Ints, tuple[Ints, Longs]]:
    """Owner (a position in ``order``) of each row, count of each position, and earlier owners of rows that have two.

    ``readers``: each topic's subscribers as positions. Vanished partitions count as well.
    """
    counts, first_row = rows
    starts, positions = readers
    owned_offsets, owned_topics, owned_partitions = owned
    owners = np.full(first_row[-1], _NOBODY, np.int32)
    sizes = np.zeros(len(order), np.int32)
    shadow_positions = np.empty(len(owned_topics), np.int32)
    shadow_rows = np.empty(len(owned_topics), np.int64)
    shadows = 0
    for position in range(len(order)):
        member = order[position]
        for k in range(owned_offsets[member], owned_offsets[member + 1]):
            topic, partition = owned_topics[k], owned_partitions[k]
            if not _reads(positions[starts[topic] : starts[topic + 1]], position):
                continue
            sizes[position] += 1
            if partition < 0 or partition >= counts[topic]:
                continue
            row = first_row[topic] + partition
            if owners[row] != _NOBODY:
                shadow_positions[shadows] = owners[row]
                shadow_rows[shadows] = row
                shadows += 1
            owners[row] = position
    return owners, sizes, (shadow_positions[:shadows], shadow_rows[:shadows])


@inner_kernel
def _reads(readers: Ints, position: int) -> bool:
    at = np.searchsorted(readers, position)
    return bool(at < len(readers) and readers[at] == position)


@kernel
def deal_by_size(
    sequence: Longs, topic_of: Ints, readers: tuple[Longs, Ints], held: tuple[Ints, Ints], limits: tuple[Ints, Ints]
) -> int:
    """Step 2, in place; ``limits``: maximum of each position and its rank by id."""
    starts, positions = readers
    owners, sizes = held
    maxima, ranks = limits
    is_below = np.ones(len(sizes), np.bool_)
    for row in sequence:
        if owners[row] != _NOBODY:
            continue
        topic = topic_of[row]
        for position in positions[starts[topic] : starts[topic + 1]]:
            is_below[position] = sizes[position] < maxima[position]
        receiver = _least(positions[starts[topic] : starts[topic + 1]], sizes, ranks, is_below)
        if receiver == _NOBODY:
            return LEFT_UNASSIGNED
        owners[row] = receiver
        sizes[receiver] += 1
    return DONE


@inner_kernel
def _least(readers: Ints, sizes: Ints, ranks: Ints, is_listed: Flags) -> np.int32:
    least = _NOBODY
    for position in readers:
        if not is_listed[position]:
            continue
        if least == _NOBODY or (sizes[position], ranks[position]) < (sizes[least], ranks[least]):
            least = position
    return least


@kernel
def even_out_once(
    sequence: Longs,
    rows: tuple[Ints, Longs, Ints],
    readers: tuple[Longs, Ints],
    held: tuple[Ints, Ints],
    limits: tuple[Ints, Ints],
    shadows: tuple[Ints, Longs],
) -> int:
    """Step 3, in place; shadows whose position loses the row become -1."""
    topic_of = rows[2]
    starts, positions = readers
    owners, sizes = held
    maxima, ranks = limits
    is_listed = sizes < maxima
    came_from = np.full(len(owners), _NOBODY, np.int32)
    is_modified = True
    while is_modified:
        is_modified = has_just_moved = False
        for row in sequence:
            mine = positions[starts[topic_of[row]] : starts[topic_of[row] + 1]]
            if came_from[row] != _NOBODY or len(mine) < 2:
                continue
            if has_just_moved and not is_listed.any():
                return NOBODY_BELOW_MAXIMUM
            if has_just_moved and _is_balanced(rows, readers, held, is_listed, shadows):
                return DONE
            giver = owners[row]
            has_just_moved = sizes[giver] > sizes[mine].min() + 1
            if not has_just_moved:
                continue
            receiver = _least(mine, sizes, ranks, is_listed)
            if receiver == _NOBODY:
                return NO_OWNER
            if _is_reversed(row, giver, receiver, rows, owners, came_from):
                return MOVED_BACK
            came_from[row] = giver
            _hand_over(row, giver, receiver, held, shadows)
            is_listed[giver] = sizes[giver] < maxima[giver]
            is_listed[receiver] = sizes[receiver] < maxima[receiver]
            is_modified = True
    return DONE


@inner_kernel
def _is_reversed(
    row: int, giver: int, receiver: int, rows: tuple[Ints, Longs, Ints], owners: Ints, came_from: Ints
) -> bool:
    counts, first_row, topic_of = rows
    first = first_row[topic_of[row]]
    for other in range(first, first + counts[topic_of[row]]):
        if came_from[other] == receiver and owners[other] == giver:
            return True
    return False


@inner_kernel
def _hand_over(row: int, giver: int, receiver: int, held: tuple[Ints, Ints], shadows: tuple[Ints, Longs]) -> None:
    owners, sizes = held
    for k in range(len(shadows[1])):
        if shadows[1][k] == row and shadows[0][k] == giver:
            shadows[0][k] = _NOBODY
    sizes[giver] -= 1
    owners[row] = receiver
    sizes[receiver] += 1


@inner_kernel
def _is_balanced(
    rows: tuple[Ints, Longs, Ints],
    readers: tuple[Longs, Ints],
    held: tuple[Ints, Ints],
    is_listed: Flags,
    shadows: tuple[Ints, Longs],
) -> bool:
    """No listed member misses a partition whose owner has two more, or all differ by one."""
    counts, first_row, _ = rows
    starts, positions = readers
    owners, sizes = held
    listed = sizes[is_listed]
    if listed.min() >= listed.max() - 1:
        return True
    for topic in range(len(starts) - 1):
        most = np.int32(0)
        for row in range(first_row[topic], first_row[topic] + max(counts[topic], 0)):
            most = max(most, sizes[owners[row]])
        for position in positions[starts[topic] : starts[topic + 1]]:
            if not is_listed[position] or most <= sizes[position] + 1:
                continue
            for row in range(first_row[topic], first_row[topic] + counts[topic]):
                if sizes[owners[row]] > sizes[position] + 1 and not _has_too(position, row, shadows):
                    return False
    return True


@inner_kernel
def _has_too(position: int, row: int, shadows: tuple[Ints, Longs]) -> bool:
    return bool(((shadows[1] == row) & (shadows[0] == position)).any())


_REFUSALS = {
    LEFT_UNASSIGNED: "Some partitions were left unassigned",
    MOVED_BACK: "Mismatch in partition movement record with respect to partition ownership during a rebalance",
    NO_OWNER: "No suitable new owner was found for the partition",
}


@dataclass(frozen=True, slots=True)
class PreviewUniformAssignor:
    name: str = "server-uniform@3.8"
    versions: str = "Kafka 3.8 – 3.9"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError: PartitionAssignorException where Kafka finds no way, NoSuchElementException without
        room.
        """
        if len(request.members) == 0:
            return no_entries(0)
        return as_of_4_0_0().assign(request) if is_homogeneous(request) else _heterogeneous(request)


def _heterogeneous(request: AssignmentRequest) -> Assignment:
    topics, members, order = request.topics, request.members, member_walk(request)
    counts, first_row = topics.partition_counts, topics.first_row
    readers = list_subscribers(order, members.subscription_offsets, members.subscription_topics, len(topics))
    if len(readers[1]) == 0:
        return no_entries(len(members))
    subscribers = np.diff(readers[0])
    refuse_missing_topics(request, np.flatnonzero(subscribers).astype(np.int32))
    maxima = np.bincount(readers[1], np.repeat(counts, subscribers), len(order)).astype(np.int32)
    limits = (maxima, ranks_of(by_member_id(members))[order])
    topic_of = np.repeat(np.arange(len(topics), dtype=np.int32), np.maximum(counts, 0))
    sequence = _rows_by_need(request, order, subscribers, topic_of)
    owners, sizes, shadows = keep_all(order, (counts, first_row), readers, owned_columns(members))
    _refuse(deal_by_size(sequence, topic_of, readers, (owners, sizes), limits))
    _refuse(even_out_once(sequence, (counts, first_row, topic_of), readers, (owners, sizes), limits, shadows))
    held = _pairs_held(order, owners, shadows)
    return Assignment.of(*_lists(request, held, topic_of, _vanished_rows(request)))


def _refuse(outcome: int) -> None:
    if outcome == NOBODY_BELOW_MAXIMUM:
        raise AssignorError("java.util.NoSuchElementException")
    if outcome != DONE:
        raise AssignorError(PARTITION_ASSIGNOR_EXCEPTION, _REFUSALS[outcome])


def _rows_by_need(request: AssignmentRequest, order: Longs, subscribers: Longs, topic_of: Ints) -> Longs:
    """Most partitions per subscriber, fewest subscribers, number; ties as in a HashSet."""
    topics, hashes = request.topics, topic_hashes(request)
    listed = np.concatenate([subscription_of(request, int(member), hashes) for member in order])
    subscribed = listed[np.sort(np.unique(listed, return_index=True)[1])]
    subscribed = subscribed[put_order(hashes[subscribed], DEFAULT_CAPACITY)]
    rows = np.concatenate([np.arange(topics.first_row[topic], topics.first_row[topic + 1]) for topic in subscribed])
    partition = rows - topics.first_row[topic_of[rows]]
    codes = (31 * (31 + hashes[topic_of[rows]].astype(np.int64)) + partition).astype(np.uint32).view(np.int32)
    walk = put_order(codes, DEFAULT_CAPACITY)
    rows, partition = rows[walk], partition[walk]
    readers = subscribers[topic_of[rows]]
    by_need: Longs = rows[np.lexsort((partition, readers, -topics.partition_counts[topic_of[rows]] / readers))]
    return by_need


def _pairs_held(order: Longs, owners: Ints, shadows: tuple[Ints, Longs]) -> tuple[Longs, Longs]:
    positions, rows = shadows
    stays = (positions >= 0) & (positions != owners[rows])
    owned = np.flatnonzero(owners >= 0)
    return order[np.concatenate((owners[owned], positions[stays]))], np.concatenate((owned, rows[stays]))


def _vanished_rows(request: AssignmentRequest) -> tuple[Longs, Ints, Ints]:
    members, counts = request.members, request.topics.partition_counts
    offsets, topics, partitions = owned_columns(members)
    holder = np.repeat(np.arange(len(members)), np.diff(offsets))
    reader = np.repeat(np.arange(len(members)), np.diff(members.subscription_offsets))
    reads = np.isin(holder * len(counts) + topics, reader * len(counts) + members.subscription_topics)
    stays = reads & ((partitions < 0) | (partitions >= counts[topics]))
    return holder[stays], topics[stays], partitions[stays]


def _lists(
    request: AssignmentRequest, held: tuple[Longs, Longs], topic_of: Ints, vanished: tuple[Longs, Ints, Ints]
) -> tuple[Longs, Ints, Ints]:
    topics = np.concatenate((topic_of[held[1]], vanished[1])).astype(np.int32)
    numbers = np.concatenate((held[1] - request.topics.first_row[topic_of[held[1]]], vanished[2])).astype(np.int32)
    holders = np.concatenate((held[0], vanished[0]))
    by_holder = np.lexsort((numbers, topics, holders))
    counts = np.bincount(holders, minlength=len(request.members))
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts))), topics[by_holder], numbers[by_holder]
