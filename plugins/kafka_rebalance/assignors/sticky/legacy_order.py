"""In which order the first sticky assignor takes partitions up, and what its members hold at the start."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.assignors.sticky.member_lists import give
from kafka_rebalance.assignors.sticky.state import State
from kafka_rebalance.java.hash_order import DEFAULT_CAPACITY, put_order
from kafka_rebalance.java.keys import topic_partition_hash
from kafka_rebalance.kernels.decorators import kernel


@kernel
def hold(state: State, walked: Longs, owned_offsets: Longs, rows: Ints) -> tuple[Ints, bool]:
    """Give members what they own of what they read: holders of each row, int32[R], and whether any has two claimants.

    The last one that claims a row counts as its owner, whether it still reads the topic or not.
    """
    held = np.zeros(len(state.rows), np.int32)
    claims = np.zeros(len(state.rows), np.int32)
    subscriber = np.full(len(state.topics), -1, np.int32)
    is_claimed_twice = False
    for member in walked:
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
    """All rows as Java walks a HashMap that was filled with them topic by topic."""
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
    """``order`` without, for each holder of a row, one of its occurrences, the first ones."""
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
