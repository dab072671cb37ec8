"""Whose partition is whose where several members claim it: the highest generation has it, the next one had it before.

``prepopulateCurrentAssignments``, 2.3 to 2.5.0 and, for unequal subscriptions, to 2.8.2. Example: A says it owns t0-0
in generation 4, B in 5, C in 5: B has it (C comes too late), A had it before. A member that sent no generation counts
as generation −1, and the last such one is believed.

Lists follow Java's map of claimed partitions, not what the members sent; partitions that no longer exist have a place
in that map, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.sticky.sticky_input import StickyInput
from kafka_rebalance.java.hash_order import DEFAULT_CAPACITY, put_order
from kafka_rebalance.java.keys import topic_partition_hashes
from kafka_rebalance.java.strings import hash_codes
from kafka_rebalance.kernels.decorators import kernel

NOBODY = -1
MapOrder = Callable[[Ints], Longs]  # from hash codes of keys in the order of their insertion
Said = tuple[Ints, Flags]  # generation of each member, and whether a second claim in it replaces the first


def in_java_map(hashes: Ints) -> Longs:
    """Java: by the bins of a HashMap."""
    order: Longs = put_order(hashes, DEFAULT_CAPACITY)
    return order


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """Existing partitions that member m holds: ``rows[offsets[m] : offsets[m + 1]]``.

    ``had_before`` int32[P]: who held a partition in the generation before, NOBODY if none did; ``moved_rows``: those
    that somebody did, as Java walks its map of them. ``is_empty``: nobody claims anything, existing or not.
    """

    offsets: Longs
    rows: Ints
    had_before: Ints
    moved_rows: Ints
    is_empty: bool


def claims_of(
    request: AssignmentRequest, inputs: StickyInput, walk: Longs, said: Said, map_order: MapOrder = in_java_map
) -> Claims:
    """Settle what members say, met as in ``walk``; ``map_order``: as the map of claimed partitions gives them back."""
    members, topics = request.members, request.topics
    ids, id_count = _identified(request, inputs)
    first, owner, before = settle_by_generation(walk, members.owned_offsets, ids, id_count, *said)
    names = topics.names
    hashes = topic_partition_hashes(
        hash_codes(names.data, names.offsets)[members.owned_topics[first]], members.owned_partitions[first]
    )
    claimed = ids[first][map_order(hashes)]
    offsets, rows = lists_of_owners(claimed, owner, topics.partition_total, len(members))
    moved = claimed[before[claimed] != NOBODY]
    if len(moved):
        place = np.empty(id_count, dtype=np.int64)
        place[ids[first]] = np.arange(len(first))
        moved = moved[map_order(hashes[place[moved]])]
    return Claims(
        offsets, rows, before[: topics.partition_total].copy(), moved[moved < topics.partition_total], len(first) == 0
    )


def _identified(request: AssignmentRequest, inputs: StickyInput) -> tuple[Ints, int]:
    """A number for each owned entry, the same for the same partition: its row, or one behind all rows."""
    members, ids = request.members, inputs.rows
    id_count = len(inputs.row_topic)
    lost = np.flatnonzero(ids < 0)
    if len(lost):
        keys = members.owned_topics[lost].astype(np.int64) << 32 | (members.owned_partitions[lost] + np.int64(2**31))
        unique, place = np.unique(keys, return_inverse=True)
        ids = ids.copy()
        ids[lost] = id_count + place
        id_count += len(unique)
    return ids, id_count


@kernel
def settle_by_generation(
    walk: Longs, offsets: Longs, ids: Ints, id_count: int, generations: Ints, overwrites: Flags
) -> tuple[Longs, Ints, Ints]:
    """Entries that were the first to name their partition, in order; who has each partition, and who had it before."""
    first = np.empty(min(len(ids), id_count), np.int64)
    count = 0
    owner = np.full(id_count, NOBODY, np.int32)
    before = np.full(id_count, NOBODY, np.int32)
    newest = np.empty(id_count, np.int32)
    older = np.empty(id_count, np.int32)
    for member in walk:
        mine = generations[member]
        for at in range(offsets[member], offsets[member + 1]):
            row = ids[at]
            if owner[row] == NOBODY:
                first[count] = at
                count += 1
                owner[row] = member
                newest[row] = mine
            elif mine > newest[row]:
                before[row], older[row] = owner[row], newest[row]
                owner[row], newest[row] = member, mine
            elif mine == newest[row]:
                if overwrites[member]:
                    owner[row] = member
            elif before[row] == NOBODY or mine > older[row] or (overwrites[member] and mine == older[row]):
                before[row], older[row] = member, mine
    return first[:count], owner, before


@kernel
def lists_of_owners(walk: Ints, owner: Ints, row_count: int, member_count: int) -> tuple[Longs, Ints]:
    """Offsets and rows of each member's list, rows in the order of ``walk``, without those that do not exist."""
    offsets = np.zeros(member_count + 1, np.int64)
    for row in walk:
        if row < row_count:
            offsets[owner[row] + 1] += 1
    for member in range(member_count):
        offsets[member + 1] += offsets[member]
    fill = offsets[:-1].copy()
    rows = np.empty(offsets[-1], np.int32)
    for row in walk:
        if row < row_count:
            rows[fill[owner[row]]] = row
            fill[owner[row]] += 1
    return offsets, rows
