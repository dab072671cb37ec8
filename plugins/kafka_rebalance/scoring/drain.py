"""Return the time until a group's lag is gone, by member and group, and the number of members that finish in time.

    backlog of a partition = max(0, lag - COMMIT_INTERVAL_S x messages written to it a second)
    capacity               = the highest rate at which a member of this group was seen to read
    drain of a member      = its backlog / (capacity - messages written to its partitions a second)
    drain of the group     = that of its slowest member

Consumers commit every 5 s by default, so a group that reads everything at once still shows the lag of that time: it is
no backlog. Without a backlog the drain is 0 at any rate: the capacity is the rate seen, the member may be able to read
more. With a backlog, and as much written as the capacity or more, the drain never ends. The same holds for a partition
with a backlog and no reader. Complexity: O(P + members) a call of the kernel.
Example: capacity 100/s. A member with partitions that receive 40/s and a lag of 6,200 has a backlog of 6,200 - 5 x 40 =
6,000 and is done in 6,000 / 60 = 100 s; one that receives 100/s with a lag of 501 never is, one with 499 is at once.

Members needed (``members_needed``): a member is done within T seconds where the sum of

    demand of a partition = written + backlog / T

over its partitions is at most the capacity. Partitions are given out by demand, the heaviest first, to the member with
the least. The answer is a number of members that all finish in time, while with one fewer they do not. No sharing needs
fewer than the sum of demands / capacity. Every member counts as one that may read every partition. Where one partition
alone demands more than the capacity, no assignor and no number of members helps.
Example: demands 60, 50, 40, 30 and capacity 100: at least 1.8, so 2; 60 + 30 and 50 + 40, so 2 it is.
Complexity: O(P log P log(P)): each trial gives P partitions out through a heap.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from kafka_assignors.arrays import ABSENT, Floats, Ints
from kafka_assignors.kernels.decorators import inner_kernel, kernel
from kafka_rebalance.scoring.assignment_scores import PartitionRates, per_member

COMMIT_INTERVAL_S = 5.0  # auto.commit.interval.ms of Kafka's clients


@dataclass(frozen=True, slots=True, eq=False)
class Drain:
    """``seconds`` is ``None`` where it is never gone, and where nobody knows: then ``members_falling_behind`` is
    ``None``, too. ``partitions_unread``: those with a backlog that nobody reads.

    ``member_seconds`` float64[M]: ``inf`` is never, ``nan`` unknown.
    """

    seconds: float | None
    members_falling_behind: int | None
    partitions_unread: int | None
    member_seconds: Floats

    @property
    def is_never(self) -> bool:
        """It is known that the lag stays."""
        return self.seconds is None and self.members_falling_behind is not None


def member_capacity(reader: Ints, read_messages_per_s: Floats, member_count: int) -> float:
    """Messages/s that a member of this group can read, at least: the most that one was seen to read under today's
    ``reader`` int32[P]. ``nan`` where of no member with partitions all rates are known.
    """
    read = per_member(reader, read_messages_per_s, member_count)
    has_partitions = per_member(reader, np.ones(len(reader)), member_count) > 0
    return float(np.fmax.reduce(read[has_partitions], initial=np.nan))


def drain(reader: Ints, member_count: int, rates: PartitionRates, capacity: float) -> Drain:
    """Of ``reader`` int32[P] (member of each partition, ABSENT: none). Without partitions nothing is known."""
    seconds = np.empty(member_count)
    slowest, behind, unread = drain_of_members(
        reader, rates.lag_messages, rates.in_messages_per_s, capacity, seconds, np.empty(member_count)
    )
    if np.isnan(slowest) or not len(reader):
        return Drain(None, None, None, seconds)
    return Drain(None if np.isinf(slowest) else slowest, behind, unread, seconds)


@kernel
def drain_of_members(
    reader: Ints, lag: Floats, written: Floats, capacity: float, seconds: Floats, work: Floats
) -> tuple[float, int, int]:
    """Fill ``seconds`` float64[M] of each member; ``work`` float64[M] is room to work in.

    Returns the slowest (``inf``: never, ``nan``: unknown for a member or for a partition that nobody reads), how many
    members fall behind, and how many partitions with a backlog nobody reads. For loops that score many assignments.
    """
    seconds[:] = 0.0  # the backlog, until it is divided
    work[:] = 0.0  # what is written
    unread, left = 0, 0.0
    for row in range(len(reader)):
        backlog = lag[row] - COMMIT_INTERVAL_S * written[row]
        if backlog < 0:
            backlog = 0.0
        if reader[row] != ABSENT:
            seconds[reader[row]] += backlog
            work[reader[row]] += written[row]
        else:
            left += backlog
            unread += backlog > 0
    behind = _divide(seconds, work, capacity)
    slowest = 0.0 if left == 0 else np.inf if left > 0 else np.nan
    for drained in seconds:
        if np.isnan(drained) or np.isnan(slowest):
            slowest = np.nan
        elif drained > slowest:
            slowest = drained
    return slowest, behind, unread


@inner_kernel
def _divide(seconds: Floats, written: Floats, capacity: float) -> int:
    """Backlogs become the time that each takes; returns how many members fall behind."""
    behind = 0
    for member in range(len(seconds)):
        if not seconds[member] > 0:
            continue
        if np.isnan(capacity):
            seconds[member] = np.nan
        elif written[member] < capacity:
            seconds[member] /= capacity - written[member]
        else:
            seconds[member] = np.inf
            behind += 1
    return behind


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
