"""The stage ``frontier``: balance against bytes, from no moves to the most even plan, each point with its bound.

Promises, in order
1. No point costs less than the proven lower bound for the bands that it meets.
2. Points are in order of cost: a cheaper point of a narrower band replaces that of the wider one.
3. Only the plan's own point may cost more than another without a more even resource.
4. Three points have names: ``cheap`` (most evenness per byte), ``knee`` (evenness gets dear after it), ``even`` (the
   last). One is recommended: the plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafka_assignors.arrays import Floats
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.bounds import lower_bounds
from kafka_rebalance.planner.params import SolveParams
from kafka_rebalance.planner.solution import Solution
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.budget import seconds_of, without_balance
from kafka_rebalance.plans.dead_band import worst_deviation
from kafka_rebalance.plans.draft import Draft, draft_of, outcome_of, total_bytes
from kafka_rebalance.plans.explain import over_caps
from kafka_rebalance.plans.params import DEFAULTS, FrontierParams
from kafka_rebalance.plans.plan import FrontierPoint, Plan, Verdict
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.state import PlanState, Progress, ignore
from kafka_rebalance.plans.unseen import nothing_usable
from kafka_rebalance.scoring.scores import skew

_WIDEST = 0.99  # ``--balance-within`` takes less than 100 %


class AddFrontier:
    name = "frontier"

    def applies(self, state: PlanState) -> bool:
        return state.options.with_frontier

    def run(self, state: PlanState) -> PlanState:
        assert state.plan is not None
        params = state.params.frontier
        plan = with_frontier(state.plan, state.request, seed=state.seed, progress=state.progress, params=params)
        return replace(state, plan=plan)


def with_frontier(
    plan: Plan,
    plan_request: PlanRequest,
    *,
    seed: int,
    points: Sequence[RatedPoint | None] | None = None,
    progress: Progress = ignore,
    params: FrontierParams = DEFAULTS.frontier,
) -> Plan:
    """Unsealed. ``points``: those already searched. No frontier for an infeasible plan, a plan without balance, too
    small a snapshot, or a cluster without movable partitions.
    """
    if plan.verdict in (Verdict.INFEASIBLE, Verdict.CANNOT_TELL) or not _has_frontier(plan_request):
        return plan
    if points is None:
        points = searched(plan_request, bands_between(plan_request, params), seed, progress, params)
    even = plan_request.problem(1.0, {}, evens_out_rates=True)
    own = _with_further(_own_point(plan, plan_request, even), plan, points)
    rated = [*_start(plan_request, plan, even, seed, params), *(point for point in points if point is not None), own]
    return replace(plan, frontier=named(without_vain(in_order(rated), params), params))


def _has_frontier(plan_request: PlanRequest) -> bool:
    return (
        bool(len(plan_request.rows))
        and not plan_request.options.preferred_election
        and not plan_request.options.asks_beyond_bands  # its points are bands alone
        and not nothing_usable(plan_request.snapshot)
    )


def bands_between(plan_request: PlanRequest, params: FrontierParams = DEFAULTS.frontier) -> tuple[float, ...]:
    """Bands to search, widest first, without the plan's own."""
    if not _has_frontier(plan_request):
        return ()
    narrowest, same = params.narrowest, params.same_band
    problem = plan_request.problem(narrowest, {}, evens_out_rates=True)
    worst = worst_deviation(problem, broker_loads(problem, problem.replicas, problem.leader), narrowest)
    widest = max(abs(worst.ratio - 1) if worst is not None else 0.0, 4 * narrowest)
    own = 0.0 if plan_request.options.targets or plan_request.options.band is None else plan_request.options.band
    grid = np.geomspace(min(0.8 * widest, _WIDEST), narrowest, params.steps).tolist()
    bands = [round(band, 4) for band in grid if not own / same < band < own * same]
    if plan_request.watched and own:  # the plan ignores watched rates, this point does not
        bands = sorted([*bands, own], reverse=True)
    return tuple(bands)


