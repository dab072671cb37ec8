"""The stages ``balance``, ``capacity``, ``budget``, ``preference`` and ``hours``: the search, and its limits.

Promises, in order: no broker exceeds its capacity; the cost is within the budget; moves that must be made are made; if
all bands fit the budget, the plan is the cheapest found, else the one with the least imbalance found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafka_assignors.arrays import Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.bands import BAND_ROUNDING
from kafka_rebalance.cluster_arrays.problem import Budget, Problem, broker_loads, columns_of
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions, Preference, order_of
from kafka_rebalance.planner.budget import Placing, search_within_budget
from kafka_rebalance.planner.linear_program.proofs import are_programs_quick, least_imbalance, with_cost_proofs
from kafka_rebalance.planner.linear_program.relaxation import decided, is_small
from kafka_rebalance.planner.params import BAND_TOLERANCE, SolveParams
from kafka_rebalance.planner.placed import in_kafka_order, plan_cost
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.planner.solution import Bounds, EvennessProof, PlanCost, Solution
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.planner.state import topic_excess
from kafka_rebalance.planner.steering import CostTotals, steered
from kafka_rebalance.planner.steering import Placing as SteeredPlacing
from kafka_rebalance.planner.widening import reached_levels, widened_problem
from kafka_rebalance.plans.dead_band import imbalance
from kafka_rebalance.plans.draft import Bands, Draft, Outcome, bands_of, draft_of, empty_draft, outcome_of
from kafka_rebalance.plans.failures import with_follower_order
from kafka_rebalance.plans.params import DEFAULTS, BudgetParams, PlanParams, WaveParams
from kafka_rebalance.plans.plan import BudgetClaim
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.state import PlanState
from kafka_rebalance.plans.steps import most_urgent, steps_of
from kafka_rebalance.plans.waves import cut_into_waves, slots_of, waves_by_step, waves_forward


class Balance:
    name = "balance"

    def applies(self, state: PlanState) -> bool:
        return state.is_open

    def run(self, state: PlanState) -> PlanState:
        """On small clusters the search from today's leaders wins if cheaper."""
        state.progress("searching")
        solution = solve(state.problem, seed=state.seed, params=state.params.solve)
        pairs = state.problem.partition_count * state.problem.broker_count
        if state.today is None or pairs > state.params.steps.most_pairs_searched_twice or _is_near(state, solution):
            return state.with_solution(solution)
        other = solve(state.today, seed=state.seed, params=state.params.solve)
        if _distance(state.problem, other) < (1 - state.params.steps.least_saving) * _distance(state.problem, solution):
            return replace(state, problem=state.today, today=None).with_solution(other)
        return state.with_solution(solution)


def _is_near(state: PlanState, solution: Solution) -> bool:
    return solution.cost.bytes <= solution.bounds.bytes.value * (1 + state.params.solve.gaps.far)


def _distance(problem: Problem, solution: Solution) -> float:
    """Bytes; outside the bands a larger value, by distance."""
    outside = imbalance(bands_of(problem), solution.after, problem.stays)
    total = float((problem.move_bytes * problem.target_rf).sum())
    return solution.cost.bytes + total * round(outside, 3)


class KeepCapacity:
    name = "capacity"

    def applies(self, state: PlanState) -> bool:
        return state.is_open and lifts(state.problem, state.current_solution.after)

    def run(self, state: PlanState) -> PlanState:
        params = state.params
        kept = within_capacity(state.problem, state.current_solution, state.seed, params.solve, params.budget)
        return state.with_solution(kept)


class KeepBudget:
    name = "budget"

    def applies(self, state: PlanState) -> bool:
        return state.is_open and not fits_budget(state.problem, state.current_solution.cost)

    def run(self, state: PlanState) -> PlanState:
        params = state.params
        cut = within_budget(state.problem, state.current_solution, state.seed, params.solve, params.budget)
        if state.request.relieved_to:
            cut = _relieved_first(state, cut)
        return state.with_solution(cut)


