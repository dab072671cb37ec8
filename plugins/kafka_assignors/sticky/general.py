"""Kafka's sticky strategies for unequal subscriptions: keep, assign the rest, then balance.

Promises, in priority order: completeness (of topics that a member reads) · as balanced as single moves reach, unless
the score would not improve · partitions stay where they are · a partition returns to its owner in an older generation
(even if that member no longer subscribes to the topic). Example: t0, t1, t2 of 1 partition; A reads t0, B t0 and t1, C
all: A t0-0, B t1-0, C t2-0 (round robin: C gets two).

Balancing: Kafka walks the movable partitions until a walk moves nothing. Before each partition it checks whether any
member could take a partition from one that has two more (the slack is 1). If so, the partition returns to its owner in
an older generation, or goes to its reader that has the least, if either has two less than its holder. Here a new
witness (member, row) of imbalance is searched only when the old one fails. A walk that repeats an earlier state never
ends: ENDLESS, found by comparing with the state after 1, 2, 4, 8 … walks.

Movements: before partition p moves from A to B, Kafka looks for one of the same topic that has moved from B to A, and
moves that one back instead: the first of a HashSet of TopicPartitions. Two such moves may undo each other for ever. A
moved row records its first holder (``source``), its present one (``target``) and the bins of that set (``table``); a
topic's moved rows form a list in recording order.

``is_balanced_literally`` and its helpers ask Kafka's questions word for word. This matters only if vanished partitions
are held, or existing ones by more than one member: Java may then meet a null.

Source: ``AbstractStickyAssignor.GeneralAssignmentBuilder``, 3.0 to 4.4 (``sticky_input.Line``: differences), and
``PartitionMovements``, unchanged from 0.11 to 4.4. O(walks · (partitions + Σ readers of a topic) + moves ·
log(members)).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Flags, Ints, Longs
from kafka_assignors.contract import Assignment, AssignmentRequest, StickyNotes, Withheld
from kafka_assignors.errors import AssignorError, EndlessReassignmentError
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_assignors.racks import has_rack
from kafka_assignors.sticky.state import (
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
    fill,
    flatten,
    give,
    new_state,
    sift,
    sort_pairs,
    take,
)
from kafka_assignors.sticky.sticky_input import NONE_DOUBLED, Claims, Line, StickyInput, free_rows

FAILED, NO, YES = -1, 0, 1


@inner_kernel
def is_balanced_literally(state: State) -> int:
    """Without its first question; FAILED where it meets a null."""
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
    members, holdings = state.members, state.holdings
    holder, holding = NONE, state.rows[row].first
    while holding != NONE:
        other = holdings[holding].member
        if other == member:
            return NO
        # Of several holders Java sees the last in map order.
        if members[other].takes_part and (holder == NONE or members[other].map_place > members[holder].map_place):
            holder = other
        holding = holdings[holding].beside
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


_FIRST_TABLE = 16
_TREE_TABLE = 64
_TREE_BIN = 8
IN_NO_LIST = -1


@inner_kernel
def really_moved(state: State, row: int, owner: int, receiver: int) -> int:
    """Row that moves instead of ``row``: one of the topic that moved the opposite way."""
    rows = state.rows
    origin = rows[row].source if rows[row].source != NONE and state.marks[DIALECT] != LIBRDKAFKA else owner
    best, best_bin = row, np.int64(-1)
    other = state.topics[rows[row].topic].moved_first
    while other != NONE:
        if rows[other].source == receiver and rows[other].target == origin:
            if state.marks[DIALECT] == LIBRDKAFKA:
                return int(other)
            b = rows[other].spread & (rows[other].table - 1)
            # As in this list, the first put in a bin comes first.
            if best_bin < 0 or b < best_bin:
                best, best_bin = other, b
        other = rows[other].later
    return best


@inner_kernel
def is_recorded(state: State, row: int, source: int, target: int) -> bool:
    rows = state.rows
    return bool(rows[row].source == source and rows[row].target == target and rows[row].table != IN_NO_LIST)


@kernel
def record(state: State, row: int, owner: int, receiver: int) -> None:
    """A return to the first source cancels the record."""
    origin = state.rows[row].source
    if origin == NONE:
        _add(state, row, owner, receiver)
        return
    if state.rows[row].table != IN_NO_LIST:
        unlink(state, row)
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
def unlink(state: State, row: int) -> None:
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


Records = npt.NDArray[Any]

UNCHANGED, CHANGED, NO_MEMBER, NULL_POINTER, ENDLESS, FREED_MEMORY = 0, 1, 2, 3, 4, 5
BALANCED, UNBALANCED = 0, 1
_A_NULL = -2


@kernel
def rebalance(rows: Ints, state: State) -> int:
    result, walks, due = UNCHANGED, 0, 1
    earlier_rows, earlier_holdings = state.rows, state.holdings
    while True:
        step = _walk(rows, state)
        if step != CHANGED:
            return result if step == UNCHANGED else step
        result = CHANGED
        walks += 1
        if walks > 1 and _is_as_before(state, earlier_rows, earlier_holdings):
            return ENDLESS
        if walks == due:
            earlier_rows, earlier_holdings = state.rows.copy(), state.holdings.copy()
            due *= 2


@inner_kernel
def _is_as_before(state: State, earlier_rows: Records, earlier_holdings: Records) -> bool:
    rows = state.rows
    for holding in range(len(earlier_holdings)):
        if state.holdings[holding].member != earlier_holdings[holding].member:
            return False
    for row in range(len(rows)):
        if rows[row].owner != earlier_rows[row].owner or rows[row].source != earlier_rows[row].source:
            return False
        if rows[row].target != earlier_rows[row].target or rows[row].later != earlier_rows[row].later:
            return False
        if rows[row].source != NONE and rows[row].table != earlier_rows[row].table:
            return False
    return True


@inner_kernel
def _walk(rows: Ints, state: State) -> int:
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
    """NONE if the row may stay, _A_NULL where Java meets one."""
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
    """Return CHANGED, or how the leader fails."""
    actual = really_moved(state, row, state.rows[row].owner, receiver)
    giver = state.rows[actual].owner
    if giver == NONE or not state.members[giver].takes_part:
        return NULL_POINTER
    if state.marks[DIALECT] == LIBRDKAFKA and is_recorded(state, actual, receiver, giver):
        return int(_move_next_recorded(state, actual, giver, receiver))
    if state.marks[DIALECT] == KAFKA_PYTHON_3 and giver != state.rows[row].owner:
        # Both moved before, from the same third member: both moves are undone.
        other = state.rows[row].owner
        record(state, row, other, giver)
        _hand_over(state, row, other, giver)
    record(state, actual, giver, receiver)
    _hand_over(state, actual, giver, receiver)
    return CHANGED


@inner_kernel
def _move_next_recorded(state: State, actual: int, giver: int, receiver: int) -> int:
    """The pointer of librdkafka advances when ``actual`` is unlinked, so the next recorded row moves.

    ``actual`` stays with its holder and keeps its record. Without a next one the list is freed: FREED_MEMORY.
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
        if members[giver].row_count != before:
            _update_size(state, giver, before)
        _update_size(state, receiver, members[receiver].row_count - 1)


