"""Kafka's sticky assignors: ``sticky`` (eager) and ``cooperative-sticky`` (withholds partitions until revoked).

Promises, in priority order: completeness · balance (counts differ by one at most for equal subscriptions) · owners keep
their partitions. Racks, where they matter, come before stickiness, not before balance. Unequal subscriptions:
``general``.

``sticky`` reads claims and generation from the user data; ``cooperative-sticky`` from the Subscription (old clients:
the generation from the user data).

Constrained way, with N partitions and k members: each gets ⌊N/k⌋ (*least*), and N mod k members one more.
1. Each member, in the order of Java's map, keeps its claims, lowest partitions first (before 3.7.1: in its own
   order), up to its quota: one more than *least* while not enough members have that.
2. Remaining partitions go to members in their racks, scarcest first;
3. then to all below *least* in turn, by id; then one each to members at *least*.

Example: t0 of 5 partitions, A owns 0-4, B joins: A keeps 0-2 (one member has 3), B gets 3 and 4 (cooperative: in the
next round).

Source: ``StickyAssignor``, ``CooperativeStickyAssignor``, ``AbstractStickyAssignor`` (``ConstrainedAssignmentBuilder``)
of kafka-clients 3.0 to 4.4 (``sticky_input.Line``: differences). Stale entries (vanished partitions) act as in Java:
partitions assigned twice, or "No more unfilled consumers to be assigned.". Complexity: O(partitions + owned · log(owned
per member)).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Flags, Ints, Longs
from kafka_assignors.contract import Assignment, AssignmentRequest, StickyNotes, Withheld
from kafka_assignors.errors import AssignorError
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_assignors.orders import ranks_among
from kafka_assignors.racks import has_rack
from kafka_assignors.sticky.general import assign_general
from kafka_assignors.sticky.state import sort_pairs
from kafka_assignors.sticky.sticky_input import (
    NEWEST,
    NONE_DOUBLED,
    OF_3_0_0,
    OF_3_4_0,
    OF_3_4_1,
    OF_3_5_0,
    OF_3_5_2,
    Claims,
    Line,
    StickyInput,
    free_rows,
    sticky_input_of,
)

Words = npt.NDArray[np.uint64]
Codes = npt.NDArray[np.int8]


FILLED, UNDER_LEAST, AT_LEAST = 0, 1, 2
ABSENT = -1


@kernel
def keepable_rows(
    owned_order: Longs, offsets: Longs, rows: Ints, is_kept: Flags, is_contested: Flags, member_racks: Ints, sets: Words
) -> tuple[Longs, Ints, Ints]:
    """Starts int64[M+1] along ``owned_order`` and rows that members may keep; ``was_of`` int32[R].

    Rows with two claims in one generation and, where racks matter, rows of other racks are left out; ``was_of`` is the
    claimant of the latter, else ABSENT.
    """
    starts = np.zeros(len(owned_order) + 1, np.int64)
    listed = np.empty(len(rows), np.int32)
    was_of = np.full(len(is_contested), ABSENT, np.int32)
    count = 0
    for i in range(len(owned_order)):
        member = owned_order[i]
        rack = member_racks[member]
        for at in range(offsets[member], offsets[member + 1]):
            if not is_kept[at]:
                continue
            row = rows[at]
            if rack >= 0 and (row >= len(sets) or not has_rack(sets[row], rack)):
                was_of[row] = member
            elif not is_contested[row]:
                listed[count] = row
                count += 1
        starts[i + 1] = count
    return starts, listed, was_of


@kernel
def sort_lowest_first(starts: Longs, listed: Ints, row_topic: Ints, row_partition: Ints, topic_rank: Ints) -> None:
    keys = np.empty(starts[-1], np.int64)
    for i in range(len(keys)):
        row = listed[i]
        keys[i] = (np.int64(row_partition[row]) << 32) + topic_rank[row_topic[row]]
    for i in range(len(starts) - 1):
        sort_pairs(keys, listed, starts[i], starts[i + 1])


@kernel
def keep_within_quotas(
    owned_order: Longs, starts: Longs, listed: Ints, was_of: Ints, least: int, expected: int
) -> tuple[Ints, Codes, Flags, int]:
    """Kept count int32[M], waiting code int8[M], taken rows bool[R], and the number of members one over ``least``: in
    the order of ``owned_order``, ``least`` each, and one more while fewer than ``expected`` members have that.
    ``was_of`` records the excess.
    """
    counts = np.zeros(len(owned_order), np.int32)
    waiting = np.zeros(len(owned_order), np.int8)
    is_taken = np.zeros(len(was_of), np.bool_)
    over = 0
    for i in range(len(owned_order)):
        member, owned = owned_order[i], starts[i + 1] - starts[i]
        quota = least
        if owned < least:
            waiting[member] = UNDER_LEAST
            quota = owned
        elif over < expected and owned > least:
            over += 1
            quota = least + 1
        elif over < expected:
            waiting[member] = AT_LEAST
        counts[member] = quota
        for at in range(starts[i], starts[i] + quota):
            is_taken[listed[at]] = True
        for at in range(starts[i] + quota, starts[i + 1]):
            was_of[listed[at]] = member
    if over == expected:
        for member in range(len(owned_order)):
            if waiting[member] == AT_LEAST:
                waiting[member] = FILLED
    return counts, waiting, is_taken, over


@kernel
def taken_twice(starts: Longs, counts: Ints, owned_order: Longs, kept: Ints, row_count: int) -> Flags:
    is_taken = np.zeros(row_count, np.bool_)
    is_doubled = np.zeros(row_count, np.bool_)
    for i in range(len(owned_order)):
        for at in range(starts[i], starts[i] + counts[owned_order[i]]):
            is_doubled[kept[at]] = is_taken[kept[at]]
            is_taken[kept[at]] = True
    return is_doubled


DONE, NOBODY_LEFT, TOO_FEW, BELOW_LEAST = 0, 1, 2, 3
_UNDER, _HEAD, _TAIL, _OVER = 0, 1, 2, 3


class Quotas(NamedTuple):
    """``expected`` members get ``most``, ``over`` of them have it already.

    ``counts_in_racks`` 0: members that reach ``most`` while racks are matched are not counted (before 3.7.1).
    """

    least: int
    most: int
    expected: int
    over: int
    counts_in_racks: int


class Waiting(NamedTuple):
    """May take more: ``under[:marks[_UNDER]]`` below least, ``exact[marks[_HEAD]:marks[_TAIL]]`` at least."""

    under: Ints
    exact: Ints
    marks: Longs
    counts: Ints


@kernel
def deal(
    free: Ints, by_id: Longs, counts: Ints, codes: Codes, quotas: Quotas, member_racks: Ints, sets: Words
) -> tuple[int, Ints, Ints]:
    """Status, and rows with their new members in dealing order; ``counts`` and ``codes`` of step 1."""
    waiting = _waiting(by_id, counts, codes)
    waiting.marks[_OVER] = quotas.over
    rows = np.empty(len(free), np.int32)
    members = np.empty(len(free), np.int32)
    left, dealt_count = free, 0
    if len(sets):
        left, dealt_count = _deal_in_racks(free, waiting, quotas, member_racks, sets, rows, members)
    status = _deal_in_turn(left, dealt_count, waiting, quotas, rows, members)
    return status, rows, members


@inner_kernel
def _waiting(by_id: Longs, counts: Ints, codes: Codes) -> Waiting:
    count = len(by_id)
    waiting = Waiting(np.empty(count, np.int32), np.empty(2 * count, np.int32), np.zeros(4, np.int64), counts.copy())
    for member in by_id:
        if codes[member] == UNDER_LEAST:
            waiting.under[waiting.marks[_UNDER]] = member
            waiting.marks[_UNDER] += 1
        elif codes[member] == AT_LEAST:
            waiting.exact[waiting.marks[_TAIL]] = member
            waiting.marks[_TAIL] += 1
    return waiting


@inner_kernel
def _deal_in_racks(
    free: Ints, waiting: Waiting, quotas: Quotas, member_racks: Ints, sets: Words, rows: Ints, members: Ints
) -> tuple[Ints, int]:
    """Rows without a member in their racks, and the number dealt. O(rows · waiting) at worst, as in Java."""
    marks = waiting.marks
    left = np.empty(len(free), np.int32)
    kept, dealt_count, pointer = 0, 0, 0
    for row in free:
        member = -1
        at = _next_in_racks(waiting.under, 0, marks[_UNDER], pointer, member_racks, sets[row])
        if at >= 0:
            member = waiting.under[at]
            pointer = _take_under(at, waiting, quotas)
        else:
            at = _next_in_racks(waiting.exact, marks[_HEAD], marks[_TAIL], 0, member_racks, sets[row])
            if at >= 0:
                member = waiting.exact[at]
                _take_exact(at, waiting, quotas)
        if member < 0:
            left[kept] = row
            kept += 1
            continue
        waiting.counts[member] += 1
        rows[dealt_count] = row
        members[dealt_count] = member
        dealt_count += 1
    return left[:kept], dealt_count


@inner_kernel
def _next_in_racks(queue: Ints, start: int, end: int, pointer: int, member_racks: Ints, racks: Words) -> int:
    for i in range(end - start):
        at = start + (pointer + i) % (end - start)
        rack = member_racks[queue[at]]
        if rack >= 0 and has_rack(racks, rack):
            return at
    return -1


@inner_kernel
def _take_under(at: int, waiting: Waiting, quotas: Quotas) -> int:
    marks, member = waiting.marks, waiting.under[at]
    count = waiting.counts[member] + 1
    if count >= quotas.least:
        marks[_UNDER] -= 1
        for i in range(at, marks[_UNDER]):
            waiting.under[i] = waiting.under[i + 1]
        if count < quotas.most and (marks[_OVER] < quotas.expected or not quotas.counts_in_racks):
            waiting.exact[marks[_TAIL]] = member
            marks[_TAIL] += 1
    else:
        at += 1
    return int(at % marks[_UNDER]) if marks[_UNDER] > 0 else 0


@inner_kernel
def _take_exact(at: int, waiting: Waiting, quotas: Quotas) -> None:
    marks = waiting.marks
    if waiting.counts[waiting.exact[at]] + 1 != quotas.most:
        return
    marks[_TAIL] -= 1
    for i in range(at, marks[_TAIL]):
        waiting.exact[i] = waiting.exact[i + 1]
    if not quotas.counts_in_racks:
        return
    marks[_OVER] += 1
    if marks[_OVER] == quotas.expected:
        marks[_TAIL] = marks[_HEAD]


@inner_kernel
def _deal_in_turn(left: Ints, dealt_count: int, waiting: Waiting, quotas: Quotas, rows: Ints, members: Ints) -> int:
    under, exact, counts = waiting.under, waiting.exact, waiting.counts
    size, head, tail, over = waiting.marks[0], waiting.marks[1], waiting.marks[2], waiting.marks[3]
    reading, kept = 0, 0
    for row in left:
        if reading == size:
            size, reading, kept = kept, 0, 0
        is_under = reading < size
        if is_under:
            member = under[reading]
            reading += 1
        elif head == tail:
            return NOBODY_LEFT
        else:
            member = exact[head]
            head += 1
        counts[member] += 1
        rows[dealt_count] = row
        members[dealt_count] = member
        dealt_count += 1
        if is_under and counts[member] == quotas.least:
            exact[tail] = member
            tail += 1
            continue
        over += counts[member] == quotas.most
        if is_under:
            under[kept] = member
            kept += 1
    status: int = _verdict(under, kept, reading, size, over, quotas, counts)
    return status


@inner_kernel
def _verdict(under: Ints, kept: int, reading: int, size: int, over: int, quotas: Quotas, counts: Ints) -> int:
    if kept + size - reading == 0:
        return DONE
    if over != quotas.expected:
        return TOO_FEW
    for i in range(size):
        if (i < kept or i >= reading) and counts[under[i]] != quotas.least:
            return BELOW_LEAST
    return DONE


_REFUSALS = {
    NOBODY_LEFT: "No more unfilled consumers to be assigned.",
    TOO_FEW: "We haven't reached the expected number of members with more than the minQuota partitions, but no more "
    "partitions to be assigned",
    BELOW_LEAST: "A consumer doesn't reach minQuota partitions, and no more partitions to be assigned",
}


def assign_constrained(
    request: AssignmentRequest, inputs: StickyInput, line: Line, *, is_cooperative: bool
) -> Assignment:
    """Raises AssignorError as Java does."""
    members, topics, racks = request.members, request.topics, inputs.racks
    if len(members) == 0:
        raise AssignorError("java.lang.ArithmeticException", "/ by zero")
    starts, kept, was_of = keepable_rows(
        inputs.owned_order, members.owned_offsets, inputs.rows, inputs.is_kept, inputs.is_contested, racks.member_racks,
        racks.sets,
    )  # fmt: skip
    if racks.is_active and not line.withholds_from_other_racks:
        was_of.fill(ABSENT)
    if line.keeps_lowest and inputs.has_owners:
        rank = ranks_among(inputs.topics, len(topics))
        sort_lowest_first(starts, kept, inputs.row_topic, inputs.row_partition, rank)
    least, expected = divmod(inputs.total, len(members))
    counts, waiting, is_taken, over = keep_within_quotas(inputs.owned_order, starts, kept, was_of, least, expected)
    is_doubled = NONE_DOUBLED
    if line.claims is Claims.BY_LAST_CLAIM:
        is_doubled = taken_twice(starts, counts, inputs.owned_order, kept, len(is_taken))
    free = free_rows(inputs.topics, topics.first_row, is_taken, inputs.row_topic, inputs.row_partition, is_doubled)
    if racks.is_active:
        free = free[np.argsort(racks.readers[free], kind="stable")]
    quotas = Quotas(least, least + (expected > 0), expected, over, int(line.counts_in_racks))
    status, rows, receivers = deal(free, inputs.by_id, counts, waiting, quotas, racks.member_racks, racks.sets)
    if status != DONE:
        raise AssignorError("java.lang.IllegalStateException", _REFUSALS[status])
    waits = waits_for_owner(rows, receivers, was_of, inputs.is_contested, is_cooperative)
    offsets, listed = joined_lists(inputs.owned_order, starts, counts, kept, rows, receivers, waits)
    nothing = np.zeros(0, dtype=np.int32)
    withheld = Withheld(nothing, nothing, nothing)
    if is_cooperative and inputs.has_owners:
        held = rows[waits]
        withheld = Withheld(inputs.row_topic[held], inputs.row_partition[held], receivers[waits])
    return Assignment(
        offsets,
        inputs.row_topic[listed],
        inputs.row_partition[listed],
        withheld,
        StickyNotes(True, inputs.max_generation, nothing, nothing, nothing),
    )


@kernel
def waits_for_owner(rows: Ints, receivers: Ints, was_of: Ints, is_contested: Flags, is_cooperative: bool) -> Flags:  # noqa: FBT001
    waits = np.zeros(len(rows), np.bool_)
    if is_cooperative:
        for i in range(len(rows)):
            owner = was_of[rows[i]]
            waits[i] = is_contested[rows[i]] or (owner >= 0 and owner != receivers[i])
    return waits


@kernel
def joined_lists(
    owned_order: Longs, starts: Longs, counts: Ints, kept: Ints, rows: Ints, receivers: Ints, waits: Flags
) -> tuple[Longs, Ints]:
    member_count = len(counts)
    offsets = np.zeros(member_count + 1, np.int64)
    for member in range(member_count):
        offsets[member + 1] = counts[member]
    for i in range(len(rows)):
        if not waits[i]:
            offsets[receivers[i] + 1] += 1
    for member in range(member_count):
        offsets[member + 1] += offsets[member]
    listed = np.empty(offsets[-1], np.int32)
    fill = np.empty(member_count, np.int64)
    for i in range(member_count):
        member = owned_order[i]
        at = offsets[member]
        for k in range(starts[i], starts[i] + counts[member]):
            listed[at] = kept[k]
            at += 1
        fill[member] = at
    for i in range(len(rows)):
        if not waits[i]:
            listed[fill[receivers[i]]] = rows[i]
            fill[receivers[i]] += 1
    return offsets, listed


@dataclass(frozen=True, slots=True)
class StickyAssignor:
    name: str = "sticky"
    versions: str = "Kafka 3.7.1 – 4.4"
    line: Line = NEWEST

    def assign(self, request: AssignmentRequest) -> Assignment:
        inputs = sticky_input_of(request, request.members.data_generations, self.line)
        return _assign(request, inputs, self.line, is_cooperative=False)


@dataclass(frozen=True, slots=True)
class CooperativeStickyAssignor:
    name: str = "cooperative-sticky"
    versions: str = "Kafka 3.7.1 – 4.4"
    line: Line = NEWEST

    def assign(self, request: AssignmentRequest) -> Assignment:
        members = request.members
        generations = members.data_generations
        if self.line.reads_subscription_generation:
            generations = np.where(members.generations >= 0, members.generations, generations)
            generations.setflags(write=False)
        inputs = sticky_input_of(request, generations, self.line)
        return _assign(request, inputs, self.line, is_cooperative=True)


def _assign(request: AssignmentRequest, inputs: StickyInput, line: Line, *, is_cooperative: bool) -> Assignment:
    way = assign_constrained if inputs.is_equal else assign_general
    return way(request, inputs, line, is_cooperative=is_cooperative)


# By the first release of each line.
sticky_of_3_5_2 = partial(StickyAssignor, line=OF_3_5_2)
sticky_of_3_5_0 = partial(StickyAssignor, line=OF_3_5_0)
sticky_of_3_4_1 = partial(StickyAssignor, line=OF_3_4_1)
sticky_of_3_0_0 = partial(StickyAssignor, line=OF_3_0_0)
cooperative_of_3_5_2 = partial(CooperativeStickyAssignor, line=OF_3_5_2)
cooperative_of_3_5_0 = partial(CooperativeStickyAssignor, line=OF_3_5_0)
cooperative_of_3_4_1 = partial(CooperativeStickyAssignor, line=OF_3_4_1)
cooperative_of_3_4_0 = partial(CooperativeStickyAssignor, line=OF_3_4_0)
cooperative_of_3_0_0 = partial(CooperativeStickyAssignor, line=OF_3_0_0)
