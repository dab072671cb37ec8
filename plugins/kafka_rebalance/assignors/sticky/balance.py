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

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import Ints
from kafka_rebalance.assignors.racks import has_rack
from kafka_rebalance.assignors.sticky.pair_sort import sort_pairs
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
    if state.marks[DIALECT] == LIBRDKAFKA and _is_recorded(state, actual, receiver, giver):
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


# Kafka's account of who gave which partition to whom, kept to turn a movement back rather than add its opposite.
#
# Before partition p of a topic moves from A to B Kafka looks whether one of the same topic has moved from B to A, and
# if so moves that one back instead: the first of a HashSet of TopicPartitions, so Java's hash order decides which.
# This swap may undo the work of another move, and two such moves undo each other for good (``EndlessReassignment``).
#
# A row that has moved knows from whom it came first (``source``), where it is (``target``) and how many bins the set of
# the same movement has (``table``); the moved rows of a topic form a list in the order in which they were recorded.
# Source: ``AbstractStickyAssignor.PartitionMovements``, unchanged from 0.11 to 4.3. Complexity: each step
# O(partitions of the topic that have moved).


_FIRST_TABLE = 16
_TREE_TABLE = 64
_TREE_BIN = 8
_IN_NO_LIST = -1


@inner_kernel
def really_moved(state: State, row: int, owner: int, receiver: int) -> int:
    """The row that moves to ``receiver`` instead of ``row``: one of the topic that had come the opposite way."""
    rows = state.rows
    origin = rows[row].source if rows[row].source != NONE and state.marks[DIALECT] != LIBRDKAFKA else owner
    best, best_bin = row, np.int64(-1)
    other = state.topics[rows[row].topic].moved_first
    while other != NONE:
        if rows[other].source == receiver and rows[other].target == origin:
            if state.marks[DIALECT] == LIBRDKAFKA:
                return int(other)
            b = rows[other].spread & (rows[other].table - 1)
            # In a bin the one put first stands first, and so it does in this list.
            if best_bin < 0 or b < best_bin:
                best, best_bin = other, b
        other = rows[other].later
    return best


@inner_kernel
def _is_recorded(state: State, row: int, source: int, target: int) -> bool:
    rows = state.rows
    return bool(rows[row].source == source and rows[row].target == target and rows[row].table != _IN_NO_LIST)


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
    _unlink(state, actual)
    rows[actual].table = _IN_NO_LIST
    _hand_over(state, following, giver, receiver)
    return CHANGED


@kernel
def record(state: State, row: int, owner: int, receiver: int) -> None:
    """``row`` goes from ``owner`` to ``receiver``: what counts is where it came from first; going back cancels out."""
    origin = state.rows[row].source
    if origin == NONE:
        _add(state, row, owner, receiver)
        return
    if state.rows[row].table != _IN_NO_LIST:
        _unlink(state, row)
    state.rows[row].source = NONE
    state.rows[row].target = NONE
    if origin != receiver:
        _add(state, row, origin, receiver)


@inner_kernel
def _add(state: State, row: int, source: int, target: int) -> None:
    rows, topics, topic = state.rows, state.topics, state.rows[row].topic
    rows[row].table = _table_with(state, row, source, target)
    rows[row].source = source
    rows[row].target = target
    last = topics[topic].moved_last
    rows[row].earlier = last
    rows[row].later = NONE
    if last == NONE:
        topics[topic].moved_first = row
    else:
        rows[last].later = row
    topics[topic].moved_last = row


@inner_kernel
def _table_with(state: State, row: int, source: int, target: int) -> int:
    """Bins of the set once ``row`` is in it; the table of a set that was emptied starts anew."""
    rows, first = state.rows, state.topics[state.rows[row].topic].moved_first
    table, count, in_bin = _FIRST_TABLE, 1, 0
    other = first
    while other != NONE:
        if rows[other].source == source and rows[other].target == target:
            table = int(rows[other].table)
            count += 1
            in_bin += (rows[other].spread ^ rows[row].spread) & (table - 1) == 0
        other = rows[other].later
    grown = table * 2 if in_bin >= _TREE_BIN and table < _TREE_TABLE else table
    grown = grown * 2 if count > grown * 3 // 4 else grown
    other = first if grown != table else NONE
    while other != NONE:
        if rows[other].source == source and rows[other].target == target:
            rows[other].table = grown
        other = rows[other].later
    return grown


@inner_kernel
def _unlink(state: State, row: int) -> None:
    rows, topics, topic = state.rows, state.topics, state.rows[row].topic
    earlier, later = rows[row].earlier, rows[row].later
    if earlier == NONE:
        topics[topic].moved_first = later
    else:
        rows[earlier].later = later
    if later == NONE:
        topics[topic].moved_last = earlier
    else:
        rows[later].earlier = earlier
    rows[row].earlier = NONE
    rows[row].later = NONE


# The reader of a topic that has the least, ties by id: a heap whose members may change size while it stands.
#
# ``state.heap[: state.marks[HEAP]]`` holds the members, least first; ``heap_place`` of a member is NONE if it is
# not in.


@inner_kernel
def fill(state: State, topic: int, only_who_takes_part: bool) -> None:  # noqa: FBT001
    """Replace what is there by the topic's readers, each once."""
    heap, members, topics = state.heap, state.members, state.topics
    for i in range(state.marks[HEAP]):
        members[heap[i]].heap_place = NONE
    size = 0
    first = topics[topic].first_reader
    for at in range(first, first + topics[topic].readers):
        member = state.readers[at]
        if members[member].heap_place == NONE and (members[member].takes_part or not only_who_takes_part):
            heap[size] = member
            members[member].heap_place = size
            size += 1
    state.marks[HEAP] = size
    for at in range(size // 2 - 1, -1, -1):
        _sink(state, at)


@kernel
def moved(state: State, member: int) -> None:
    """The member's size has changed: find its new place, if it stands here at all."""
    heap, members = state.heap, state.members
    at = members[member].heap_place
    if at == NONE:
        return
    while at > 0 and _is_less(state, member, heap[(at - 1) // 2]):
        parent = (at - 1) // 2
        heap[at] = heap[parent]
        members[heap[at]].heap_place = at
        at = parent
    heap[at] = member
    members[member].heap_place = at
    _sink(state, at)


@inner_kernel
def _sink(state: State, at: int) -> None:
    heap, members, size = state.heap, state.members, state.marks[HEAP]
    member = heap[at]
    while True:
        child = 2 * at + 1
        if child + 1 < size and _is_less(state, heap[child + 1], heap[child]):
            child += 1
        if child >= size or not _is_less(state, heap[child], member):
            break
        heap[at] = heap[child]
        members[heap[at]].heap_place = at
        at = child
    heap[at] = member
    members[member].heap_place = at


@inner_kernel
def _is_less(state: State, one: int, other: int) -> bool:
    """TreeSet order of ``SubscriptionComparator``: fewer partitions first, then the id."""
    members = state.members
    if members[one].row_count != members[other].row_count:
        return bool(members[one].row_count < members[other].row_count)
    return bool(members[one].id_rank < members[other].id_rank)


# Kafka's questions word for word, for the states in which their order and their failures matter.
#
# That is so only where partitions that no longer exist are held, or existing ones by more than one member: then a
# member may be left out of the balancing though it reads a shared topic, and Java meets a null where it asks for it.


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
