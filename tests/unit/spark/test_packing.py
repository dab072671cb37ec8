from itertools import product
from random import Random

import pytest

from kafka_rebalance.errors import UsageError
from rebalance_advisor.spark.mapper import pack_by_cost


def loads_of(costs, packed, bins):
    loads = [0.0] * bins
    for cost, number in zip(costs, packed, strict=True):
        loads[number] += cost
    return loads


def least_fullest(costs, bins):
    """The optimum, by trying every packing."""
    return min(max(loads_of(costs, packed, bins)) for packed in product(range(bins), repeat=len(costs)))


def test_the_five_units_of_the_docstring():
    """3 | 3, then 2s to the lesser: 3+2 | 3+2, the last 2 to the first: 7 and 5 (the optimum is 3+3 and 2+2+2: 6)."""
    assert pack_by_cost([3, 3, 2, 2, 2], 2) == [0, 1, 0, 1, 0]
    assert least_fullest([3, 3, 2, 2, 2], 2) == 6


def test_a_giant_is_alone_in_the_first_bin_and_the_others_share_the_rest():
    """1,000 units of 1 in three bins beside one of 5,000: 334, 333 and 333."""
    costs = [1.0] * 600 + [5000.0] + [1.0] * 400
    packed = pack_by_cost(costs, 4)
    assert packed[600] == 0
    assert loads_of(costs, packed, 4) == [5000, 334, 333, 333]


def test_units_that_cost_nothing_are_spread_and_bins_may_stay_empty():
    assert sorted(pack_by_cost([0.0] * 6, 3)) == [0, 0, 1, 1, 2, 2]
    assert pack_by_cost([4.0, 7.0], 5) == [1, 0]
    assert pack_by_cost([], 3) == []


def test_the_fullest_bin_is_within_four_thirds_of_the_optimum():
    random = Random(16)
    for _ in range(150):
        bins = random.randint(1, 3)
        costs = [random.choice((0, 1, 2, 3, 5, 8, 40)) * random.choice((1, 1.5)) for _ in range(random.randint(1, 7))]
        packed = pack_by_cost(costs, bins)
        loads = loads_of(costs, packed, bins)
        assert max(loads) <= (4 / 3 - 1 / (3 * bins)) * least_fullest(costs, bins) + 1e-9
        assert loads == sorted(loads, reverse=True)
        assert packed == pack_by_cost(costs, bins)


def test_many_units_with_a_long_tail_fill_bins_evenly():
    """The last of two or more units in the fullest bin is at most the 65th; before it the bin was at most the mean."""
    random = Random(7)
    costs = [random.paretovariate(1.1) for _ in range(5000)]
    loads = loads_of(costs, pack_by_cost(costs, 64), 64)
    assert max(loads) <= max(*costs, sum(costs) / 64 + sorted(costs)[-65])


@pytest.mark.parametrize(("costs", "bins", "location"), [
    ([1.0], 0, "bins"), ([1.0, -0.5], 2, r"costs\[1\]"), ([float("nan")], 2, r"costs\[0\]"),
    ([1.0, float("inf")], 2, r"costs\[1\]"),
])  # fmt: skip
def test_what_is_no_cost_is_refused_with_its_place(costs, bins, location):
    with pytest.raises(UsageError, match=f"^{location}: "):
        pack_by_cost(costs, bins)
