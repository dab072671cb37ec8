"""Sorting inside kernels: any values, many ties, and the very order that numba's own sort gives."""

import numba
import numpy as np

from kafka_rebalance.kernels.decorators import kernel
from kafka_rebalance.planner.sorting import largest_first, smallest_first


@kernel
def sorted_both_ways(values):  # type: ignore[no-untyped-def]
    return smallest_first(values), largest_first(values)


@numba.njit(cache=True)
def by_numba(values):  # type: ignore[no-untyped-def]
    return np.argsort(values)


def test_the_order_is_that_of_numbas_sort_ties_included() -> None:
    rng = np.random.default_rng(11)
    for trial in range(300):
        count = int(rng.integers(0, 400))
        values = rng.normal(size=count) if trial % 2 else rng.integers(0, 1 + trial // 10, count).astype(np.float64)
        values = (values, np.sort(values), np.sort(values)[::-1].copy())[trial % 3]
        up, down = sorted_both_ways(values)
        assert (values[up] == np.sort(values)).all()
        assert (up == by_numba(values)).all()
        assert (down == by_numba(-values)).all()
