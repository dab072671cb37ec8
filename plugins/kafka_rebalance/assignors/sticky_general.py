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

from kafka_rebalance.assignors.assignment import Assignment, StickyNotes, Withheld
from kafka_rebalance.assignors.member_lists import MemberLists, flattened
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.sticky_even import balance_of, evened, notes_of, rows_of
from kafka_rebalance.assignors.sticky_frame import StickyFrame, free_rows
from kafka_rebalance.assignors.sticky_start import (
    give_out,
    give_out_in_racks,
    keep_readable,
    most_possible,
    previous_owners,
    shared_rows,
)
from kafka_rebalance.assignors.subscribers import same_readers, subscribers_by_topic

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_SLACK = 1


def assign_general(request: AssignmentRequest, frame: StickyFrame, *, is_cooperative: bool) -> Assignment:
    """Raises AssignorError where Java fails, EndlessReassignmentError where it never returns."""
    members, topics = request.members, request.topics
    subscriptions = (members.subscription_offsets, members.subscription_topics)
    starts, readers = subscribers_by_topic(frame.met, *subscriptions, len(topics), False)
    alike = same_readers(starts, readers)
    order = frame.topics[np.argsort(np.diff(starts)[frame.topics], kind="stable")]
    lists, is_taken, must_revoke = keep_readable(
        *subscriptions, members.owned_offsets, frame.rows, frame.is_kept, frame.row_topic, len(topics),
        frame.racks.member_racks, frame.racks.sets,
    )  # fmt: skip
    free = free_rows(order, topics.first_row, is_taken, frame.row_topic, frame.row_partition)
    is_initial = not lists.sizes.any()
    _give_out(free, lists, frame, (starts, readers, alike))
    possible = most_possible(*subscriptions, frame.counts, len(frame.topics), frame.total)
    total = topics.partition_total
    previous = previous_owners(
        frame.met, members.owned_offsets, frame.rows, frame.generations, frame.max_generation, total
    )
    balance = balance_of(
        request, frame, lists, (starts, readers, alike), possible, previous, slack=_SLACK,
        is_literal=bool(is_taken[total:].any()),
    )  # fmt: skip
    # What was given out just now moves first, and everything only then; if something is revoked anyhow, all at once.
    walks = [] if must_revoke else [shared_rows(free, starts, frame.row_topic)]
    walks.append(shared_rows(rows_of(order, topics.first_row), starts, frame.row_topic))
    lists = evened(balance, walks, is_initial=is_initial)
    return _answer(request, frame, lists, notes_of(balance, frame), is_cooperative=is_cooperative)


def _give_out(free: Ints, lists: MemberLists, frame: StickyFrame, readers: tuple[Longs, Ints, Ints]) -> None:
    """In racks first, where they matter, then to anybody."""
    starts, readers_of, alike = readers
    racks = frame.racks
    if racks.is_active:
        free = give_out_in_racks(
            free, lists, frame.row_topic, starts, readers_of, frame.id_rank, racks.member_racks, racks.sets
        )
    give_out(free, lists, frame.row_topic, starts, readers_of, alike, frame.id_rank)


def _answer(
    request: AssignmentRequest, frame: StickyFrame, lists: MemberLists, notes: StickyNotes, *, is_cooperative: bool
) -> Assignment:
    members = request.members
    offsets, rows = flattened(lists)
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
