"""Kafka's first sticky assignor, 0.11 to 2.2.

Promises, in priority order: completeness · as balanced as single moves reach, unless the score would not improve ·
partitions stay where they are. Claims are not checked: of several claimants the last in Java's map counts as owner, and
the others keep the partition too. Example (seed article 001): t1, t2, t3 of 2 partitions; C1 had t1-1 t3-1, C2 t1-0
t2-1, C3 the rest and left: C1 gets t3-0, C2 t2-0 (later versions deal t2-0 to C1).

With equal subscriptions and a claim, partitions are taken from the fullest member downwards, one each in turn, then
unowned ones in the order of Java's map; else topics with fewer readers come first. ``isBalanced`` allows a difference
of one (``slack`` 0). Source: ``StickyAssignor`` of kafka-clients 2.0.0. Complexity: as ``general``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.errors import AssignorError
from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, put_order
from kafka_assignors.java.keys import topic_partition_hash
from kafka_assignors.java.strings import hash_codes
from kafka_assignors.kernels import kernel
from kafka_assignors.orders import topic_walk
from kafka_assignors.sticky.general import (
    choose_who_takes_part,
    even_out,
    give_out,
    most_possible,
    rows_of,
    shared_rows,
)
from kafka_assignors.sticky.state import State, flatten, give, new_state
from kafka_assignors.sticky.sticky_input import StickyInput, no_racks, sticky_input_of
from kafka_assignors.subscribers import same_readers, subscribers_by_topic

_SLACK = 0
_NO_MAP_SIZE = -1


@dataclass(frozen=True, slots=True)
class LegacyStickyAssignor:
    name: str = "sticky@2.0"
    versions: str = "Kafka 0.11 – 2.2"

    def assign(self, request: AssignmentRequest) -> Assignment:
        members = request.members
        inputs = _legacy_input(request)
        if inputs.total == 0 and members.has_owned.any():
            raise AssignorError("java.util.NoSuchElementException", "there are no partitions to compare")
        if len(inputs.row_topic) == 0:
            return Assignment.of_nothing(len(members))
        possible = most_possible(
            members.subscription_offsets, members.subscription_topics, inputs.counts, _NO_MAP_SIZE, inputs.total
        )
        state = new_state(request, inputs, possible, slack=_SLACK)
        order = _sorted_rows(request, inputs, state.topics["readers"])
        held, is_claimed_twice = hold(state, inputs.owned_order, members.owned_offsets, inputs.rows)
        is_initial = not state.members["row_count"].any()
        give_out(state, drop_once(order, held))
        choose_who_takes_part(state)
        state = even_out(state, [shared_rows(state, order)], is_initial=is_initial, is_literal=is_claimed_twice)
        offsets, rows = flatten(state)
        return Assignment.of(offsets, inputs.row_topic[rows], inputs.row_partition[rows])


def _legacy_input(request: AssignmentRequest) -> StickyInput:
    members, ids = request.members, request.members.ids
    inputs = sticky_input_of(request, members.data_generations)
    if (inputs.counts[members.subscription_topics] < 0).any():
        raise AssignorError("java.lang.NullPointerException", "a subscribed topic is not in the metadata")
    if len(members) == 0:
        raise AssignorError("java.util.NoSuchElementException", "the group has no members")
    owns = members.has_owned[inputs.subscription_order]
    put = np.concatenate((inputs.subscription_order[owns], inputs.subscription_order[~owns]))
    # A vanished partition is dropped, as if its topic had vanished.
    rows = np.where(inputs.rows < request.topics.partition_total, inputs.rows, np.int32(-1))
    owned_order = put[put_order(hash_codes(ids.data, ids.offsets)[put], DEFAULT_CAPACITY)]
    return replace(inputs, owned_order=owned_order, rows=rows, racks=no_racks(len(members)))


def _sorted_rows(request: AssignmentRequest, inputs: StickyInput, readers: Ints) -> Ints:
    """``sortPartitions``; a partition with two claimants appears twice."""
    members, topics = request.members, request.topics
    if members.has_owned.any() and _all_read_the_same(request, inputs):
        names = topics.names
        hashed = hashed_rows(
            topic_walk(request, inputs.subscription_order), topics.first_row, hash_codes(names.data, names.offsets)
        )
        turned: Ints = in_turn(inputs.by_id, members.owned_offsets, inputs.rows, hashed, topics.partition_total)
        return turned
    order = inputs.topics[np.argsort(readers[inputs.topics], kind="stable")]
    rows: Ints = rows_of(order, topics.first_row)
    return rows


def _all_read_the_same(request: AssignmentRequest, inputs: StickyInput) -> bool:
    members, topics = request.members, request.topics
    columns = (members.subscription_offsets, members.subscription_topics)
    starts, readers = subscribers_by_topic(inputs.subscription_order, *columns, len(topics), True)
    filled = inputs.topics[inputs.counts[inputs.topics] > 0]
    counts = np.diff(starts)[filled]
    return bool(
        ((counts == len(members)) | (counts == 0)).all() and len(np.unique(same_readers(starts, readers)[filled])) == 1
    )


@kernel
def hold(state: State, owned_order: Longs, owned_offsets: Longs, rows: Ints) -> tuple[Ints, bool]:
    """Give members the claimed rows they read; return holders int32[R], and whether any row has two claimants.

    The last claimant counts as owner, even if it no longer reads the topic.
    """
    held = np.zeros(len(state.rows), np.int32)
    claims = np.zeros(len(state.rows), np.int32)
    subscriber = np.full(len(state.topics), -1, np.int32)
    is_claimed_twice = False
    for member in owned_order:
        for at in range(state.offsets[member], state.offsets[member + 1]):
            subscriber[state.topics_of[at]] = member
        for at in range(owned_offsets[member], owned_offsets[member + 1]):
            row = rows[at]
            if row < 0:
                continue
            claims[row] += 1
            is_claimed_twice |= claims[row] > 1
            if subscriber[state.rows[row].topic] == member:
                give(state, row, member)
                held[row] += 1
            else:
                state.rows[row].owner = member
    return held, is_claimed_twice


@kernel
def in_turn(by_id: Longs, owned_offsets: Longs, rows: Ints, hashed: Ints, row_count: int) -> Ints:
    """Claimed rows from the fullest member downwards, the last id first, one each in turn; then ``hashed`` ones."""
    member_count = len(by_id)
    sizes = np.zeros(member_count, np.int32)
    listed = np.empty(len(rows), np.int32)
    starts = np.zeros(member_count, np.int64)
    count = 0
    for member in range(member_count):
        starts[member] = count
        for at in range(owned_offsets[member], owned_offsets[member + 1]):
            if rows[at] >= 0:
                listed[count] = rows[at]
                count += 1
        sizes[member] = count - starts[member]
    order = np.empty(count + len(hashed), np.int32)
    is_in = np.zeros(row_count, np.bool_)
    at = 0
    for level in range(sizes.max(), 0, -1):
        for i in range(member_count - 1, -1, -1):
            member = by_id[i]
            if sizes[member] >= level:
                row = listed[starts[member] + sizes[member] - level]
                order[at] = row
                is_in[row] = True
                at += 1
    for row in hashed:
        if not is_in[row]:
            order[at] = row
            at += 1
    return order[:at]


@kernel
def hashed_rows(walk: Longs, first_row: Longs, topic_hashes: Ints) -> Ints:
    rows = np.empty(first_row[-1], np.int32)
    hashes = np.empty(first_row[-1], np.int32)
    count = 0
    for topic in walk:
        for row in range(first_row[topic], first_row[topic + 1]):
            rows[count] = row
            hashes[count] = topic_partition_hash(topic_hashes[topic], row - first_row[topic])
            count += 1
    order = put_order(hashes[:count], DEFAULT_CAPACITY)
    ordered = np.empty(count, np.int32)
    for i in range(count):
        ordered[i] = rows[order[i]]
    return ordered


@kernel
def drop_once(order: Ints, held: Ints) -> Ints:
    """Without the first occurrence of a row for each of its holders."""
    left = held.copy()
    kept = np.empty(len(order), np.int32)
    count = 0
    for row in order:
        if left[row] > 0:
            left[row] -= 1
        else:
            kept[count] = row
            count += 1
    return kept[:count]
