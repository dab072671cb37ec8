"""Lazy quicksort inside kernels, only as far as needed. Ties are as in a full sort. Numba's ``np.argsort`` sorts the
same way but compiles a second longer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_assignors.arrays import Floats, Ints, Longs
from kafka_assignors.kernels import inner_kernel
from kafka_rebalance.planner.params import SHORT_SPAN


class Ranking(NamedTuple):
    """Lazy sort of ``values``.

    order  indices, sorted from the front on demand
    ends   ends of the unsorted spans, the foremost last; one sorted index separates two
    done   sorted indices at the front, number of unsorted spans
    """

    values: Floats
    order: Longs
    ends: Longs
    done: Longs


@inner_kernel
def ranking_of(values: Floats) -> Ranking:
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
    """Index of the ``rank``-th smallest, from 0. O(n log n) for all."""
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
    """Order of ``values`` without NaN; ties in a fixed order. O(n log n)."""
    ranking = ranking_of(values)
    if values.shape[0] > 0:
        in_place(ranking, values.shape[0] - 1)
    return ranking.order


@inner_kernel
def largest_first(values: Floats) -> Ranking:
    negated = np.empty(values.shape[0])
    for i in range(negated.shape[0]):
        negated[i] = -values[i]
    return ranking_of(negated)


@inner_kernel
def _split(values: Floats, order: Longs, low: int, high: int) -> int:
    """The pivot is the median of ends and middle."""
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
    for i in range(low + 1, high + 1):
        index = order[i]
        j = i
        while j > low and values[index] < values[order[j - 1]]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = index


def grouped_order(key: Ints, keys: int) -> Longs:
    """Stable order of ``key``. numpy counts two-byte numbers, five times as fast as a merge sort."""
    narrow = key.astype(np.uint16) if keys - 1 <= np.iinfo(np.uint16).max else key
    return np.argsort(narrow, kind="stable")