def _relieved_first(state: PlanState, cut: Solution) -> Solution:
    """``cut``, or the plan that takes more off brokers that are nearly full within the same budget."""
    problem, seed, params = state.problem, state.seed, state.params.solve
    full = np.array([name in state.request.relieved_to for name in problem.resources], dtype=np.bool_)
    free = without_balance(problem)
    relief = replace(free, band_high=np.where(full, np.minimum(free.band_high, problem.band_high), free.band_high))
    least = solve(relief, seed=seed, params=state.params.budget.solve)
    if fits_budget(problem, least.cost):
        other = searched_within_budget(problem, state.current_solution, least, seed, params)
    else:
        other = within_budget(relief, least, seed, params, state.params.budget)
    stays, outside = problem.stays[:, None], outside_of(problem)

    def rank(candidate: Solution) -> tuple[bool, float, float]:
        above = np.maximum(candidate.after - problem.band_high, 0.0)[:, full] / problem.capacity[:, full]
        return not keeps_caps(problem, candidate), round(float((above * stays).sum()), 6), outside(candidate)

    return replace(min(cut, other, key=rank), bounds=cut.bounds, is_cut_short=True)


def search(
    problem: Problem, *, seed: int = 0, params: SolveParams = DEFAULTS.solve, budget: BudgetParams = DEFAULTS.budget
) -> Solution:
    """Result of the three stages. Raises InfeasibleError where moves that must be made break a limit."""
    solution = solve(problem, seed=seed, params=params)
    if lifts(problem, solution.after):
        solution = within_capacity(problem, solution, seed, params, budget)
    if fits_budget(problem, solution.cost):
        return solution
    return within_budget(problem, solution, seed, params, budget)


def within_capacity(
    problem: Problem, solution: Solution, seed: int, params: SolveParams, budget: BudgetParams
) -> Solution:
    """Most even solution found that costs no more. Raises as ``search``."""
    least = solve(without_balance(problem), seed=seed, params=budget.solve)
    if lifts(problem, least.after):
        raise InfeasibleError(first_lifted(problem, least), fact(FactCode.ADD_CAPACITY))
    cost = solution.cost
    limited = replace(problem, budget=Budget(cost.bytes, cost.replica_moves, cost.leader_changes))
    best = searched_within_budget(limited, least, least, seed, params)
    return replace(least if lifts(problem, best.after) else best, bounds=solution.bounds, is_cut_short=False)


def within_budget(
    problem: Problem, solution: Solution, seed: int, params: SolveParams, budget: BudgetParams
) -> Solution:
    """Most even solution found on the way to ``solution``, which costs more. Raises as ``search``."""
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
        best = min(
            best, other_best, key=lambda candidate: (not keeps_caps(problem, candidate), outside_of(problem)(candidate))
        )
    # The most even placement may break a cap that the moves that must be made keep.
    return best if keeps_caps(problem, best) else replace(least, bounds=solution.bounds, is_cut_short=True)


def _cheaper(problem: Problem, least: Solution, params: SolveParams) -> Solution:
    """Raises InfeasibleError if none is within the budget."""
    decision = decided(without_balance(problem), params, within_budget=True)
    if decision.plan is not None:
        replicas = decision.plan.replicas
        leader = np.take_along_axis(replicas, decision.plan.replica_index[:, None], axis=1)[:, 0]
        solution = _solved(problem, Placing(replicas, leader), least, least)
        if fits_budget(problem, solution.cost):
            return solution
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
    if problem.cap is None:
        return True
    return bool((solution.after <= problem.cap * (1 + BAND_ROUNDING))[problem.stays].all())


def _is_small(problem: Problem, budget: BudgetParams) -> bool:
    return problem.partition_count * problem.broker_count <= budget.few_pairs


def outside_of(problem: Problem) -> Callable[[Solution], float]:
    bands = bands_of(problem)
    return lambda solution: imbalance(bands, solution.after, problem.stays)


