from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.contract import Assignment, MemberColumns, TopicColumns
from kafka_assignors.kernels import inner_kernel, kernel

ABSENT = -1


class OwnedLists(NamedTuple):
    """Member m's claims: ``offsets[m]``..``offsets[m + 1]``."""

    offsets: Longs
    topics: Ints
    partitions: Ints


class TopicRows(NamedTuple):
    counts: Ints
    first_row: Longs


def owned_columns(members: MemberColumns) -> tuple[Longs, Ints, Ints]:
    """Fields of ``OwnedLists``: a named tuple costs a call from Python 2 µs more."""
    return members.owned_offsets, members.owned_topics, members.owned_partitions


def owned_lists(members: MemberColumns) -> OwnedLists:
    return OwnedLists(members.owned_offsets, members.owned_topics, members.owned_partitions)


def assignment_by_owner(owner: Ints, topics: TopicColumns, walk: Longs, member_count: int) -> Assignment:
    return Assignment.of(*lists_by_owner(owner, topics.first_row, walk, member_count))


@kernel
def lists_by_owner(owner: Ints, first_row: Longs, walk: Longs, member_count: int) -> tuple[Longs, Ints, Ints]:
    """Offsets, topics and partitions: a counting sort by owner. O(P + M)."""
    offsets = np.zeros(member_count + 1, np.int64)
    for topic in walk:
        for row in range(first_row[topic], first_row[topic + 1]):
            if owner[row] != ABSENT:
                offsets[owner[row] + 1] += 1
    for member in range(member_count):
        offsets[member + 1] += offsets[member]
    fill = offsets[:-1].copy()
    topics = np.empty(offsets[-1], np.int32)
    partitions = np.empty(offsets[-1], np.int32)
    for topic in walk:
        start = first_row[topic]
        for row in range(start, first_row[topic + 1]):
            member = owner[row]
            if member != ABSENT:
                at = fill[member]
                topics[at] = topic
                partitions[at] = row - start
                fill[member] = at + 1
    return offsets, topics, partitions


@inner_kernel
def copy_run(into: Ints, at: int, source: Ints, start: int, length: int) -> None:
    """Slice assignment without numba's error path."""
    target, values = into[at : at + length], source[start : start + length]
    for k in range(len(target)):
        target[k] = values[k]
