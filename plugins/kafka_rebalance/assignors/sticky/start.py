"""Where the general sticky way starts from: what may be kept, who held what before, and all that is free given out."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.assignors.racks import has_rack
from kafka_rebalance.assignors.sticky.least_loaded import fill, moved
from kafka_rebalance.assignors.sticky.member_lists import give
from kafka_rebalance.assignors.sticky.state import HEAP, LEAST, MOST, NONE, State
from kafka_rebalance.kernels.decorators import kernel


@kernel
def keep_readable(state: State, owned_offsets: Longs, rows: Ints, is_kept: Flags) -> tuple[Flags, bool]:
    """Give members what they keep: taken rows bool[R], and whether anything must be revoked.

    Members keep what they still subscribe to and, where racks matter, what lies in their rack.
    """
    is_taken = np.zeros(len(state.rows), np.bool_)
    subscriber = np.full(len(state.topics), NONE, np.int32)
    must_revoke = False
    for member in range(len(state.members)):
        rack = state.members[member].rack
        for at in range(state.offsets[member], state.offsets[member + 1]):
            subscriber[state.topics_of[at]] = member
        for at in range(owned_offsets[member], owned_offsets[member + 1]):
            if not is_kept[at]:
                continue
            row = rows[at]
            is_mismatch = rack >= 0 and (row >= len(state.sets) or not has_rack(state.sets[row], rack))
            if is_mismatch or subscriber[state.rows[row].topic] != member:
                must_revoke = True
                continue
            give(state, row, member)
            is_taken[row] = True
    return is_taken, must_revoke


@kernel
def remember_previous(
    state: State, met: Longs, owned_offsets: Longs, rows: Ints, generations: Ints, newest: int
) -> None:
    """Set who held a partition in an older generation: the newest of those, and of equal ones the first met."""
    since = np.empty(len(state.rows), np.int32)
    for member in met:
        generation = generations[member]
        if generation >= newest:
            continue
        for at in range(owned_offsets[member], owned_offsets[member + 1]):
            row = rows[at]
            if row >= 0 and (state.rows[row].previous == NONE or generation > since[row]):
                state.rows[row].previous = member
                since[row] = generation


@kernel
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


@kernel
def give_out(state: State, free: Ints) -> None:
    """Each free row to the reader that has the least, in the order of ``free``."""
    group = -1
    for row in free:
        topic = state.rows[row].topic
        if state.topics[topic].alike != group:
            group = state.topics[topic].alike
            fill(state, topic, False)
        if state.marks[HEAP] > 0:
            member = state.heap[0]
            give(state, row, member)
            moved(state, member)


@kernel
def give_out_in_racks(state: State, free: Ints) -> Ints:
    """Each free row to the reader of its racks (or without a rack) that has the least; the rows that found none."""
    members, topics = state.members, state.topics
    left = np.empty(len(free), np.int32)
    kept = 0
    for row in free:
        best = -1
        topic = state.rows[row].topic
        first = topics[topic].first_reader
        for at in range(first, first + topics[topic].readers):
            member = state.readers[at]
            rack = members[member].rack
            if rack >= 0 and not has_rack(state.sets[row], rack):
                continue
            more = members[member].size - members[best].size if best >= 0 else -1
            if more < 0 or (more == 0 and members[member].id_rank < members[best].id_rank):
                best = member
        if best >= 0:
            give(state, row, best)
        else:
            left[kept] = row
            kept += 1
    return left[:kept]


@kernel
def choose_who_takes_part(state: State) -> None:
    """Members take part that could have more, or hold a partition of a topic that another one reads too."""
    members, marks = state.members, state.marks
    marks[LEAST], marks[MOST] = len(state.with_size), -1
    for member in range(len(members)):
        takes_part = members[member].size < members[member].possible
        place = members[member].head
        while place != NONE and not takes_part:
            takes_part = state.topics[state.rows[state.places[place].row].topic].readers >= 2
            place = state.places[place].following
        members[member].takes_part = takes_part
        if takes_part:
            size = members[member].size
            state.with_size[size] += 1
            marks[LEAST] = min(marks[LEAST], size)
            marks[MOST] = max(marks[MOST], size)


@kernel
def shared_rows(state: State, rows: Ints) -> Ints:
    """Those of ``rows`` whose topic has two readers or more: the others can go nowhere."""
    kept = np.empty(len(rows), np.int32)
    count = 0
    for row in rows:
        if state.topics[state.rows[row].topic].readers >= 2:
            kept[count] = row
            count += 1
    return kept[:count]
