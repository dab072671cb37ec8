"""Plans with few bytes within rules and bands, and a lower bound on the bytes.

``solve(problem)`` returns a ``Solution``; ``assemble`` builds a ``Problem``.
"""

from kafka_rebalance.cluster_arrays.problem import Budget, MeasuredLoads, Problem
from kafka_rebalance.cluster_arrays.snapshot_arrays import Brokers, Placement, Wanted, assemble
from kafka_rebalance.options.values import Target
from kafka_rebalance.planner.bounds import lower_bounds
from kafka_rebalance.planner.solution import Bounds, LowerBound, PlanCost, Solution, Widening
from kafka_rebalance.planner.solve import solve

__all__ = [
    "Bounds", "Brokers", "Budget", "LowerBound", "MeasuredLoads", "Placement", "PlanCost", "Problem", "Solution",
    "Target", "Wanted", "Widening", "assemble", "lower_bounds", "solve",
]  # fmt: skip
