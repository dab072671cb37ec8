"""Kafka's account of who gave which partition to whom, kept to turn a movement back rather than add its opposite.

Before partition p of a topic moves from A to B Kafka looks whether one of the same topic has moved from B to A, and if
so moves that one back instead: the first of a HashSet of TopicPartitions, so Java's hash order decides which.
This swap may undo the work of another move, and two such moves undo each other for good (``EndlessReassignment``).

Source: ``AbstractStickyAssignor.PartitionMovements``, unchanged from 0.11 to 4.3. Complexity: each step
O(partitions of the topic that have moved).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from kafka_rebalance.java.hash_order import spread
from kafka_rebalance.java.keys import topic_partition_hash

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

NEVER = -1
_FIRST_TABLE = 16
_TREE_TABLE = 64
_TREE_BIN = 8


class Movements(NamedTuple):
    """P partitions: moved from ``source`` to ``target`` (NEVER if not), in a set whose hash table has ``table`` bins.

    Moved partitions of a topic form a list in the order in which they were recorded: ``heads``, ``tails`` int32[T],
    ``following``, ``before`` int32[P]. ``spreads`` int64[P]: their spread hash codes.
    """

    source: Ints
    target: Ints
    table: Ints
    heads: Ints
    tails: Ints
    following: Ints
    before: Ints
    spreads: Longs


@njit(cache=True)
def no_movements(first_row: Longs, topic_hashes: Ints) -> Movements:
    """Nothing has moved yet."""
    topic_count, row_count = len(first_row) - 1, first_row[-1]
    spreads = np.empty(row_count, np.int64)
    for topic in range(topic_count):
        for row in range(first_row[topic], first_row[topic + 1]):
            spreads[row] = spread(topic_partition_hash(topic_hashes[topic], row - first_row[topic]))
    return Movements(
        np.full(row_count, NEVER, np.int32), np.full(row_count, NEVER, np.int32),
        np.full(row_count, _FIRST_TABLE, np.int32), np.full(topic_count, -1, np.int32),
        np.full(topic_count, -1, np.int32), np.full(row_count, -1, np.int32), np.full(row_count, -1, np.int32), spreads,
    )  # fmt: skip


@njit(cache=True)
def really_moved(movements: Movements, topic: int, row: int, owner: int, receiver: int) -> int:
    """The row that moves to ``receiver`` instead of ``row``: one of the topic that had come the opposite way."""
    origin = movements.source[row] if movements.source[row] != NEVER else owner
    best, best_bin = row, np.int64(-1)
    other = movements.heads[topic]
    while other >= 0:
        if movements.source[other] == receiver and movements.target[other] == origin:
            b = movements.spreads[other] & (movements.table[other] - 1)
            # In a bin the one put first stands first, and so it does in this list.
            if best_bin < 0 or b < best_bin:
                best, best_bin = other, b
        other = movements.following[other]
    return best


@njit(cache=True)
def record(movements: Movements, topic: int, row: int, owner: int, receiver: int) -> None:
    """``row`` goes from ``owner`` to ``receiver``: what counts is where it came from first; going home cancels out."""
    origin = movements.source[row]
    if origin == NEVER:
        _add(movements, topic, row, owner, receiver)
        return
    _remove(movements, topic, row)
    if origin != receiver:
        _add(movements, topic, row, origin, receiver)


@njit(cache=True)
def _add(movements: Movements, topic: int, row: int, source: int, target: int) -> None:
    table = _table_after(movements, topic, row, source, target)
    movements.source[row] = source
    movements.target[row] = target
    movements.table[row] = table
    last = movements.tails[topic]
    movements.before[row] = last
    movements.following[row] = -1
    if last >= 0:
        movements.following[last] = row
    else:
        movements.heads[topic] = row
    movements.tails[topic] = row


@njit(cache=True)
def _table_after(movements: Movements, topic: int, row: int, source: int, target: int) -> int:
    """Bins of the set once ``row`` is in it; the table of a set that was emptied starts anew."""
    table, count, in_bin = _FIRST_TABLE, 1, 0
    other = movements.heads[topic]
    while other >= 0:
        if movements.source[other] == source and movements.target[other] == target:
            table = movements.table[other]
            count += 1
            in_bin += (movements.spreads[other] ^ movements.spreads[row]) & (table - 1) == 0
        other = movements.following[other]
    grown = table * 2 if in_bin >= _TREE_BIN and table < _TREE_TABLE else table
    grown = grown * 2 if count > grown * 3 // 4 else grown
    if grown != table:
        other = movements.heads[topic]
        while other >= 0:
            if movements.source[other] == source and movements.target[other] == target:
                movements.table[other] = grown
            other = movements.following[other]
    return grown


@njit(cache=True)
def _remove(movements: Movements, topic: int, row: int) -> None:
    last, following = movements.before[row], movements.following[row]
    if last >= 0:
        movements.following[last] = following
    else:
        movements.heads[topic] = following
    if following >= 0:
        movements.before[following] = last
    else:
        movements.tails[topic] = last
    movements.source[row] = NEVER
    movements.target[row] = NEVER
    movements.following[row] = -1
    movements.before[row] = -1
