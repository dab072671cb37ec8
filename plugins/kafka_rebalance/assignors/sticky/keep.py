"""First step of the constrained way: what each member keeps of what it owns, and who still waits for more."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.assignors.racks import has_rack
from kafka_rebalance.assignors.sticky.pair_sort import sort_pairs
from kafka_rebalance.kernels.decorators import kernel

Words = npt.NDArray[np.uint64]
Codes = npt.NDArray[np.int8]

FILLED, UNDER_LEAST, AT_LEAST = 0, 1, 2
NOBODY = -1


@kernel
def keepable_rows(
    walked: Longs, offsets: Longs, rows: Ints, is_kept: Flags, is_contested: Flags, member_racks: Ints, sets: Words
) -> tuple[Longs, Ints, Ints]:
    """Starts int64[M+1] along ``walked`` and rows that members may keep; ``was_of`` int32[R].

    Out is what two claim in one generation and, where racks matter, what lies in others: ``was_of`` says whose that
    was, NOBODY for all other rows.
    """
    starts = np.zeros(len(walked) + 1, np.int64)
    listed = np.empty(len(rows), np.int32)
    was_of = np.full(len(is_contested), NOBODY, np.int32)
    count = 0
    for i in range(len(walked)):
        member = walked[i]
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
    """Sort each member's stretch by (partition, topic)."""
    keys = np.empty(starts[-1], np.int64)
    for i in range(len(keys)):
        row = listed[i]
        keys[i] = (np.int64(row_partition[row]) << 32) + topic_rank[row_topic[row]]
    for i in range(len(starts) - 1):
        sort_pairs(keys, listed, starts[i], starts[i + 1])


@kernel
def keep_within_quotas(
    walked: Longs, starts: Longs, listed: Ints, was_of: Ints, least: int, expected: int
) -> tuple[Ints, Codes, Flags, int]:
    """How many each keeps int32[M], who waits int8[M], taken rows bool[R], and how many have one over ``least``.

    In the order of ``walked``: ``least`` each, and one more as long as fewer than ``expected`` members have that. What
    goes beyond is noted in ``was_of``.
    """
    counts = np.zeros(len(walked), np.int32)
    waiting = np.zeros(len(walked), np.int8)
    is_taken = np.zeros(len(was_of), np.bool_)
    over = 0
    for i in range(len(walked)):
        member, owned = walked[i], starts[i + 1] - starts[i]
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
        # The last one that may have more has been found: nobody at least is a candidate any longer.
        for member in range(len(walked)):
            if waiting[member] == AT_LEAST:
                waiting[member] = FILLED
    return counts, waiting, is_taken, over
