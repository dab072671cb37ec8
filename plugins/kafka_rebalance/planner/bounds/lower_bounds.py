"""What no plan can beat: the best of all bounds, for each cost."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.planner.loads import broker_loads
from kafka_rebalance.planner.problem import Floats, Problem
from kafka_rebalance.planner.solution import Bounds, LowerBound


def lower_bounds(problem: Problem) -> Bounds:
    """Bounds for the problem's own bands (before any widening)."""
    load = broker_loads(problem, problem.replicas, problem.leader)
    disk = problem.column("disk")
    zero = LowerBound(0.0, "nothing has to move")
    if disk is None or not problem.moves_replicas:
        return Bounds(zero, zero, zero)
    excess = (np.maximum(load[:, disk] - problem.band_high[:, disk], 0.0) * _price_of_a_byte(problem)).sum()
    if (problem.target_rf < (problem.replicas >= 0).sum(axis=1)).any():
        excess = 0.0  # replicas that are given up leave for nothing, and may take the excess with them
    deficit = np.maximum(problem.band_low[:, disk] - load[:, disk], 0.0).sum()
    best = LowerBound(float(max(excess, deficit)), "excess" if excess >= deficit else "deficit")
    return Bounds(best, zero, zero, {"excess": float(excess), "deficit": float(deficit)})


def _price_of_a_byte(problem: Problem) -> Floats:
    """float64[B]: bytes copied at least for each byte that leaves a broker, at most 1.

    A copy costs the leader's size. On a live cluster a replica may be a little larger than that: it then frees more
    than its move costs.
    """
    price = np.ones(problem.broker_count)
    if problem.own_disk is not None:
        row, slot = np.nonzero((problem.replicas >= 0) & (problem.own_disk > 0))
        np.minimum.at(price, problem.replicas[row, slot], problem.move_bytes[row] / problem.own_disk[row, slot])
    return price
