"""Time until a group's lag is gone, and the number of members that finish in time.

    backlog of a partition = max(0, lag - COMMIT_INTERVAL_S x messages written to it a second)
    capacity               = the highest rate seen of a member of this group
    drain of a member      = its backlog / (capacity - messages written to its partitions a second)
    drain of the group     = that of its slowest member

Consumers commit every 5 s by default, so lag of that time is no backlog. A backlog with writes at capacity or above
never drains, nor one without a reader. Example: capacity 100/s, 40/s written, a lag of 6,200: a backlog of 6,000, done
in 6,000 / 60 = 100 s.

``members_needed``: a member finishes in T seconds if its sum of

    demand of a partition = written + backlog / T

is at most the capacity. The heaviest partition goes to the member with the least. With the returned number all finish,
with one fewer they do not. Every member may read every partition; if one exceeds the capacity, no number helps.
Example: demands 60, 50, 40, 30, capacity 100: 2 members. O(P log P log(P)).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from kafka_assignors.arrays import ABSENT, Floats, Ints
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_rebalance.scoring.assignment_scores import PartitionRates, per_member

COMMIT_INTERVAL_S = 5.0  # auto.commit.interval.ms of Kafka's clients


@dataclass(frozen=True, slots=True, eq=False)
class Drain:
    """``seconds`` is ``None`` for never, and for unknown: then ``members_falling_behind`` is ``None``, too.
    ``member_seconds``: ``inf`` is never, ``nan`` unknown.
    """

    seconds: float | None
    members_falling_behind: int | None
    partitions_unread: int | None
    member_seconds: Floats


def seconds_behind(lag: float, in_messages_per_s: Floats) -> float | None:
    """Return how long the producers took to write ``lag`` messages, at today's rates; ``None`` if unknown."""
    rate = float(in_messages_per_s.sum())
    return lag / rate if rate > 0 and not np.isnan(lag) else None


def group_seconds_behind(reader: Ints, rates: PartitionRates) -> float | None:
    """Return it for all partitions with a reader, or for all if none has one."""
    rows = reader != ABSENT if (reader != ABSENT).any() else np.ones(len(reader), dtype=np.bool_)
    lag = float(rates.lag_messages[rows].sum())
    return 0.0 if lag == 0 and rows.any() else seconds_behind(lag, rates.in_messages_per_s[rows])


def member_capacity(reader: Ints, read_messages_per_s: Floats, member_count: int) -> float:
    """Highest rate seen of a member, a lower bound; ``nan`` if unknown."""
    read = per_member(reader, read_messages_per_s, member_count)
    has_partitions = per_member(reader, np.ones(len(reader)), member_count) > 0
    return float(np.fmax.reduce(read[has_partitions], initial=np.nan))


def drain(reader: Ints, member_count: int, rates: PartitionRates, capacity: float) -> Drain:
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
    """Fill ``seconds``; return the slowest, members that fall behind, and unread partitions with a backlog."""
    seconds[:] = 0.0  # backlog
    work[:] = 0.0  # written
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
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class MembersNeeded:
    """``members`` is ``None`` where rates are unknown or no number suffices: then ``hot_row`` is the partition that
    takes longest alone.
    """

    members: int | None
    hot_row: int | None = None


def members_needed(rates: PartitionRates, capacity: float, within_s: float = DRAIN_WITHIN_S) -> MembersNeeded:
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
        return MembersNeeded(None, int(alone.argmax()))
    heaviest_first = -np.sort(-demand[demand > 0])
    too_few, enough = max(1, ceil(total / limit)) - 1, len(heaviest_first)
    step = 1
    while too_few + step < enough:  # doubling steps from the lower bound
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
    heap = np.zeros(members)
    for demand in heaviest_first:
        level = heap[0] + demand
        if level > limit:
            return False
        parent, child = 0, 1
        while child < members:
            if child + 1 < members and heap[child + 1] < heap[child]:
                child += 1
            if heap[child] >= level:
                break
            heap[parent] = heap[child]
            parent, child = child, 2 * child + 1
        heap[parent] = level
    return True
