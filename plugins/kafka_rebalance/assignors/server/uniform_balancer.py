"""The two ends of a sorted row of members, from which the server's ``uniform`` takes and to which it gives.

Members stand sorted by what they hold (ties: map order). The *least* end starts at the left: each member in it is given
one partition, then the level rises by one and the end takes in who stands at that level. The *most* end mirrors it from
the right; members with nothing to give up are set aside behind it. Nothing is sorted again while it runs.

Follows ``UniformHeterogeneousAssignmentBuilder.MemberAssignmentBalancer`` step by step, index by index: the answer
hangs on them. A balancer is ``row`` (members, sorted), ``sizes`` (what each member holds) and ``ends`` int64[7].

Example: sizes 1, 1, 3, 5 → least ends gives to the two ones, then to them again (level 2), then to all three.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.kernels.decorators import inner_kernel

ENDS = 7
_LEAST_END, _LEAST_LEVEL, _LEAST_NEXT, _MOST_START, _MOST_END, _MOST_LEVEL, _MOST_NEXT = range(ENDS)


@inner_kernel
def line_up(members: Ints, row: Ints, sizes: Ints, ends: Longs) -> np.int64:
    """Sort ``members`` (ascending) into ``row`` by size and open both ends; how far the largest is above the least."""
    n = len(members)
    sort_by_size(members, row, sizes)
    ends[_LEAST_END] = 0
    ends[_LEAST_LEVEL] = sizes[row[0]] - 1
    ends[_LEAST_NEXT] = 0
    ends[_MOST_START] = n
    ends[_MOST_END] = n
    ends[_MOST_LEVEL] = sizes[row[n - 1]] + 1
    ends[_MOST_NEXT] = n - 1
    return np.int64(sizes[row[n - 1]] - sizes[row[0]])


@inner_kernel
def sort_by_size(members: Ints, row: Ints, sizes: Ints) -> None:
    """Stable: members of one size stay in map order."""
    n = len(members)
    least = most = before = sizes[members[0]]
    is_sorted = True
    for i in range(n):
        size = sizes[members[i]]
        row[i] = members[i]
        is_sorted &= before <= size
        before = size
        least = min(least, size)
        most = max(most, size)
    if is_sorted:
        return
    # Byte by byte, as many as the range of sizes has.
    spare = np.empty(n, np.int32)
    counts = np.empty(257, np.int64)
    shift = 0
    while (most - least) >> shift:
        counts[:] = 0
        for i in range(n):
            counts[((sizes[row[i]] - least) >> shift & 0xFF) + 1] += 1
        for level in range(256):
            counts[level + 1] += counts[level]
        for i in range(n):
            level = (sizes[row[i]] - least) >> shift & 0xFF
            spare[counts[level]] = row[i]
            counts[level] += 1
        for i in range(n):
            row[i] = spare[i]
        shift += 8


@inner_kernel
def next_least(row: Ints, sizes: Ints, ends: Longs) -> np.int32:
    """The member that is given a partition next."""
    if ends[_LEAST_NEXT] >= ends[_LEAST_END]:
        ends[_LEAST_LEVEL] += 1
        while ends[_LEAST_END] < len(row) and sizes[row[ends[_LEAST_END]]] == ends[_LEAST_LEVEL]:
            ends[_LEAST_END] += 1
        ends[_LEAST_NEXT] = 0
    ends[_LEAST_NEXT] += 1
    return np.int32(row[ends[_LEAST_NEXT] - 1])


@inner_kernel
def next_most(row: Ints, sizes: Ints, ends: Longs) -> np.int32:
    """The member that gives up a partition next, -1 when nobody is left."""
    if ends[_MOST_NEXT] < ends[_MOST_START]:
        if ends[_MOST_END] <= ends[_MOST_START] and ends[_MOST_START] > 0:
            ends[_MOST_LEVEL] = sizes[row[ends[_MOST_START] - 1]]
        else:
            ends[_MOST_LEVEL] -= 1
        while ends[_MOST_START] > 0 and sizes[row[ends[_MOST_START] - 1]] == ends[_MOST_LEVEL]:
            ends[_MOST_START] -= 1
        ends[_MOST_NEXT] = ends[_MOST_END] - 1
    if ends[_MOST_NEXT] < 0:
        return np.int32(-1)
    ends[_MOST_NEXT] -= 1
    return np.int32(row[ends[_MOST_NEXT] + 1])


@inner_kernel
def set_aside(row: Ints, ends: Longs) -> None:
    """Leave the member that ``next_most`` just gave out of the most loaded end."""
    place, last = ends[_MOST_NEXT] + 1, ends[_MOST_END] - 1
    row[place], row[last] = row[last], row[place]
    ends[_MOST_END] -= 1


@inner_kernel
def is_even(ends: Longs) -> bool:
    """Whether the levels of the two ends differ by one at most."""
    return bool(ends[_MOST_LEVEL] - ends[_LEAST_LEVEL] <= 1)
