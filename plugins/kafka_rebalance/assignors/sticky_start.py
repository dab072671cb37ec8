"""Where the general sticky way starts from: what may be kept, who held what before, and all that is free given out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from kafka_rebalance.assignors.least_loaded import fill, moved, new_heap
from kafka_rebalance.assignors.member_lists import MemberLists, empty_lists, give
from kafka_rebalance.assignors.racks import has_rack

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

NOBODY = -1


@njit(cache=True)
def keep_readable(
    subscription_offsets: Longs,
    subscription_topics: Ints,
    owned_offsets: Longs,
    rows: Ints,
    is_kept: Flags,
    row_topic: Ints,
    topic_count: int,
    member_racks: Ints,
    sets: Words,
) -> tuple[MemberLists, Flags, bool]:
    """Lists of what members keep, taken rows bool[R], and whether anything must be revoked.

    Members keep what they still subscribe to and, where racks matter, what lies in their rack.
    """
    member_count = len(owned_offsets) - 1
    # Everybody's own, every row once, and once more where Kafka gives it out though it is taken.
    lists = empty_lists(len(row_topic), member_count, len(rows) + 2 * len(row_topic))
    is_taken = np.zeros(len(row_topic), np.bool_)
    subscriber = np.full(topic_count, -1, np.int32)
    must_revoke = False
    for member in range(member_count):
        rack = member_racks[member]
        for at in range(subscription_offsets[member], subscription_offsets[member + 1]):
            subscriber[subscription_topics[at]] = member
        for at in range(owned_offsets[member], owned_offsets[member + 1]):
            if not is_kept[at]:
                continue
            row = rows[at]
            is_mismatch = rack >= 0 and (row >= len(sets) or not has_rack(sets[row], rack))
            if is_mismatch or subscriber[row_topic[row]] != member:
                must_revoke = True
                continue
            give(lists, row, member)
            is_taken[row] = True
    return lists, is_taken, must_revoke


@njit(cache=True)
def previous_owners(met: Longs, offsets: Longs, rows: Ints, generations: Ints, newest: int, row_count: int) -> Ints:
    """int32[P]: who held a partition in an older generation (the newest of those, first met first), NOBODY if none."""
    previous = np.full(row_count, NOBODY, np.int32)
    since = np.empty(row_count, np.int32)
    for member in met:
        generation = generations[member]
        if generation >= newest:
            continue
        for at in range(offsets[member], offsets[member + 1]):
            row = rows[at]
            if 0 <= row < row_count and (previous[row] == NOBODY or generation > since[row]):
                previous[row] = member
                since[row] = generation
    return previous


@njit(cache=True)
def most_possible(offsets: Longs, topics: Ints, counts: Ints, map_size: int, total: int) -> Longs:
    """int64[M]: partitions that a member could have at most, as Kafka counts them.

    A topic listed twice counts twice; as many entries as there are topics mean all partitions, whatever they are.
    """
    possible = np.zeros(len(offsets) - 1, np.int64)
    for member in range(len(possible)):
        entries = 0
        for at in range(offsets[member], offsets[member + 1]):
            if counts[topics[at]] >= 0:
                entries += 1
                possible[member] += counts[topics[at]]
        if entries == map_size:
            possible[member] = total
    return possible


@njit(cache=True)
def give_out(
    free: Ints, lists: MemberLists, row_topic: Ints, starts: Longs, readers: Ints, alike: Ints, id_rank: Ints
) -> None:
    """Each free row to the reader that has the least, in the order of ``free``."""
    least = new_heap(len(id_rank))
    may_take = np.ones(len(id_rank), np.bool_)
    group = -1
    for row in free:
        topic = row_topic[row]
        if alike[topic] != group:
            group = alike[topic]
            fill(least, readers[starts[topic] : starts[topic + 1]], may_take, lists.sizes, id_rank)
        if least.state[0] > 0:
            member = least.heap[0]
            give(lists, row, member)
            moved(least, member, lists.sizes, id_rank)


@njit(cache=True)
def give_out_in_racks(
    free: Ints,
    lists: MemberLists,
    row_topic: Ints,
    starts: Longs,
    readers: Ints,
    id_rank: Ints,
    member_racks: Ints,
    sets: Words,
) -> Ints:
    """Each free row to the reader of its racks (or without a rack) that has the least; the rows that found none."""
    left = np.empty(len(free), np.int32)
    kept = 0
    for row in free:
        best = -1
        topic = row_topic[row]
        for at in range(starts[topic], starts[topic + 1]):
            member = readers[at]
            rack = member_racks[member]
            if rack >= 0 and not has_rack(sets[row], rack):
                continue
            size = lists.sizes[member]
            if best < 0 or size < lists.sizes[best] or (size == lists.sizes[best] and id_rank[member] < id_rank[best]):
                best = member
        if best >= 0:
            give(lists, row, best)
        else:
            left[kept] = row
            kept += 1
    return left[:kept]


@njit(cache=True)
def who_takes_part(lists: MemberLists, possible: Longs, starts: Longs, row_topic: Ints) -> Flags:
    """bool[M]: members that could have more, or hold a partition of a topic that another one reads too."""
    takes_part = np.zeros(len(possible), np.bool_)
    for member in range(len(possible)):
        takes_part[member] = lists.sizes[member] < possible[member]
        place = lists.heads[member]
        while place >= 0 and not takes_part[member]:
            topic = row_topic[lists.row[place]]
            takes_part[member] = starts[topic + 1] - starts[topic] >= 2
            place = lists.following[place]
    return takes_part


@njit(cache=True)
def shared_rows(rows: Ints, starts: Longs, row_topic: Ints) -> Ints:
    """Those of ``rows`` whose topic has two readers or more: the others can go nowhere."""
    kept = np.empty(len(rows), np.int32)
    count = 0
    for row in rows:
        topic = row_topic[row]
        if starts[topic + 1] - starts[topic] >= 2:
            kept[count] = row
            count += 1
    return kept[:count]