@inner_kernel
def _update_size(state: State, member: int, before: int) -> None:
    now, with_size, marks = state.members[member].row_count, state.with_size, state.marks
    with_size[before] -= 1
    with_size[now] += 1
    marks[LEAST] = min(marks[LEAST], now)
    marks[MOST] = max(marks[MOST], now)
    while with_size[marks[LEAST]] == 0:
        marks[LEAST] += 1
    while with_size[marks[MOST]] == 0:
        marks[MOST] -= 1
    sift(state, member)


@inner_kernel
def _verdict(state: State) -> int:
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
    marks, shared, members, topics = state.marks, state.shared, state.members, state.topics
    for i in range(len(shared)):
        index = (marks[WITNESS_TOPIC] + i) % len(shared)
        topic = shared[index]
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
            marks[WITNESS], marks[WITNESS_ROW], marks[WITNESS_TOPIC] = receiver, best, index
            return True
    return False


@inner_kernel
def _least_that_could(state: State, topic: int) -> int:
    best, members = NONE, state.members
    first = state.topics[topic].first_reader
    for at in range(first, first + state.topics[topic].readers):
        member = state.readers[at]
        if members[member].row_count == members[member].possible:
            continue
        if best == NONE or members[member].row_count < members[best].row_count:
            best = member
    return best


_NO_ROWS = np.zeros(0, dtype=np.int32)
_NO_ROWS.setflags(write=False)


def assign_general(request: AssignmentRequest, inputs: StickyInput, line: Line, *, is_cooperative: bool) -> Assignment:
    members, topics = request.members, request.topics
    if len(inputs.row_topic) == 0:
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
    # First the newly assigned partitions, then all; all at once if something must be revoked.
    walks = [] if must_revoke else [shared_rows(state, free)]
    walks.append(shared_rows(state, rows_of(order, topics.first_row)))
    state_then = even_out(state, walks, is_initial=is_initial, is_literal=is_unsound)
    return _answer(request, inputs, state, state_then, is_cooperative=is_cooperative)