def searched(
    plan_request: PlanRequest,
    bands: Sequence[float],
    seed: int,
    progress: Progress = ignore,
    params: FrontierParams = DEFAULTS.frontier,
) -> tuple[RatedPoint | None, ...]:
    points: list[RatedPoint | None] = []
    even = plan_request.problem(1.0, {}, evens_out_rates=True)
    for within in bands:
        progress("what other allowed ranges would cost")
        problem = plan_request.problem(within, {}, evens_out_rates=True)
        try:
            solution = solve(problem, seed=seed, params=_solve_params(problem, params))
            is_lawful = not over_caps(plan_request, dict(zip(problem.resources, solution.after.T, strict=True)))
            points.append(_point(plan_request, problem, even, solution, within, params) if is_lawful else None)
        except InfeasibleError:
            points.append(None)
    return tuple(points)


def _solve_params(problem: Problem, params: FrontierParams) -> SolveParams:
    if int(problem.target_rf.sum()) <= params.most_annealed_replicas:
        return params.solve
    return replace(params.solve, effort=replace(params.solve.effort, anneal_steps=0))


def _own_point(plan: Plan, plan_request: PlanRequest, even: Problem) -> RatedPoint:
    options, bound = (
        plan_request.options,
        next((proved.value for proved in plan.lower_bound if proved.cost == "bytes"), None),
    )
    has_band = bool(plan.moves) and not options.targets and options.band is not None
    point = FrontierPoint(
        tolerance=options.band if has_band else None,
        bytes=plan.cost.bytes,
        replica_moves=plan.cost.replica_moves,
        leader_changes=plan.cost.leader_changes,
        lower_bound_bytes=bound,
        skew={outcome.resource: outcome.skew_after for outcome in plan.resources},
        seconds=plan.cost.seconds,
        is_recommended=True,
        reasons=(_own_reason(plan, options),),
    )
    return RatedPoint(
        point,
        unevenness(even, {outcome.resource: _along(plan_request, outcome.after) for outcome in plan.resources}),
    )


def _with_further(own: RatedPoint, plan: Plan, points: Sequence[RatedPoint | None]) -> RatedPoint:
    point, watched = own.point, [outcome for outcome in plan.resources if outcome.watched is not None]
    same = [other.point for other in points if other is not None and other.point.tolerance == point.tolerance]
    if not watched or not same or point.tolerance is None:
        return own
    further = same[0]
    outcome = max(watched, key=lambda outcome: outcome.skew_after - further.skew[outcome.resource])
    assert outcome.watched is not None
    is_known = further.bytes is not None and point.bytes is not None
    reason = fact(
        FactCode.POINT_LEAVES_RATES,
        replica_moves=further.replica_moves - point.replica_moves,
        leader_changes=further.leader_changes - point.leader_changes,
        copied_bytes=(further.bytes or 0) - (point.bytes or 0) if is_known else None,
        resource=outcome.resource,
        times_mean=outcome.skew_after,
        further_times_mean=further.skew[outcome.resource],
        capacity_share=outcome.watched.load / outcome.watched.capacity,
        is_assumed=outcome.watched.is_assumed,
    )
    return replace(own, point=replace(point, reasons=(*point.reasons, reason)))


def options_at(options: PlanOptions, frontier: Sequence[FrontierPoint]) -> PlanOptions:
    """Options with the band of the frontier's point that they name, else the default."""
    band = next((point.tolerance for point in frontier if point.name == options.at), None)
    return replace(options, at=None, within=band)


def _own_reason(plan: Plan, options: PlanOptions) -> Fact:
    if not plan.moves:
        return plan.reasons[0]
    if options.has_budget:
        return fact(FactCode.POINT_IN_BUDGET)
    for reason in plan.reasons:
        if reason.code is FactCode.STOPS_AT_STEP:
            return reason
    band = options.band
    if options.targets:
        request, band = "targets", None
    elif options.headroom and options.within is None:
        request, band = "headroom", None
    elif options.caps and options.within is None:
        request, band = "caps", None
    else:
        request = "band" if options.is_explicit else "default_band"
    is_wider = any(outcome.widened_to != (None, None) for outcome in plan.resources)
    return fact(FactCode.POINT_AS_ASKED, asked=request, band=band, is_as_far_as_possible=is_wider)


