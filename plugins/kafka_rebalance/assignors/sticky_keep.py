"""First step of the constrained way: what each member keeps of what it owns, and who still waits for more."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from kafka_rebalance.assignors.pair_sort import sort_pairs
from kafka_rebalance.assignors.racks import has_rack

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]
Codes = npt.NDArray[np.int8]

FILLED, UNDER_LEAST, AT_LEAST = 0, 1, 2
NOBODY = -1


class Quotas(NamedTuple):
    """Everybody gets ``least``; ``expected`` members ``most``, if that is more; ``over`` have it already."""

    least: int
    most: int
    expected: int
    over: int


class Keeping(NamedTuple):
    """Rows kept, member after member: member m keeps ``rows[starts[m] : starts[m] + counts[m]]``.

    ``waiting`` int8[M]: FILLED, UNDER_LEAST or AT_LEAST (and still a candidate for one more); ``was_of`` int32[R]: who
    had to let go of a row, NOBODY if none; ``is_taken`` bool[R].
    """

    rows: Ints
    starts: Longs
    counts: Ints
    waiting: Codes
    was_of: Ints
    is_taken: Flags


@njit(cache=True)
def keep_owned(
    walked: Longs,
    offsets: Longs,
    rows: Ints,
    is_kept: Flags,
    is_contested: Flags,
    row_topic: Ints,
    row_partition: Ints,
    topic_rank: Ints,
    total: int,
    member_racks: Ints,
    sets: Words,
) -> tuple[Keeping, Quotas]:
    """Keep what fits, in the order of ``walked``; the lowest (partition, topic) first."""
    member_count, row_count = len(walked), len(row_topic)
    least, expected, over = total // member_count, total % member_count, 0
    most = least + (expected > 0)
    keep = Keeping(
        np.empty(len(rows), np.int32), np.zeros(member_count, np.int64), np.zeros(member_count, np.int32),
        np.zeros(member_count, np.int8), np.full(row_count, NOBODY, np.int32), np.zeros(row_count, np.bool_),
    )  # fmt: skip
    keys = np.empty(len(rows), np.int64)
    at = 0
    for member in walked:
        owned = _gather(
            member, offsets, rows, is_kept, is_contested, row_topic, row_partition, topic_rank, member_racks, sets,
            keep, keys, at,
        )  # fmt: skip
        quota = least
        if owned < least:
            keep.waiting[member] = UNDER_LEAST
            quota = owned
        elif owned >= most and over < expected:
            over += 1
            quota = most
        elif over < expected:
            keep.waiting[member] = AT_LEAST
        keep.starts[member] = at
        keep.counts[member] = quota
        for i in range(at, at + quota):
            keep.is_taken[keep.rows[i]] = True
        for i in range(at + quota, at + owned):
            keep.was_of[keep.rows[i]] = member
        at += quota
    if over == expected:
        # The last one that may have more has been found: nobody at least is a candidate any longer.
        for member in range(member_count):
            if keep.waiting[member] == AT_LEAST:
                keep.waiting[member] = FILLED
    return keep, Quotas(least, most, expected, over)


@njit(cache=True)
def _gather(
    member: int,
    offsets: Longs,
    rows: Ints,
    is_kept: Flags,
    is_contested: Flags,
    row_topic: Ints,
    row_partition: Ints,
    topic_rank: Ints,
    member_racks: Ints,
    sets: Words,
    keep: Keeping,
    keys: Longs,
    start: int,
) -> int:
    """Put the member's rows, sorted, at ``start`` of ``keep.rows``; how many there are."""
    end, rack = start, member_racks[member]
    for at in range(offsets[member], offsets[member + 1]):
        if not is_kept[at]:
            continue
        row = rows[at]
        if rack >= 0 and (row >= len(sets) or not has_rack(sets[row], rack)):
            keep.was_of[row] = member
            continue
        if is_contested[row]:
            continue
        keys[end] = (np.int64(row_partition[row]) << 32) + topic_rank[row_topic[row]]
        keep.rows[end] = row
        end += 1
    sort_pairs(keys, keep.rows, start, end)
    return end - start