def searched_within_budget(
    problem: Problem, solution: Solution, least: Solution, seed: int, params: SolveParams, *, is_guess: bool = False
) -> Solution:
    """Most even solution found between ``least`` (only moves that must be made) and ``solution``. Under a limit on
    leader changes alone, larger clusters give up leader bands first, at no more bytes.
    """
    limited, budget = problem, problem.budget
    is_large = problem.partition_count * problem.broker_count > params.linear_program.proofs.most_arcs
    if budget.max_leader_changes is not None and budget.max_bytes is None and is_large:
        most = max(least.cost.bytes, solution.cost.bytes)
        limited = replace(problem, budget=replace(budget, max_bytes=most))
    placing = search_within_budget(
        limited,
        Placing(least.replicas, least.leader),
        Placing(solution.replicas, solution.leader),
        seed=seed,
        solve_params=params,
        is_guess=is_guess,
    )
    return _solved(problem, placing, solution, least)


def _solved(problem: Problem, placing: Placing, solution: Solution, least: Solution) -> Solution:
    """Proved again where the bands widen."""
    slots = (placing.replicas == placing.leader[:, None]).argmax(axis=1).astype(np.int32)
    replicas, leader = in_kafka_order(problem, placing.replicas, slots)
    cost = plan_cost(problem, replicas, leader)
    if not fits_budget(problem, cost):  # float sums in another order
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
    """Only moves that must be made, no broker lifted above a limit, caps kept."""
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
    budget = problem.budget
    limits = (
        (budget.max_bytes, cost.bytes),
        (budget.max_replica_moves, cost.replica_moves),
        (budget.max_leader_changes, cost.leader_changes),
    )
    return all(limit is None or spent <= limit for limit, spent in limits)


def lifted(problem: Problem, after: Floats) -> Flags:
    """Remaining brokers above capacity and above today's load."""
    today = broker_loads(problem, problem.replicas, problem.leader)
    allowed = np.maximum(problem.limit, today)
    over: Flags = problem.stays[:, None] & (after > allowed * (1 + BAND_ROUNDING))
    return over


def lifts(problem: Problem, after: Floats) -> bool:
    return bool(lifted(problem, after).any())


def first_lifted(problem: Problem, solution: Solution) -> Fact:
    b, d = np.argwhere(lifted(problem, solution.after))[0].tolist()
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
    """Claim for the requested bands; without a bound where its program would be too large."""
    stays = plan_request.brokers.arrays.stays
    before, after = imbalance(bands, outcome.before, stays), imbalance(bands, outcome.after, stays)
    in_force = replace(problem, budget=_budget_in_force(plan_request, problem))
    proof = least_imbalance(in_force, params, beside=_beside(plan_request, problem))
    if proof is None:
        return BudgetClaim(before, after, None)
    return BudgetClaim(before, after, proof.value, _prices(plan_request, problem, proof), _charges(proof))


def _beside(plan_request: PlanRequest, problem: Problem) -> Floats:
    placement = plan_request.partitions.placement
    factor = np.asarray((placement.replicas >= 0).sum(axis=1), dtype=np.int32)
    columns = columns_of(placement.loads, factor, problem.resources)
    whole = (columns.follower_load * factor[:, None] + columns.leader_extra).sum(axis=0)
    replica_count = (problem.replicas >= 0).sum(axis=1)
    replica_load = (problem.follower_load * replica_count[:, None] + problem.leader_extra).sum(axis=0)
    return np.asarray(np.maximum(whole - replica_load, 0.0))


def _budget_in_force(plan_request: PlanRequest, problem: Problem) -> Budget:
    """Hours are the bytes that all receivers can get at the throttle."""
    options, budget = plan_request.options, problem.budget
    if options.max_hours is None:
        return budget
    sent = 3600 * options.max_hours * options.throttle_bytes_per_s * max(int(problem.takes_replicas.sum()), 1)
    return replace(budget, max_bytes=sent if budget.max_bytes is None else min(sent, budget.max_bytes))


