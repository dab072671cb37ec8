"""Sticky with equal subscriptions, 2.5.1 to 2.8.2: whoever has too few takes the first partition of one at the most.

Promises: counts differ by one at most · what fits stays. But any number of members may keep the most that one may have,
so that others come too short and take from them ("swap"): more moves than needed, mended in 3.0.

Example: t of 4 partitions; A owns 0 and 1, B owns 2 and 3, C joins. Least 1, most 2: A and B both keep two, nothing is
free, and C takes A's *first*, t-0.

With fewer partitions than members (least 0) nobody is below least, and a fresh group deals in the order of Java's map
of member ids. Cooperatively everything taken is withheld, and everything given that had been cut from anybody, even
where the receiver is the one that owned it.
Source: ``AbstractStickyAssignor.constrainedAssign``, 2.7.2 and 2.8.2. Complexity: O(partitions + owned).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment, StickyNotes, Withheld
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.sticky.general import rows_of
from kafka_rebalance.assignors.sticky.sticky_input import StickyInput
from kafka_rebalance.errors import AssignorError
from kafka_rebalance.kernels.decorators import inner_kernel, kernel

_REFUSAL = "Some partitions are unassigned but all consumers are at maximum capacity"
_NOBODY = -1


def assign_swap(
    request: AssignmentRequest, inputs: StickyInput, generations: Ints, *, voids_doubles: bool, is_cooperative: bool
) -> Assignment:
    """``voids_doubles``: what two members claim nobody keeps (2.8.1 on), else both. Raises AssignorError as Java."""
    members = request.members
    starts, listed, must_move = newest_claims(
        members.owned_offsets, inputs.rows, len(inputs.row_topic), generations, voids_doubles
    )
    least, over = divmod(inputs.total, len(members)) if len(members) else (0, 0)
    quotas = (least, least + (over > 0))
    in_order = rows_of(inputs.topics, request.topics.first_row)
    is_dealt, heads, counts, lists, receiver = swap(
        inputs.owned_order, inputs.by_id, (starts, listed), in_order, quotas, must_move
    )
    if not is_dealt:
        raise AssignorError("java.lang.IllegalStateException", _REFUSAL)
    if not is_cooperative:
        receiver = receiver[:0]
    offsets, rows, held = without_withheld(heads, counts, lists, receiver)
    return Assignment(
        offsets,
        inputs.row_topic[rows],
        inputs.row_partition[rows],
        Withheld(inputs.row_topic[held], inputs.row_partition[held], receiver[held]),
        StickyNotes.of_way(is_constrained=True),
    )


@kernel
def newest_claims(
    offsets: Longs,
    rows: Ints,
    row_count: int,
    generations: Ints,
    voids_doubles: bool,  # noqa: FBT001
) -> tuple[Longs, Ints, Flags]:
    """Starts int64[M+1] and rows that members of the newest generation own, in their own order; rows claimed twice.

    A member without a generation counts as long as nobody has one.
    """
    newest = np.int32(-1)
    for generation in generations:
        newest = max(newest, generation)
    claims = _claims_in(newest, offsets, rows, row_count, generations)
    is_contested = np.zeros(row_count, np.bool_)
    if voids_doubles:
        for row in range(row_count):
            is_contested[row] = claims[row] > 1
    starts = np.zeros(len(offsets), np.int64)
    listed = np.empty(len(rows), np.int32)
    count = 0
    for member in range(len(generations)):
        if generations[member] == newest:
            for at in range(offsets[member], offsets[member + 1]):
                if rows[at] >= 0 and not is_contested[rows[at]]:
                    listed[count] = rows[at]
                    count += 1
        starts[member + 1] = count
    return starts, listed[:count], is_contested


@inner_kernel
def _claims_in(newest: int, offsets: Longs, rows: Ints, row_count: int, generations: Ints) -> Ints:
    claims = np.zeros(row_count, np.int32)
    for member in range(len(generations)):
        if generations[member] == newest:
            for at in range(offsets[member], offsets[member + 1]):
                if rows[at] >= 0:
                    claims[rows[at]] += 1
    return claims


class _Dealing(NamedTuple):
    """Member m's list: ``lists[heads[m] : heads[m] + counts[m]]``. Queues of members at least and at most, and where
    each begins and ends (``ends``); who may have to wait for a row (``receiver``, NOBODY); rows that nobody has yet.
    """

    heads: Longs
    counts: Longs
    lists: Ints
    at_least: Ints
    at_most: Ints
    ends: Longs
    receiver: Ints
    is_taken: Flags


# Places in _Dealing.ends.
_LEAST_HEAD, _LEAST_TAIL, _MOST_HEAD, _MOST_TAIL, _FREE = range(5)


@kernel
def swap(
    owned_order: Longs,
    by_id: Longs,
    owned: tuple[Longs, Ints],
    in_order: Ints,
    quotas: tuple[int, int],
    must_move: Flags,
) -> tuple[bool, Longs, Longs, Ints, Ints]:
    """Whether everything was dealt; where each list begins, how long it is, all lists; who may have to wait for a row.

    ``owned``: starts and rows of each member. ``in_order``: all rows as they are dealt. ``must_move`` bool[R]: rows
    that count as moving whoever gets them; those that are cut from somebody are added.
    """
    least, most = quotas
    dealing = _nothing_dealt(len(owned_order), most, len(must_move))
    ends = dealing.ends
    for member in owned_order:
        _keep(member, owned, most, dealing, must_move)
        if dealing.counts[member] == least:
            _join_at_least(member, dealing)
        if dealing.counts[member] == most:
            dealing.at_most[ends[_MOST_TAIL]] = member
            ends[_MOST_TAIL] += 1
    under, under_count = _fill_up(by_id, in_order, least, dealing, must_move)
    for member in under[:under_count]:
        # All partitions are in lists, so these hold k · least or more: as many are over it as others miss.
        while dealing.counts[member] < least:
            loser = dealing.at_most[ends[_MOST_HEAD]]
            ends[_MOST_HEAD] += 1
            row = dealing.lists[dealing.heads[loser]]
            dealing.heads[loser] += 1
            dealing.counts[loser] -= 1
            _give(row, member, dealing)
            dealing.receiver[row] = member
        _join_at_least(member, dealing)
    while _find_free(in_order, dealing):
        if ends[_LEAST_HEAD] == ends[_LEAST_TAIL]:
            return False, dealing.heads, dealing.counts, dealing.lists, dealing.receiver
        member = dealing.at_least[ends[_LEAST_HEAD]]
        ends[_LEAST_HEAD] += 1
        _give_free(in_order, member, dealing, must_move)
    return True, dealing.heads, dealing.counts, dealing.lists, dealing.receiver


@inner_kernel
def _nothing_dealt(member_count: int, most: int, row_count: int) -> _Dealing:
    # Room for one beyond the most, where vanished partitions count, and one taken away in front.
    stride = most + 2
    return _Dealing(
        np.arange(member_count) * stride,
        np.zeros(member_count, np.int64),
        np.empty(member_count * stride, np.int32),
        np.empty(2 * member_count, np.int32),
        np.empty(member_count, np.int32),
        np.zeros(5, np.int64),
        np.full(row_count, _NOBODY, np.int32),
        np.zeros(row_count, np.bool_),
    )


@inner_kernel
def _fill_up(by_id: Longs, in_order: Ints, least: int, dealing: _Dealing, must_move: Flags) -> tuple[Ints, int]:
    """Round after round one each to those below least; who is left below it when nothing is free any more."""
    under = np.empty(len(by_id), np.int32)
    count = 0
    for member in by_id:
        if dealing.counts[member] < least:
            under[count] = member
            count += 1
    while count > 0 and _find_free(in_order, dealing):
        kept = 0
        for i in range(count):
            member = under[i]
            if _find_free(in_order, dealing):
                _give_free(in_order, member, dealing, must_move)
                if dealing.counts[member] == least:
                    _join_at_least(member, dealing)
                    continue
            under[kept] = member
            kept += 1
        count = kept
    return under, count


@inner_kernel
def _keep(member: int, owned: tuple[Longs, Ints], most: int, dealing: _Dealing, must_move: Flags) -> None:
    """The member keeps the first ``most`` of its rows and is cut of the others."""
    starts, listed = owned
    for at in range(starts[member], starts[member + 1]):
        row = listed[at]
        if at - starts[member] < most:
            _give(row, member, dealing)
        else:
            must_move[row] = True


@inner_kernel
def _find_free(in_order: Ints, dealing: _Dealing) -> bool:
    """Move on to the next row that nobody has; whether there is one."""
    at = dealing.ends[_FREE]
    while at < len(in_order) and dealing.is_taken[in_order[at]]:
        at += 1
    dealing.ends[_FREE] = at
    return bool(at < len(in_order))


@inner_kernel
def _give_free(in_order: Ints, member: int, dealing: _Dealing, must_move: Flags) -> None:
    row = in_order[dealing.ends[_FREE]]
    _give(row, member, dealing)
    if must_move[row]:
        dealing.receiver[row] = member


@inner_kernel
def _give(row: int, member: int, dealing: _Dealing) -> None:
    dealing.lists[dealing.heads[member] + dealing.counts[member]] = row
    dealing.counts[member] += 1
    dealing.is_taken[row] = True


@inner_kernel
def _join_at_least(member: int, dealing: _Dealing) -> None:
    dealing.at_least[dealing.ends[_LEAST_TAIL]] = member
    dealing.ends[_LEAST_TAIL] += 1


@kernel
def without_withheld(heads: Longs, counts: Longs, lists: Ints, receiver: Ints) -> tuple[Longs, Ints, Ints]:
    """Offsets and rows of each member's list, and rows withheld: of a list the first place of a row it waits for."""
    offsets = np.zeros(len(heads) + 1, np.int64)
    rows = np.empty(counts.sum(), np.int32)
    held = np.empty(len(rows), np.int32)
    is_held = np.zeros(len(receiver), np.bool_)
    count, held_count = 0, 0
    for member in range(len(heads)):
        for at in range(heads[member], heads[member] + counts[member]):
            row = lists[at]
            if len(receiver) and receiver[row] == member and not is_held[row]:
                is_held[row] = True
                held[held_count] = row
                held_count += 1
            else:
                rows[count] = row
                count += 1
        offsets[member + 1] = count
    return offsets, rows[:count], held[:held_count]
