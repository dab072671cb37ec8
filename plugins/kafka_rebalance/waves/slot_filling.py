"""How long a driver takes that keeps slots full, instead of waiting for a whole wave to end.

Each broker has ``slots`` for sending and ``slots`` for receiving, a copy runs at throttle / slots, and whenever one
ends the next starts: the one whose other side has most left to do, then the largest. Event-driven list scheduling; with
few slots it comes within some percent of the busiest broker's bytes over the throttle.

Complexity: O(C · (log C + copies of a broker)) for C copies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_rebalance.compiled import inner_kernel, kernel
from kafka_rebalance.planner.problem import Flags, Floats, Ints
from kafka_rebalance.waves.transfers import Longs, Transfers


def slot_filling_seconds(transfers: Transfers, brokers: int, slots: int, throttle: float) -> float:
    """Seconds until the last copy ends."""
    of_copy = transfers.of_copy
    if len(of_copy) == 0:
        return 0.0
    source, size = transfers.source[of_copy], transfers.size[of_copy]
    left_out = np.bincount(source, weights=size, minlength=brokers).astype(np.float64)
    left_in = np.bincount(transfers.target, weights=size, minlength=brokers).astype(np.float64)
    board = Board(
        left_out, left_in, np.full(brokers, slots), np.full(brokers, slots), np.zeros(len(source), dtype=np.bool_)
    )
    most_left_first = np.argsort(-np.maximum(left_out, left_in), kind="stable")
    units = _makespan(
        source, transfers.target, size, _by_broker(source, brokers), _by_broker(transfers.target, brokers), board,
        most_left_first, brokers * slots + 1,
    )  # fmt: skip
    return units * slots / throttle


def _by_broker(key: Ints, brokers: int) -> tuple[Longs, Longs]:
    begin = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(np.bincount(key, minlength=brokers))))
    return begin, np.argsort(key, kind="stable")


class Board(NamedTuple):
    """What is left to do by broker float64[B], free slots int64[B], and which copies have started bool[C]."""

    left_out: Floats
    left_in: Floats
    free_out: Longs
    free_in: Longs
    is_started: Flags


@kernel
def _makespan(
    source: Ints,
    target: Ints,
    size: Floats,
    out: tuple[Longs, Longs],
    into: tuple[Longs, Longs],
    board: Board,
    waiting: Longs,
    most_running: int,
) -> float:
    ends, running, count = np.empty(most_running), np.empty(most_running, dtype=np.int64), 0
    now = 0.0
    while True:
        for b in waiting:
            while board.free_out[b] > 0:
                i = _next_copy(out[1][out[0][b] : out[0][b + 1]], board.is_started, target, board.free_in,
                               board.left_in, size)  # fmt: skip
                if i < 0:
                    break
                _start(i, source, target, size, board)
                count = _push(ends, running, count, now + size[i], i)
            while board.free_in[b] > 0:
                i = _next_copy(into[1][into[0][b] : into[0][b + 1]], board.is_started, source, board.free_out,
                               board.left_out, size)  # fmt: skip
                if i < 0:
                    break
                _start(i, source, target, size, board)
                count = _push(ends, running, count, now + size[i], i)
        if count == 0:
            return now
        now, ended = ends[0], running[0]
        count = _pop(ends, running, count)
        board.free_out[source[ended]] += 1
        board.free_in[target[ended]] += 1
        waiting = np.array([source[ended], target[ended]], dtype=np.int64)


@inner_kernel
def _next_copy(copies: Longs, is_started: Flags, other: Ints, free: Longs, left: Floats, size: Floats) -> int:
    best, best_left, best_size = -1, -1.0, -1.0
    for i in copies:
        o = other[i]
        if is_started[i] or free[o] <= 0:
            continue
        if left[o] > best_left or (left[o] == best_left and size[i] > best_size):
            best, best_left, best_size = i, left[o], size[i]
    return best


@kernel
def _start(i: int, source: Ints, target: Ints, size: Floats, board: Board) -> None:
    board.is_started[i] = True
    board.free_out[source[i]] -= 1
    board.free_in[target[i]] -= 1
    board.left_out[source[i]] -= size[i]
    board.left_in[target[i]] -= size[i]


@inner_kernel
def _push(ends: Floats, running: Longs, count: int, end: float, copy: int) -> int:
    """Add to the binary heap of running copies, earliest end first."""
    i = count
    while i > 0 and ends[(i - 1) // 2] > end:
        ends[i], running[i] = ends[(i - 1) // 2], running[(i - 1) // 2]
        i = (i - 1) // 2
    ends[i], running[i] = end, copy
    return count + 1


@inner_kernel
def _pop(ends: Floats, running: Longs, count: int) -> int:
    """Take the earliest end off the heap."""
    count -= 1
    end, copy, i = ends[count], running[count], 0
    while 2 * i + 1 < count:
        child = 2 * i + 1
        if child + 1 < count and ends[child + 1] < ends[child]:
            child += 1
        if ends[child] >= end:
            break
        ends[i], running[i] = ends[child], running[child]
        i = child
    ends[i], running[i] = end, copy
    return count