def _start(plan_request: PlanRequest, plan: Plan, even: Problem, seed: int, params: FrontierParams) -> list[RatedPoint]:
    """It may be the plan."""
    if plan_request.hard:
        problem = without_balance(plan_request.problem(None, {}))
        try:
            solution = solve(problem, seed=seed, params=_solve_params(problem, params))
            return [_point(plan_request, problem, even, solution, None, params)]
        except InfeasibleError:  # the plan's search may find room where this one does not
            return []
    if not plan.moves:
        return []
    skews = {outcome.resource: outcome.skew_before for outcome in plan.resources}
    point = FrontierPoint(None, 0, 0, 0, 0.0, skews, seconds=0.0)
    return [
        RatedPoint(
            point,
            unevenness(even, {outcome.resource: _along(plan_request, outcome.before) for outcome in plan.resources}),
        )
    ]


def _point(
    plan_request: PlanRequest,
    problem: Problem,
    even: Problem,
    solution: Solution,
    within: float | None,
    params: FrontierParams,
) -> RatedPoint:
    arrays, stays = plan_request.brokers.arrays, problem.stays
    capacities = {name: arrays.capacity.get(name, np.ones(problem.broker_count)) for name in problem.resources}
    draft = draft_of(plan_request, solution.replicas, solution.leader)
    copied = total_bytes(draft.bytes_forward())
    after = _loads_after(plan_request, problem, solution, draft)
    seconds = None if copied is None else seconds_of(plan_request, draft, params.waves)
    point = FrontierPoint(
        tolerance=within,
        bytes=copied,
        replica_moves=solution.cost.replica_moves,
        leader_changes=solution.cost.leader_changes,
        lower_bound_bytes=None if copied is None else min(_bound(problem, solution, params), copied) if copied else 0.0,
        skew={name: skew(after[stays, d], capacities[name][stays]) for d, name in enumerate(problem.resources)},
        seconds=seconds,
    )
    loads = {name: after[:, d] for d, name in enumerate(problem.resources)}
    return RatedPoint(point, unevenness(even, loads))


def _loads_after(plan_request: PlanRequest, problem: Problem, solution: Solution, draft: Draft) -> Floats:
    """The problem lacks replicas on lost brokers."""
    whole = plan_request.partitions.placement.replicas
    if int((whole >= 0).sum()) == int((problem.replicas >= 0).sum()):
        return solution.after
    return outcome_of(plan_request, draft).after


def unevenness(even: Problem, loads: Mapping[str, Floats]) -> float:
    """How far the fullest brokers are above their shares, summed over resources. ``even``: the problem with a band of
    ±100 %.
    """
    total = 0.0
    for d, name in enumerate(even.resources):
        share = even.band_high[:, d] / 2
        usable = even.stays & (share > 0)
        total += max(float((loads[name][usable] / share[usable]).max(initial=1.0)) - 1.0, 0.0)
    return total


def _along(plan_request: PlanRequest, by_broker: Mapping[int, float]) -> Floats:
    return np.array([by_broker[broker] for broker in plan_request.brokers.arrays.ids.tolist()])


def _bound(problem: Problem, solution: Solution, params: FrontierParams) -> float:
    low = np.minimum(problem.band_low, np.where(problem.stays[:, None], solution.after, 0.0))
    high = np.maximum(problem.band_high, solution.after)
    if (low == problem.band_low).all() and (high == problem.band_high).all():
        return solution.bounds.bytes.value
    widened = replace(problem, band_low=low, band_high=high)
    return lower_bounds(widened, params=params.solve.bounds).bytes.value


Price = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class RatedPoint:
    """``unevenness``: the fullest brokers' excess over their shares, summed over resources."""

    point: FrontierPoint
    unevenness: float

    def price(self, *, by_bytes: bool) -> Price:
        point = self.point
        return (point.bytes or 0) if by_bytes else 0, point.replica_moves, point.leader_changes


