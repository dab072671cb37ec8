"""Kernels of ``weighted`` for partitions of different weight, or members of different subscriptions.

Rows are partitions of all topics; ``order`` lists them heaviest first. ``audience_offsets`` int64[T+1] and ``audience``
int32 list the members that may read each topic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Ints, Longs
from kafka_rebalance.assignors.owned_lists import OwnedLists
from kafka_rebalance.kernels.decorators import inner_kernel, kernel

NOBODY = -1
TINY = 1e-12
ENOUGH = 5e-4  # improving further costs more rows than it is worth: nobody sees half a thousandth


class WeighedRows(NamedTuple):
    """``weights`` float64[P], ``order`` int64[P] heaviest first, ``topic_of`` int32[P], ``may_read`` bool[M, T]."""

    weights: Floats
    order: Longs
    topic_of: Ints
    may_read: Flags


@kernel
def owner_of_rows(first_row: Longs, counts: Ints, owned: OwnedLists, may_read: Flags) -> Ints:
    """Today's reader of each row, ``NOBODY`` where there is none; the first claim counts. ``may_read`` bool[M, T]."""
    offsets, topics, partitions = owned
    owner = np.full(first_row[-1], NOBODY, dtype=np.int32)
    for member in range(len(offsets) - 1):
        for i in range(offsets[member], offsets[member + 1]):
            topic, partition = topics[i], partitions[i]
            if 0 <= partition < counts[topic] and may_read[member, topic]:
                row = first_row[topic] + partition
                if owner[row] == NOBODY:
                    owner[row] = member
    return owner


@kernel
def loads_of(weights: Floats, owner: Ints, members: int) -> Floats:
    """Sum of weights that each member reads."""
    loads = np.zeros(members)
    for row in range(len(owner)):
        if owner[row] != NOBODY:
            loads[owner[row]] += weights[row]
    return loads


@kernel
def release_above(weights: Floats, order: Longs, cap: float, owner: Ints, loads: Floats) -> None:
    """Take from members above ``cap`` little more than their excess: the heaviest that fit into it, then the lightest
    that covers the rest.
    """
    for row in order:
        member = owner[row]
        if member != NOBODY and TINY < weights[row] <= loads[member] - cap:
            loads[member] -= weights[row]
            owner[row] = NOBODY
    for i in range(len(order) - 1, -1, -1):
        row = order[i]
        member = owner[row]
        excess = loads[member] - cap if member != NOBODY else 0.0
        if excess > TINY * max(cap, 1.0) and weights[row] >= excess:
            loads[member] -= weights[row]
            owner[row] = NOBODY


@inner_kernel
def _sift(heap: Longs, loads: Floats, at: int) -> None:
    size = len(heap)
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        right = child + 1
        if right < size and (
            loads[heap[right]] < loads[heap[child]]
            or (loads[heap[right]] == loads[heap[child]] and heap[right] < heap[child])
        ):
            child = right
        up, down = heap[at], heap[child]
        if loads[down] > loads[up] or (loads[down] == loads[up] and down > up):
            return
        heap[at], heap[child] = down, up
        at = child


