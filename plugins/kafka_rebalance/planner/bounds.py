"""What no plan can beat: the best of all bounds, for each cost."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.planner.loads import broker_loads
from kafka_rebalance.planner.problem import Problem
from kafka_rebalance.planner.solution import Bounds, LowerBound


def lower_bounds(problem: Problem) -> Bounds:
    """Bounds for the problem's own bands (before any widening)."""
    load = broker_loads(problem, problem.replicas, problem.leader)
    disk = problem.column("disk")
    zero = LowerBound(0.0, "nothing has to move")
    if disk is None or not problem.moves_replicas:
        return Bounds(zero, zero, zero)
    excess = np.maximum(load[:, disk] - problem.band_high[:, disk], 0.0).sum()
    deficit = np.maximum(problem.band_low[:, disk] - load[:, disk], 0.0).sum()
    best = LowerBound(float(max(excess, deficit)), "excess" if excess >= deficit else "deficit")
    return Bounds(best, zero, zero, {"excess": float(excess), "deficit": float(deficit)})
