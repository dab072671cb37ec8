"""Better prices from good ones: steps that raise what the Lagrangian proves (Adam on its supergradient).

At given prices every partition chooses its cheapest placement, leader included (``cheapest_placements.py``); a broker
that comes out above its band gets dearer, one below it cheaper. Steps are scaled price by price and shrink; the best
prices seen are kept. Whatever comes out proves a bound (weak duality), so nothing here has to be exact.

Unlike the linear program of all moves this sees what only leaders carry, and takes clusters of any size.
Complexity: O(P · B · D) a step; the number of steps is what the parameters' work allows. No clock.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import NOBODY, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.fair_share import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.bounds.cheapest_placements import Choices, cheapest_placements
from kafka_rebalance.planner.params import DEFAULTS, AscentParams
from kafka_rebalance.planner.scales import mean_bytes, resource_scale


def better_prices(problem: Problem, prices: Floats, params: AscentParams = DEFAULTS.bounds.ascent) -> Floats | None:
    """float64[B, D] that prove more than ``prices``; None where none were found or the cluster is too large."""
    free = ~problem.pinned
    count = int(free.sum())
    steps = min(params.most_steps, params.work // max(1, count * problem.broker_count))
    if not count or steps < params.least_steps or not problem.moves_replicas:
        return None
    scale = resource_scale(problem)
    unit = max(mean_bytes(problem), 1e-300)
    order = np.argsort(_groups(problem), kind="stable")
    choices = _choices(problem, order, scale, unit)
    held = np.where(problem.pinned[:, None], problem.replicas, NOBODY)
    fixed = broker_loads(problem, held, np.where(problem.pinned, problem.leader, NOBODY))
    # What must be empty is so whatever it is paid: no price there, as for a band without an end.
    low = np.where(problem.stays[:, None], (problem.band_low - fixed) / scale, -np.inf)
    high = np.where(problem.stays[:, None], (problem.band_high - fixed) / scale, np.inf)
    found = _climbed(choices, (prices * scale / unit)[order].T, low[order].T, high[order].T, steps, params)
    if found is None:
        return None
    result = np.empty_like(prices)
    result[order] = found.T * unit / scale
    return result


def _groups(problem: Problem) -> Ints:
    """int[B]: racks, where they suffice for every partition; else each broker is alone."""
    racks = distinct_racks(problem.rack)
    suffice = int(problem.target_rf.max(initial=1)) <= len(np.unique(racks[problem.takes_replicas]))
    suffice &= problem.broker_sets is None
    return np.asarray(racks if suffice else np.arange(problem.broker_count))


def _choices(problem: Problem, order: Longs, scale: Floats, unit: float) -> Choices:
    free = np.flatnonzero(~problem.pinned)
    group = np.unique(_groups(problem)[order], return_inverse=True)[1]
    place = np.empty(problem.broker_count + 1, dtype=np.int32)
    place[order], place[-1] = np.arange(problem.broker_count), NOBODY
    now = problem.replicas[free]
    stays = (now >= 0) & problem.stays[now]
    if problem.must_leave is not None:
        stays &= ~problem.must_leave[free]
    disk = problem.column("disk")
    beyond = np.zeros(now.shape)
    if problem.own_disk is not None and disk is not None:
        beyond = (problem.own_disk[free] - problem.move_bytes[free, None]) / scale[disk]
    leads = problem.takes_leaders | problem.keeps_leaders
    return Choices(
        follower=np.ascontiguousarray(problem.follower_load[free] / scale),
        extra=np.ascontiguousarray(problem.leader_extra[free] / scale),
        cost=problem.move_bytes[free] / unit,
        kept=np.where(stays, place[now], NOBODY).astype(np.int32),
        beyond=beyond,
        disk=-1 if disk is None else disk,
        leader=place[problem.leader[free]],
        closed=np.where(problem.takes_replicas[order], 0.0, np.inf),
        shut=np.where(leads[order], 0.0, np.inf),
        begin=np.searchsorted(group, np.arange(int(group.max(initial=0)) + 2)).astype(np.int64),
        factor=problem.target_rf[free].astype(np.int64),
    )


def _climbed(
    choices: Choices, price: Floats, low: Floats, high: Floats, steps: int, params: AscentParams
) -> Floats | None:
    """The best prices float64[D, B] of ``steps``; None where the first ones are the best."""
    least, most = np.where(np.isfinite(low), -np.inf, 0.0), np.where(np.isfinite(high), np.inf, 0.0)
    price = np.ascontiguousarray(np.clip(price, least, most))
    load, mean, square = np.empty_like(price), np.zeros_like(price), np.zeros_like(price)
    best = -np.inf
    found: Floats | None = None
    for step in range(steps):
        up, down = price > 0, price < 0
        paid = float((price[up] * high[up]).sum() + (price[down] * low[down]).sum())
        value = cheapest_placements(choices, price, load) - paid
        if value > best:
            found = price if best > -np.inf else None
            best = value
        above, below = load - high, load - low  # minus and plus infinity where there is no end
        outside = np.maximum(above, 0.0) + np.minimum(below, 0.0)
        slope = np.where(price > 0, above, np.where(price < 0, below, outside))
        mean = params.memory * mean + (1 - params.memory) * slope
        square = params.long_memory * square + (1 - params.long_memory) * slope * slope
        first, second = 1 - params.memory ** (step + 1), 1 - params.long_memory ** (step + 1)
        length = params.first_step * (params.last_step / params.first_step) ** (step / steps)
        moved = price + length * (mean / first) / (np.sqrt(square / second) + params.least_slope)
        price = np.where(
            price * moved < 0, 0.0, np.clip(moved, least, most)
        )  # a band's other side has another limit: stop between them
    return found
