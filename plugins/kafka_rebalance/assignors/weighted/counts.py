"""Kernels of ``weighted`` where every partition weighs the same and every member may read every topic."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.assignors.owned_lists import OwnedLists, copy_run
from kafka_rebalance.kernels.decorators import inner_kernel, kernel

_EIGHT_TAKEN = np.uint64(0x0101010101010101)


@kernel
def subscriptions_are_equal(offsets: Longs, topics: Ints) -> bool:
    """Every member names the same topics in the same order (the common case; others take the general way)."""
    length = offsets[1] - offsets[0]
    for member in range(1, len(offsets) - 1):
        if offsets[member + 1] - offsets[member] != length:
            return False
    # Each list is that of the member before: one pass without a branch.
    differing = np.int32(0)
    for i in range(np.uint64(len(topics) - length)):
        differing |= topics[i] ^ topics[i + np.uint64(length)]
    return bool(differing == 0)


@kernel
def claims_hold(first_row: Longs, counts: Ints, owned: OwnedLists, quota: int, taken: Flags) -> bool:
    """Mark the rows of everybody's first ``quota`` partitions; false if one does not exist or has two owners.

    Then ``taken`` means nothing, and ``mark_kept`` has to look at each claim.
    """
    offsets, topics, partitions = owned
    claims = 0
    all_exist = True
    for member in range(len(offsets) - 1):
        start = offsets[member]
        size = min(offsets[member + 1] - start, quota)
        claims += size
        for i in range(np.uint64(start), np.uint64(start + size)):
            topic, partition = np.uint32(topics[i]), partitions[i]
            exists = (partition >= 0) & (partition < counts[topic])
            all_exist &= exists
            taken[np.uint64(first_row[topic] + partition if exists else 0)] = True
    marked = 0
    for row in range(len(taken)):
        marked += taken[row]
    return all_exist and marked == claims


@kernel
def mark_kept(first_row: Longs, counts: Ints, owned: OwnedLists, quota: int, taken: Flags, is_valid: Flags) -> Longs:
    """How many of its owned partitions each member may keep (at most ``quota``), marking their rows in ``taken``.

    ``is_valid`` bool[W] tells which owned entries count: of an existing partition, and the first claim on it.
    """
    offsets, topics, partitions = owned
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


@kernel
def level_quotas(kept: Longs, orphans: int) -> Longs:
    """Final count of each member: orphans go to those who hold least, all ending as even as that allows.

    [3, 3, 1] with 3 orphans → level 3: [3, 3, 3] and one more for the first: [4, 3, 3].
    """
    members = len(kept)
    histogram = np.zeros(kept.max() + 2, dtype=np.int64)
    for count in kept:
        histogram[count] += 1
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


@kernel
def write_lists(
    first_row: Longs, owned: OwnedLists, taken: Flags, is_valid: Flags, kept: Longs, quotas: Longs
) -> tuple[Longs, Ints, Ints]:
    """The answer's columns: what each member keeps, then orphans in topic order up to its quota.

    An empty ``is_valid``: everybody keeps the first ``kept`` of its entries. Neighbours that neither give nor take are
    copied in one go.
    """
    offsets, topics, partitions = owned
    members = len(quotas)
    out_offsets = np.zeros(members + 1, dtype=np.int64)
    for member in range(members):
        out_offsets[member + 1] = out_offsets[member] + quotas[member]
    out_topics = np.empty(out_offsets[members], dtype=np.int32)
    out_partitions = np.empty(out_offsets[members], dtype=np.int32)
    topic, row, copied, at = 0, 0, 0, 0
    for member in range(members):
        start, end = offsets[member], offsets[member + 1]
        if len(is_valid):
            for i in range(start, end):
                if is_valid[i]:
                    out_topics[at] = topics[i]
                    out_partitions[at] = partitions[i]
                    at += 1
        elif kept[member] < end - start or kept[member] < quotas[member] or member == members - 1:
            length = start + kept[member] - copied
            copy_run(out_topics, at, topics, copied, length)
            copy_run(out_partitions, at, partitions, copied, length)
            at += length
            copied = end
        else:
            continue
        while at < out_offsets[member + 1]:
            row = _next_free(taken, row)
            while row >= first_row[topic + 1]:
                topic += 1
            out_topics[at] = topic
            out_partitions[at] = row - first_row[topic]
            at += 1
            row += 1
    return out_offsets, out_topics, out_partitions


@inner_kernel
def _next_free(taken: Flags, row: int) -> int:
    """The first row from ``row`` on that nobody has; eight at a time."""
    while row & 7 or row + 8 > len(taken):
        if not taken[row]:
            return row
        row += 1
    words = taken[: len(taken) & -8].view(np.uint64)
    word = row >> 3
    while word < len(words) and words[word] == _EIGHT_TAKEN:
        word += 1
    row = word << 3
    while taken[row]:
        row += 1
    return row
