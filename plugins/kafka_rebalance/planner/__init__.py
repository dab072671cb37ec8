"""Plans with a proof: the fewest bytes that meet the rules and bands, and how few anybody could need.

``Problem`` in, ``Solution`` out; ``bands.py``, ``fair_share.py`` and ``columns.py`` help to build a problem.
"""

from kafka_rebalance.planner.problem import Budget, Problem
from kafka_rebalance.planner.solution import Bounds, LowerBound, PlanCost, Solution, Widening

__all__ = ["Bounds", "Budget", "LowerBound", "PlanCost", "Problem", "Solution", "Widening"]
