"""The walks of the sticky assignors, and the way back if all was in vain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.assignors.assignment import StickyNotes
from kafka_rebalance.assignors.sticky.balance import (
    CHANGED,
    ENDLESS,
    NO_MEMBER,
    NULL_POINTER,
    rebalance,
)
from kafka_rebalance.assignors.sticky.state import LITERAL, State
from kafka_rebalance.assignors.sticky.sticky_input import StickyFrame
from kafka_rebalance.errors import AssignorError, EndlessReassignmentError
from kafka_rebalance.kernels.decorators import kernel


def evened(state: State, walks: list[Ints], *, is_initial: bool, is_literal: bool) -> State:
    """Walk over each list of rows in turn; go back to the start if the last one moved something and improved nothing.

    ``is_literal``: only asking Kafka's questions word for word answers as Java does (``sticky_literal``).
    Raises EndlessReassignmentError, and AssignorError where Java fails.
    """
    state.marks[LITERAL] = is_literal
    before = state if is_initial else replace(state, places=state.places.copy(), members=state.members.copy())
    is_changed = False
    for rows in walks:
        is_changed = _checked(rebalance(rows, state)) == CHANGED
    if not is_initial and is_changed and _score(state) >= _score(before):
        return before
    return state


def _checked(status: int) -> int:
    if status == ENDLESS:
        raise EndlessReassignmentError
    if status == NULL_POINTER:
        raise AssignorError("java.lang.NullPointerException", "a member that is left out of balancing is asked for")
    if status == NO_MEMBER:
        raise AssignorError("java.util.NoSuchElementException", "no member takes part in balancing")
    return status


def _score(state: State) -> int:
    """``getBalanceScore``: differences of all pairs of members that take part, in Java's int."""
    sizes = np.sort(state.members["size"][state.members["takes_part"] != 0]).astype(np.int64)
    weights = 2 * np.arange(len(sizes), dtype=np.int64) - len(sizes) + 1
    return int(np.int64((sizes * weights).sum()).astype(np.int32))


def notes_of(state: State, frame: StickyFrame) -> StickyNotes:
    """What has moved while balancing, for Kafka's own verdict on stickiness."""
    moved = state.rows[state.rows["source"] >= 0]
    return StickyNotes(
        False, frame.max_generation, moved["topic"].copy(), moved["source"].copy(), moved["target"].copy()
    )


@kernel
def rows_of(order: Longs, first_row: Longs) -> Ints:
    """All rows, topics in ``order``."""
    rows = np.empty(first_row[-1], np.int32)
    count = 0
    for topic in order:
        for row in range(first_row[topic], first_row[topic + 1]):
            rows[count] = row
            count += 1
    return rows[:count]
