"""As even as capacities and a budget allow: the stages ``balance``, ``capacity`` and ``budget``.

Promises, in order: no broker gets more than it can carry, however uneven that leaves the rest; the plan's cost is
within the budget; what must move (brokers that leave, racks, replication factor) moves; where all of the bands can be
met within the budget, it is the cheapest plan found for them; where not, it is the least imbalance found
(``planner.budget.search``).

Example of a limit: brokers of 100 MB/s carry 140, 90 and 70: even would be 100 each, and 10 of the 140 have nowhere to
go below a limit.

Complexity: two searches, and the one within the budget. Deterministic: steps are counted, no clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kafka_rebalance.arrays import Flags, Floats
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Budget, Problem
from kafka_rebalance.cluster_arrays.resource_columns import columns_of
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.planner.budget.search import Placing, search_within_budget
from kafka_rebalance.planner.linear_program.proofs import least_imbalance
from kafka_rebalance.planner.linear_program.whole_plan import decided
from kafka_rebalance.planner.params import SolveParams
from kafka_rebalance.planner.placed import in_kafka_order, plan_cost
from kafka_rebalance.planner.solution import EvennessProof, PlanCost, Solution
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.planner.topic_spread import topic_excess
from kafka_rebalance.plans.dead_band import imbalance
from kafka_rebalance.plans.outcome import Bands, Outcome, bands_of
from kafka_rebalance.plans.params import DEFAULTS, BudgetParams
from kafka_rebalance.plans.plan import BudgetClaim
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.state import PlanState


class Balance:
    """The cheapest plan found that meets the rules and bands, whatever it costs."""

    name = "balance"

    def applies(self, state: PlanState) -> bool:
        """No earlier stage made a search needless."""
        return state.is_open

    def run(self, state: PlanState) -> PlanState:
        """Return the state with the solution of its problem."""
        state.progress("searching")
        return state.with_solution(solve(state.problem, seed=state.seed, params=state.params.solve))


class KeepCapacity:
    """No broker gets more than it can carry."""

    name = "capacity"

    def applies(self, state: PlanState) -> bool:
        """The solution gives a broker too much."""
        return state.is_open and lifts(state.problem, state.found)

    def run(self, state: PlanState) -> PlanState:
        """Return the state with the most even placement found that costs no more and keeps capacities."""
        params = state.params
        kept = within_capacity(state.problem, state.found, state.seed, params.solve, params.budget)
        return state.with_solution(kept)


class KeepBudget:
    """The plan costs no more than the budget allows."""

    name = "budget"

    def applies(self, state: PlanState) -> bool:
        """The solution costs more."""
        return state.is_open and not fits_budget(state.problem, state.found.cost)

    def run(self, state: PlanState) -> PlanState:
        """Return the state with the most even placement found that the budget allows."""
        params = state.params
        cut = within_budget(state.problem, state.found, state.seed, params.solve, params.budget)
        return state.with_solution(cut)


def search(
    problem: Problem, *, seed: int = 0, params: SolveParams = DEFAULTS.solve, budget: BudgetParams = DEFAULTS.budget
) -> Solution:
    """Return what the three stages find for a problem; other stages search with it at other prices.

    ``params`` are those of the first search. Raises InfeasibleError where even what must move breaks a limit.
    """
    solution = solve(problem, seed=seed, params=params)
    if lifts(problem, solution):
        solution = within_capacity(problem, solution, seed, params, budget)
    if fits_budget(problem, solution.cost):
        return solution
    return within_budget(problem, solution, seed, params, budget)


def within_capacity(
    problem: Problem, solution: Solution, seed: int, params: SolveParams, budget: BudgetParams
) -> Solution:
    """Return the most even solution found that gives no broker more than it can carry, for no more than it costs.

    Raises InfeasibleError where what must move does.
    """
    least = solve(without_balance(problem), seed=seed, params=budget.solve)
    if lifts(problem, least):
        raise InfeasibleError(first_lifted(problem, least), fact(FactCode.ADD_CAPACITY))
    cost = solution.cost
    limited = replace(problem, budget=Budget(cost.bytes, cost.replica_moves, cost.leader_changes))
    best = searched_within_budget(limited, least, least, seed, params)
    return replace(least if lifts(problem, best) else best, bounds=solution.bounds, is_cut_short=False)


def within_budget(
    problem: Problem, solution: Solution, seed: int, params: SolveParams, budget: BudgetParams
) -> Solution:
    """Return the most even solution found that the budget allows, on the way to ``solution``, which costs more.

    Raises InfeasibleError where even the moves that cannot be left out cost more.
    """
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


def lifted(problem: Problem, solution: Solution) -> Flags:
    """bool[B, D]: brokers that stay and would carry more than they can, and more than today."""
    today = broker_loads(problem, problem.replicas, problem.leader)
    allowed = np.maximum(problem.limit, today)
    over: Flags = problem.stays[:, None] & (solution.after > allowed * (1 + BAND_ROUNDING))
    return over


def lifts(problem: Problem, solution: Solution) -> bool:
    """Some broker would."""
    return bool(lifted(problem, solution).any())


def first_lifted(problem: Problem, solution: Solution) -> Fact:
    """Return the first of them, with what it would carry and what it can."""
    b, d = np.argwhere(lifted(problem, solution))[0].tolist()
    return fact(
        FactCode.BROKER_ABOVE_CAPACITY,
        broker=int(problem.broker_ids[b]),
        resource=problem.resources[d],
        load=float(solution.after[b, d]),
        capacity=float(problem.limit[b, d]),
    )


def budget_claim_of(
    plan_request: PlanRequest, problem: Problem, bands: Bands, outcome: Outcome, params: SolveParams
) -> BudgetClaim:
    """For the bands asked for; without a bound where the program for it would be too large."""
    stays = plan_request.brokers.arrays.stays
    before, after = imbalance(bands, outcome.before, stays), imbalance(bands, outcome.after, stays)
    in_force = replace(problem, budget=_budget_in_force(plan_request, problem))
    proof = least_imbalance(in_force, params, beside=_beside(plan_request, problem))
    if proof is None:
        return BudgetClaim(before, after, None)
    return BudgetClaim(before, after, proof.value, _prices(plan_request, problem, proof), _charges(proof))


def _beside(plan_request: PlanRequest, problem: Problem) -> Floats:
    """float64[D]: the most load of replicas that cannot move and so are no part of the problem."""
    placement = plan_request.partitions.placement
    factor = np.asarray((placement.replicas >= 0).sum(axis=1), dtype=np.int32)
    columns = columns_of(placement.loads, factor, problem.resources)
    whole = (columns.follower_load * factor[:, None] + columns.leader_extra).sum(axis=0)
    held = (problem.replicas >= 0).sum(axis=1)
    here = (problem.follower_load * held[:, None] + problem.leader_extra).sum(axis=0)
    return np.asarray(np.maximum(whole - here, 0.0))


def _budget_in_force(plan_request: PlanRequest, problem: Problem) -> Budget:
    """Hours as the bytes that all who may receive can be sent in them at the throttle."""
    options, budget = plan_request.options, problem.budget
    if options.max_hours is None:
        return budget
    sent = 3600 * options.max_hours * options.throttle_bytes_per_s * max(int(problem.takes_replicas.sum()), 1)
    return replace(budget, max_bytes=sent if budget.max_bytes is None else min(sent, budget.max_bytes))


def _prices(plan_request: PlanRequest, problem: Problem, proof: EvennessProof) -> dict[str, dict[int, float]]:
    """By resource and broker, zeros left out."""
    ids = plan_request.brokers.arrays.ids.tolist()
    by_name = {
        name: {ids[b]: float(proof.prices[b, d]) for b in np.flatnonzero(proof.prices[:, d]).tolist()}
        for d, name in enumerate(problem.resources)
    }
    return {name: by_broker for name, by_broker in by_name.items() if by_broker}


def _charges(proof: EvennessProof) -> dict[str, float]:
    """By cost, zeros left out."""
    charges = (
        ("bytes", proof.per_byte),
        ("replica_moves", proof.per_move),
        ("leader_changes", proof.per_leader_change),
    )
    return {cost: charge for cost, charge in charges if charge > 0}
