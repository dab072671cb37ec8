"""Sorting a stretch of keys, and values with them: merge sort that is quick on what is nearly in order."""

from __future__ import annotations

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.kernels.decorators import inner_kernel

_RUN = 16


@inner_kernel
def sort_pairs(keys: Longs, values: Ints, start: int, end: int) -> None:
    """Sort ``keys[start:end]`` in place, stably, and ``values`` along with them."""
    for low in range(start, end, _RUN):
        for i in range(low + 1, min(low + _RUN, end)):
            key, value = keys[i], values[i]
            j = i - 1
            while j >= low and keys[j] > key:
                keys[j + 1] = keys[j]
                values[j + 1] = values[j]
                j -= 1
            keys[j + 1] = key
            values[j + 1] = value
    width = _RUN
    while width < end - start:
        for low in range(start, end - width, 2 * width):
            # Two neighbours that are in order already need no merging.
            if keys[low + width - 1] > keys[low + width]:
                _merge(keys, values, low, low + width, min(low + 2 * width, end))
        width *= 2


@inner_kernel
def _merge(keys: Longs, values: Ints, low: int, middle: int, high: int) -> None:
    left_keys, left_values = keys[low:middle].copy(), values[low:middle].copy()
    i, j = 0, middle
    for at in range(low, high):
        if i == len(left_keys):
            break
        if j < high and keys[j] < left_keys[i]:
            keys[at] = keys[j]
            values[at] = values[j]
            j += 1
        else:
            keys[at] = left_keys[i]
            values[at] = left_values[i]
            i += 1