def are_bytes_known(points: Sequence[RatedPoint]) -> bool:
    return all(rated.point.bytes is not None for rated in points)


def in_order(points: Sequence[RatedPoint]) -> list[RatedPoint]:
    """Sort by price; a more even and cheaper point replaces a dearer one, with its own band."""
    by_bytes = are_bytes_known(points)
    result: list[RatedPoint] = []
    best: RatedPoint | None = None
    for rated in sorted(points, key=lambda rated: (rated.unevenness, rated.price(by_bytes=by_bytes))):
        price = rated.price(by_bytes=by_bytes)
        if best is None or price <= best.price(by_bytes=by_bytes) or rated.point.is_recommended:
            result.append(rated)
        else:
            point = replace(best.point, tolerance=rated.point.tolerance, is_recommended=False, reasons=())
            result.append(RatedPoint(point, best.unevenness))
        if best is None or price < best.price(by_bytes=by_bytes):
            best = rated

    def sort_key(rated: RatedPoint) -> tuple[Price, float, float]:
        return rated.price(by_bytes=by_bytes), -rated.unevenness, -(rated.point.tolerance or 9.9)

    return sorted(result, key=sort_key)


def without_vain(points: Sequence[RatedPoint], params: FrontierParams = DEFAULTS.frontier) -> list[RatedPoint]:
    """Drop points that cost more than another without a more even resource; the plan's own stays."""
    by_bytes = are_bytes_known(points)

    def is_vain(rated: RatedPoint, other: RatedPoint) -> bool:
        price, cheaper = rated.price(by_bytes=by_bytes), other.price(by_bytes=by_bytes)
        if price == cheaper or any(mine < its for mine, its in zip(price, cheaper, strict=True)):
            return False
        skews = other.point.skew
        return all(skews[name] <= skew * (1 + params.same_skew_ratio) for name, skew in rated.point.skew.items())

    return [
        candidate
        for candidate in points
        if candidate.point.is_recommended or not any(is_vain(candidate, other) for other in points)
    ]


def named(points: Sequence[RatedPoint], params: FrontierParams = DEFAULTS.frontier) -> tuple[FrontierPoint, ...]:
    """None where no point moves anything, or too few were found. The knee is farthest below the straight line from the
    first point to the last; ``cheap`` is before it.
    """
    prices = [rated.price(by_bytes=are_bytes_known(points)) for rated in points]
    if len(points) < params.least_points or prices[-1] == (0, 0, 0):
        return ()
    axis = next(k for k in range(3) if prices[-1][k])
    cost = np.array([price[axis] for price in prices], dtype=np.float64)
    rest = np.array([point.unevenness for point in points])
    span, fall = max(cost[-1] - cost[0], 1e-12), max(rest[0] - rest[-1], 1e-12)
    below = (rest[0] - rest) / fall - (cost - cost[0]) / span
    knee = 2 + int(below[2:-1].argmax())
    paid = cost[1:knee] - cost[0]
    gain = (rest[0] - rest[1:knee]) / np.maximum(paid, 1e-9 * span)
    if (paid > 0).any():  # a free gain has no price per byte
        gain[paid <= 0] = -1.0
    unit = ("bytes", "replica_moves", "leader_changes")[axis]
    names = {
        1 + int(gain.argmax()): ("cheap", _bargain(float(paid[gain.argmax()]), float(cost[0]), unit)),
        knee: ("knee", fact(FactCode.POINT_KNEE)),
        len(points) - 1: ("even", fact(FactCode.POINT_EVEN)),
    }
    return tuple(_with_name(point.point, *names.get(i, (None, None))) for i, point in enumerate(points))


def _bargain(paid: float, first: float, unit: str) -> Fact:
    return fact(FactCode.POINT_CHEAP, unit=unit, is_free=paid <= 0, is_beside_forced=first > 0)


def _with_name(point: FrontierPoint, name: str | None, why: Fact | None) -> FrontierPoint:
    return replace(point, name=name, reasons=point.reasons if why is None else (*point.reasons, why))
