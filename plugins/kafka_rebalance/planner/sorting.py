"""Sorting inside kernels: the order of float64 values, by quicksort with the median of three, as far as asked.

Whoever ranks a thousand replicas and hands over three has no use for the order of the rest. Which spans are split, and
how, does not depend on when: ties are in the order that a sort of everything gives them.

Numba's ``np.argsort`` sorts the same way, ties included, and compiles a second longer: it is written for any type, in
functions of its own that every kernel is linked with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_assignors.arrays import Floats, Ints, Longs
from kafka_assignors.kernels.decorators import inner_kernel
from kafka_rebalance.planner.params import SHORT_SPAN


class Ranking(NamedTuple):
    """A sort that goes only as far as somebody asks: spans of ``order`` are sorted from its front, one after the other.

    order  int64[n], indices into ``values`` float64[n]
    ends   int64[n+1]: where each span ends that is not sorted yet, the foremost last; between two lies one index that
           is in its place
    done   int64[2]: how many indices at the front are in their places, and how many spans are not sorted yet
    """

    values: Floats
    order: Longs
    ends: Longs
    done: Longs


@inner_kernel
def ranking_of(values: Floats) -> Ranking:
    """All of ``values``, of which none is NaN, in one span."""
    count = values.shape[0]
    order = np.empty(count, np.int64)
    for i in range(count):
        order[i] = i
    ends, done = np.empty(count + 1, np.int64), np.empty(2, np.int64)
    ends[0] = count - 1
    done[0], done[1] = 0, 1
    return Ranking(values, order, ends, done)


@inner_kernel
def in_place(ranking: Ranking, rank: int) -> int:
    """The index of the value that is ``rank``-th from below, from 0. O(n) for the first, O(n log n) for all."""
    order, ends, done = ranking.order, ranking.ends, ranking.done
    while done[0] <= rank:
        low, high = done[0], ends[done[1] - 1]
        while high - low >= SHORT_SPAN:
            high = _split(ranking.values, order, low, high) - 1
            ends[done[1]] = high
            done[1] += 1
        _insert(ranking.values, order, low, high)
        done[0] = high + 2
        done[1] -= 1
    return int(order[rank])


@inner_kernel
def smallest_first(values: Floats) -> Longs:
    """Indices that sort ``values``, of which none is NaN. Ties are in no order, but always the same. O(n log n)."""
    ranking = ranking_of(values)
    if values.shape[0] > 0:
        in_place(ranking, values.shape[0] - 1)
    return ranking.order


@inner_kernel
def largest_first(values: Floats) -> Ranking:
    """A ranking of ``values`` the other way round: the rank counts from above."""
    negated = np.empty(values.shape[0])
    for i in range(negated.shape[0]):
        negated[i] = -values[i]
    return ranking_of(negated)


@inner_kernel
def _split(values: Floats, order: Longs, low: int, high: int) -> int:
    """Partition ``order[low:high + 1]`` around the median of its ends and middle; returns where that ends up."""
    middle = (low + high) >> 1
    if values[order[middle]] < values[order[low]]:
        order[low], order[middle] = order[middle], order[low]
    if values[order[high]] < values[order[middle]]:
        order[high], order[middle] = order[middle], order[high]
    if values[order[middle]] < values[order[low]]:
        order[low], order[middle] = order[middle], order[low]
    pivot = values[order[middle]]
    order[high], order[middle] = order[middle], order[high]
    i, j = low, high - 1
    while True:
        while i < high and values[order[i]] < pivot:
            i += 1
        while j >= low and pivot < values[order[j]]:
            j -= 1
        if i >= j:
            break
        order[i], order[j] = order[j], order[i]
        i += 1
        j -= 1
    order[i], order[high] = order[high], order[i]
    return i


@inner_kernel
def _insert(values: Floats, order: Longs, low: int, high: int) -> None:
    """Insertion sort of ``order[low:high + 1]``."""
    for i in range(low + 1, high + 1):
        index = order[i]
        j = i
        while j > low and values[index] < values[order[j - 1]]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = index


# Indices grouped by small whole numbers, such as replicas by broker.


def grouped_order(key: Ints, keys: int) -> Longs:
    """Indices that sort ``key`` int32[n], each in 0..keys-1; within a key they ascend. O(n) for up to 65,536 keys.

    numpy sorts numbers of two bytes by counting, wider ones by merging, which takes five times as long for a million.
    """
    narrow = key.astype(np.uint16) if keys - 1 <= np.iinfo(np.uint16).max else key
    return np.argsort(narrow, kind="stable")
