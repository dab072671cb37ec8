"""Balance against bytes: what each evenness costs, from moving nothing to as even as it gets, each with its bound.

Promises, in order
1. No point costs less than what nobody can beat for the bands that it meets.
2. Points are in order of cost: where a narrower band was met for less, it stands for the wider one, too.
3. Three points have names: ``cheap`` (most evenness per byte), ``knee`` (after it evenness gets dear), ``even`` (the
   last). One is recommended: what the plan is.

Bands narrow in equal ratios from today's worst deviation to one hundredth, the plan's own among them.
Example: worst 0.80, own 0.10 → 0.64, 0.38, 0.23, 0.13, 0.10, 0.08, 0.05, 0.028, 0.017, 0.01.
Complexity: one search for each point but the plan's own, at a lower effort.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.bounds.lower_bounds import lower_bounds
from kafka_rebalance.planner.params import SolveParams
from kafka_rebalance.planner.solution import Solution
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.caps import over_caps
from kafka_rebalance.plans.dead_band import furthest
from kafka_rebalance.plans.draft import Draft, draft_of, total_bytes
from kafka_rebalance.plans.frontier.order import RatedPoint, in_order, named
from kafka_rebalance.plans.frontier.within_budget import without_balance
from kafka_rebalance.plans.outcome import outcome_of, skew
from kafka_rebalance.plans.params import DEFAULTS, FrontierParams
from kafka_rebalance.plans.plan import FrontierPoint, Plan, Verdict
from kafka_rebalance.plans.request import Ask
from kafka_rebalance.plans.unseen.unseen import nothing_usable

Progress = Callable[[str], None]


def quiet(_: str) -> None:
    """Nobody listens."""


def with_frontier(
    plan: Plan,
    ask: Ask,
    *,
    seed: int,
    points: Sequence[RatedPoint | None] | None = None,
    progress: Progress = quiet,
    params: FrontierParams = DEFAULTS.frontier,
) -> Plan:
    """``plan`` with its frontier, unsealed. ``points``: those of ``bands_between`` if somebody searched them already.

    A plan that cannot be, and one that asks for no balance, has none; nor has a cluster of which too little was seen,
    or where nothing can be moved.
    """
    if plan.verdict in (Verdict.INFEASIBLE, Verdict.CANNOT_TELL) or not _has_frontier(ask):
        return plan
    if points is None:
        points = searched(ask, bands_between(ask, params), seed, progress, params)
    own = _own_point(plan, ask)
    found = [*_start(ask, plan, seed, params), *(each for each in points if each is not None), own]
    return replace(plan, frontier=named(in_order(found)))


def _has_frontier(ask: Ask) -> bool:
    return bool(len(ask.rows)) and not ask.options.preferred_election and not nothing_usable(ask.snapshot)


def bands_between(ask: Ask, params: FrontierParams = DEFAULTS.frontier) -> tuple[float, ...]:
    """Bands to be searched, widest first; the plan's own is not among them. None where there is no frontier."""
    if not _has_frontier(ask):
        return ()
    narrowest, same = params.narrowest, params.same_band
    problem = ask.problem(narrowest, {})
    worst = furthest(problem, broker_loads(problem, problem.replicas, problem.leader), narrowest)
    widest = max(abs(worst.ratio - 1) if worst is not None else 0.0, 4 * narrowest)
    own = 0.0 if ask.options.targets or ask.options.band is None else ask.options.band
    grid = np.geomspace(0.8 * widest, narrowest, params.steps).tolist()
    return tuple(round(each, 4) for each in grid if not own / same < each < own * same)


def searched(
    ask: Ask,
    bands: Sequence[float],
    seed: int,
    progress: Progress = quiet,
    params: FrontierParams = DEFAULTS.frontier,
) -> tuple[RatedPoint | None, ...]:
    """The point of each band, one after the other; None where no placement was found for it."""
    points: list[RatedPoint | None] = []
    for within in bands:
        progress(f"what ±{within:.1%} would cost")
        problem = ask.problem(within, {})
        try:
            solution = solve(problem, seed=seed, params=_solve_params(problem, params))
            is_lawful = not over_caps(ask, dict(zip(problem.resources, solution.after.T, strict=True)))
            points.append(_point(ask, problem, solution, within) if is_lawful else None)
        except InfeasibleError:
            points.append(None)
    return tuple(points)


def _solve_params(problem: Problem, params: FrontierParams) -> SolveParams:
    if int(problem.target_rf.sum()) <= params.most_annealed_replicas:
        return params.solve
    return replace(params.solve, effort=replace(params.solve.effort, anneal_steps=0))