def _prices(plan_request: PlanRequest, problem: Problem, proof: EvennessProof) -> dict[str, dict[int, float]]:
    ids = plan_request.brokers.arrays.ids.tolist()
    by_name = {
        name: {ids[b]: float(proof.prices[b, d]) for b in np.flatnonzero(proof.prices[:, d]).tolist()}
        for d, name in enumerate(problem.resources)
    }
    return {name: by_broker for name, by_broker in by_name.items() if by_broker}


def _charges(proof: EvennessProof) -> dict[str, float]:
    charges = (
        ("bytes", proof.per_byte),
        ("replica_moves", proof.per_move),
        ("leader_changes", proof.per_leader_change),
    )
    return {cost: charge for cost, charge in charges if charge > 0}


# The stage ``preference``: among several plans, the one with the least preferred cost.
#
# Promises, in order
# 1. No resource is farther outside its band, and topics are spread no worse, than in the plan of fewest bytes found.
# 2. Cost by cost in ``order_of``: within the slack of its bound. Where no plan is, the first cost is the nearest found,
#    the others within the slack of their nearest.
# 3. Among these, the first cost is least; ties go to the next cost.
#
# Else ``search`` runs again for each price of a move. Where time comes first, integer programs also relieve the busiest
# brokers of the quickest plan (``planner.steering``).


