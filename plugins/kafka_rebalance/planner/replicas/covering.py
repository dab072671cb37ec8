"""The least that must leave one broker: a covering problem with one row per resource, solved by its dual.

    minimise  Σ s_i·x_i   subject to  Σ w_id·x_i ≥ e_d for every resource d,  0 ≤ x_i ≤ 1

s = cost of moving replica i, w = what it weighs, e = how far the broker is above its band. Any prices λ ≥ 0 prove
λ·e - Σ max(0, λ·w_i - s_i) (weak duality), and the best prices also say which replicas to send: those worth more than
they cost. Coordinate ascent with an exact line search (a weighted quantile), O(D·n) expected per sweep for n replicas;
on the models at hand it ends within 1e-9 of the linear program.

Example: one resource, e = 5, two replicas of weight 3 and cost 3: prices (1) prove 5; rounding up would prove 6.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.kernels.decorators import inner_kernel, kernel
from kafka_rebalance.planner.tolerances import NOT_COVERABLE


@inner_kernel
def weighted_quantile(value: Floats, weight: Floats, count: int, need: float) -> float:
    """The smallest x such that the weights of values <= x add up to ``need``; reorders both arrays."""
    low, high, below = 0, count, 0.0
    enough = NOT_COVERABLE  # sums in another order may miss by a rounding: then the value just above is the answer
    while high - low > 0:
        left, middle, right = value[low], value[(low + high) // 2], value[high - 1]
        pivot = max(min(left, middle), min(max(left, middle), right))
        first, last, less, equal = _partition(value, weight, low, high, pivot)
        if below + less >= need:
            high = first
            enough = pivot
        elif below + less + equal >= need:
            return float(pivot)
        else:
            below += less + equal
            low = last
    return enough


@inner_kernel
def _partition(value: Floats, weight: Floats, low: int, high: int, pivot: float) -> tuple[int, int, float, float]:
    """Three-way partition; returns the span equal to the pivot and the weights less than and equal to it."""
    first, i, last = low, low, high
    less, equal = 0.0, 0.0
    while i < last:
        x = value[i]
        if x < pivot:
            less += weight[i]
            value[i], value[first] = value[first], x
            weight[i], weight[first] = weight[first], weight[i]
            first += 1
            i += 1
        elif x > pivot:
            last -= 1
            value[i], value[last] = value[last], x
            weight[i], weight[last] = weight[last], weight[i]
        else:
            equal += weight[i]
            i += 1
    return first, last, less, equal


@inner_kernel
def _best_price(cost: Floats, weight: Floats, excess: Floats, prices: Floats, d: int, scratch: Floats) -> float:
    """The price of resource ``d`` that is best with the others fixed."""
    count, covered = 0, 0.0
    for i in range(cost.shape[0]):
        if weight[i, d] <= 0:
            continue
        short = cost[i]
        for k in range(prices.shape[0]):
            if k != d:
                short -= prices[k] * weight[i, k]
        if short <= 0:
            covered += weight[i, d]
        else:
            scratch[0, count] = short / weight[i, d]
            scratch[1, count] = weight[i, d]
            count += 1
    if covered >= excess[d]:
        return 0.0
    return weighted_quantile(scratch[0], scratch[1], count, excess[d] - covered)


@inner_kernel
def proven(cost: Floats, weight: Floats, excess: Floats, prices: Floats) -> float:
    """What ``prices`` prove."""
    total = 0.0
    for d in range(prices.shape[0]):
        total += prices[d] * excess[d]
    for i in range(cost.shape[0]):
        worth = -cost[i]
        for d in range(prices.shape[0]):
            worth += prices[d] * weight[i, d]
        if worth > 0:
            total -= worth
    return total


@inner_kernel
def ascend(cost: Floats, weight: Floats, excess: Floats, prices: Floats, scratch: Floats, sweeps: int) -> float:
    """Improve ``prices`` float64[D] in place; returns what they prove (NOT_COVERABLE if all replicas do not cover).

    cost float64[n], weight float64[n, D], excess float64[D] (<= 0: nothing to cover), scratch float64[2, n];
    ``sweeps`` at most.
    """
    best = 0.0
    for _ in range(sweeps):
        for d in range(prices.shape[0]):
            prices[d] = 0.0 if excess[d] <= 0 else _best_price(cost, weight, excess, prices, d, scratch)
            if prices[d] >= NOT_COVERABLE:
                return NOT_COVERABLE
        value = proven(cost, weight, excess, prices)
        if value <= best * (1 + 1e-9):
            break
        best = value
    return best


@inner_kernel
def best_prices(cost: Floats, weight: Floats, excess: Floats, prices: Floats, scratch: Floats, sweeps: int) -> float:
    """The best proof from two starts, all prices 1 and all 0; ``prices`` are those of the better one."""
    dims = prices.shape[0]
    best = -1.0
    trial = np.empty(dims)
    in_excess = 0
    for d in range(dims):
        in_excess += excess[d] > 0
    # A sweep sets the first price whatever it was, so where one resource is in excess all starts come to the same.
    for start in range(2 if in_excess > 1 else 1):
        for d in range(dims):
            trial[d] = 1.0 if excess[d] > 0 and start == 0 else 0.0
        value = ascend(cost, weight, excess, trial, scratch, sweeps)
        if value > best:
            best = value
            for d in range(dims):
                prices[d] = trial[d]
        if value >= NOT_COVERABLE:
            break
    return best


@kernel
def cover(cost: Floats, weight: Floats, excess: Floats, prices: Floats, scratch: Floats, sweeps: int) -> float:
    """``best_prices`` for Python."""
    return best_prices(cost, weight, excess, prices, scratch, sweeps)
