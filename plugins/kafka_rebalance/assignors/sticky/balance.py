"""Moving partitions between members until Kafka calls the assignment balanced.

Kafka walks the movable partitions again and again. Before each it asks whether all is balanced (no member could take a
partition from one that has two more: the slack is 1), then moves the partition back to whom it was taken from in an
older generation, or to its reader that has the least, if either has two less than its holder. ``really_moved``
may put another partition in its place. A walk without a move ends it.

What Java computes anew for each partition is kept up to date here: the witness is one (member, row) that proves the
assignment unbalanced, looked for again only when it no longer does. A walk that finds everything as an earlier one did
will do so for ever: that is noticed (ENDLESS) by comparing with the state after 1, 2, 4, 8 … walks.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from kafka_rebalance.arrays import Ints
from kafka_rebalance.assignors.sticky.least_reader import fill, moved
from kafka_rebalance.assignors.sticky.literal_questions import is_balanced_literally, somebody_has_less
from kafka_rebalance.assignors.sticky.movements import IN_NO_LIST, is_recorded, really_moved, record, unlink
from kafka_rebalance.assignors.sticky.state import (
    DIALECT,
    HEAP,
    KAFKA_PYTHON_3,
    LEAST,
    LIBRDKAFKA,
    LITERAL,
    MOST,
    NONE,
    SLACK,
    WITNESS,
    WITNESS_ROW,
    WITNESS_TOPIC,
    State,
    give,
    take,
)
from kafka_rebalance.kernels.decorators import inner_kernel, kernel

Records = npt.NDArray[Any]

UNCHANGED, CHANGED, NO_MEMBER, NULL_POINTER, ENDLESS, FREED_MEMORY = 0, 1, 2, 3, 4, 5
BALANCED, UNBALANCED = 0, 1
_A_NULL = -2


@kernel
def rebalance(rows: Ints, state: State) -> int:
    """Walk over ``rows`` until nothing moves: CHANGED or UNCHANGED, or how Java fails."""
    result, walks, due = UNCHANGED, 0, 1
    seen_rows, seen_places = state.rows, state.places
    while True:
        step = _walk(rows, state)
        if step != CHANGED:
            return result if step == UNCHANGED else step
        result = CHANGED
        walks += 1
        if walks > 1 and _is_as_seen(state, seen_rows, seen_places):
            return ENDLESS
        if walks == due:
            seen_rows, seen_places = state.rows.copy(), state.places.copy()
            due *= 2


@inner_kernel
def _is_as_seen(state: State, seen_rows: Records, seen_places: Records) -> bool:
    """Everything that decides the next walk is as it was: holders, movements, and the order and size of their sets."""
    rows = state.rows
    for place in range(len(seen_places)):
        if state.places[place].member != seen_places[place].member:
            return False
    for row in range(len(rows)):
        if rows[row].owner != seen_rows[row].owner or rows[row].source != seen_rows[row].source:
            return False
        if rows[row].target != seen_rows[row].target or rows[row].later != seen_rows[row].later:
            return False
        if rows[row].source != NONE and rows[row].table != seen_rows[row].table:
            return False
    return True


@inner_kernel
def _walk(rows: Ints, state: State) -> int:
    """One walk over ``rows``; stops early once all is balanced."""
    result = UNCHANGED
    group = -1
    for row in rows:
        verdict: int = _verdict(state)
        if verdict == BALANCED:
            break
        if verdict != UNBALANCED:
            return verdict
        topic = state.rows[row].topic
        if state.topics[topic].alike != group:
            group = state.topics[topic].alike
            fill(state, topic, True)
        receiver = _receiver(state, row)
        if receiver == NONE:
            continue
        result = _move(state, row, receiver) if receiver != _A_NULL else NULL_POINTER
        if result != CHANGED:
            return result
    return result


@inner_kernel
def _receiver(state: State, row: int) -> int:
    """Who should have the row: NONE if it may stay, _A_NULL where Java meets one."""
    members, holder, before = state.members, state.rows[row].owner, state.rows[row].previous
    if holder == NONE or not members[holder].takes_part:
        return _A_NULL
    if before != NONE:
        if not members[before].takes_part:
            return _A_NULL
        if members[holder].row_count > members[before].row_count + 1:
            return int(before)
    if state.marks[LITERAL]:
        answer = somebody_has_less(state, row, holder)
        if answer < 0 or (answer > 0 and state.marks[HEAP] == 0):
            return _A_NULL
        return int(state.heap[0]) if answer > 0 else NONE
    best = int(state.heap[0])
    return best if members[holder].row_count > members[best].row_count + 1 else NONE


@inner_kernel
def _move(state: State, row: int, receiver: int) -> int:
    """Move the row, or the one that goes back instead: CHANGED, or how the leader fails."""
    actual = really_moved(state, row, state.rows[row].owner, receiver)
    giver = state.rows[actual].owner
    if giver == NONE or not state.members[giver].takes_part:
        return NULL_POINTER
    if state.marks[DIALECT] == LIBRDKAFKA and is_recorded(state, actual, receiver, giver):
        return int(_move_next_recorded(state, actual, giver, receiver))
    if state.marks[DIALECT] == KAFKA_PYTHON_3 and giver != state.rows[row].owner:
        # Both moved before, and from the same third member: both moves are undone.
        other = state.rows[row].owner
        record(state, row, other, giver)
        _hand_over(state, row, other, giver)
    record(state, actual, giver, receiver)
    _hand_over(state, actual, giver, receiver)
    return CHANGED


@inner_kernel
def _move_next_recorded(state: State, actual: int, giver: int, receiver: int) -> int:
    """The pointer of librdkafka shows another row once ``actual`` is out of the list of recorded ones: that one moves.

    That is the next row of the same movement, which stays recorded; ``actual`` stays where it is and keeps what it
    knows of its way. Without a next one the list is freed: FREED_MEMORY.
    """
    rows = state.rows
    following = rows[actual].later
    while following != NONE and (
        rows[following].source != rows[actual].source or rows[following].target != rows[actual].target
    ):
        following = rows[following].later
    if following == NONE:
        return FREED_MEMORY
    unlink(state, actual)
    rows[actual].table = IN_NO_LIST
    _hand_over(state, following, giver, receiver)
    return CHANGED


@inner_kernel
def _hand_over(state: State, actual: int, giver: int, receiver: int) -> None:
    members = state.members
    before = members[giver].row_count
    take(state, actual, giver)
    give(state, actual, receiver)
    if giver != receiver:
        # Whom Kafka believes to be the owner need not hold it, where several did.
        if members[giver].row_count != before:
            _resized(state, giver, before)
        _resized(state, receiver, members[receiver].row_count - 1)


@inner_kernel
def _resized(state: State, member: int, before: int) -> None:
    """Keep least, most and the heap up to date after one member's size has changed by one."""
    now, with_size, marks = state.members[member].row_count, state.with_size, state.marks
    with_size[before] -= 1
    with_size[now] += 1
    marks[LEAST] = min(marks[LEAST], now)
    marks[MOST] = max(marks[MOST], now)
    while with_size[marks[LEAST]] == 0:
        marks[LEAST] += 1
    while with_size[marks[MOST]] == 0:
        marks[MOST] -= 1
    moved(state, member)


