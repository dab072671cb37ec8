"""How long a driver takes that keeps slots full, instead of waiting for a whole wave to end.

Each broker has ``slots`` for sending and ``slots`` for receiving, a copy runs at throttle / slots, and whenever one
ends the next starts: the one whose other side has most left to do, then the largest. Event-driven list scheduling; with
few slots it comes within some percent of the busiest broker's bytes over the throttle.

Complexity: O(C · (log C + copies of a broker)) for C copies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Ints, Longs
from kafka_rebalance.kernels.by_reference import ByReference
from kafka_rebalance.kernels.decorators import inner_kernel, kernel
from kafka_rebalance.plans.waves.transfers import Transfers


def slot_filling_seconds(transfers: Transfers, brokers: int, slots: int, throttle: float) -> float:
    """Seconds until the last copy ends."""
    of_copy = transfers.of_copy
    if len(of_copy) == 0:
        return 0.0
    source, size = transfers.source[of_copy], transfers.size[of_copy]
    left_out = np.bincount(source, weights=size, minlength=brokers).astype(np.float64)
    left_in = np.bincount(transfers.target, weights=size, minlength=brokers).astype(np.float64)
    out_begin, out_copies = _by_broker(source, brokers)
    in_begin, in_copies = _by_broker(transfers.target, brokers)
    board = Board(
        source=source, target=np.ascontiguousarray(transfers.target), size=size, out_begin=out_begin,
        out_copies=out_copies, in_begin=in_begin, in_copies=in_copies, left_out=left_out, left_in=left_in,
        free_out=np.full(brokers, slots), free_in=np.full(brokers, slots),
        is_started=np.zeros(len(source), dtype=np.bool_),
    )  # fmt: skip
    most_left_first = np.argsort(-np.maximum(left_out, left_in), kind="stable")
    units = _makespan(board, most_left_first, brokers * slots + 1)
    return units * slots / throttle


def _by_broker(key: Ints, brokers: int) -> tuple[Longs, Longs]:
    begin = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(np.bincount(key, minlength=brokers))))
    return begin, np.argsort(key, kind="stable")


@dataclass(frozen=True, eq=False, kw_only=True)
class Board(ByReference):
    """C copies by sender and by receiver; what is left to do by broker, free slots, and which copies have started."""

    source: Ints  # int32[C]
    target: Ints  # int32[C]
    size: Floats  # float64[C]
    out_begin: Longs  # int64[B+1] into out_copies
    out_copies: Longs  # int64[C], by sender
    in_begin: Longs  # int64[B+1] into in_copies
    in_copies: Longs  # int64[C], by receiver
    left_out: Floats  # float64[B]
    left_in: Floats  # float64[B]
    free_out: Longs  # int64[B]
    free_in: Longs  # int64[B]
    is_started: Flags  # bool[C]


@kernel
def _makespan(board: Board, waiting: Longs, most_running: int) -> float:
    ends, running, count = np.empty(most_running), np.empty(most_running, np.int64), 0
    now = 0.0
    while True:
        for b in waiting:
            while board.free_out[b] > 0:
                i = _next_to_send(board, b)
                if i < 0:
                    break
                _start(i, board)
                count = _push(ends, running, count, now + board.size[i], i)
            while board.free_in[b] > 0:
                i = _next_to_receive(board, b)
                if i < 0:
                    break
                _start(i, board)
                count = _push(ends, running, count, now + board.size[i], i)
        if count == 0:
            return now
        now, ended = ends[0], running[0]
        count = _pop(ends, running, count)
        source, target = board.source[ended], board.target[ended]
        board.free_out[source] += 1
        board.free_in[target] += 1
        waiting = np.empty(2, np.int64)
        waiting[0], waiting[1] = source, target


@inner_kernel
def _next_to_send(board: Board, broker: int) -> int:
    """The copy from ``broker`` whose receiver has most left to do, then the largest; -1 = none can start."""
    best, best_left, best_size = -1, -1.0, -1.0
    for place in range(board.out_begin[broker], board.out_begin[broker + 1]):
        i = board.out_copies[place]
        other, size = board.target[i], board.size[i]
        if board.is_started[i] or board.free_in[other] <= 0:
            continue
        left = board.left_in[other]
        if left > best_left or (left == best_left and size > best_size):
            best, best_left, best_size = i, left, size
    return best


@inner_kernel
def _next_to_receive(board: Board, broker: int) -> int:
    """The copy to ``broker`` whose sender has most left to do, then the largest; -1 = none can start."""
    best, best_left, best_size = -1, -1.0, -1.0
    for place in range(board.in_begin[broker], board.in_begin[broker + 1]):
        i = board.in_copies[place]
        other, size = board.source[i], board.size[i]
        if board.is_started[i] or board.free_out[other] <= 0:
            continue
        left = board.left_out[other]
        if left > best_left or (left == best_left and size > best_size):
            best, best_left, best_size = i, left, size
    return best


@inner_kernel
def _start(i: int, board: Board) -> None:
    source, target, size = board.source[i], board.target[i], board.size[i]
    board.is_started[i] = True
    board.free_out[source] -= 1
    board.free_in[target] -= 1
    board.left_out[source] -= size
    board.left_in[target] -= size


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
