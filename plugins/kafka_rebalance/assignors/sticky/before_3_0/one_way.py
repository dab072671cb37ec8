"""Sticky before there was a way of its own for equal subscriptions: all of 2.3 to 2.5.0, and the unequal ones to 2.8.2.

Promises: those of ``general``, with what is kept settled as ``claims`` says. What differs from 3.0 and later:

- If all read the same and somebody owns something, partitions are taken up from the fullest member downwards, one each
  in turn (first those that another member had before), then those without an owner as Java's map gives them. So dealing
  begins with partitions in no order that a person would choose. Not from 2.5.1 on, where only unequal ones come here.
- ``isBalanced`` asks for a difference of one (``slack`` 0), so more walks are made than later.
- 2.3 lacks the first walk over what was given out just now.

Where more than eight partitions share a bin of Java's map, its order goes by addresses in memory: answers vary.

Example: t of 4 partitions, A owned all, B joins: A's list follows Java's map, A gives up its first two of it.
Source: ``StickyAssignor`` 2.3.1, ``AbstractStickyAssignor`` 2.4.1 to 2.8.2. Complexity: as ``general``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment, StickyNotes, Withheld
from kafka_rebalance.assignors.orders import topic_walk
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.sticky.before_3_0.claims import Claims
from kafka_rebalance.assignors.sticky.general import (
    choose_who_takes_part,
    evened,
    give_out,
    most_possible,
    rows_of,
    shared_rows,
    waits_for_owners,
)
from kafka_rebalance.assignors.sticky.legacy import drop_once, hashed_rows, hold, in_turn
from kafka_rebalance.assignors.sticky.state import State, flattened, new_state
from kafka_rebalance.assignors.sticky.sticky_input import StickyInput
from kafka_rebalance.assignors.subscribers import same_readers, subscribers_by_topic
from kafka_rebalance.errors import AssignorError
from kafka_rebalance.java.keys import topic_partition_hashes
from kafka_rebalance.java.strings import hash_codes
from kafka_rebalance.kernels.decorators import kernel

_SLACK = 0
_PLAIN_BIN = 8  # keys in a bin of Java's HashMap before it becomes a tree, which tables below 64 never have
_LEAST_TREE_TABLE = 64
_NO_MAP_SIZE = -1  # these releases always count, whatever the number of topics


@dataclass(frozen=True, slots=True)
class OneWay:
    """How a release line goes: ``takes_in_turn`` up to 2.5.0, ``walks_given_first`` from 2.4 on."""

    takes_in_turn: bool
    walks_given_first: bool
    is_cooperative: bool = False


def assign_one_way(request: AssignmentRequest, inputs: StickyInput, claims: Claims, way: OneWay) -> Assignment:
    """Raises AssignorError where Java fails, EndlessReassignmentError where it never returns."""
    if len(request.members) == 0:
        raise AssignorError("java.util.NoSuchElementException", "the group has no members")
    if len(inputs.row_topic) == 0:  # topics without a partition, and nobody owns one that is gone
        return Assignment.of_nothing(len(request.members), _notes(way))
    state = unfilled_state(request, inputs)
    is_in_turn = way.takes_in_turn and not claims.is_empty and _all_read_the_same(request, inputs)
    order = _in_turn(request, inputs, claims, state) if is_in_turn else _fewest_readers_first(request, inputs, state)
    state = filled_and_evened(state, inputs, claims, order, walks_given_first=way.walks_given_first)
    answer = _answer(request, inputs, state, way)
    return replace(answer, varies=True) if is_in_turn and _has_tree_bins(request, inputs) else answer


def unfilled_state(request: AssignmentRequest, inputs: StickyInput) -> State:
    """Nobody has anything yet."""
    members = request.members
    possible = most_possible(
        members.subscription_offsets, members.subscription_topics, inputs.counts, _NO_MAP_SIZE, inputs.total
    )
    return new_state(request, inputs, possible, slack=_SLACK)


def filled_and_evened(
    state: State, inputs: StickyInput, claims: Claims, order: Ints, *, walks_given_first: bool
) -> State:
    """What members claim and read they keep; the rest is given out in ``order``; then all is evened out in it."""
    held, _ = hold(state, inputs.owned_order, claims.offsets, claims.rows)
    state.rows["previous"][: len(claims.had_before)] = claims.had_before
    is_initial = not state.members["row_count"].any()
    free = drop_once(order, held)
    give_out(state, free)
    choose_who_takes_part(state)
    must_revoke = bool((held[claims.rows] == 0).any())
    walks = [shared_rows(state, free)] if walks_given_first and not must_revoke else []
    walks.append(shared_rows(state, order))
    return evened(state, walks, is_initial=is_initial, is_literal=False)


def _answer(request: AssignmentRequest, inputs: StickyInput, state: State, way: OneWay) -> Assignment:
    offsets, rows = flattened(state)
    withheld = Withheld.nothing()
    members = request.members
    if way.is_cooperative:
        waits = waits_for_owners(offsets, rows, members.owned_offsets, inputs.rows, len(inputs.row_topic))
        receivers = np.repeat(np.arange(len(members), dtype=np.int32), np.diff(offsets))
        held = rows[waits]
        withheld = Withheld(inputs.row_topic[held], inputs.row_partition[held], receivers[waits])
        offsets = offsets - np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(waits, dtype=np.int64)))[offsets]
        rows = rows[~waits]
    return Assignment(offsets, inputs.row_topic[rows], inputs.row_partition[rows], withheld, _notes(way))


def _notes(way: OneWay) -> StickyNotes | None:
    """Up to 2.5.0 there was one way: nothing to note."""
    return None if way.takes_in_turn else StickyNotes.of_way(is_constrained=False)


def _in_turn(request: AssignmentRequest, inputs: StickyInput, claims: Claims, state: State) -> Ints:
    """The order in which partitions are given out and walked over: one of each member in turn, from the fullest."""
    topics, names = request.topics, request.topics.names
    hashed = hashed_rows(
        topic_walk(request, inputs.subscription_order), topics.first_row, hash_codes(names.data, names.offsets)
    )
    rows = moved_first(claims.offsets, claims.rows, claims.moved_rows, state.rows["owner"].copy())
    turned: Ints = in_turn(inputs.by_id, claims.offsets, rows, hashed, topics.partition_total)
    return turned


def _fewest_readers_first(request: AssignmentRequest, inputs: StickyInput, state: State) -> Ints:
    """The same where subscriptions differ or nobody owns anything: topics with fewer readers first."""
    order = inputs.topics[np.argsort(state.topics["readers"][inputs.topics], kind="stable")]
    rows: Ints = rows_of(order, request.topics.first_row)
    return rows


def _has_tree_bins(request: AssignmentRequest, inputs: StickyInput) -> bool:
    """More than eight partitions share a bin of Java's map of all: from then on it goes by addresses in memory.

    Ten topics t10, t20, … of ten partitions are enough: t10-8, t20-7, … t90-0 have one hash code.
    """
    names = request.topics.names
    existing = inputs.counts[inputs.row_topic] > inputs.row_partition
    of_topics = hash_codes(names.data, names.offsets)[inputs.row_topic[existing]]
    hashes = topic_partition_hashes(of_topics, inputs.row_partition[existing]).view(np.uint32)
    table = _LEAST_TREE_TABLE
    while len(hashes) > table * 3 // 4:
        table *= 2
    bins = (hashes ^ (hashes >> np.uint32(16))) & np.uint32(table - 1)
    return len(bins) > 0 and int(np.bincount(bins).max()) > _PLAIN_BIN


def _all_read_the_same(request: AssignmentRequest, inputs: StickyInput) -> bool:
    """All partitions have the same readers, and all members read the same: everybody reads all, or nobody anything."""
    members, topics = request.members, request.topics
    columns = (members.subscription_offsets, members.subscription_topics)
    starts, readers = subscribers_by_topic(inputs.subscription_order, *columns, len(topics), True)
    filled = inputs.topics[inputs.counts[inputs.topics] > 0]
    counts = np.diff(starts)[filled]
    return bool(
        ((counts == len(members)) | (counts == 0)).all() and len(np.unique(same_readers(starts, readers)[filled])) <= 1
    )


@kernel
def moved_first(offsets: Longs, rows: Ints, moved_rows: Ints, owner: Ints) -> Ints:
    """Each member's rows, those in ``moved_rows`` before the others, in that order; ``owner`` is room to write."""
    ordered = rows.copy()
    if len(moved_rows) == 0:
        return ordered
    for member in range(len(offsets) - 1):
        for at in range(offsets[member], offsets[member + 1]):
            owner[rows[at]] = member
    fill = offsets[:-1].copy()
    for row in moved_rows:
        member = owner[row]
        ordered[fill[member]] = row
        fill[member] += 1
        owner[row] = -1
    for member in range(len(offsets) - 1):
        for at in range(offsets[member], offsets[member + 1]):
            if owner[rows[at]] == member:
                ordered[fill[member]] = rows[at]
                fill[member] += 1
    return ordered
