"""As even as a budget allows: bands are opened towards today's loads until the plan costs no more than was allowed.

Promises, in order: the plan's cost is within the budget; what must move whatever the balance (brokers that leave,
racks, replication factor) moves; every broker is opened by the same share of what it lacks, the least of those tried.
Example: a broker at 1.40 × its share, asked for 1.10, opened by a half: 1.25.

Complexity: ``tries`` + 2 searches at most. Deterministic: a bisection in fixed steps, no clock.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.planner.params import SolveParams
from kafka_rebalance.planner.solution import PlanCost, Solution
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.params import DEFAULTS, BudgetParams


def solve_within_budget(
    problem: Problem, *, seed: int = 0, params: SolveParams = DEFAULTS.solve, budget: BudgetParams = DEFAULTS.budget
) -> Solution:
    """The problem's solution, or the most even one that its budget allows; ``params`` are those of the first search.

    Raises InfeasibleError where even the moves that cannot be left out cost more.
    """
    solution = solve(problem, seed=seed, params=params)
    if fits_budget(problem, solution.cost):
        return solution
    least = solve(_opened(problem, 1.0), seed=seed, params=budget.solve)
    if not fits_budget(problem, least.cost):
        raise InfeasibleError(
            f"what must move costs {_words(least.cost)}, more than the budget allows", "a larger budget"
        )
    best, low, high = least, 0.0, 1.0
    for _ in range(budget.tries):
        middle = (low + high) / 2
        found = solve(_opened(problem, middle), seed=seed, params=budget.solve)
        if fits_budget(problem, found.cost):
            best, high = found, middle
        else:
            low = middle
    return best


def without_balance(problem: Problem) -> Problem:
    """The same problem asking only for what must move whatever the balance."""
    return _opened(problem, 1.0)


def _opened(problem: Problem, share: float) -> Problem:
    """Bands opened by ``share`` of what each staying broker is outside of them today; 1 asks for no balance at all."""
    load = broker_loads(problem, problem.replicas, problem.leader)
    stays = problem.stays[:, None]
    if share >= 1:  # a broker that leaves hands its load to others: they may take any of it
        high, low = np.broadcast_to(2 * load.sum(axis=0), load.shape), np.zeros_like(load)
    else:
        high = problem.band_high + share * np.maximum(load - problem.band_high, 0.0)
        low = problem.band_low - share * np.maximum(problem.band_low - load, 0.0)
    return replace(
        problem,
        band_high=np.where(stays, np.maximum(high, problem.band_high), problem.band_high),
        band_low=np.where(stays, np.minimum(low, problem.band_low), problem.band_low),
    )


def fits_budget(problem: Problem, cost: PlanCost) -> bool:
    """The cost is within every limit of the problem's budget."""
    budget = problem.budget
    limits = (
        (budget.max_bytes, cost.bytes),
        (budget.max_replica_moves, cost.replica_moves),
        (budget.max_leader_changes, cost.leader_changes),
    )
    return all(limit is None or spent <= limit for limit, spent in limits)


def _words(cost: PlanCost) -> str:
    return f"{cost.bytes:,.0f} bytes, {cost.replica_moves:,} replica moves, {cost.leader_changes:,} leader changes"
