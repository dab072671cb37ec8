"""The stage ``hours``: as even as a number of hours allows, at the throttle and in the plan's own waves.

Promises, in order: the plan's waves together take no longer than ``max_hours``, as they are printed; what must move
moves; where the plan that the stages before found fits, it stays; where not, it is the most even one that was found.

How: the busiest broker of each wave decides, so no broker may receive or send more than the throttle lets through in
the hours, and the most even plan within that is looked for. Waves leave gaps: where its waves take longer, less is
allowed each, halfway again and again. Where none of them moves anything, one move alone is tried. Example: a plan of
1.3 TiB takes 3.4 h; within 2 h at 50 MiB/s no broker may receive more than 352 GiB.

Complexity: the search, then one within a budget for each of ``BudgetParams.hour_steps``, and one for one move.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.planner.solution import Solution
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.budget import outside_of, searched_within_budget, without_balance
from kafka_rebalance.plans.draft import Draft, draft_of, empty_draft
from kafka_rebalance.plans.failures import with_follower_order
from kafka_rebalance.plans.outcome import outcome_of
from kafka_rebalance.plans.params import DEFAULTS, PlanParams
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.state import PlanState
from kafka_rebalance.plans.waves import waves_cut, waves_forward


class KeepHours:
    """The plan's waves take no longer than ``max_hours``."""

    name = "hours"

    def applies(self, state: PlanState) -> bool:
        """Hours are limited, and the waves of the solution take longer."""
        if not state.is_open or state.options.max_hours is None:
            return False
        return not keeps_hours(state.request, _draft(state.request, state.found), state.params)

    def run(self, state: PlanState) -> PlanState:
        """Return the state with the most even placement found whose waves fit."""
        return state.with_solution(
            within_hours(state.request, state.problem, state.found, seed=state.seed, params=state.params)
        )


def within_hours(
    plan_request: PlanRequest, problem: Problem, found: Solution, *, seed: int, params: PlanParams
) -> Solution:
    """Return the most even solution found whose waves take no more than ``max_hours``; those of ``found`` take more.

    Raises InfeasibleError where even what must move takes longer.
    """
    least = solve(without_balance(problem), seed=seed, params=params.budget.solve)
    draft = _draft(plan_request, least)
    if not keeps_hours(plan_request, draft, params):
        seconds = seconds_of(plan_request, draft, params)
        raise InfeasibleError(fact(FactCode.HOURS_TOO_FEW, seconds=seconds), fact(FactCode.RAISE_HOURS))
    best, outside = replace(least, bounds=found.bounds, is_cut_short=True), outside_of(problem)
    fits, too_many = 0.0, 3600 * (plan_request.options.max_hours or 0.0) * plan_request.options.throttle_bytes_per_s
    most = too_many
    for _ in range(params.budget.hour_steps):
        limited = replace(problem, budget=replace(problem.budget, max_broker_bytes=most))
        other = searched_within_budget(limited, found, least, seed, params.solve)
        if keeps_hours(plan_request, _draft(plan_request, other), params):
            fits, best = most, min(best, other, key=outside)
            if most >= too_many:  # nothing more could be carried
                break
        else:
            too_many = most
        most = (fits + too_many) / 2
    if best.cost.replica_moves > least.cost.replica_moves:
        return best
    # So many bytes in many small replicas take longer than one large one, which may be all that fits.
    other = searched_within_budget(_one_more(plan_request, problem, least), found, least, seed, params.solve)
    return min(best, other, key=outside) if keeps_hours(plan_request, _draft(plan_request, other), params) else best


def _one_more(plan_request: PlanRequest, problem: Problem, least: Solution) -> Problem:
    """One move beside what must move, of what one broker may receive in the hours; other limits as they are."""
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
    """The draft's waves take no longer than the options allow."""
    most = plan_request.options.max_hours
    return most is None or seconds_of(plan_request, draft, params) <= 3600 * most


def seconds_of(plan_request: PlanRequest, draft: Draft, params: PlanParams = DEFAULTS) -> float:
    """Of all waves as they will be cut, without what no wave has room for; sizes that are unknown count nothing."""
    if not len(draft):
        return 0.0
    today = outcome_of(plan_request, empty_draft(plan_request))
    has_disk = "disk" in today.resources and plan_request.options.moves_replicas
    disk = today.before[:, today.column("disk")] if has_disk else None
    cut = waves_cut(plan_request, draft, disk, params.waves)
    draft, wave_of = draft.without(cut.stuck), np.delete(cut.wave_of, cut.stuck)
    waves = waves_forward(plan_request, draft, wave_of, params.waves)
    return float(sum(wave.seconds or 0.0 for wave in waves))


def _draft(plan_request: PlanRequest, solution: Solution) -> Draft:
    """As the plan will have it."""
    return with_follower_order(plan_request, draft_of(plan_request, solution.replicas, solution.leader))
