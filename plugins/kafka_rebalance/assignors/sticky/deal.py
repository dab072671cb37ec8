"""Second step of the constrained way: deal what nobody keeps, in racks first, then to everybody in turn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.assignors.racks import has_rack
from kafka_rebalance.assignors.sticky.keep import AT_LEAST, UNDER_LEAST
from kafka_rebalance.kernels.decorators import inner_kernel, kernel

Words = npt.NDArray[np.uint64]
Codes = npt.NDArray[np.int8]

DONE, NOBODY_LEFT, TOO_FEW, BELOW_LEAST = 0, 1, 2, 3
# Places in Waiting.marks.
_UNDER, _HEAD, _TAIL, _OVER = 0, 1, 2, 3


class Quotas(NamedTuple):
    """Everybody gets ``least``; ``expected`` members ``most``, if that is more; ``over`` have it already."""

    least: int
    most: int
    expected: int
    over: int


class Waiting(NamedTuple):
    """Who may take more: ``under[:marks[_UNDER]]`` below least, ``exact[marks[_HEAD]:marks[_TAIL]]`` at least."""

    under: Ints
    exact: Ints
    marks: Longs
    counts: Ints


@kernel
def deal(
    free: Ints, by_id: Longs, counts: Ints, codes: Codes, quotas: Quotas, member_racks: Ints, sets: Words
) -> tuple[int, Ints, Ints]:
    """Status, and rows with their new members in the order in which they are given.

    ``counts`` and ``codes``: how many each keeps, and whether it waits for more (``sticky_keep``).
    """
    waiting = _waiting(by_id, counts, codes)
    waiting.marks[_OVER] = quotas.over
    rows = np.empty(len(free), np.int32)
    members = np.empty(len(free), np.int32)
    left, given = free, 0
    if len(sets):
        left, given = _deal_in_racks(free, waiting, quotas, member_racks, sets, rows, members)
    status = _deal_in_turn(left, given, waiting, quotas, rows, members)
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
    """What nobody of its racks could take, and how many were given. O(rows · waiting) at worst, as in Java."""
    marks = waiting.marks
    left = np.empty(len(free), np.int32)
    kept, given, pointer = 0, 0, 0
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
        rows[given] = row
        members[given] = member
        given += 1
    return left[:kept], given


@inner_kernel
def _next_in_racks(queue: Ints, start: int, end: int, pointer: int, member_racks: Ints, racks: Words) -> int:
    """Place of the first member of these racks, from ``start + pointer`` on and round; −1 for none."""
    for i in range(end - start):
        at = start + (pointer + i) % (end - start)
        rack = member_racks[queue[at]]
        if rack >= 0 and has_rack(racks, rack):
            return at
    return -1


@inner_kernel
def _take_under(at: int, waiting: Waiting, quotas: Quotas) -> int:
    """The member at ``at`` takes one more; where the search goes on."""
    marks, member = waiting.marks, waiting.under[at]
    count = waiting.counts[member] + 1
    if count >= quotas.least:
        marks[_UNDER] -= 1
        for i in range(at, marks[_UNDER]):
            waiting.under[i] = waiting.under[i + 1]
        if count < quotas.most and marks[_OVER] < quotas.expected:
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
    marks[_OVER] += 1
    if marks[_OVER] == quotas.expected:
        marks[_TAIL] = marks[_HEAD]


@inner_kernel
def _deal_in_turn(left: Ints, given: int, waiting: Waiting, quotas: Quotas, rows: Ints, members: Ints) -> int:
    """Round after round to those below least, each leaving when there; then one each to those at least."""
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
        rows[given] = row
        members[given] = member
        given += 1
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
    """Java's own check of who is still below least: ``under[:kept]`` and ``under[reading:size]``."""
    if kept + size - reading == 0:
        return DONE
    if over != quotas.expected:
        return TOO_FEW
    for i in range(size):
        if (i < kept or i >= reading) and counts[under[i]] != quotas.least:
            return BELOW_LEAST
    return DONE