def _answer(
    request: AssignmentRequest, inputs: StickyInput, walk_state: State, state: State, *, is_cooperative: bool
) -> Assignment:
    members = request.members
    offsets, rows = flatten(state)
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
    """bool[assigned]: new to its member, and lost by another owner that has to revoke it first."""
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


@kernel
def keep_readable(
    state: State, owned_order: Longs, owned_offsets: Longs, rows: Ints, is_kept: Flags
) -> tuple[Flags, bool]:
    """Taken rows bool[R], and whether anything must be revoked.

    Where racks matter, members keep only what is in their rack.
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
                state.rows[row].owner = member
                continue
            give(state, row, member)
            is_taken[row] = True
    return is_taken, must_revoke


@kernel
def held_twice(state: State) -> Flags:
    is_doubled = np.zeros(len(state.rows), np.bool_)
    for row in range(len(state.rows)):
        holding = state.rows[row].first
        is_doubled[row] = holding != NONE and state.holdings[holding].beside != NONE
    return is_doubled


@kernel
def remember_previous(
    state: State, subscription_order: Longs, owned_offsets: Longs, rows: Ints, generations: Ints, newest: int
) -> None:
    """Each row's holder in the newest older generation; of equal ones the first in walk order."""
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
    """int64[M]: maximum partitions of a member, as Kafka counts them.

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
    group = -1
    for row in free:
        topic = state.rows[row].topic
        if state.topics[topic].alike != group:
            group = state.topics[topic].alike
            fill(state, topic, False)
        if state.marks[HEAP] > 0:
            member = state.heap[0]
            give(state, row, member)
            sift(state, member)


@kernel
def give_out_in_racks(state: State, free: Ints) -> Ints:
    """Each free row goes to the reader with the least in its racks (or without a rack). Return the other rows."""
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
    """Members that could have more, or hold a partition of a topic with another reader."""
    members, marks = state.members, state.marks
    marks[LEAST], marks[MOST] = len(state.with_size), -1
    for member in range(len(members)):
        takes_part = members[member].row_count < members[member].possible
        holding = members[member].head
        while holding != NONE and not takes_part:
            takes_part = state.topics[state.rows[state.holdings[holding].row].topic].readers >= 2
            holding = state.holdings[holding].following
        members[member].takes_part = takes_part
        if takes_part:
            size = members[member].row_count
            state.with_size[size] += 1
            marks[LEAST] = min(marks[LEAST], size)
            marks[MOST] = max(marks[MOST], size)


@kernel
def shared_rows(state: State, rows: Ints) -> Ints:
    kept = np.empty(len(rows), np.int32)
    count = 0
    for row in rows:
        if state.topics[state.rows[row].topic].readers >= 2:
            kept[count] = row
            count += 1
    return kept[:count]


def even_out(state: State, walks: list[Ints], *, is_initial: bool, is_literal: bool) -> State:
    """Walk over each list of rows in turn; restore the start if the last walk moved rows without a better score.

    ``is_literal``: only Kafka's literal questions answer as Java does. Raises EndlessReassignmentError, and
    AssignorError where Java fails.
    """
    state.marks[LITERAL] = is_literal
    before = state if is_initial else replace(state, holdings=state.holdings.copy(), members=state.members.copy())
    is_changed = False
    for rows in walks:
        is_changed = _check_status(rebalance(rows, state)) == CHANGED
    if not is_initial and is_changed and _score(state) >= _score(before):
        return before
    return state


def _check_status(status: int) -> int:
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
    sizes = np.sort(state.members["row_count"][state.members["takes_part"] != 0]).astype(np.int64)
    weights = 2 * np.arange(len(sizes), dtype=np.int64) - len(sizes) + 1
    return int(np.int64((sizes * weights).sum()).astype(np.int32))


def notes_of(state: State, inputs: StickyInput) -> StickyNotes:
    moved = state.rows[state.rows["source"] >= 0]
    return StickyNotes(
        False, inputs.max_generation, moved["topic"].copy(), moved["source"].copy(), moved["target"].copy()
    )


@kernel
def rows_of(order: Longs, first_row: Longs) -> Ints:
    rows = np.empty(first_row[-1], np.int32)
    count = 0
    for topic in order:
        for row in range(first_row[topic], first_row[topic + 1]):
            rows[count] = row
            count += 1
    return rows[:count]
