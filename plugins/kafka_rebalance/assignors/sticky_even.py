"""The state that the walks of the sticky assignors work on, the walks, and the way back if all was in vain."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from kafka_rebalance.assignors import partition_movements as book
from kafka_rebalance.assignors.assignment import StickyNotes
from kafka_rebalance.assignors.least_loaded import new_heap
from kafka_rebalance.assignors.member_lists import MemberLists, copied
from kafka_rebalance.assignors.orders import ranks_of
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.sticky_balance import CHANGED, ENDLESS, NO_MEMBER, NULL_POINTER, Balance, rebalance
from kafka_rebalance.assignors.sticky_frame import StickyFrame
from kafka_rebalance.assignors.sticky_literal import LiteralView
from kafka_rebalance.assignors.sticky_start import who_takes_part
from kafka_rebalance.errors import AssignorError, EndlessReassignmentError
from kafka_rebalance.java.strings import hash_codes

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


def balance_of(
    request: AssignmentRequest,
    frame: StickyFrame,
    lists: MemberLists,
    readers: tuple[Longs, Ints, Ints],
    possible: Longs,
    previous: Ints,
    *,
    slack: int,
    is_literal: bool,
) -> Balance:
    """The state before the first walk; ``readers``: starts, members, and which topics have the same ones."""
    members, topics = request.members, request.topics
    starts, readers_of, alike = readers
    takes_part = who_takes_part(lists, possible, starts, frame.row_topic)
    sizes = lists.sizes[takes_part]
    with_size = np.zeros(len(lists.row) + 2, dtype=np.int32)
    with_size[: int(sizes.max(initial=0)) + 1] = np.bincount(sizes, minlength=1)
    view = LiteralView(
        members.subscription_offsets, members.subscription_topics, frame.counts, topics.first_row,
        frame.racks.member_racks, frame.racks.sets, ranks_of(frame.walked),
    )  # fmt: skip
    hashes = hash_codes(topics.names.data, topics.names.offsets)
    return Balance(
        lists=lists, movements=book.no_movements(topics.first_row, hashes), least=new_heap(len(members)),
        starts=starts, readers=readers_of, alike=alike, shared=frame.topics[np.diff(starts)[frame.topics] >= 2],
        first_row=topics.first_row, row_topic=frame.row_topic, takes_part=takes_part, possible=possible,
        previous=previous, id_rank=frame.id_rank, with_size=with_size,
        marks=np.array([sizes.min(initial=2**31 - 1), sizes.max(initial=-1), -1, -1, 0], dtype=np.int64),
        slack=slack, is_literal=is_literal, literal=view,
    )  # fmt: skip


def evened(balance: Balance, walks: list[Ints], *, is_initial: bool) -> MemberLists:
    """Walk over each list of rows in turn; go back to the start if the last one moved something and improved nothing.

    Raises EndlessReassignmentError, and AssignorError where Java fails.
    """
    before = balance.lists if is_initial else copied(balance.lists)
    is_changed = False
    for rows in walks:
        is_changed = _checked(rebalance(rows, balance)) == CHANGED
    if not is_initial and is_changed and _score(balance.lists, balance) >= _score(before, balance):
        return before
    return balance.lists


def _checked(status: int) -> int:
    if status == ENDLESS:
        raise EndlessReassignmentError
    if status == NULL_POINTER:
        raise AssignorError("java.lang.NullPointerException", "a member that is left out of balancing is asked for")
    if status == NO_MEMBER:
        raise AssignorError("java.util.NoSuchElementException", "no member takes part in balancing")
    return status


def _score(lists: MemberLists, balance: Balance) -> int:
    """``getBalanceScore``: differences of all pairs of members that take part, in Java's int."""
    sizes = np.sort(lists.sizes[balance.takes_part]).astype(np.int64)
    weights = 2 * np.arange(len(sizes), dtype=np.int64) - len(sizes) + 1
    return int(np.int64((sizes * weights).sum()).astype(np.int32))


def notes_of(balance: Balance, frame: StickyFrame) -> StickyNotes:
    """What has moved while balancing, for Kafka's own verdict on stickiness."""
    movements = balance.movements
    moved = np.flatnonzero(movements.source >= 0)
    return StickyNotes(
        False, frame.max_generation, frame.row_topic[moved], movements.source[moved], movements.target[moved]
    )


@njit(cache=True)
def rows_of(order: Longs, first_row: Longs) -> Ints:
    """All rows, topics in ``order``."""
    rows = np.empty(first_row[-1], np.int32)
    count = 0
    for topic in order:
        for row in range(first_row[topic], first_row[topic + 1]):
            rows[count] = row
            count += 1
    return rows[:count]
