"""The stage ``preference``: of several plans that are found, the one with the least of the cost that comes first.

Promises, in order
1. No resource is farther outside its band, and topics are spread no worse, than where fewest bytes were looked for.
2. Cost by cost, as ``options.preference.order_of`` puts them: within the slack of its bound; where that was not found,
   the first as near as was, the others within the slack of the nearest.
3. Of those that are left the first cost is the least; where it is the same, the next.

How: where the cheapest plan in bytes is not as it should be, ``search`` is repeated with a price for each move beside
its bytes; where time comes first, parts of the quickest are decided anew in whole numbers (``planner.steering``).
Example, ``--prefer moves --slack 5%``: 103 moves of 1.74 TB against 69 of 1.74 TB, where 66 are needed.

Complexity: a search for each price. Where bytes come first and no slack is given, nothing else is looked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.preference import Preference, order_of
from kafka_rebalance.planner.linear_program.proofs import with_cost_proofs
from kafka_rebalance.planner.linear_program.relaxation import is_small
from kafka_rebalance.planner.params import SolveParams
from kafka_rebalance.planner.placed import in_kafka_order, plan_cost
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.planner.solution import Bounds, Solution
from kafka_rebalance.planner.steering import CostTotals, Placing, steered
from kafka_rebalance.planner.tolerances import BAND_TOLERANCE
from kafka_rebalance.planner.topic_spread import topic_excess
from kafka_rebalance.plans.budget import search
from kafka_rebalance.plans.draft import draft_of, empty_draft
from kafka_rebalance.plans.outcome import outcome_of
from kafka_rebalance.plans.params import PlanParams
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.state import PlanState
from kafka_rebalance.plans.waves import cut_into_waves, slots_of, waves_forward

Costs = Mapping[Preference, float]


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A solution and its four costs: bytes, replicas moved, seconds, leader changes."""

    solution: Solution
    costs: Costs


class Prefer:
    """The cost that comes first is the least; the others are within the slack."""

    name = "preference"

    def applies(self, state: PlanState) -> bool:
        """Costs were weighed, and there is a choice."""
        return state.is_open and state.options.weighs_costs and state.problem.moves_replicas

    def run(self, state: PlanState) -> PlanState:
        """Return the state with the solution chosen among several."""
        chosen_one = preferred(state.request, state.problem, state.found, seed=state.seed, params=state.params)
        return state.with_solution(chosen_one)


def preferred(
    plan_request: PlanRequest, problem: Problem, found: Solution, *, seed: int, params: PlanParams
) -> Solution:
    """Return the best by the order of costs of ``found``, which copies least, and others."""
    options = plan_request.options
    order = order_of(options.prefer)
    found = replace(found, bounds=with_cost_proofs(problem, found.bounds, params.solve))
    candidates = [Candidate(found, _costs(plan_request, found, params))]
    for price in params.preference.prices_of_moves:
        least = _least(problem, plan_request, found.bounds)
        if any(_is_good_enough(candidate, least, order, options, params) for candidate in candidates):
            break
        priced = with_price_of_moves(params.solve, price, params.preference.program_steps)
        try:
            other = search(problem, seed=seed, params=priced, budget=params.budget)
        except InfeasibleError:  # another way through the search may find no room where the first one did
            continue
        if _is_no_worse(problem, other, found):
            candidates.append(Candidate(other, _costs(plan_request, other, params)))
    candidates += _quicker(plan_request, problem, candidates, seed, params)
    complete = [candidate for candidate in candidates if not candidate.solution.is_cut_short]
    if not complete:
        return found
    bounds = _best_of([candidate.solution.bounds for candidate in candidates])
    least = _least(problem, plan_request, bounds)
    costs = [candidate.costs for candidate in complete]
    best = chosen(costs, least, order, options.slack_in_force)
    return replace(complete[best].solution, bounds=bounds)


def _quicker(
    plan_request: PlanRequest, problem: Problem, candidates: Sequence[Candidate], seed: int, params: PlanParams
) -> list[Candidate]:
    """Where time comes first: the quickest of ``candidates`` with its busiest brokers relieved, on small clusters."""
    options, found = plan_request.options, min(candidates, key=lambda candidate: candidate.costs[Preference.TIME])
    if options.prefer != Preference.TIME or problem.budget.is_limited or problem.elects_preferred:
        return []
    if not is_small(problem, params.solve.linear_program.arcs) or _outside(problem, found.solution).any():
        return []
    solution, throttle = found.solution, options.throttle_bytes_per_s
    least = _least(problem, plan_request, candidates[0].solution.bounds)
    needed = CostTotals(least[Preference.BYTES], least[Preference.MOVES], least[Preference.TIME] * throttle, 0.0)
    start = Placing(solution.replicas, solution.leader)
    best = steered(problem, start, needed, ("busiest", "bytes"), options.slack_in_force, seed=seed, params=params.solve)
    if best is start:
        return []
    quicker = placed_anew(problem, solution, best)
    if not _is_no_worse(problem, quicker, candidates[0].solution):
        return []
    return [Candidate(quicker, _costs(plan_request, quicker, params))]


def placed_anew(problem: Problem, solution: Solution, placing: Placing) -> Solution:
    """``solution`` with another placement of the same problem."""
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
    """Which of ``costs`` it is; ``least`` are their bounds."""
    left = list(range(len(costs)))
    for cost in order:
        nearest = max(least[cost], min(costs[i][cost] for i in left))
        # Of the first cost nothing is given that its own bound does not allow; the others' may be far out of reach.
        most = max(least[cost] * (1 + slack), nearest * (1 if cost is order[0] else 1 + slack))
        left = [i for i in left if costs[i][cost] <= most]
    return min(left, key=lambda i: [costs[i][cost] for cost in order])


def with_price_of_moves(params: SolveParams, price: float, program_steps: int) -> SolveParams:
    """The same search at ``price`` for each move, in mean bytes of a replica; so many steps with programs at most."""
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
    """The first cost is at its bound, and each other one within the slack of its own."""
    near = dict.fromkeys(order, options.slack_in_force) | {order[0]: params.solve.gaps.near}
    return all(candidate.costs[cost] <= least[cost] * (1 + near[cost]) for cost in order)


def _is_no_worse(problem: Problem, other: Solution, found: Solution) -> bool:
    if other.is_cut_short and not found.is_cut_short:
        return False
    is_as_near = (_outside(problem, other) <= _outside(problem, found) + BAND_TOLERANCE).all()
    return bool(is_as_near) and other.topic_excess[1] <= max(found.topic_excess)


def _outside(problem: Problem, solution: Solution) -> Floats:
    """float64[2, D]: how far the farthest broker is above and below its bands, resource by resource, in means."""
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
    """Of the waves as they will be cut; without what no wave has room for."""
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


def _best_of(found: Sequence[Bounds]) -> Bounds:
    """Bounds of the same bands: the highest for each cost, with the prices that prove the bytes. The first have proofs
    of the other costs.
    """
    best = max(found, key=lambda bounds: bounds.bytes.value)
    of_bytes = {name: proof for name, proof in best.proofs.items() if name == "bytes"}
    return replace(
        best,
        proofs={name: proof for name, proof in found[0].proofs.items() if name != "bytes"} | of_bytes,
        replica_moves=max((bounds.replica_moves for bounds in found), key=lambda bound: bound.value),
        leader_changes=max((bounds.leader_changes for bounds in found), key=lambda bound: bound.value),
    )
