"""Kafka's account of who gave which partition to whom, kept to turn a movement back rather than add its opposite.

Before partition p of a topic moves from A to B Kafka looks whether one of the same topic has moved from B to A, and if
so moves that one back instead: the first of a HashSet of TopicPartitions, so Java's hash order decides which. This swap
may undo the work of another move, and two such moves undo each other for good (``EndlessReassignment``).

A row that has moved knows from whom it came first (``source``), where it is (``target``) and how many bins the set of
the same movement has (``table``); the moved rows of a topic form a list in the order in which they were recorded.
Source: ``AbstractStickyAssignor.PartitionMovements``, unchanged from 0.11 to 4.3. Complexity: each step
O(partitions of the topic that have moved).
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.assignors.sticky.state import DIALECT, LIBRDKAFKA, NONE, State
from kafka_rebalance.kernels.decorators import inner_kernel, kernel

_FIRST_TABLE = 16
_TREE_TABLE = 64
_TREE_BIN = 8
IN_NO_LIST = -1


@inner_kernel
def really_moved(state: State, row: int, owner: int, receiver: int) -> int:
    """The row that moves to ``receiver`` instead of ``row``: one of the topic that had come the opposite way."""
    rows = state.rows
    origin = rows[row].source if rows[row].source != NONE and state.marks[DIALECT] != LIBRDKAFKA else owner
    best, best_bin = row, np.int64(-1)
    other = state.topics[rows[row].topic].moved_first
    while other != NONE:
        if rows[other].source == receiver and rows[other].target == origin:
            if state.marks[DIALECT] == LIBRDKAFKA:
                return int(other)
            b = rows[other].spread & (rows[other].table - 1)
            # In a bin the one put first stands first, and so it does in this list.
            if best_bin < 0 or b < best_bin:
                best, best_bin = other, b
        other = rows[other].later
    return best


@inner_kernel
def is_recorded(state: State, row: int, source: int, target: int) -> bool:
    """The row stands in the account as moved this way."""
    rows = state.rows
    return bool(rows[row].source == source and rows[row].target == target and rows[row].table != IN_NO_LIST)


@kernel
def record(state: State, row: int, owner: int, receiver: int) -> None:
    """``row`` goes from ``owner`` to ``receiver``: what counts is where it came from first; going back cancels out."""
    origin = state.rows[row].source
    if origin == NONE:
        _add(state, row, owner, receiver)
        return
    if state.rows[row].table != IN_NO_LIST:
        unlink(state, row)
    state.rows[row].source = NONE
    state.rows[row].target = NONE
    if origin != receiver:
        _add(state, row, origin, receiver)


@inner_kernel
def _add(state: State, row: int, source: int, target: int) -> None:
    rows, topics, topic = state.rows, state.topics, state.rows[row].topic
    rows[row].table = _table_with(state, row, source, target)
    rows[row].source = source
    rows[row].target = target
    last = topics[topic].moved_last
    rows[row].earlier = last
    rows[row].later = NONE
    if last == NONE:
        topics[topic].moved_first = row
    else:
        rows[last].later = row
    topics[topic].moved_last = row


@inner_kernel
def _table_with(state: State, row: int, source: int, target: int) -> int:
    """Bins of the set once ``row`` is in it; the table of a set that was emptied starts anew."""
    rows, first = state.rows, state.topics[state.rows[row].topic].moved_first
    table, count, in_bin = _FIRST_TABLE, 1, 0
    other = first
    while other != NONE:
        if rows[other].source == source and rows[other].target == target:
            table = int(rows[other].table)
            count += 1
            in_bin += (rows[other].spread ^ rows[row].spread) & (table - 1) == 0
        other = rows[other].later
    grown = table * 2 if in_bin >= _TREE_BIN and table < _TREE_TABLE else table
    grown = grown * 2 if count > grown * 3 // 4 else grown
    other = first if grown != table else NONE
    while other != NONE:
        if rows[other].source == source and rows[other].target == target:
            rows[other].table = grown
        other = rows[other].later
    return grown


@inner_kernel
def unlink(state: State, row: int) -> None:
    """Take the row out of its topic's list."""
    rows, topics, topic = state.rows, state.topics, state.rows[row].topic
    earlier, later = rows[row].earlier, rows[row].later
    if earlier == NONE:
        topics[topic].moved_first = later
    else:
        rows[earlier].later = later
    if later == NONE:
        topics[topic].moved_last = earlier
    else:
        rows[later].earlier = earlier
    rows[row].earlier = NONE
    rows[row].later = NONE