@kernel
def place_on_lightest(weights: Floats, order: Longs, owner: Ints, loads: Floats) -> None:
    """LPT: each row without a reader, heaviest first, to the member with least; all may read all. A heap of members."""
    heap = np.arange(len(loads))
    for at in range(len(heap) // 2, -1, -1):
        _sift(heap, loads, at)
    for row in order:
        if owner[row] == NOBODY:
            member = heap[0]
            owner[row] = member
            loads[member] += weights[row]
            _sift(heap, loads, 0)


@kernel
def place_on_lightest_reader(
    weights: Floats, order: Longs, topic_of: Ints, audience_offsets: Longs, audience: Ints, owner: Ints, loads: Floats
) -> None:
    """The same where only a topic's audience may read it; a topic without audience stays unread."""
    for row in order:
        if owner[row] != NOBODY:
            continue
        start, end = audience_offsets[topic_of[row]], audience_offsets[topic_of[row] + 1]
        best = NOBODY
        for i in range(start, end):
            if best == NOBODY or loads[audience[i]] < loads[best]:
                best = audience[i]
        if best != NOBODY:
            owner[row] = best
            loads[best] += weights[row]


@kernel
def improve(rows: WeighedRows, owner: Ints, loads: Floats, bound: float, steps: int) -> None:
    """Lower the highest load: a move or a swap between it and one of the three lightest, as long as that helps."""
    for _ in range(steps):
        hot = np.argmax(loads)
        if loads[hot] <= bound * (1 + ENOUGH):
            return
        tried = np.zeros(len(loads), dtype=np.bool_)
        tried[hot] = True
        found = False
        for _attempt in range(min(3, len(loads) - 1)):
            cool = NOBODY
            for member in range(len(loads)):
                if not tried[member] and (cool == NOBODY or loads[member] < loads[cool]):
                    cool = member
            tried[cool] = True
            if _exchange(rows, owner, loads, hot, cool):
                found = True
                break
        if not found:
            return


@inner_kernel
def _exchange(rows: WeighedRows, owner: Ints, loads: Floats, hot: int, cool: int) -> bool:
    """The best move or swap between two members, if there is one."""
    weights, order, topic_of, may_read = rows
    hot_rows, cool_rows = np.empty(len(order), dtype=np.int64), np.empty(len(order), dtype=np.int64)
    hots, cools = 0, 0
    for row in order:
        if owner[row] == hot and may_read[cool, topic_of[row]]:
            hot_rows[hots] = row
            hots += 1
        elif owner[row] == cool and may_read[hot, topic_of[row]]:
            cool_rows[cools] = row
            cools += 1
    give, take = _best_exchange(weights, hot_rows[:hots], cool_rows[:cools], loads[hot] - loads[cool])
    if give == NOBODY:
        return False
    shift = weights[give]
    owner[give] = cool
    if take != NOBODY:
        shift -= weights[take]
        owner[take] = hot
    loads[hot] -= shift
    loads[cool] += shift
    return True


@inner_kernel
def _best_exchange(weights: Floats, hot_rows: Longs, cool_rows: Longs, distance: float) -> tuple[int, int]:
    """The row to give (and the one to take back, or ``NOBODY``) whose difference comes closest to half of ``distance``.

    Both lists run from heavy to light; O(hot + cool). Only a difference in (0, distance) makes the pair more even.
    """
    give, take = NOBODY, NOBODY
    best = distance * (0.5 - 1e-9)
    j = 0
    for i in range(len(hot_rows)):
        weight = weights[hot_rows[i]]
        if weight > TINY and abs(weight - distance / 2) < best:
            best, give, take = abs(weight - distance / 2), hot_rows[i], NOBODY
        while j < len(cool_rows) and weight - weights[cool_rows[j]] < distance / 2:
            j += 1
        for k in (j - 1, j):
            if 0 <= k < len(cool_rows):
                shift = weight - weights[cool_rows[k]]
                if abs(shift - distance / 2) < best and shift > TINY:
                    best, give, take = abs(shift - distance / 2), hot_rows[i], cool_rows[k]
        j = max(0, j - 1)
    return give, take


@kernel
def give_back(weights: Floats, order: Longs, before: Ints, cap: float, owner: Ints, loads: Floats) -> None:
    """Rows that moved for nothing return: their old reader has room below ``cap``. Heaviest first."""
    for row in order:
        old, new = before[row], owner[row]
        if old == NOBODY or old == new:  # noqa: PLR1714, SIM109  (numba has no mixed tuples)
            continue
        if loads[old] + weights[row] <= cap:
            loads[new] -= weights[row]
            loads[old] += weights[row]
            owner[row] = old


@kernel
def lists_of(owner: Ints, topic_of: Ints, first_row: Longs, members: int) -> tuple[Longs, Ints, Ints]:
    """The answer's columns, each member's rows in topic and partition order."""
    offsets = np.zeros(members + 1, dtype=np.int64)
    for member in owner:
        if member != NOBODY:
            offsets[member + 1] += 1
    for member in range(members):
        offsets[member + 1] += offsets[member]
    at = offsets[:-1].copy()
    topics = np.empty(offsets[members], dtype=np.int32)
    partitions = np.empty(offsets[members], dtype=np.int32)
    for row in range(len(owner)):
        member = owner[row]
        if member != NOBODY:
            topics[at[member]] = topic_of[row]
            partitions[at[member]] = row - first_row[topic_of[row]]
            at[member] += 1
    return offsets, topics, partitions
