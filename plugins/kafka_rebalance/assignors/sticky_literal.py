"""Kafka's questions word for word, for the states in which their order and their failures matter.

That is so only where partitions that no longer exist are held, or existing ones by more than one member: then a member
may be left out of the balancing though it reads a shared topic, and Java meets a null where it asks for it.
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
    lists: MemberLists, takes_part: Flags, possible: Longs, id_rank: Ints, slack: int, view: LiteralView
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
                answer = _could_take(member, row, lists, takes_part, slack, view)
                if answer != NO:
                    return FAILED if answer == FAILED else NO
    return YES


@njit(cache=True)
def _could_take(member: int, row: int, lists: MemberLists, takes_part: Flags, slack: int, view: LiteralView) -> int:
    """Whether the row's holder has over ``slack`` more than ``member``, who does not hold it."""
    holder, place = -1, lists.first[row]
    while place >= 0:
        other = lists.member[place]
        if other == member:
            return NO
        # Of several holders Java sees the one that its map gives back last.
        if takes_part[other] and (holder < 0 or view.map_place[other] > view.map_place[holder]):
            holder = other
        place = lists.beside[place]
    if holder < 0:
        return FAILED
    return YES if lists.sizes[member] + slack < lists.sizes[holder] else NO


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
