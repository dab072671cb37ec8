"""Units of work of unequal cost into bins, so that the fullest bin is little fuller than it must be.

Longest processing time first: the units by falling cost, each into the bin that holds least so far. Properties:

1. The fullest bin holds at most 4/3 - 1/(3 bins) times what it would in the best packing.
2. A unit that costs more than all others together has a bin of its own (from two bins on).
3. Bins come by falling load: Spark begins tasks in the order of their partitions, so the longest begins first.
4. Same costs, same bins; equal units by their place.

Costs 3, 3, 2, 2, 2 in two bins: 3 and 3, then 2 and 2, then the last 2: loads 7 and 5, where 6 and 6 was possible.
O(n log n). Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 17 (1969).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heapify, heapreplace

from kafka_rebalance.errors import UsageError


def pack_by_cost(costs: Sequence[float], bins: int) -> list[int]:
    """The bin (from 0) of each unit. ``costs`` are in any one measure, such as seconds or rows times members."""
    if bins < 1:
        raise UsageError.at("bins", f"{bins} of them", "there must be at least one")
    for unit, cost in enumerate(costs):
        if not (math.isfinite(cost) and cost >= 0):
            raise UsageError.at(f"costs[{unit}]", f"{cost}", "a cost is a finite number from 0")
    loads = [(0.0, 0, number) for number in range(bins)]
    heapify(loads)
    packed = [0] * len(costs)
    for unit in sorted(range(len(costs)), key=lambda unit: -costs[unit]):
        load, count, number = loads[0]  # the count spreads units that cost nothing
        packed[unit] = number
        heapreplace(loads, (load + costs[unit], count + 1, number))
    by_load = sorted(loads, key=lambda entry: (-entry[0], -entry[1], entry[2]))
    place = {number: place for place, (_, _, number) in enumerate(by_load)}
    return [place[number] for number in packed]