def _own_point(plan: Plan, ask: Ask) -> RatedPoint:
    """What the plan is, and why that is recommended."""
    options, bound = ask.options, next((each.value for each in plan.lower_bound if each.cost == "bytes"), None)
    has_band = bool(plan.moves) and not options.targets and options.band is not None
    point = FrontierPoint(
        tolerance=options.band if has_band else None,
        bytes=plan.cost.bytes,
        replica_moves=plan.cost.replica_moves,
        leader_changes=plan.cost.leader_changes,
        lower_bound_bytes=bound,
        skew={each.resource: each.skew_after for each in plan.resources},
        is_recommended=True,
        reason=_own_reason(plan, options),
    )
    return RatedPoint(point, unevenness(ask, {each.resource: _along(ask, each.after) for each in plan.resources}))


def _own_reason(plan: Plan, options: PlanOptions) -> str:
    is_limited = (options.max_move_bytes, options.max_moves, options.max_leader_changes) != (None, None, None)
    if not plan.moves:
        reason = plan.reasons[0]
    elif is_limited:
        reason = "it is the most even one found that the budget allows"
    elif options.targets:
        reason = "the targets were asked for"
    elif options.caps and options.within is None:
        reason = "the caps were asked for"
    elif options.is_order:
        reason = f"a band of ±{options.band:.1%} was asked for"
    else:
        reason = f"it is inside the band of ±{options.band:.1%} that holds where nothing is asked for"
    is_wider = any(each.widened_to != (None, None) for each in plan.resources)
    if is_wider and plan.moves and not is_limited:
        reason += ", as far as that can be met"
    return reason


def _start(ask: Ask, plan: Plan, seed: int, params: FrontierParams) -> list[RatedPoint]:
    """No balance at all: nothing, or what must move anyway. It may be what the plan is."""
    if ask.hard:
        problem = without_balance(ask.problem(None, {}))
        try:
            solution = solve(problem, seed=seed, params=_solve_params(problem, params))
            return [_point(ask, problem, solution, None)]
        except InfeasibleError:  # a search found room where this one, with other bands, does not
            return []
    if not plan.moves:
        return []
    point = FrontierPoint(None, 0, 0, 0, 0.0, {each.resource: each.skew_before for each in plan.resources})
    return [RatedPoint(point, unevenness(ask, {each.resource: _along(ask, each.before) for each in plan.resources}))]


def _point(ask: Ask, problem: Problem, solution: Solution, within: float | None) -> RatedPoint:
    arrays = ask.brokers.arrays
    room = {name: arrays.capacity.get(name, np.ones(problem.broker_count)) for name in problem.resources}
    draft = draft_of(ask, solution.replicas, solution.leader)
    copied = total_bytes(draft.bytes_forward())
    after = _loads_after(ask, problem, solution, draft)
    point = FrontierPoint(
        tolerance=within,
        bytes=copied,
        replica_moves=solution.cost.replica_moves,
        leader_changes=solution.cost.leader_changes,
        lower_bound_bytes=None if copied is None else min(_bound(problem, solution), copied) if copied else 0.0,
        skew={name: skew(after[:, d], room[name], problem.stays) for d, name in enumerate(problem.resources)},
    )
    loads = {name: after[:, d] for d, name in enumerate(problem.resources)}
    return RatedPoint(point, unevenness(ask, loads))


def _loads_after(ask: Ask, problem: Problem, solution: Solution, draft: Draft) -> Floats:
    """float64[B, D] of the whole cluster: the problem leaves out replicas that are lost with brokers that are gone."""
    whole = ask.partitions.placement.replicas
    if int((whole >= 0).sum()) == int((problem.replicas >= 0).sum()):
        return solution.after
    return outcome_of(ask, draft).after


def unevenness(ask: Ask, loads: Mapping[str, Floats]) -> float:
    """How far the fullest brokers are above their fair shares, summed over resources; loads float64[B]."""
    problem = ask.problem(1.0, {})
    total = 0.0
    for d, name in enumerate(problem.resources):
        share = problem.band_high[:, d] / 2
        usable = problem.stays & (share > 0)
        total += max(float((loads[name][usable] / share[usable]).max(initial=1.0)) - 1.0, 0.0)
    return total


def _along(ask: Ask, by_broker: Mapping[int, float]) -> Floats:
    return np.array([by_broker[broker] for broker in ask.brokers.arrays.ids.tolist()])


def _bound(problem: Problem, solution: Solution) -> float:
    """What nobody can beat for bands as wide as the point needs them."""
    low = np.minimum(problem.band_low, np.where(problem.stays[:, None], solution.after, 0.0))
    high = np.maximum(problem.band_high, solution.after)
    if (low == problem.band_low).all() and (high == problem.band_high).all():
        return solution.bounds.bytes.value
    return lower_bounds(replace(problem, band_low=low, band_high=high)).bytes.value
