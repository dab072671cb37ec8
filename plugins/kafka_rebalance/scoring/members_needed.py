"""How many members a group needs so that its lag is gone in time, if they share its partitions as evenly as they can.

A member is done within T seconds where (``drain``) backlog / (capacity - written) <= T, that is where the sum of

    demand of a partition = written + backlog / T

over its partitions is at most the capacity. The partitions are given out by demand, the heaviest first, to the member
with the least; the answer is a number of members with which everybody is done in time, while with one fewer somebody is
not. No sharing does it with fewer than the sum of demands / capacity.

Every member counts as one that may read every partition. A partition has one reader: where one alone demands more than
the capacity, no assignor and no number of members helps.

Example: demands 60, 50, 40, 30 and capacity 100: at least 1.8, so 2; 60 + 30 and 50 + 40, so 2 it is.

Complexity: O(P log P log(P)): each trial gives P partitions out through a heap.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.kernels.decorators import kernel
from kafka_rebalance.scoring.assignment_scores import PartitionRates
from kafka_rebalance.scoring.drain import COMMIT_INTERVAL_S

DRAIN_WITHIN_S = 3_600.0
_ROUNDING = 1e-9  # of the capacity: sums of demands in another order


@dataclass(frozen=True, slots=True)
class MembersNeeded:
    """``members`` is ``None`` where rates are unknown, and where no number is enough: then ``hot_row`` is the partition
    that takes longest of a member that reads nothing else, and ``hot_row_seconds`` how long (``inf``: for ever).
    """

    members: int | None
    hot_row: int | None = None
    hot_row_seconds: float | None = None


def members_needed(rates: PartitionRates, capacity: float, within_s: float = DRAIN_WITHIN_S) -> MembersNeeded:
    """Of all partitions of a group whose members can read ``capacity`` messages/s each (``drain.member_capacity``)."""
    backlog = np.maximum(0.0, rates.lag_messages - COMMIT_INTERVAL_S * rates.in_messages_per_s)
    demand = rates.in_messages_per_s + backlog / within_s
    if np.isnan(capacity) or np.isnan(demand).any():
        return MembersNeeded(None)
    total = float(demand.sum())
    if total == 0:
        return MembersNeeded(min(1, len(demand)))
    limit = capacity * (1 + _ROUNDING)
    if demand.max() > limit:
        left = capacity - rates.in_messages_per_s
        alone = np.where(left > 0, backlog / np.where(left > 0, left, 1.0), np.where(demand > limit, np.inf, 0.0))
        return MembersNeeded(None, int(alone.argmax()), float(alone.max()))
    heaviest_first = -np.sort(-demand[demand > 0])
    too_few, enough = max(1, ceil(total / limit)) - 1, len(heaviest_first)
    step = 1
    while too_few + step < enough:  # the answer is near the least that could do: from there in doubled steps
        if _is_enough(heaviest_first, too_few + step, limit):
            enough = too_few + step
        else:
            too_few, step = too_few + step, 2 * step
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if _is_enough(heaviest_first, middle, limit):
            enough = middle
        else:
            too_few = middle
    return MembersNeeded(enough)


@kernel
def _is_enough(heaviest_first: Floats, members: int, limit: float) -> bool:
    """Nobody has more than ``limit`` once each partition went to the member with the least."""
    heap = np.zeros(members)  # the least is at 0; of place p, both 2p + 1 and 2p + 2 have as much or more
    for demand in heaviest_first:
        level = heap[0] + demand
        if level > limit:
            return False
        place, child = 0, 1
        while child < members:
            if child + 1 < members and heap[child + 1] < heap[child]:
                child += 1
            if heap[child] >= level:
                break
            heap[place] = heap[child]
            place, child = child, 2 * child + 1
        heap[place] = level
    return True
