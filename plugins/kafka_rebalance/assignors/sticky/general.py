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

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment, Withheld
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.sticky.even import evened, notes_of, rows_of
from kafka_rebalance.assignors.sticky.member_lists import flattened
from kafka_rebalance.assignors.sticky.start import (
    choose_who_takes_part,
    give_out,
    give_out_in_racks,
    keep_readable,
    most_possible,
    remember_previous,
    shared_rows,
)
from kafka_rebalance.assignors.sticky.state import State, new_state
from kafka_rebalance.assignors.sticky.sticky_input import StickyFrame, free_rows
from kafka_rebalance.kernels.decorators import kernel

_SLACK = 1


def assign_general(request: AssignmentRequest, frame: StickyFrame, *, is_cooperative: bool) -> Assignment:
    """Raises AssignorError where Java fails, EndlessReassignmentError where it never returns."""
    members, topics = request.members, request.topics
    possible = most_possible(
        members.subscription_offsets, members.subscription_topics, frame.counts, len(frame.topics), frame.total
    )
    state = new_state(request, frame, possible, slack=_SLACK)
    order = frame.topics[np.argsort(state.topics["readers"][frame.topics], kind="stable")]
    is_taken, must_revoke = keep_readable(state, members.owned_offsets, frame.rows, frame.is_kept)
    free = free_rows(order, topics.first_row, is_taken, frame.row_topic, frame.row_partition)
    is_initial = not state.members["size"].any()
    give_out(state, give_out_in_racks(state, free) if frame.racks.is_active else free)
    remember_previous(state, frame.met, members.owned_offsets, frame.rows, frame.generations, frame.max_generation)
    choose_who_takes_part(state)
    # What was given out just now moves first, and everything only then; if something is revoked anyhow, all at once.
    walks = [] if must_revoke else [shared_rows(state, free)]
    walks.append(shared_rows(state, rows_of(order, topics.first_row)))
    holds_ghosts = bool(is_taken[topics.partition_total :].any())
    state_then = evened(state, walks, is_initial=is_initial, is_literal=holds_ghosts)
    return _answer(request, frame, state, state_then, is_cooperative=is_cooperative)


def _answer(
    request: AssignmentRequest, frame: StickyFrame, walked: State, state: State, *, is_cooperative: bool
) -> Assignment:
    """``walked`` knows what has moved, ``state`` who has what in the end."""
    members = request.members
    offsets, rows = flattened(state)
    withheld = Withheld.nothing()
    if is_cooperative:
        waits = waits_for_owners(offsets, rows, members.owned_offsets, frame.rows, len(frame.row_topic))
        takers = np.repeat(np.arange(len(members), dtype=np.int32), np.diff(offsets))
        held = rows[waits]
        withheld = Withheld(frame.row_topic[held], frame.row_partition[held], takers[waits])
        offsets = offsets - np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(waits, dtype=np.int64)))[offsets]
        rows = rows[~waits]
    return Assignment(offsets, frame.row_topic[rows], frame.row_partition[rows], withheld, notes_of(walked, frame))


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
