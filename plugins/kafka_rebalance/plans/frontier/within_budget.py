"""As even as a budget allows: what must move whatever the balance, then whatever lowers the imbalance most.

Promises, in order: the plan's cost is within the budget; what must move (brokers that leave, racks, replication factor)
moves; where all of the bands can be met within the budget, it is the cheapest plan found for them; where not, it is the
least imbalance found (``planner.budget.search``).

Complexity: two searches, and the one within the budget. Deterministic: steps are counted, no clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Budget, Problem
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.planner.budget.search import Placing, search_within_budget
from kafka_rebalance.planner.linear_program.whole_plan import decided
from kafka_rebalance.planner.params import SolveParams
from kafka_rebalance.planner.placed import in_kafka_order, plan_cost
from kafka_rebalance.planner.solution import PlanCost, Solution
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.planner.topic_spread import topic_excess
from kafka_rebalance.plans.dead_band import imbalance
from kafka_rebalance.plans.frontier.kept_limits import first_lifted, lifts
from kafka_rebalance.plans.outcome import bands_of
from kafka_rebalance.plans.params import DEFAULTS, BudgetParams


def solve_within_budget(
    problem: Problem, *, seed: int = 0, params: SolveParams = DEFAULTS.solve, budget: BudgetParams = DEFAULTS.budget
) -> Solution:
    """The problem's solution, or the most even one that its budget allows; ``params`` are those of the first search.

    Raises InfeasibleError where even the moves that cannot be left out cost more.
    """
    solution = within_limits(problem, solve(problem, seed=seed, params=params), seed, params, budget)
    if fits_budget(problem, solution.cost):
        return solution
    least = solve(without_balance(problem), seed=seed, params=budget.solve)
    if not fits_budget(problem, least.cost):
        least = _cheaper(problem, least, params)
    if problem.elects_preferred:
        return replace(least, is_cut_short=True)
    best = searched_within_budget(problem, solution, least, seed, params)
    for number in range(1, budget.searches if _is_small(problem, budget) else 1):
        other = solve(without_balance(problem), seed=seed + number, params=budget.solve)
        start = other if fits_budget(problem, other.cost) else least
        other_best = searched_within_budget(problem, solution, start, seed + number, params)
        best = min(best, other_best, key=lambda found: (not keeps_caps(problem, found), outside_of(problem)(found)))
    # What takes most off the imbalance may leave a cap that what must move keeps.
    return best if keeps_caps(problem, best) else replace(least, bounds=solution.bounds, is_cut_short=True)


def _cheaper(problem: Problem, least: Solution, params: SolveParams) -> Solution:
    """What must move in another way, within the budget. Raises InfeasibleError where none is found."""
    decision = decided(without_balance(problem), params, within_budget=True)
    if decision.plan is not None:
        replicas = decision.plan.replicas
        leader = np.take_along_axis(replicas, decision.plan.replica_index[:, None], axis=1)[:, 0]
        found = _solved(problem, Placing(replicas, leader), least, least)
        if fits_budget(problem, found.cost):
            return found
    raise InfeasibleError(
        fact(
            FactCode.BUDGET_TOO_SMALL,
            copied_bytes=float(least.cost.bytes),
            replica_moves=least.cost.replica_moves,
            leader_changes=least.cost.leader_changes,
            is_proved=decision.is_none_proved,
        ),
        fact(FactCode.RAISE_BUDGET),
    )


def keeps_caps(problem: Problem, solution: Solution) -> bool:
    """No broker that stays carries more than its cap."""
    if problem.cap is None:
        return True
    return bool((solution.after <= problem.cap * (1 + BAND_ROUNDING))[problem.stays].all())


def within_limits(
    problem: Problem, solution: Solution, seed: int, params: SolveParams, budget: BudgetParams
) -> Solution:
    """The solution, or where it lifts somebody above what they can carry the most even one that does not, for no more
    than it costs.

    Raises InfeasibleError where what must move does.
    """
    if not lifts(problem, solution):
        return solution
    least = solve(without_balance(problem), seed=seed, params=budget.solve)
    if lifts(problem, least):
        raise InfeasibleError(first_lifted(problem, least), fact(FactCode.ADD_CAPACITY))
    cost = solution.cost
    limited = replace(problem, budget=Budget(cost.bytes, cost.replica_moves, cost.leader_changes))
    best = searched_within_budget(limited, least, least, seed, params)
    return replace(least if lifts(problem, best) else best, bounds=solution.bounds, is_cut_short=False)


def _is_small(problem: Problem, budget: BudgetParams) -> bool:
    return problem.partition_count * problem.broker_count <= budget.few_pairs


def outside_of(problem: Problem) -> Callable[[Solution], float]:
    """What is compared: the share of load outside its bands."""
    bands = bands_of(problem)
    return lambda solution: imbalance(bands, solution.after, problem.stays)


def searched_within_budget(
    problem: Problem, solution: Solution, least: Solution, seed: int, params: SolveParams
) -> Solution:
    """The most even one found between ``least``, what must move, and ``solution``, what is wanted in the end."""
    found = search_within_budget(
        problem,
        Placing(least.replicas, least.leader),
        Placing(solution.replicas, solution.leader),
        seed=seed,
        solve_params=params,
    )
    return _solved(problem, found, solution, least)


def _solved(problem: Problem, found: Placing, solution: Solution, least: Solution) -> Solution:
    """What was found as a solution; its bounds are those of the asked bands, and are proved anew where they widen."""
    slots = (found.replicas == found.leader[:, None]).argmax(axis=1).astype(np.int32)
    replicas, leader = in_kafka_order(problem, found.replicas, slots)
    cost = plan_cost(problem, replicas, leader)
    if not fits_budget(problem, cost):  # sums of fractions of bytes, added up in another order
        return replace(least, is_cut_short=True)
    return replace(
        solution,
        replicas=replicas,
        leader=leader,
        cost=cost,
        after=broker_loads(problem, replicas, leader),
        topic_excess=(solution.topic_excess[0], topic_excess(problem.topic, replicas, problem.stays)),
        is_cut_short=True,
    )


def without_balance(problem: Problem) -> Problem:
    """The same problem asking only for what must move whatever the balance, that no broker is lifted above a limit, and
    that caps are kept.
    """
    load = broker_loads(problem, problem.replicas, problem.leader)
    stays = problem.stays[:, None]
    high = np.broadcast_to(2 * load.sum(axis=0), load.shape)  # a broker that leaves hands its load to any other
    high = np.minimum(np.maximum(high, problem.band_high), np.maximum(problem.limit, load))
    if problem.cap is not None:
        high = np.minimum(high, problem.cap)
    return replace(
        problem,
        band_high=np.where(stays, high, problem.band_high),
        band_low=np.where(stays, np.minimum(0.0, problem.band_low), problem.band_low),
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
