"""Kernels of ``weighted`` where every partition weighs the same and every member may read every topic."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@njit(cache=True)
def subscriptions_are_equal(offsets: Longs, topics: Ints) -> bool:
    """Every member names the same topics in the same order (the common case; others take the general way)."""
    length = offsets[1] - offsets[0]
    for member in range(1, len(offsets) - 1):
        start = offsets[member]
        if offsets[member + 1] - start != length:
            return False
        for i in range(length):
            if topics[start + i] != topics[i]:
                return False
    return True


@njit(cache=True)
def mark_kept(
    first_row: Longs,
    counts: Ints,
    offsets: Longs,
    topics: Ints,
    partitions: Ints,
    quota: int,
    taken: Flags,
    is_valid: Flags,
) -> Longs:
    """How many of its owned partitions each member may keep (at most ``quota``), marking their rows in ``taken``.

    ``is_valid`` bool[W] tells which owned entries count: of an existing partition, and the first claim on it.
    """
    members = len(offsets) - 1
    kept = np.zeros(members, dtype=np.int64)
    for member in range(members):
        held = 0
        for i in range(offsets[member], offsets[member + 1]):
            topic, partition = topics[i], partitions[i]
            if held == quota or partition < 0 or partition >= counts[topic]:
                continue
            row = first_row[topic] + partition
            if not taken[row]:
                taken[row] = True
                is_valid[i] = True
                held += 1
        kept[member] = held
    return kept


@njit(cache=True)
def level_quotas(kept: Longs, orphans: int) -> Longs:
    """Final count of each member: orphans go to those who hold least, all ending as even as that allows.

    [3, 3, 1] with 3 orphans → level 3: [3, 3, 3] and one more for the first: [4, 3, 3].
    """
    members = len(kept)
    histogram = np.zeros(kept.max() + 2, dtype=np.int64)
    for each in kept:
        histogram[each] += 1
    level, below, left = 0, 0, orphans
    while level < len(histogram):
        below += histogram[level]
        if left < below:
            break
        left -= below
        level += 1
    else:
        level += left // members
        left %= members
    quotas = np.empty(members, dtype=np.int64)
    for member in range(members):
        if kept[member] > level:
            quotas[member] = kept[member]
        else:
            extra = 1 if left > 0 else 0
            quotas[member] = level + extra
            left -= extra
    return quotas


@njit(cache=True)
def write_lists(
    counts: Ints, offsets: Longs, topics: Ints, partitions: Ints, taken: Flags, is_valid: Flags, quotas: Longs
) -> tuple[Longs, Ints, Ints]:
    """The answer's columns: what each member keeps, then orphans in topic order up to its quota."""
    members = len(quotas)
    out_offsets = np.zeros(members + 1, dtype=np.int64)
    for member in range(members):
        out_offsets[member + 1] = out_offsets[member] + quotas[member]
    out_topics = np.empty(out_offsets[members], dtype=np.int32)
    out_partitions = np.empty(out_offsets[members], dtype=np.int32)
    topic, partition, row = 0, 0, 0
    for member in range(members):
        at = out_offsets[member]
        for i in range(offsets[member], offsets[member + 1]):
            if is_valid[i]:
                out_topics[at] = topics[i]
                out_partitions[at] = partitions[i]
                at += 1
        while at < out_offsets[member + 1]:
            while topic < len(counts) and partition >= counts[topic]:
                topic += 1
                partition = 0
            if not taken[row]:
                out_topics[at] = topic
                out_partitions[at] = partition
                at += 1
            row += 1
            partition += 1
    return out_offsets, out_topics, out_partitions
