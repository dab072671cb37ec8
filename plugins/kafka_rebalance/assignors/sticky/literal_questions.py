"""Kafka's questions word for word, for the states in which their order and their failures matter.

That is so only where partitions that no longer exist are held, or existing ones by more than one member: then a member
may be left out of the balancing though it reads a shared topic, and Java meets a null where it asks for it.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.assignors.racks import has_rack
from kafka_rebalance.assignors.sticky.pair_sort import sort_pairs
from kafka_rebalance.assignors.sticky.state import NONE, SLACK, State
from kafka_rebalance.kernels.decorators import inner_kernel

FAILED, NO, YES = -1, 0, 1


@inner_kernel
def is_balanced_literally(state: State) -> int:
    """``isBalanced`` behind its first question; FAILED where it meets a null."""
    members, topics = state.members, state.topics
    order = np.empty(len(members), np.int32)
    keys = np.empty(len(members), np.int64)
    count = 0
    for member in range(len(members)):
        if members[member].takes_part:
            order[count] = member
            keys[count] = (np.int64(members[member].row_count) << 32) + members[member].id_rank
            count += 1
    sort_pairs(keys, order, 0, count)
    for i in range(count):
        member = order[i]
        if members[member].row_count == members[member].possible:
            continue
        for at in range(state.offsets[member], state.offsets[member + 1]):
            topic = state.topics_of[at]
            first = topics[topic].first_row
            for row in range(first, first + topics[topic].partitions):
                answer = _could_take(state, member, row)
                if answer != NO:
                    return FAILED if answer == FAILED else NO
    return YES


@inner_kernel
def _could_take(state: State, member: int, row: int) -> int:
    """Whether the row's holder has over the slack more than ``member``, who does not hold it."""
    members, places = state.members, state.places
    holder, place = NONE, state.rows[row].first
    while place != NONE:
        other = places[place].member
        if other == member:
            return NO
        # Of several holders Java sees the one that its map gives back last.
        if members[other].takes_part and (holder == NONE or members[other].map_place > members[holder].map_place):
            holder = other
        place = places[place].beside
    if holder == NONE:
        return FAILED
    return YES if members[member].row_count + state.marks[SLACK] < members[holder].row_count else NO


@inner_kernel
def somebody_has_less(state: State, row: int, holder: int) -> int:
    """Whether Java finds a reader with two less than ``holder``: in the partition's racks first, then anywhere."""
    rack = state.members[holder].rack
    if rack >= 0 and has_rack(state.sets[row], rack):
        answer = _a_reader_has_less(state, row, holder, True)
        if answer != NO:
            return int(answer)
    answer = _a_reader_has_less(state, row, holder, False)
    return int(answer)


@inner_kernel
def _a_reader_has_less(state: State, row: int, holder: int, only_in_racks: bool) -> int:  # noqa: FBT001
    members, topic = state.members, state.rows[row].topic
    first = state.topics[topic].first_reader
    for at in range(first, first + state.topics[topic].readers):
        reader = state.readers[at]
        rack = members[reader].rack
        if only_in_racks and (rack < 0 or not has_rack(state.sets[row], rack)):
            continue
        if not members[reader].takes_part:
            return FAILED
        if members[holder].row_count > members[reader].row_count + 1:
            return YES
    return NO
