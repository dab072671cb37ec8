"""Racks as bit sets: rack r is bit r % 64 of word r // 64.

Kafka uses racks only if a subscriber's rack is among those of the replicas, and some partition is not on all racks of
all partitions (``AbstractPartitionAssignor.useRackAwareAssignment``).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.contract import AssignmentRequest
from kafka_assignors.kernels import inner_kernel, kernel

Words = npt.NDArray[np.uint64]

_WORD = 64


def word_count(request: AssignmentRequest) -> int:
    return max(1, -(-len(request.rack_names) // _WORD))


@inner_kernel
def has_rack(words: Words, rack: int) -> bool:
    return bool((words[rack >> 6] >> np.uint64(rack & 63)) & np.uint64(1))


@kernel
def partition_racks(rack_offsets: Longs, racks: Ints, words: int) -> Words:
    """uint64[P, words]: of each partition's replicas; those without a rack do not count."""
    sets = np.zeros((len(rack_offsets) - 1, words), np.uint64)
    for row in range(len(sets)):
        for at in range(rack_offsets[row], rack_offsets[row + 1]):
            rack = racks[at]
            if rack >= 0:
                sets[row, rack >> 6] |= np.uint64(1) << np.uint64(rack & 63)
    return sets


@kernel
def reader_racks(offsets: Longs, topics: Ints, member_racks: Ints, topic_count: int, words: int) -> Words:
    """uint64[T, words]: of each topic's subscribers."""
    sets = np.zeros((topic_count, words), np.uint64)
    for member in range(len(member_racks)):
        rack = member_racks[member]
        if rack < 0:
            continue
        word, bit = rack >> 6, np.uint64(1) << np.uint64(rack & 63)
        for at in range(offsets[member], offsets[member + 1]):
            sets[topics[at], word] |= bit
    return sets


@kernel
def use_racks(readers: Words, sets: Words, start: int, end: int, prefer: bool) -> bool:  # noqa: FBT001
    """Kafka's conditions over partitions ``start`` … ``end`` − 1 and one set of readers' racks."""
    is_shared, is_partial = False, False
    for word in range(len(readers)):
        together = np.uint64(0)
        for row in range(start, end):
            together |= sets[row, word]
        is_shared |= together & readers[word] != 0
        for row in range(start, end):
            is_partial |= sets[row, word] != together
    return is_shared and (prefer or is_partial)