Costs = Mapping[Preference, float]


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Bytes, replicas moved, seconds, leader changes."""

    solution: Solution
    costs: Costs


class Prefer:
    name = "preference"

    def applies(self, state: PlanState) -> bool:
        return state.is_open and state.options.weighs_costs and state.problem.moves_replicas

    def run(self, state: PlanState) -> PlanState:
        best = preferred(state.request, state.problem, state.current_solution, seed=state.seed, params=state.params)
        return state.with_solution(best)


def preferred(
    plan_request: PlanRequest, problem: Problem, cheapest: Solution, *, seed: int, params: PlanParams
) -> Solution:
    """Best by the order of costs; ``cheapest`` copies least."""
    options = plan_request.options
    order = order_of(options.prefer)
    cheapest = replace(cheapest, bounds=with_cost_proofs(problem, cheapest.bounds, params.solve))
    candidates = [Candidate(cheapest, _costs(plan_request, cheapest, params))]
    reached, effort = _priced_search(problem, cheapest, params)
    for price in params.preference.prices_of_moves:
        least = _least(problem, plan_request, cheapest.bounds)
        if any(_is_good_enough(candidate, least, order, options, params) for candidate in candidates):
            break
        priced = with_price_of_moves(effort, price, params.preference.program_steps)
        try:
            other = search(reached, seed=seed, params=priced, budget=params.budget)
        except InfeasibleError:  # another search may fail where the first did not
            continue
        if _is_no_worse(reached, other, cheapest):
            other = replace(other, band_low=problem.band_low, band_high=problem.band_high)
            candidates.append(Candidate(other, _costs(plan_request, other, params)))
    candidates += _quicker(plan_request, problem, candidates, seed, params)
    complete = [candidate for candidate in candidates if not candidate.solution.is_cut_short]
    if not complete:
        return cheapest
    bounds = _best_of([candidate.solution.bounds for candidate in candidates])
    least = _least(problem, plan_request, bounds)
    costs = [candidate.costs for candidate in complete]
    best = chosen(costs, least, order, options.slack_in_force)
    return replace(complete[best].solution, bounds=bounds)


def _priced_search(problem: Problem, cheapest: Solution, params: PlanParams) -> tuple[Problem, SolveParams]:
    """Large ones reuse bounds and reached bands of ``cheapest``, so no program is solved again."""
    solve_params = params.solve
    if are_programs_quick(problem, solve_params.linear_program):
        return problem, solve_params
    if _outside(problem, cheapest).any():
        problem = widened_problem(problem, reached_levels(problem, cheapest.after), solve_params.bands)
    ascent = replace(solve_params.bounds.ascent, most_steps=solve_params.bounds.ascent.least_steps, work=0)
    effort = replace(solve_params.effort, program_steps=0)
    return problem, replace(solve_params, effort=effort, bounds=replace(solve_params.bounds, ascent=ascent))


def _quicker(
    plan_request: PlanRequest, problem: Problem, candidates: Sequence[Candidate], seed: int, params: PlanParams
) -> list[Candidate]:
    options, quickest = plan_request.options, min(candidates, key=lambda candidate: candidate.costs[Preference.TIME])
    if options.prefer != Preference.TIME or problem.budget.is_limited or problem.elects_preferred:
        return []
    if not is_small(problem, params.solve.linear_program.arcs) or _outside(problem, quickest.solution).any():
        return []
    solution, throttle = quickest.solution, options.throttle_bytes_per_s
    least = _least(problem, plan_request, candidates[0].solution.bounds)
    needed = CostTotals(least[Preference.BYTES], least[Preference.MOVES], least[Preference.TIME] * throttle, 0.0)
    start = SteeredPlacing(solution.replicas, solution.leader)
    best = steered(problem, start, needed, ("busiest", "bytes"), options.slack_in_force, seed=seed, params=params.solve)
    if best is start:
        return []
    quicker = placed_anew(problem, solution, best)
    if not _is_no_worse(problem, quicker, candidates[0].solution):
        return []
    return [Candidate(quicker, _costs(plan_request, quicker, params))]


def placed_anew(problem: Problem, solution: Solution, placing: SteeredPlacing) -> Solution:
    index = (placing.replicas == placing.leader[:, None]).argmax(axis=1).astype(np.int32)
    replicas, leader = in_kafka_order(problem, placing.replicas, index)
    return replace(
        solution,
        replicas=replicas,
        leader=leader,
        cost=plan_cost(problem, replicas, leader),
        after=broker_loads(problem, replicas, leader),
        topic_excess=(solution.topic_excess[0], topic_excess(problem.topic, replicas, problem.stays)),
    )


def chosen(costs: Sequence[Costs], least: Costs, order: Sequence[Preference], slack: float) -> int:
    left = list(range(len(costs)))
    for cost in order:
        nearest = max(least[cost], min(costs[i][cost] for i in left))
        # Bounds of the others may be out of reach.
        most = max(least[cost] * (1 + slack), nearest * (1 if cost is order[0] else 1 + slack))
        left = [i for i in left if costs[i][cost] <= most]
    return min(left, key=lambda i: [costs[i][cost] for cost in order])


def with_price_of_moves(params: SolveParams, price: float, program_steps: int) -> SolveParams:
    """``price`` in mean bytes of a replica."""
    return replace(
        params,
        effort=replace(params.effort, program_steps=min(program_steps, params.effort.program_steps)),
        costs=replace(params.costs, per_move=price, worth_per_move=price),
        linear_program=replace(
            params.linear_program,
            arcs=replace(params.linear_program.arcs, cost_per_move=price),
            whole_plan=replace(params.linear_program.whole_plan, cost_per_copy=price),
        ),
    )  # fmt: skip


def _is_good_enough(
    candidate: Candidate, least: Costs, order: Sequence[Preference], options: PlanOptions, params: PlanParams
) -> bool:
    near = dict.fromkeys(order, options.slack_in_force) | {order[0]: params.solve.gaps.near}
    return all(candidate.costs[cost] <= least[cost] * (1 + near[cost]) for cost in order)


def _is_no_worse(problem: Problem, other: Solution, cheapest: Solution) -> bool:
    if other.is_cut_short and not cheapest.is_cut_short:
        return False
    is_as_near = (_outside(problem, other) <= _outside(problem, cheapest) + BAND_TOLERANCE).all()
    return bool(is_as_near) and other.topic_excess[1] <= max(cheapest.topic_excess)


def _outside(problem: Problem, solution: Solution) -> Floats:
    after, stays = solution.after, problem.stays
    sides = (after - problem.band_high, problem.band_low - after)
    return np.array([np.maximum(side[stays], 0.0).max(axis=0, initial=0.0) for side in sides]) / resource_scale(problem)


def _costs(plan_request: PlanRequest, solution: Solution, params: PlanParams) -> Costs:
    cost = solution.cost
    return {
        Preference.BYTES: cost.bytes,
        Preference.MOVES: float(cost.replica_moves),
        Preference.TIME: _seconds(plan_request, solution, params),
        Preference.LEADERS: float(cost.leader_changes),
    }


def _seconds(plan_request: PlanRequest, solution: Solution, params: PlanParams) -> float:
    draft = draft_of(plan_request, solution.replicas, solution.leader)
    if not len(draft):
        return 0.0
    today = outcome_of(plan_request, empty_draft(plan_request))
    disk = today.before[:, today.column("disk")] if "disk" in today.resources else None
    cut = cut_into_waves(plan_request, draft, disk, slots_of(plan_request, draft, params.waves))
    draft, wave_of = draft.without(cut.stuck), np.delete(cut.wave_of, cut.stuck)
    return float(sum(wave.seconds or 0.0 for wave in waves_forward(plan_request, draft, wave_of, params.waves)))


def _least(problem: Problem, plan_request: PlanRequest, bounds: Bounds) -> Costs:
    receivers = max(int(problem.takes_replicas.sum()), 1)
    busiest = bounds.bytes.value / receivers
    if "seconds" in bounds.proofs:
        busiest = max(busiest, bounds.proofs["seconds"].value)
    return {
        Preference.BYTES: bounds.bytes.value,
        Preference.MOVES: bounds.replica_moves.value,
        Preference.TIME: busiest / plan_request.options.throttle_bytes_per_s,
        Preference.LEADERS: bounds.leader_changes.value,
    }


def _best_of(candidates: Sequence[Bounds]) -> Bounds:
    """The first has proofs of the other costs."""
    best = max(candidates, key=lambda bounds: bounds.bytes.value)
    of_bytes = {name: proof for name, proof in best.proofs.items() if name == "bytes"}
    return replace(
        best,
        proofs={name: proof for name, proof in candidates[0].proofs.items() if name != "bytes"} | of_bytes,
        replica_moves=max((bounds.replica_moves for bounds in candidates), key=lambda bound: bound.value),
        leader_changes=max((bounds.leader_changes for bounds in candidates), key=lambda bound: bound.value),
    )


# The stage ``hours``: the most even plan whose own waves take at most ``max_hours`` at the throttle.
#
# Promises, in order: the printed waves take at most ``max_hours``; moves that must be made are made; the plan of the
# stages before stays if it fits; else the most even one found.
#
# The hours limit the bytes of one broker. Waves leave gaps, so where they take longer, the limit shrinks: by half steps
# on small clusters, by the excess on larger ones. Example: for 2 h at 50 MiB/s no broker may receive more than 352 GiB.


class KeepHours:
    name = "hours"

    def applies(self, state: PlanState) -> bool:
        if not state.is_open or state.options.max_hours is None:
            return False
        return not keeps_hours(state.request, _draft(state.request, state.current_solution), state.params)

    def run(self, state: PlanState) -> PlanState:
        return state.with_solution(
            within_hours(state.request, state.problem, state.current_solution, seed=state.seed, params=state.params)
        )


def within_hours(
    plan_request: PlanRequest, problem: Problem, unlimited: Solution, *, seed: int, params: PlanParams
) -> Solution:
    """Most even solution found. Raises InfeasibleError where moves that must be made take longer."""
    least = solve(without_balance(problem), seed=seed, params=params.budget.solve)
    draft = _draft(plan_request, least)
    if not keeps_hours(plan_request, draft, params):
        seconds = _seconds_in_steps(plan_request, draft, params)
        raise InfeasibleError(fact(FactCode.HOURS_TOO_FEW, seconds=seconds), fact(FactCode.RAISE_HOURS))
    best, outside = replace(least, bounds=unlimited.bounds, is_cut_short=True), outside_of(problem)
    allowed, limits = 3600 * (plan_request.options.max_hours or 0.0), params.budget
    fits, too_many = 0.0, allowed * plan_request.options.throttle_bytes_per_s
    most, is_large = too_many, not are_programs_quick(problem, params.solve.linear_program)
    steps = limits.large_hour_steps if is_large else limits.hour_steps
    for step in range(steps):
        limited = replace(problem, budget=replace(problem.budget, max_broker_bytes=most))
        is_guess = is_large and step < steps - 2  # the last one may not fit
        other = searched_within_budget(limited, unlimited, least, seed, params.solve, is_guess=is_guess)
        seconds = _seconds_in_steps(plan_request, _draft(plan_request, other), params)
        if seconds <= allowed:
            fits, best = most, min(best, other, key=outside)
            if most >= too_many:
                break
        else:
            too_many = most
        middle = (fits + too_many) / 2
        if is_large and seconds > allowed:  # time grows with bytes
            middle = max(most * allowed / seconds * limits.hour_aim, middle)
        most = middle
    if best.cost.replica_moves > least.cost.replica_moves:
        return best
    # Many small replicas may take longer than one large one, which may be all that fits.
    other = searched_within_budget(_one_more(plan_request, problem, least), unlimited, least, seed, params.solve)
    return min(best, other, key=outside) if keeps_hours(plan_request, _draft(plan_request, other), params) else best


def _one_more(plan_request: PlanRequest, problem: Problem, least: Solution) -> Problem:
    """One optional move, of the bytes that one broker can receive in the hours."""
    options, budget = plan_request.options, problem.budget
    copied = least.cost.bytes + 3600 * (options.max_hours or 0.0) * options.throttle_bytes_per_s
    moves = least.cost.replica_moves + 1
    limited = replace(
        budget,
        max_bytes=copied if budget.max_bytes is None else min(copied, budget.max_bytes),
        max_replica_moves=moves if budget.max_replica_moves is None else min(moves, budget.max_replica_moves),
    )
    return replace(problem, budget=limited)


def keeps_hours(plan_request: PlanRequest, draft: Draft, params: PlanParams = DEFAULTS) -> bool:
    most = plan_request.options.max_hours
    return most is None or _seconds_in_steps(plan_request, draft, params) <= 3600 * most


def has_room(plan_request: PlanRequest, draft: Draft, params: PlanParams = DEFAULTS) -> bool:
    """Whether each copy fits on its disk in one of the waves."""
    step_of, urgent = _steps_and_urgent(plan_request, draft, params)
    return not len(waves_by_step(plan_request, draft, step_of, params.waves, urgent).stuck)


def _seconds_in_steps(plan_request: PlanRequest, draft: Draft, params: PlanParams) -> float:
    return seconds_of(plan_request, draft, params.waves, *_steps_and_urgent(plan_request, draft, params))


def _steps_and_urgent(plan_request: PlanRequest, draft: Draft, params: PlanParams) -> tuple[Ints, Flags]:
    step_of = steps_of(plan_request, plan_request.problem(plan_request.options.band), draft, params.steps)
    return step_of, most_urgent(plan_request, draft, step_of, params.steps)


def seconds_of(
    plan_request: PlanRequest,
    draft: Draft,
    params: WaveParams = DEFAULTS.waves,
    step_of: Ints | None = None,
    urgent: Flags | None = None,
) -> float:
    """Seconds of all waves, without moves that no wave has room for; unknown sizes count 0."""
    if not len(draft):
        return 0.0
    steps = np.zeros(len(draft), dtype=np.int32) if step_of is None else step_of
    cut = waves_by_step(plan_request, draft, steps, params, urgent)
    draft, wave_of = draft.without(cut.stuck), np.delete(cut.wave_of, cut.stuck)
    waves = waves_forward(plan_request, draft, wave_of, params)
    return float(sum(wave.seconds or 0.0 for wave in waves))


def _draft(plan_request: PlanRequest, solution: Solution) -> Draft:
    return with_follower_order(plan_request, draft_of(plan_request, solution.replicas, solution.leader))
