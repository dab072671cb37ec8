"""Ranges matched with racks: whole groups of co-partitioned topics first, then single topics, then what is left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import NOBODY, Flags, Ints, Longs
from kafka_rebalance.assignors.racks import has_rack, use_racks
from kafka_rebalance.assignors.subscribers import same_readers
from kafka_rebalance.kernels.decorators import inner_kernel, kernel

Words = npt.NDArray[np.uint64]


class Subscribers(NamedTuple):
    """Subscribers of each topic in their order: those of t are starts[t]..starts[t + 1] of ``readers``."""

    starts: Longs
    readers: Ints


class Racks(NamedTuple):
    """``members`` int32[M]: each member's rack, -1 = none; ``sets`` uint64[P, words]: racks of each partition.

    ``rackless_match``: a member without a rack matches any partition of a group of topics (Java), or none (librdkafka).
    """

    members: Ints
    sets: Words
    rackless_match: bool = True


class Filling(NamedTuple):
    """What is given so far: ``owner`` int32[P], ``taken`` along the subscribers, ``extras`` left by topic."""

    owner: Ints
    taken: Ints
    extras: Ints


@kernel
def topics_that_need_racks(readers: Words, sets: Words, first_row: Longs, walk: Longs, prefer: bool) -> Flags:  # noqa: FBT001
    """bool[T]: topics of ``walk`` whose own racks can matter."""
    needs = np.zeros(len(readers), np.bool_)
    for topic in walk:
        needs[topic] = use_racks(readers[topic], sets, first_row[topic], first_row[topic + 1], prefer)
    return needs


@kernel
def matched_ranges(
    subscribers: Subscribers, racks: Racks, first_row: Longs, walk: Longs, needs: Flags, has_reader_racks: Flags
) -> Ints:
    """Owner of each partition, int32[P]."""
    starts, readers = subscribers
    owner = np.full(first_row[-1], NOBODY, np.int32)
    taken = np.zeros(len(readers), np.int32)
    extras = np.zeros(len(first_row) - 1, np.int32)
    for topic in walk:
        k = starts[topic + 1] - starts[topic]
        extras[topic] = (first_row[topic + 1] - first_row[topic]) % k if k > 0 else 0
    group = _co_partitioned(starts, readers, first_row, walk, has_reader_racks)
    filling = Filling(owner, taken, extras)
    for leader in walk:
        size = 0
        for topic in walk:
            size += group[topic] == leader
        if size > 1:
            _assign_group(leader, group, walk, subscribers, racks, first_row, filling)
        elif size == 1 and needs[leader]:
            _assign_matching(leader, subscribers, racks, first_row, filling)
    for topic in walk:
        _assign_rest(topic, subscribers, first_row, filling)
    return owner


@inner_kernel
def _co_partitioned(starts: Longs, readers: Ints, first_row: Longs, walk: Longs, has_reader_racks: Flags) -> Ints:
    """int32[T]: first topic of ``walk`` with the same readers and as many partitions; −1: in no group of interest.

    Topics of which no reader has a rack have no racks to match: Java makes one group of them and leaves it at that.
    """
    alike = same_readers(starts, readers)
    group = np.full(len(alike), -1, np.int32)
    for i in range(len(walk)):
        topic = walk[i]
        if not has_reader_racks[topic]:
            continue
        group[topic] = topic
        n = first_row[topic + 1] - first_row[topic]
        for j in range(i):
            other = walk[j]
            if group[other] == other and alike[other] == alike[topic] and first_row[other + 1] - first_row[other] == n:
                group[topic] = other
                break
    return group


@inner_kernel
def _assign_group(
    leader: int,
    group: Ints,
    walk: Longs,
    subscribers: Subscribers,
    racks: Racks,
    first_row: Longs,
    filling: Filling,
) -> None:
    """Give partition p of all topics of the group to the first reader whose rack has all of them and who has room.

    All topics of a group are filled alike, so the counts of ``leader`` stand for each.
    """
    starts, readers = subscribers
    owner, taken, extras = filling
    sets = racks.sets
    n = first_row[leader + 1] - first_row[leader]
    k = starts[leader + 1] - starts[leader]
    common = np.full((n, sets.shape[1]), ~np.uint64(0), np.uint64)
    for topic in walk:
        if group[topic] == leader:
            for p in range(n):
                for word in range(sets.shape[1]):
                    common[p, word] &= sets[first_row[topic] + p, word]
    queues = sets.shape[1] * 64 + (1 if racks.rackless_match else 0)
    given = _spread(common, readers[starts[leader] : starts[leader + 1]], racks.members, queues, (n // k, n % k))
    for topic in walk:
        if group[topic] != leader:
            continue
        for p in range(n):
            if given[p] == NOBODY:
                continue
            i = starts[topic] + given[p]
            owner[first_row[topic] + p] = readers[i]
            taken[i] += 1
            extras[topic] -= taken[i] > n // k


@inner_kernel
def _spread(common: Words, readers: Ints, member_racks: Ints, queues: int, quota: tuple[int, int]) -> Ints:
    """int32[n]: place of the reader of each partition. O(n · racks): each rack keeps its own queue of readers.

    The last of all queues is that of readers without a rack; ``queues`` says how many are asked. ``quota``: partitions
    that each reader has room for, and how many readers have room for one more.
    """
    n, k = len(common), len(readers)
    share, left = quota
    rack_count = common.shape[1] * 64
    following = np.full(k, k, np.int32)
    heads = np.full(rack_count + 1, k, np.int32)  # the last queue: readers without a rack
    for i in range(k - 1, -1, -1):
        rack = member_racks[readers[i]]
        queue = rack if rack >= 0 else rack_count
        following[i] = heads[queue]
        heads[queue] = i
    given = np.full(n, NOBODY, np.int32)
    taken = np.zeros(k, np.int32)
    for p in range(n):
        best = k
        for queue in range(queues):
            if heads[queue] == k or (queue < rack_count and not has_rack(common[p], queue)):
                continue
            # Room only ever shrinks: a reader without any is passed over for good.
            while heads[queue] < k and taken[heads[queue]] >= share + (left > 0):
                heads[queue] = following[heads[queue]]
            best = min(best, heads[queue])
        if best < k:
            given[p] = best
            taken[best] += 1
            left -= taken[best] > share
    return given


@inner_kernel
def _assign_matching(topic: int, subscribers: Subscribers, racks: Racks, first_row: Longs, filling: Filling) -> None:
    """Each reader in turn takes the first free partitions of its rack that it has room for."""
    starts, readers = subscribers
    owner, taken, extras = filling
    member_racks, sets, _ = racks
    first, end = first_row[topic], first_row[topic + 1]
    share = (end - first) // max(1, starts[topic + 1] - starts[topic])
    rack_count = sets.shape[1] * 64
    # What lies before a rack's mark is taken or of other racks.
    marks = np.full(rack_count + 1, first, np.int64)
    for i in range(starts[topic], starts[topic + 1]):
        quota = share + (extras[topic] > 0)
        rack = member_racks[readers[i]]
        queue = rack if rack >= 0 else rack_count
        row = marks[queue]
        while row < end and taken[i] < quota:
            if owner[row] == NOBODY and (rack < 0 or has_rack(sets[row], rack)):
                owner[row] = readers[i]
                taken[i] += 1
            row += 1
        marks[queue] = row
        extras[topic] -= taken[i] > share


@inner_kernel
def _assign_rest(topic: int, subscribers: Subscribers, first_row: Longs, filling: Filling) -> None:
    """Each reader in turn takes the first free partitions that it has room for."""
    starts, readers = subscribers
    owner, taken, extras = filling
    end = first_row[topic + 1]
    row = first_row[topic]
    share = (end - row) // max(1, starts[topic + 1] - starts[topic])
    for i in range(starts[topic], starts[topic + 1]):
        before = taken[i]
        quota = share + (extras[topic] > 0)
        while row < end and taken[i] < quota:
            if owner[row] == NOBODY:
                owner[row] = readers[i]
                taken[i] += 1
            row += 1
        extras[topic] -= taken[i] > before and taken[i] > share
