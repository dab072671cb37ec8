"""Kafka's questions word for word, for the states in which their order and their failures matter.

That is so only where ghosts are held: partitions that no longer exist count, some partitions have two holders, and a
member may be left out of the balancing though it reads a shared topic, which makes Java meet a null.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from kafka_rebalance.assignors.member_lists import MemberLists
from kafka_rebalance.assignors.pair_sort import sort_pairs
from kafka_rebalance.assignors.racks import has_rack

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

FAILED, NO, YES = -1, 0, 1


class LiteralView(NamedTuple):
    """What the literal way reads besides: subscriptions, topics, racks, and each member's place in Java's map."""

    offsets: Longs
    topics: Ints
    counts: Ints
    first_row: Longs
    member_racks: Ints
    sets: Words
    map_place: Ints


@njit(cache=True)
def is_balanced_literally(
    lists: MemberLists, takes_part: Flags, possible: Longs, id_rank: Ints, view: LiteralView
) -> int:
    """``isBalanced`` behind its first question; FAILED where it meets a null."""
    members = np.flatnonzero(takes_part).astype(np.int32)
    keys = np.empty(len(members), np.int64)
    for i in range(len(members)):
        keys[i] = (np.int64(lists.sizes[members[i]]) << 32) + id_rank[members[i]]
    sort_pairs(keys, members, 0, len(members))
    for member in members:
        if lists.sizes[member] == possible[member]:
            continue
        for at in range(view.offsets[member], view.offsets[member + 1]):
            topic = view.topics[at]
            if view.counts[topic] < 0:
                continue
            for row in range(view.first_row[topic], view.first_row[topic + 1]):
                answer = _could_take(member, row, lists, takes_part, view)
                if answer != NO:
                    return FAILED if answer == FAILED else NO
    return YES


@njit(cache=True)
def _could_take(member: int, row: int, lists: MemberLists, takes_part: Flags, view: LiteralView) -> int:
    """Whether the row's holder has two more than ``member``, who does not hold it."""
    holder, shadow = lists.holder[row], lists.holder[row + len(lists.holder) // 2]
    if member in (holder, shadow):
        return NO
    if holder >= 0 and not takes_part[holder]:
        holder = -1
    if shadow >= 0 and not takes_part[shadow]:
        shadow = -1
    # Of two holders Java sees the one that its map gives back last.
    if shadow >= 0 and (holder < 0 or view.map_place[shadow] > view.map_place[holder]):
        holder = shadow
    if holder < 0:
        return FAILED
    return YES if lists.sizes[member] + 1 < lists.sizes[holder] else NO


@njit(cache=True)
def somebody_has_less(row: int, readers: Ints, holder: int, takes_part: Flags, sizes: Ints, view: LiteralView) -> int:
    """Whether Java finds a reader with two less than ``holder``: in the partition's racks first, then anywhere."""
    rack = view.member_racks[holder]
    if rack >= 0 and has_rack(view.sets[row], rack):
        for reader in readers:
            if view.member_racks[reader] < 0 or not has_rack(view.sets[row], view.member_racks[reader]):
                continue
            if not takes_part[reader]:
                return FAILED
            if sizes[holder] > sizes[reader] + 1:
                return YES
    for reader in readers:
        if not takes_part[reader]:
            return FAILED
        if sizes[holder] > sizes[reader] + 1:
            return YES
    return NO
