"""Sorting inside kernels: the order of float64 values, by quicksort with the median of three.

Numba's ``np.argsort`` sorts the same way, ties included, and compiles a second longer: it is written for any type, in
functions of its own that every kernel is linked with.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats, Longs
from kafka_rebalance.kernels.decorators import inner_kernel
from kafka_rebalance.planner.tolerances import MOST_WAITING, SHORT_SPAN


@inner_kernel
def smallest_first(values: Floats) -> Longs:
    """Indices that sort ``values``, of which none is NaN. Ties are in no order, but always the same. O(n log n)."""
    order = np.empty(values.shape[0], np.int64)
    for i in range(order.shape[0]):
        order[i] = i
    # Of two spans the shorter one is sorted first, so that at most the logarithm of the length wait.
    begin, end = np.empty(MOST_WAITING, np.int64), np.empty(MOST_WAITING, np.int64)
    begin[0], end[0] = 0, order.shape[0] - 1
    waiting = 1
    while waiting > 0:
        waiting -= 1
        low, high = begin[waiting], end[waiting]
        while high - low >= SHORT_SPAN:
            middle = _split(values, order, low, high)
            if high - middle > middle - low:
                begin[waiting], end[waiting] = middle + 1, high
                high = middle - 1
            else:
                begin[waiting], end[waiting] = low, middle - 1
                low = middle + 1
            waiting += 1
        _insert(values, order, low, high)
    return order


@inner_kernel
def largest_first(values: Floats) -> Longs:
    """As ``smallest_first``, the other way round."""
    negated = np.empty(values.shape[0])
    for i in range(negated.shape[0]):
        negated[i] = -values[i]
    return smallest_first(negated)


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
