import numba
import numpy as np

from kafka_assignors.kernels import kernel
from kafka_rebalance.planner.sorting import in_place, largest_first, smallest_first


@kernel
def sorted_upwards(values):  # type: ignore[no-untyped-def]
    return smallest_first(values)


@kernel
def some_of_the_largest(values, count):  # type: ignore[no-untyped-def]
    """The ``count`` largest, requested one after the other, and the sorted extent."""
    ranking = largest_first(values)
    result = np.empty(count, np.int64)
    for rank in range(count):
        result[rank] = in_place(ranking, rank)
    return result, ranking.done[0]


@numba.njit(cache=True)
def by_numba(values):  # type: ignore[no-untyped-def]
    return np.argsort(values)


def test_the_order_is_that_of_numbas_sort_ties_included() -> None:
    rng = np.random.default_rng(11)
    for trial in range(300):
        count = int(rng.integers(0, 400))
        values = rng.normal(size=count) if trial % 2 else rng.integers(0, 1 + trial // 10, count).astype(np.float64)
        values = (values, np.sort(values), np.sort(values)[::-1].copy())[trial % 3]
        up = sorted_upwards(values)
        assert (values[up] == np.sort(values)).all()
        assert (up == by_numba(values)).all()
        asked = int(rng.integers(0, count + 1))
        down, _ = some_of_the_largest(values, asked)
        assert (down == by_numba(-values)[:asked]).all()


def test_whoever_asks_for_a_few_does_not_sort_the_rest() -> None:
    """Of 100,000 values the first three sort only the front spans: some dozen are in place."""
    values = np.random.default_rng(5).random(100_000)
    result, sorted_so_far = some_of_the_largest(values, 3)
    assert (result == np.argsort(-values)[:3]).all()
    assert 3 <= sorted_so_far < 50
