"""Sticky with equal subscriptions: everybody keeps what fits the quota, the rest is dealt round.

With N partitions and k members everybody gets ⌊N/k⌋ (*least*), and N mod k members one more.
1. Each member, as Java's map meets it, keeps what it owns, lowest partitions first, up to its quota: one more than
   *least* while not enough members have that. 2. What nobody keeps goes to members of its racks, scarcest first;
3. then to all below *least* in turn, by id; then one each to members at *least*.

Example: t0 of 5 partitions, A owns 0-4, B joins: A keeps 0-2 (one member has 3), B gets 3 and 4; cooperatively B gets
nothing until A has given them up.

Source: ``AbstractStickyAssignor.ConstrainedAssignmentBuilder``, 2.6 to 4.3, with what it does on ghosts (partitions
that no longer exist): partitions assigned twice, or "No more unfilled consumers to be assigned.".
Complexity: O(partitions + owned · log(owned per member)).
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment, StickyNotes, Withheld
from kafka_rebalance.assignors.orders import ranks_among
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.sticky.deal import (
    BELOW_LEAST,
    DONE,
    NOBODY_LEFT,
    TOO_FEW,
    Quotas,
    deal,
)
from kafka_rebalance.assignors.sticky.keep import keep_within_quotas, keepable_rows, sort_lowest_first
from kafka_rebalance.assignors.sticky.sticky_input import StickyFrame, free_rows
from kafka_rebalance.errors import AssignorError
from kafka_rebalance.kernels.decorators import kernel

_REFUSALS = {
    NOBODY_LEFT: "No more unfilled consumers to be assigned.",
    TOO_FEW: "We haven't reached the expected number of members with more than the minQuota partitions, but no more "
    "partitions to be assigned",
    BELOW_LEAST: "A consumer doesn't reach minQuota partitions, and no more partitions to be assigned",
}


def assign_constrained(request: AssignmentRequest, frame: StickyFrame, *, is_cooperative: bool) -> Assignment:
    """Raises AssignorError as Java does: no members, or more partitions left than members that may take them."""
    members, topics, racks = request.members, request.topics, frame.racks
    if len(members) == 0:
        raise AssignorError("java.lang.ArithmeticException", "/ by zero")
    starts, kept, was_of = keepable_rows(
        frame.walked, members.owned_offsets, frame.rows, frame.is_kept, frame.is_contested, racks.member_racks,
        racks.sets,
    )  # fmt: skip
    rank = ranks_among(frame.topics, len(topics))
    sort_lowest_first(starts, kept, frame.row_topic, frame.row_partition, rank)
    least, expected = divmod(frame.total, len(members))
    counts, waiting, is_taken, over = keep_within_quotas(frame.walked, starts, kept, was_of, least, expected)
    free = free_rows(frame.topics, topics.first_row, is_taken, frame.row_topic, frame.row_partition)
    if racks.is_active:
        free = free[np.argsort(racks.readers[free], kind="stable")]
    quotas = Quotas(least, least + (expected > 0), expected, over)
    status, rows, takers = deal(free, frame.by_id, counts, waiting, quotas, racks.member_racks, racks.sets)
    if status != DONE:
        raise AssignorError("java.lang.IllegalStateException", _REFUSALS[status])
    waits = waits_for_owner(rows, takers, was_of, frame.is_contested, is_cooperative)
    offsets, listed = joined_lists(frame.walked, starts, counts, kept, rows, takers, waits)
    nothing, held = np.zeros(0, dtype=np.int32), rows[waits]
    return Assignment(
        offsets,
        frame.row_topic[listed],
        frame.row_partition[listed],
        Withheld(frame.row_topic[held], frame.row_partition[held], takers[waits]),
        StickyNotes(True, frame.max_generation, nothing, nothing, nothing),
    )


@kernel
def waits_for_owner(rows: Ints, takers: Ints, was_of: Ints, is_contested: Flags, is_cooperative: bool) -> Flags:  # noqa: FBT001
    """bool[new]: the row must be given up by another member before the taker may have it."""
    waits = np.zeros(len(rows), np.bool_)
    if is_cooperative:
        for i in range(len(rows)):
            owner = was_of[rows[i]]
            waits[i] = is_contested[rows[i]] or (owner >= 0 and owner != takers[i])
    return waits


@kernel
def joined_lists(
    walked: Longs, starts: Longs, counts: Ints, kept: Ints, rows: Ints, takers: Ints, waits: Flags
) -> tuple[Longs, Ints]:
    """Offsets int64[M+1] and rows of each member's list: what it keeps, then what it is given."""
    member_count = len(counts)
    offsets = np.zeros(member_count + 1, np.int64)
    for member in range(member_count):
        offsets[member + 1] = counts[member]
    for i in range(len(rows)):
        if not waits[i]:
            offsets[takers[i] + 1] += 1
    for member in range(member_count):
        offsets[member + 1] += offsets[member]
    listed = np.empty(offsets[-1], np.int32)
    fill = np.empty(member_count, np.int64)
    for i in range(member_count):
        member = walked[i]
        at = offsets[member]
        for k in range(starts[i], starts[i] + counts[member]):
            listed[at] = kept[k]
            at += 1
        fill[member] = at
    for i in range(len(rows)):
        if not waits[i]:
            listed[fill[takers[i]]] = rows[i]
            fill[takers[i]] += 1
    return offsets, listed
