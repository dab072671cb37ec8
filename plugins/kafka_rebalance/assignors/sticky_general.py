"""Sticky with unequal subscriptions: keep what may be kept, give out the rest, then even out.

Promises, in this order: completeness (of topics somebody reads) · as balanced as single moves reach, unless that would
improve nothing · partitions stay where they are · a partition returns to whom it was taken from in an older generation
(there Kafka does not ask whether that member still subscribes to the topic).

Example: t0, t1, t2 of 1 partition; A reads t0, B t0 and t1, C all: A t0-0, B t1-0, C t2-0 (round robin: C gets two).

Source: ``AbstractStickyAssignor.GeneralAssignmentBuilder``, 2.4 to 4.3. It can loop for ever on valid input
(``partition_movements``): EndlessReassignmentError. Complexity: O(walks · (partitions + Σ readers of a topic) + moves ·
log(members)), where Java pays O(partitions) and more for each partition of each walk.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from kafka_rebalance.assignors import partition_movements as book
from kafka_rebalance.assignors.assignment import Assignment, StickyNotes, Withheld
from kafka_rebalance.assignors.least_loaded import new_heap
from kafka_rebalance.assignors.member_lists import MemberLists, copied, flattened
from kafka_rebalance.assignors.orders import ranks_of
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.sticky_balance import CHANGED, ENDLESS, NO_MEMBER, NULL_POINTER, Balance, rebalance
from kafka_rebalance.assignors.sticky_frame import StickyFrame, free_rows
from kafka_rebalance.assignors.sticky_literal import LiteralView
from kafka_rebalance.assignors.sticky_start import (
    give_out,
    give_out_in_racks,
    keep_readable,
    most_possible,
    previous_owners,
    shared_rows,
    who_takes_part,
)
from kafka_rebalance.assignors.subscribers import same_readers, subscribers_by_topic
from kafka_rebalance.errors import AssignorError, EndlessReassignmentError
from kafka_rebalance.java.strings import hash_codes

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def assign_general(request: AssignmentRequest, frame: StickyFrame, *, is_cooperative: bool) -> Assignment:
    """Raises AssignorError where Java fails, EndlessReassignmentError where it never returns."""
    members, topics = request.members, request.topics
    subscriptions = (members.subscription_offsets, members.subscription_topics)
    starts, readers = subscribers_by_topic(frame.met, *subscriptions, len(topics), False)
    by_readers = frame.topics[np.argsort(np.diff(starts)[frame.topics], kind="stable")]
    lists, is_taken, must_revoke = keep_readable(
        *subscriptions, members.owned_offsets, frame.rows, frame.is_kept, frame.row_topic, len(topics),
        frame.racks.member_racks, frame.racks.sets,
    )  # fmt: skip
    free = free_rows(by_readers, topics.first_row, is_taken, frame.row_topic, frame.row_partition)
    is_initial = not lists.sizes.any()
    _give_out(free, lists, frame, starts, readers)
    balance = _balance(request, frame, lists, starts, readers, bool(is_taken[topics.partition_total :].any()))
    lists = _evened(balance, free, by_readers, must_revoke=must_revoke, is_initial=is_initial)
    return _answer(request, frame, lists, balance, is_cooperative=is_cooperative)


def _give_out(free: Ints, lists: MemberLists, frame: StickyFrame, starts: Longs, readers: Ints) -> None:
    """In racks first, where they matter, then to anybody."""
    racks = frame.racks
    if racks.is_active:
        free = give_out_in_racks(
            free, lists, frame.row_topic, starts, readers, frame.id_rank, racks.member_racks, racks.sets
        )
    give_out(free, lists, frame.row_topic, starts, readers, frame.id_rank)


def _balance(
    request: AssignmentRequest,
    frame: StickyFrame,
    lists: MemberLists,
    starts: Longs,
    readers: Ints,
    has_ghosts: bool,  # noqa: FBT001
) -> Balance:
    """The state that the walks work on."""
    members, topics = request.members, request.topics
    possible = most_possible(
        members.subscription_offsets, members.subscription_topics, frame.counts, len(frame.topics), frame.total
    )
    takes_part = who_takes_part(lists, possible, starts, frame.row_topic)
    sizes = lists.sizes[takes_part]
    with_size = np.zeros(2 * len(frame.row_topic) + 2, dtype=np.int32)
    with_size[: int(sizes.max(initial=0)) + 1] = np.bincount(sizes, minlength=1)
    marks = np.array([sizes.min(initial=2**31 - 1), sizes.max(initial=-1), -1, -1, 0], dtype=np.int64)
    previous = previous_owners(
        frame.met, members.owned_offsets, frame.rows, frame.generations, frame.max_generation, topics.partition_total
    )
    hashes = hash_codes(topics.names.data, topics.names.offsets)
    view = LiteralView(
        members.subscription_offsets, members.subscription_topics, frame.counts, topics.first_row,
        frame.racks.member_racks, frame.racks.sets, ranks_of(frame.walked),
    )  # fmt: skip
    return Balance(
        lists=lists, movements=book.no_movements(topics.first_row, hashes), least=new_heap(len(members)),
        starts=starts, readers=readers, alike=same_readers(starts, readers),
        shared=frame.topics[np.diff(starts)[frame.topics] >= 2], first_row=topics.first_row, row_topic=frame.row_topic,
        takes_part=takes_part, possible=possible, previous=previous, id_rank=frame.id_rank, with_size=with_size,
        marks=marks, has_ghosts=has_ghosts, literal=view,
    )  # fmt: skip


def _evened(balance: Balance, free: Ints, order: Longs, *, must_revoke: bool, is_initial: bool) -> MemberLists:
    """Move first only what was given out just now, then anything; go back if that has improved nothing."""
    before = balance.lists if is_initial else copied(balance.lists)
    every = shared_rows(rows_of(order, balance.first_row), balance.starts, balance.row_topic)
    if not must_revoke:
        _checked(rebalance(shared_rows(free, balance.starts, balance.row_topic), balance))
    is_changed = _checked(rebalance(every, balance)) == CHANGED
    if not is_initial and is_changed and _score(balance.lists, balance) >= _score(before, balance):
        return before
    return balance.lists


def _checked(status: int) -> int:
    if status == ENDLESS:
        raise EndlessReassignmentError
    if status == NULL_POINTER:
        raise AssignorError("java.lang.NullPointerException", "a member that is left out of balancing is asked for")
    if status == NO_MEMBER:
        raise AssignorError("java.util.NoSuchElementException", "no member takes part in balancing")
    return status


@njit(cache=True)
def rows_of(order: Longs, first_row: Longs) -> Ints:
    """All rows, topics in ``order``."""
    rows = np.empty(first_row[-1], np.int32)
    count = 0
    for topic in order:
        for row in range(first_row[topic], first_row[topic + 1]):
            rows[count] = row
            count += 1
    return rows[:count]


def _score(lists: MemberLists, balance: Balance) -> int:
    """``getBalanceScore``: differences of all pairs of members that take part, in Java's int."""
    sizes = np.sort(lists.sizes[balance.takes_part]).astype(np.int64)
    weights = 2 * np.arange(len(sizes), dtype=np.int64) - len(sizes) + 1
    return int(np.int64((sizes * weights).sum()).astype(np.int32))


def _answer(
    request: AssignmentRequest, frame: StickyFrame, lists: MemberLists, balance: Balance, *, is_cooperative: bool
) -> Assignment:
    members = request.members
    offsets, rows = flattened(lists)
    movements = balance.movements
    moved = np.flatnonzero(movements.source >= 0)
    notes = StickyNotes(
        False, frame.max_generation, frame.row_topic[moved], movements.source[moved], movements.target[moved]
    )
    withheld = Withheld.nothing()
    if is_cooperative:
        waits = waits_for_owners(offsets, rows, members.owned_offsets, frame.rows, len(frame.row_topic))
        takers = np.repeat(np.arange(len(members), dtype=np.int32), np.diff(offsets))
        held = rows[waits]
        withheld = Withheld(frame.row_topic[held], frame.row_partition[held], takers[waits])
        offsets = offsets - np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(waits)))[offsets]
        rows = rows[~waits]
    return Assignment(offsets, frame.row_topic[rows], frame.row_partition[rows], withheld, notes)


@njit(cache=True)
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