@inner_kernel
def _verdict(state: State) -> int:
    """BALANCED or UNBALANCED, as ``isBalanced`` says; NO_MEMBER, NULL_POINTER where it fails."""
    marks, members = state.marks, state.members
    if marks[MOST] < 0:
        return NO_MEMBER
    if marks[LEAST] >= marks[MOST] - 1:
        return BALANCED
    if marks[LITERAL]:
        answer = is_balanced_literally(state)
        return NULL_POINTER if answer < 0 else BALANCED if answer > 0 else UNBALANCED
    member = marks[WITNESS]
    if member != NONE and members[member].row_count != members[member].possible:
        holder = state.rows[marks[WITNESS_ROW]].owner
        if members[holder].row_count > members[member].row_count + marks[SLACK]:
            return UNBALANCED
    return UNBALANCED if _find_witness(state) else BALANCED


@inner_kernel
def _find_witness(state: State) -> bool:
    """Look for a member that could take a row from one with too much more, topic by topic from the last find on."""
    marks, shared, members, topics = state.marks, state.shared, state.members, state.topics
    for i in range(len(shared)):
        place = (marks[WITNESS_TOPIC] + i) % len(shared)
        topic = shared[place]
        receiver = _least_that_could(state, topic)
        if receiver == NONE:
            continue
        best, most = NONE, members[receiver].row_count + marks[SLACK]
        if marks[MOST] <= most:
            continue
        first = topics[topic].first_row
        for row in range(first, first + topics[topic].partitions):
            size = members[state.rows[row].owner].row_count
            if size > most:
                best, most = row, size
        if best != NONE:
            marks[WITNESS], marks[WITNESS_ROW], marks[WITNESS_TOPIC] = receiver, best, place
            return True
    return False


@inner_kernel
def _least_that_could(state: State, topic: int) -> int:
    """The reader with the least among those that do not have all they could have, NONE if all do."""
    best, members = NONE, state.members
    first = state.topics[topic].first_reader
    for at in range(first, first + state.topics[topic].readers):
        member = state.readers[at]
        if members[member].row_count == members[member].possible:
            continue
        if best == NONE or members[member].row_count < members[best].row_count:
            best = member
    return best
