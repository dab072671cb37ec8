"""Moving partitions between members until Kafka calls the assignment balanced.

Kafka walks the movable partitions again and again. Before each it asks whether all is balanced (no member could take a
partition from one that has two more: ``slack``), then moves the partition back to whom it was taken from in an older
generation, or to its reader that has the least, if either has two less than its holder. ``partition_movements`` may put
another partition in its place. A walk without a move ends it.

What Java computes anew for each partition is kept up to date here: ``witness`` is one (member, row) that proves the
assignment unbalanced, looked for again only when it no longer does. A walk that finds everything as an earlier one did
will do so for ever: that is noticed (ENDLESS) by comparing with the state after 1, 2, 4, 8 … walks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from kafka_rebalance.assignors import partition_movements as book
from kafka_rebalance.assignors.least_loaded import LeastLoaded, fill, moved
from kafka_rebalance.assignors.member_lists import MemberLists, give, take
from kafka_rebalance.assignors.sticky_literal import LiteralView, is_balanced_literally, somebody_has_less

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

UNCHANGED, CHANGED, NO_MEMBER, NULL_POINTER, ENDLESS = 0, 1, 2, 3, 4
BALANCED, UNBALANCED = 0, 1
NOBODY = -1
# Places in Balance.marks.
_LEAST, _MOST, _WITNESS, _WITNESS_ROW, _TOPIC = 0, 1, 2, 3, 4


class Balance(NamedTuple):
    """Everything the walks read and change.

    ``readers[starts[t] : starts[t + 1]]``: members that read topic t; ``alike`` int32[T]: the first topic with the same
    readers; ``shared``: topics with two readers or more. ``with_size`` int32: how many members that take part have a
    size; ``marks``: least and most of these sizes, the witness (member, row), and the topic where it was found.
    ``slack``: how many more than a taker somebody may have in an assignment that is called balanced, 1 (0 up to 2.3).
    ``is_literal``: only asking Kafka's questions word for word answers as Java does (``sticky_literal``).
    """

    lists: MemberLists
    movements: book.Movements
    least: LeastLoaded
    starts: Longs
    readers: Ints
    alike: Ints
    shared: Longs
    first_row: Longs
    row_topic: Ints
    takes_part: Flags
    possible: Longs
    previous: Ints
    id_rank: Ints
    with_size: Ints
    marks: Longs
    slack: int
    is_literal: bool
    literal: LiteralView


@njit(cache=True)
def rebalance(rows: Ints, balance: Balance) -> int:
    """Walk over ``rows`` until nothing moves: CHANGED or UNCHANGED, or how Java fails."""
    result, walks, due = UNCHANGED, 0, 1
    movements = balance.movements
    seen = (movements.source, movements.target, movements.table, movements.following, balance.lists.member)
    while True:
        step = _walk(rows, balance)
        if step != CHANGED:
            return result if step == UNCHANGED else step
        result = CHANGED
        walks += 1
        if walks > 1 and _is_as_seen(movements, balance.lists, seen):
            return ENDLESS
        if walks == due:
            seen = (
                movements.source.copy(), movements.target.copy(), movements.table.copy(),
                movements.following.copy(), balance.lists.member.copy(),
            )  # fmt: skip
            due *= 2


@njit(cache=True)
def _is_as_seen(movements: book.Movements, lists: MemberLists, seen: tuple[Ints, Ints, Ints, Ints, Ints]) -> bool:
    """Everything that decides the next walk is as it was: holders, movements, and the order and size of their sets."""
    if np.any(lists.member != seen[4]):
        return False
    for row in range(len(movements.source)):
        if movements.source[row] != seen[0][row]:
            return False
        if movements.target[row] != seen[1][row] or movements.following[row] != seen[3][row]:
            return False
        if movements.source[row] >= 0 and movements.table[row] != seen[2][row]:
            return False
    return True


@njit(cache=True)
def _walk(rows: Ints, balance: Balance) -> int:
    """One walk over ``rows``; stops early once all is balanced."""
    result = UNCHANGED
    group = -1
    for row in rows:
        verdict: int = _verdict(balance)
        if verdict == BALANCED:
            break
        if verdict != UNBALANCED:
            return verdict
        topic = balance.row_topic[row]
        if balance.alike[topic] != group:
            group = balance.alike[topic]
            span = balance.readers[balance.starts[topic] : balance.starts[topic + 1]]
            fill(balance.least, span, balance.takes_part, balance.lists.sizes, balance.id_rank)
        receiver = _receiver(row, topic, balance)
        if receiver == NOBODY:
            continue
        if receiver < NOBODY or not _move(row, topic, receiver, balance):
            return NULL_POINTER
        result = CHANGED
    return result


@njit(cache=True)
def _receiver(row: int, topic: int, balance: Balance) -> int:
    """Who should have the row: NOBODY if it may stay, −2 where Java meets a null."""
    sizes, holder, before = balance.lists.sizes, balance.lists.owner[row], balance.previous[row]
    if holder < 0 or not balance.takes_part[holder]:
        return -2
    if before >= 0:
        if not balance.takes_part[before]:
            return -2
        if sizes[holder] > sizes[before] + 1:
            return int(before)
    if balance.is_literal:
        answer = somebody_has_less(
            row, balance.readers[balance.starts[topic] : balance.starts[topic + 1]], holder, balance.takes_part, sizes,
            balance.literal,
        )  # fmt: skip
        if answer < 0 or (answer > 0 and balance.least.state[0] == 0):
            return -2
        return int(balance.least.heap[0]) if answer > 0 else NOBODY
    best = int(balance.least.heap[0])
    return best if sizes[holder] > sizes[best] + 1 else NOBODY


@njit(cache=True)
def _move(row: int, topic: int, receiver: int, balance: Balance) -> bool:
    """Move the row, or the one that goes back instead; ``False`` where Java meets a null."""
    lists = balance.lists
    actual = book.really_moved(balance.movements, topic, row, lists.owner[row], receiver)
    giver = lists.owner[actual]
    if giver < 0 or not balance.takes_part[giver]:
        return False
    book.record(balance.movements, topic, actual, giver, receiver)
    before = lists.sizes[giver]
    take(lists, actual, giver)
    give(lists, actual, receiver)
    if giver != receiver:
        # Whom Kafka believes to be the owner need not hold it, where several did.
        if lists.sizes[giver] != before:
            _resized(giver, before, balance)
        _resized(receiver, lists.sizes[receiver] - 1, balance)
    return True


@njit(cache=True)
def _resized(member: int, before: int, balance: Balance) -> None:
    """Keep least, most and the heap up to date after one member's size has changed by one."""
    now, with_size, marks = balance.lists.sizes[member], balance.with_size, balance.marks
    with_size[before] -= 1
    with_size[now] += 1
    marks[_LEAST] = min(marks[_LEAST], now)
    marks[_MOST] = max(marks[_MOST], now)
    while with_size[marks[_LEAST]] == 0:
        marks[_LEAST] += 1
    while with_size[marks[_MOST]] == 0:
        marks[_MOST] -= 1
    moved(balance.least, member, balance.lists.sizes, balance.id_rank)


