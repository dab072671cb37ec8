"""Sticky with unequal subscriptions: keep what may be kept, give out the rest, then even out.

Promises, in this order: completeness (of topics somebody reads) · as balanced as single moves reach, unless that would
improve nothing · partitions stay where they are · a partition returns to whom it was taken from in an older generation
(there Kafka does not ask whether that member still subscribes to the topic).

Example: t0, t1, t2 of 1 partition; A reads t0, B t0 and t1, C all: A t0-0, B t1-0, C t2-0 (round robin: C gets two).

Source: ``AbstractStickyAssignor.GeneralAssignmentBuilder``, 3.0 to 4.3 (``lines``: what differs). It can loop for ever
on valid input (see ``balance``): EndlessReassignmentError. Complexity: O(walks · (partitions + Σ readers of a topic) +
moves · log(members)), where Java pays O(partitions) and more for each partition of each walk.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment, StickyNotes, Withheld
from kafka_rebalance.assignors.racks import has_rack
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.sticky.balance import (
    CHANGED,
    ENDLESS,
    FREED_MEMORY,
    NO_MEMBER,
    NULL_POINTER,
    rebalance,
)
from kafka_rebalance.assignors.sticky.least_reader import fill, moved
from kafka_rebalance.assignors.sticky.lines import Claims, Line
from kafka_rebalance.assignors.sticky.state import HEAP, LEAST, LITERAL, MOST, NONE, State, flattened, give, new_state
from kafka_rebalance.assignors.sticky.sticky_input import NONE_DOUBLED, StickyInput, free_rows
from kafka_rebalance.errors import AssignorError, EndlessReassignmentError
from kafka_rebalance.kernels.decorators import kernel

_NO_ROWS = np.zeros(0, dtype=np.int32)
_NO_ROWS.setflags(write=False)


def assign_general(request: AssignmentRequest, inputs: StickyInput, line: Line, *, is_cooperative: bool) -> Assignment:
    """Raises AssignorError where Java fails, EndlessReassignmentError where it never returns."""
    members, topics = request.members, request.topics
    if len(inputs.row_topic) == 0:  # topics without a partition, and nobody owns one that is gone
        return Assignment.of_nothing(
            len(members), StickyNotes(False, inputs.max_generation, _NO_ROWS, _NO_ROWS, _NO_ROWS)
        )
    possible = most_possible(
        members.subscription_offsets, members.subscription_topics, inputs.counts, len(inputs.topics), inputs.total
    )
    state = new_state(request, inputs, possible, slack=line.slack)
    order = inputs.topics[np.argsort(state.topics["readers"][inputs.topics], kind="stable")]
    is_taken, must_revoke = keep_readable(state, inputs.owned_order, members.owned_offsets, inputs.rows, inputs.is_kept)
    is_doubled, is_unsound = NONE_DOUBLED, bool(is_taken[topics.partition_total :].any())
    if line.claims is Claims.BY_LAST_CLAIM:
        is_doubled = held_twice(state)
        is_unsound |= bool(is_doubled.any())
    free = free_rows(order, topics.first_row, is_taken, inputs.row_topic, inputs.row_partition, is_doubled)
    is_initial = not state.members["row_count"].any()
    give_out(state, give_out_in_racks(state, free) if inputs.racks.is_active else free)
    remember_previous(
        state, inputs.subscription_order, members.owned_offsets, inputs.rows, inputs.generations, inputs.max_generation
    )
    choose_who_takes_part(state)
    # What was given out just now moves first, and everything only then; if something is revoked anyhow, all at once.
    walks = [] if must_revoke else [shared_rows(state, free)]
    walks.append(shared_rows(state, rows_of(order, topics.first_row)))
    state_then = evened(state, walks, is_initial=is_initial, is_literal=is_unsound)
    return _answer(request, inputs, state, state_then, is_cooperative=is_cooperative)


def _answer(
    request: AssignmentRequest, inputs: StickyInput, walk_state: State, state: State, *, is_cooperative: bool
) -> Assignment:
    """``walk_state`` knows what has moved, ``state`` who has what in the end."""
    members = request.members
    offsets, rows = flattened(state)
    withheld = Withheld.nothing()
    if is_cooperative:
        waits = waits_for_owners(offsets, rows, members.owned_offsets, inputs.rows, len(inputs.row_topic))
        receivers = np.repeat(np.arange(len(members), dtype=np.int32), np.diff(offsets))
        held = rows[waits]
        withheld = Withheld(inputs.row_topic[held], inputs.row_partition[held], receivers[waits])
        offsets = offsets - np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(waits, dtype=np.int64)))[offsets]
        rows = rows[~waits]
    return Assignment(
        offsets, inputs.row_topic[rows], inputs.row_partition[rows], withheld, notes_of(walk_state, inputs)
    )


@kernel
def waits_for_owners(offsets: Longs, rows: Ints, owned_offsets: Longs, owned_rows: Ints, row_count: int) -> Flags:
    """bool[assigned]: new to its member, while another one that owned it has it no longer: to be given up first."""
    had = np.full(row_count, -1, np.int32)
    has = np.full(row_count, -1, np.int32)
    is_new = np.zeros(len(rows), np.bool_)
    is_revoked = np.zeros(row_count, np.bool_)
    for member in range(len(offsets) - 1):
        for at in range(owned_offsets[member], owned_offsets[member + 1]):
            if owned_rows[at] >= 0:
                had[owned_rows[at]] = member
        for at in range(offsets[member], offsets[member + 1]):
            has[rows[at]] = member
            is_new[at] = had[rows[at]] != member
        for at in range(owned_offsets[member], owned_offsets[member + 1]):
            row = owned_rows[at]
            if row >= 0 and has[row] != member:
                is_revoked[row] = True
    for at in range(len(rows)):
        is_new[at] = is_new[at] and is_revoked[rows[at]]
    return is_new


# Where the general sticky way starts from: what may be kept, who held what before, and all that is free given out.


@kernel
def keep_readable(
    state: State, owned_order: Longs, owned_offsets: Longs, rows: Ints, is_kept: Flags
) -> tuple[Flags, bool]:
    """Give members what they keep: taken rows bool[R], and whether anything must be revoked.

    Members keep what they still subscribe to and, where racks matter, what lies in their rack.
    """
    is_taken = np.zeros(len(state.rows), np.bool_)
    subscriber = np.full(len(state.topics), NONE, np.int32)
    must_revoke = False
    for member in owned_order:
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
                state.rows[row].owner = member  # Kafka goes on believing so
                continue
            give(state, row, member)
            is_taken[row] = True
    return is_taken, must_revoke


@kernel
def held_twice(state: State) -> Flags:
    """bool[R]: rows in the lists of more than one member."""
    is_doubled = np.zeros(len(state.rows), np.bool_)
    for row in range(len(state.rows)):
        place = state.rows[row].first
        is_doubled[row] = place != NONE and state.places[place].beside != NONE
    return is_doubled


@kernel
def remember_previous(
    state: State, subscription_order: Longs, owned_offsets: Longs, rows: Ints, generations: Ints, newest: int
) -> None:
    """Set who held a partition in an older generation: the newest of those, and of equal ones the first met."""
    since = np.empty(len(state.rows), np.int32)
    for member in subscription_order:
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
            more = members[member].row_count - members[best].row_count if best >= 0 else -1
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
        takes_part = members[member].row_count < members[member].possible
        place = members[member].head
        while place != NONE and not takes_part:
            takes_part = state.topics[state.rows[state.places[place].row].topic].readers >= 2
            place = state.places[place].following
        members[member].takes_part = takes_part
        if takes_part:
            size = members[member].row_count
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


# The walks of the sticky assignors, and the way back if all was in vain.


def evened(state: State, walks: list[Ints], *, is_initial: bool, is_literal: bool) -> State:
    """Walk over each list of rows in turn; go back to the start if the last one moved something and improved nothing.

    ``is_literal``: only asking Kafka's questions word for word answers as Java does (``balance``).
    Raises EndlessReassignmentError, and AssignorError where Java fails.
    """
    state.marks[LITERAL] = is_literal
    before = state if is_initial else replace(state, places=state.places.copy(), members=state.members.copy())
    is_changed = False
    for rows in walks:
        is_changed = _checked(rebalance(rows, state)) == CHANGED
    if not is_initial and is_changed and _score(state) >= _score(before):
        return before
    return state


def _checked(status: int) -> int:
    if status == ENDLESS:
        raise EndlessReassignmentError
    if status == NULL_POINTER:
        raise AssignorError("java.lang.NullPointerException", "a member that is left out of balancing is asked for")
    if status == FREED_MEMORY:
        raise AssignorError("use after free", "librdkafka's leader reads memory that it has freed, and may crash")
    if status == NO_MEMBER:
        raise AssignorError("java.util.NoSuchElementException", "no member takes part in balancing")
    return status


def _score(state: State) -> int:
    """``getBalanceScore``: differences of all pairs of members that take part, in Java's int."""
    sizes = np.sort(state.members["row_count"][state.members["takes_part"] != 0]).astype(np.int64)
    weights = 2 * np.arange(len(sizes), dtype=np.int64) - len(sizes) + 1
    return int(np.int64((sizes * weights).sum()).astype(np.int32))


def notes_of(state: State, inputs: StickyInput) -> StickyNotes:
    """What has moved while balancing, for Kafka's own verdict on stickiness."""
    moved = state.rows[state.rows["source"] >= 0]
    return StickyNotes(
        False, inputs.max_generation, moved["topic"].copy(), moved["source"].copy(), moved["target"].copy()
    )


@kernel
def rows_of(order: Longs, first_row: Longs) -> Ints:
    """All rows, topics in ``order``."""
    rows = np.empty(first_row[-1], np.int32)
    count = 0
    for topic in order:
        for row in range(first_row[topic], first_row[topic + 1]):
            rows[count] = row
            count += 1
    return rows[:count]
