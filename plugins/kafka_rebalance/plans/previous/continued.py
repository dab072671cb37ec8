"""What an earlier plan left to do: confirmed as it is, continued with some more moves, or dropped for a new one.

Promises, in order: what is kept is within today's budget; it leaves nothing where it must not stay; a plan that leads
well inside the dead band, or nearly as far as any moves would, is confirmed unchanged; one that the cluster has drifted
away from is continued if that copies little more than a new plan would.
Example: band 10 %, dead band 20 %: a plan that leads to 13 % is confirmed, one that leads to 17 % is continued, so that
the cluster does not drift over the edge the day after.

Complexity: three searches at most, none where the plan is confirmed at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.planner.solution import PlanCost, Solution
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.dead_band import gained, worst_deviation
from kafka_rebalance.plans.draft import Draft, draft_of
from kafka_rebalance.plans.frontier.within_budget import fits_budget, solve_within_budget
from kafka_rebalance.plans.outcome import bands_of
from kafka_rebalance.plans.params import DEFAULTS, PlanParams
from kafka_rebalance.plans.previous.previous_plan import PreviousPlan, leaves_nothing_behind
from kafka_rebalance.plans.request import PlanRequest

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class ContinuedPlan:
    """The moves that are left and those that were added, why, and the earlier plan's id."""

    draft: Draft
    reason: Fact
    plan_id: str


def continued_plan(
    plan_request: PlanRequest,
    problem: Problem,
    previous_plan: PreviousPlan,
    seed: int,
    progress: Progress,
    params: PlanParams = DEFAULTS,
) -> ContinuedPlan | None:
    """What of ``previous_plan`` is still to be done today; None where nothing is, or a new plan is better.

    Raises InfeasibleError where even what must move costs more than the budget.
    """
    within, today = plan_request.options.band, broker_loads(problem, problem.replicas, problem.leader)
    if within is not None and not plan_request.hard and _is_inside(problem, today):
        return None
    loads = broker_loads(problem, previous_plan.replicas, previous_plan.leader)
    worst = worst_deviation(problem, loads, within or 0.0)
    allowed = plan_request.options.dead_band if not plan_request.options.is_explicit else within or 0.0
    confirmed = _confirmed(plan_request, previous_plan)
    holds = leaves_nothing_behind(problem, previous_plan.replicas) and fits_budget(problem, _cost(confirmed.draft))
    off = 0.0 if worst is None else abs(worst.ratio - 1)
    if holds and off <= (allowed + min(within or 0.0, allowed)) / 2:
        return confirmed
    progress("continuing an earlier plan")
    placed = replace(problem, replicas=previous_plan.replicas, leader=previous_plan.leader, own_disk=None)
    further = solve(placed, seed=seed, params=params.budget.solve)
    least = params.stability.least_gain
    if holds and _is_as_even(plan_request, problem, (today, loads), further, least):
        return confirmed
    fresh = solve_within_budget(problem, seed=seed, params=params.budget.solve, budget=params.budget)
    draft = draft_of(plan_request, further.replicas, further.leader)
    cost = _cost(draft)
    if len(draft) and fits_budget(problem, cost) and cost.bytes <= params.stability.most_bytes_ratio * fresh.cost.bytes:
        return _continued(draft, previous_plan)
    is_enough = off <= allowed or (
        plan_request.options.has_budget and _is_as_even(plan_request, problem, (today, loads), fresh, least)
    )
    return confirmed if holds and is_enough else None


def _confirmed(plan_request: PlanRequest, previous_plan: PreviousPlan) -> ContinuedPlan:
    draft = draft_of(plan_request, previous_plan.replicas, previous_plan.leader)
    moves = previous_plan.done + previous_plan.left
    reason = fact(FactCode.PLAN_CONFIRMED, plan_id=previous_plan.plan_id, done_moves=previous_plan.done, moves=moves)
    return ContinuedPlan(draft, reason, previous_plan.plan_id)


def _continued(draft: Draft, previous_plan: PreviousPlan) -> ContinuedPlan:
    reason = fact(FactCode.PLAN_CONTINUED, plan_id=previous_plan.plan_id, left_moves=previous_plan.left)
    return ContinuedPlan(draft, reason, previous_plan.plan_id)


def _cost(draft: Draft) -> PlanCost:
    """What is known of a draft's cost."""
    copied = float((draft.copies * np.nan_to_num(draft.size)).sum())
    return PlanCost(copied, int(draft.copies.sum()), int(draft.changes_leader.sum()))


def _is_as_even(
    plan_request: PlanRequest, problem: Problem, loads: tuple[Floats, Floats], other: Solution, least: float
) -> bool:
    """The other solution does not take off ``least`` more than the kept plan; ``loads`` today and after that."""
    bands, stays = bands_of(problem), plan_request.brokers.arrays.stays
    best = broker_loads(problem, other.replicas, other.leader)
    _, more = gained(bands, loads[1:], (best,), stays)
    return more < least * gained(bands, loads[:1], (best,), stays)[1]


def _is_inside(problem: Problem, load: Floats) -> bool:
    inside = (load >= problem.band_low * (1 - 1e-9)) & (load <= problem.band_high * (1 + 1e-9))
    return bool(inside[problem.stays].all())