@njit(cache=True)
def _verdict(balance: Balance) -> int:
    """BALANCED or UNBALANCED, as ``isBalanced`` says; NO_MEMBER, NULL_POINTER where it fails."""
    marks = balance.marks
    if marks[_MOST] < 0:
        return NO_MEMBER
    if marks[_LEAST] >= marks[_MOST] - 1:
        return BALANCED
    if balance.is_literal:
        answer = is_balanced_literally(
            balance.lists, balance.takes_part, balance.possible, balance.id_rank, balance.slack, balance.literal
        )
        return NULL_POINTER if answer < 0 else BALANCED if answer > 0 else UNBALANCED
    member, sizes = marks[_WITNESS], balance.lists.sizes
    if member >= 0 and sizes[member] != balance.possible[member]:
        holder = balance.lists.owner[marks[_WITNESS_ROW]]
        if sizes[holder] > sizes[member] + balance.slack:
            return UNBALANCED
    return UNBALANCED if _find_witness(balance) else BALANCED


@njit(cache=True)
def _find_witness(balance: Balance) -> bool:
    """Look for a member that could take a row from one with too much more, topic by topic from the last find on."""
    marks, shared, sizes = balance.marks, balance.shared, balance.lists.sizes
    for i in range(len(shared)):
        place = (marks[_TOPIC] + i) % len(shared)
        topic = shared[place]
        taker = _least_that_could(topic, balance)
        if taker < 0 or marks[_MOST] <= sizes[taker] + balance.slack:
            continue
        best, most = -1, sizes[taker] + balance.slack
        for row in range(balance.first_row[topic], balance.first_row[topic + 1]):
            size = sizes[balance.lists.owner[row]]
            if size > most:
                best, most = row, size
        if best >= 0:
            marks[_WITNESS], marks[_WITNESS_ROW], marks[_TOPIC] = taker, best, place
            return True
    return False


@njit(cache=True)
def _least_that_could(topic: int, balance: Balance) -> int:
    """The reader with the least among those that do not have all they could have, −1 for none."""
    best, sizes = -1, balance.lists.sizes
    for at in range(balance.starts[topic], balance.starts[topic + 1]):
        member = balance.readers[at]
        if sizes[member] != balance.possible[member] and (best < 0 or sizes[member] < sizes[best]):
            best = member
    return best
