"""Time until a group's lag is gone, for each member and for the group, under any assignment; and how many members it
takes to be gone in time.

    backlog of a partition = max(0, lag - COMMIT_INTERVAL_S x what is written to it a second)
    capacity               = the most that a member of this group was seen to read
    drain of a member      = its backlog / (capacity - what is written to its partitions a second)
    drain of the group     = that of its slowest member

Consumers commit every 5 s by default, so that a group which reads everything at once still shows a lag of what is
written in that time: it is no backlog. Without a backlog the drain is 0, however much is written: the capacity is what
was seen, the member may be able to read more. With a backlog, and as much written as the capacity or more, it never
ends: the member falls behind. So does a partition with a backlog that nobody reads.

Example: capacity 100/s. A member whose partitions receive 40/s with a lag of 6,200 has a backlog of 6,200 - 5 x 40 =
6,000 and is done in 6,000 / 60 = 100 s; one that receives 100/s with a lag of 501 never is, one with 499 is at once.

Complexity: O(P + members) a call of the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import NOBODY, Floats, Ints
from kafka_rebalance.kernels.decorators import inner_kernel, kernel
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
    """Of ``reader`` int32[P] (member of each partition, NOBODY: none). Without partitions nothing is known."""
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
        if reader[row] != NOBODY:
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
