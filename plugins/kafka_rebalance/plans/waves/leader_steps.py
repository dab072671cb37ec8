"""Changes of the leader alone in steps: at most so many from or to a broker, at most so many partitions.

Each goes into the first step that has room for it, in the order given. That takes at most
⌈leaders lost / limit⌉ + ⌈leaders won / limit⌉ + ⌈partitions / rows⌉ steps for the broker that loses or wins most.
Complexity: O(partitions · steps).
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.kernels.decorators import kernel
from kafka_rebalance.plans.waves.transfers import LeaderShifts

UNLIMITED = int(np.iinfo(np.int32).max)


def leader_steps(shifts: LeaderShifts, is_first: Flags, brokers: int, rows: int, limit: int) -> Ints:
    """int32[E]: the step of each, from 0, without gaps; those of ``is_first`` bool[E] are placed before the others."""
    count = len(shifts.before)
    if count == 0:
        return np.zeros(0, dtype=np.int32)
    order = np.argsort(~is_first, kind="stable")
    most = -(-count // rows) + sum(-(-int(np.bincount(side[side >= 0], minlength=1).max()) // limit) for side in shifts)
    step = np.empty(count, dtype=np.int32)
    step[order] = _first_with_room(
        np.ascontiguousarray(shifts.before[order], dtype=np.int32),
        np.ascontiguousarray(shifts.after[order], dtype=np.int32),
        np.zeros((2, most, brokers), dtype=np.int32), rows, limit,
    )  # fmt: skip
    return step


@kernel
def _first_with_room(before: Ints, after: Ints, changed: Ints, rows: int, limit: int) -> Ints:
    """``changed`` int32[2, steps, brokers]: leaders that each broker has lost and won in each step so far."""
    members: Longs = np.zeros(changed.shape[1], np.int64)
    step = np.full(len(before), -1, np.int32)
    for e in range(len(before)):
        a, b = before[e], after[e]
        for s in range(len(members)):
            if members[s] >= rows or (a >= 0 and changed[0, s, a] >= limit) or (b >= 0 and changed[1, s, b] >= limit):
                continue
            members[s] += 1
            if a >= 0:
                changed[0, s, a] += 1
            if b >= 0:
                changed[1, s, b] += 1
            step[e] = s
            break
    return step
