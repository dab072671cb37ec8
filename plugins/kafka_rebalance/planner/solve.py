"""Solve one problem. ``IMPROVERS`` and ``NEARER`` run in order; none returns a worse candidate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.problem import Budget, Problem, broker_loads
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.planner.bounds import least_price, lower_bounds, raised, raised_by_covers
from kafka_rebalance.planner.infeasible import smallest_cause
from kafka_rebalance.planner.leaders import go_on_leading
from kafka_rebalance.planner.linear_program.programs import (
    annealed_large,
    improve_with_lp,
    improve_with_restricted_lp,
    is_middling,
)
from kafka_rebalance.planner.linear_program.relaxation import (
    Decision,
    Task,
    decided,
    has_capacity,
    is_small,
    spread_allowed,
)
from kafka_rebalance.planner.params import ANY_SPREAD, BAND_TOLERANCE, DEFAULTS, SolveParams
from kafka_rebalance.planner.placed import Placed, better, in_kafka_order, place, plan_cost
from kafka_rebalance.planner.replicas.search import anneal_replicas, search_replicas, start_sets
from kafka_rebalance.planner.scales import candidates, resource_scale
from kafka_rebalance.planner.solution import Bounds, Solution
from kafka_rebalance.planner.state import ReplicaSets, WorkingBands, topic_excess, working_bands
from kafka_rebalance.planner.widening import (
    cheaper,
    given_up,
    least_widening,
    reached_levels,
    widened_problem,
    without_bands,
)


@dataclass(frozen=True, slots=True, eq=False)
class SearchTask:
    problem: Problem
    bands: WorkingBands
    seed: int
    params: SolveParams

    def with_problem(self, problem: Problem, params: SolveParams | None = None) -> SearchTask:
        params = self.params if params is None else params
        bands = working_bands(problem, problem.band_low, problem.band_high, params.bands)
        return SearchTask(problem, bands, self.seed, params)


@dataclass(frozen=True, slots=True, eq=False)
class SearchResult:
    """``within``: problem with lower-ranked bands widened; ``best`` is then judged by it. ``gave_way``: resource whose
    band was dropped for a while → resources that it was dropped for. ``is_proved``: no plan is inside all bands;
    ``are_caps_proved``: none keeps the caps.
    """

    best: Placed
    bounds: Bounds
    sets: ReplicaSets
    within: Problem | None = None
    gave_way: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_proved: bool = False
    are_caps_proved: bool = False

    def is_outside(self, problem: Problem) -> bool:
        return self.best.band_violation > 0 and not problem.elects_preferred


Improver = Callable[[SearchTask, SearchResult], SearchResult]


def solve(problem: Problem, *, seed: int = 0, params: SolveParams = DEFAULTS) -> Solution:
    """Cheapest plan found within the rules and bands, with lower bounds. Raises InfeasibleError with the smallest cause
    if hard rules cannot be met.
    """
    task = SearchTask(problem, working_bands(problem, problem.band_low, problem.band_high, params.bands), seed, params)
    result = _improved(task)
    for nearer in NEARER:
        result = nearer(task, result)
    best = result.best
    solution = Solution(
        replicas=best.replicas,
        leader=best.leader,
        cost=best.cost,
        bounds=result.bounds,
        band_low=problem.band_low,
        band_high=problem.band_high,
        before=broker_loads(problem, problem.replicas, problem.leader),
        after=best.after,
        topic_excess=(topic_excess(problem.topic, problem.replicas, problem.stays), best.topic_excess),
        statistics=best.statistics,
        gave_way=result.gave_way,
        is_outside_proved=result.is_proved,
        are_caps_proved=result.are_caps_proved,
    )
    return with_needed_changes(problem, solution)


def _improved(task: SearchTask, incumbent: Placed | None = None) -> SearchResult:
    problem, bands, params = task.problem, task.bands, task.params
    if not problem.moves_replicas:
        best = place(problem, problem.replicas, bands, params)
        return SearchResult(
            best, lower_bounds(problem, params=params.bounds), ReplicaSets(problem.replicas, problem.replicas)
        )
    sets = start_sets(problem)
    searched = search_replicas(problem, sets, bands, seed=task.seed, params=params)
    rows = _stranded_rows(problem, searched.replicas) if searched.stranded else np.zeros(0, dtype=np.int64)
    if len(rows):
        start = ReplicaSets(_lawful(problem, int(rows[0]), params), sets.original)
        searched = search_replicas(problem, start, bands, seed=task.seed, params=params)
        if searched.stranded or not has_capacity(problem, searched.replicas):
            searched = replace(searched, replicas=start.replicas)
    bounds = lower_bounds(problem, params=params.bounds)
    best = place(problem, searched.replicas, bands, params, done=searched.statistics)
    result = SearchResult(best if incumbent is None else better(incumbent, best, ANY_SPREAD), bounds, sets)
    for improve in IMPROVERS:
        result = improve(task, result)
    return result


def _raise_bounds(task: SearchTask, result: SearchResult) -> SearchResult:
    if result.best.is_near(result.bounds.bytes.value, task.params.gaps.near):
        return result
    return replace(result, bounds=raised(task.problem, result.bounds, task.params.bounds))


def _solve_programs(task: SearchTask, result: SearchResult) -> SearchResult:
    problem, params = task.problem, task.params
    if not _is_for_programs(task) or result.best.is_near(_least(task, result), params.gaps.near):
        return result
    best, bounds = improve_with_lp(
        problem, result.sets, task.bands, result.best, result.bounds, seed=task.seed, params=params
    )
    return replace(result, best=best, bounds=bounds)


def _anneal(task: SearchTask, result: SearchResult) -> SearchResult:
    problem, params, best = task.problem, task.params, result.best
    if _is_for_programs(task) or best.is_near(_least(task, result), params.gaps.far) or not params.effort.anneal_steps:
        return result
    warm = ReplicaSets(best.replicas, result.sets.original)
    annealed = anneal_replicas(problem, warm, task.bands, seed=task.seed, params=params)
    other = place(problem, annealed.replicas, task.bands, params, done=annealed.statistics)
    allowed = max(best.topic_excess, topic_excess(problem.topic, problem.replicas, problem.stays))
    return replace(result, best=better(best, other, allowed))


def _approach_bound(task: SearchTask, result: SearchResult) -> SearchResult:
    problem, params, least = task.problem, task.params, _least(task, result)
    is_enabled = params.effort.program_steps > 0 and not _is_for_programs(task)
    if not is_enabled or result.best.is_near(least, params.gaps.far):
        return result
    allowed = spread_allowed(problem, result.best, params.linear_program.spread_given_up)
    whole = Task(problem, result.sets, task.bands, allowed, task.seed, params)
    if not is_middling(problem, params.linear_program.restricted):
        return replace(result, best=annealed_large(whole, result.best))
    return replace(result, best=improve_with_restricted_lp(whole, result.best, result.bounds, least))


def _decide_whole(task: SearchTask, result: SearchResult) -> SearchResult:
    problem, params = task.problem, task.params
    if not result.is_outside(problem) or not params.effort.program_steps:
        return result
    decision = decided(problem, params)
    result = replace(result, is_proved=decision.is_none_proved)
    if decision.plan is None:
        return result
    index = decision.plan.replica_index
    inside = place(problem, decision.plan.replicas, task.bands, params, replica_index=index)
    best, bounds = better(result.best, inside, ANY_SPREAD), result.bounds
    if problem.moves_replicas:
        again = _improved(task, best)
        best, bounds = again.best, max(bounds, again.bounds, key=lambda proved: proved.bytes.value)
    return replace(result, best=best, bounds=bounds)


def _keep_ranks(task: SearchTask, result: SearchResult) -> SearchResult:
    """Outside the bands: come nearer to the bands of higher rank."""
    problem, params, best = task.problem, task.params, result.best
    if not result.is_outside(problem):
        return result
    within, are_caps_proved = problem, False
    gave_way: dict[str, tuple[str, ...]] = {}
    stages: list[SearchTask] = []
    for dropped in given_up(problem):
        stages.append(task.with_problem(without_bands(within, dropped)))
        now = _judged(stages[-1], best)
        if now.band_violation <= 0:
            continue
        other, decision = _without_others(stages, now)
        are_caps_proved |= bool(dropped.all()) and decision.is_none_proved
        if _distances(stages, other) < _distances(stages, now):
            reached = reached_levels(stages[-1].problem, now.after)
            outside = {problem.resources[side.resource] for side in reached.sides()}
            gave_way |= {problem.resources[d]: tuple(sorted(outside)) for d in np.flatnonzero(dropped).tolist()}
            best = other
        if not dropped.all():  # a cap is not widened
            within = widened_problem(within, reached_levels(stages[-1].problem, best.after), params.bands)
    return replace(result, best=best, within=within, gave_way=gave_way, are_caps_proved=are_caps_proved)


def _widen_least(task: SearchTask, result: SearchResult) -> SearchResult:
    """Cheapest plan within the least bands met, with any topic spread."""
    problem, params, within, bounds = task.problem, task.params, result.within, result.bounds
    if within is None or not params.effort.program_steps:
        return result
    least = least_widening(within, _sets(within), result.best, seed=task.seed, params=params)
    best = cheaper(within, least, least.placed, seed=task.seed, params=params)
    wider = widened_problem(within, least.levels, params.bands)
    if problem.moves_replicas:
        again = _improved(task.with_problem(wider, _within_reach(problem, params)), best)
        best, proof = again.best, again.bounds.proofs.get("bytes")
        if proof is not None:
            bounds = raised_by_covers(problem, bounds, proof.prices, proof.covers, params.bounds)
    return replace(result, best=best, bounds=bounds)


IMPROVERS: tuple[Improver, ...] = (_raise_bounds, _solve_programs, _anneal, _approach_bound)
NEARER: tuple[Improver, ...] = (_decide_whole, _keep_ranks, _widen_least)


def _is_for_programs(task: SearchTask) -> bool:
    return task.params.effort.program_steps > 0 and is_small(task.problem, task.params.linear_program.arcs)


def _least(task: SearchTask, result: SearchResult) -> float:
    return least_price(task.problem, result.bounds, task.params.costs)


def _without_others(stages: Sequence[SearchTask], incumbent: Placed) -> tuple[Placed, Decision]:
    """Best plan for the last stage, no farther outside earlier ones than ``incumbent``."""
    task = stages[-1]
    stage, params = task.problem, task.params

    def nearer(best: Placed, other: Placed) -> Placed:
        chosen = other if _distances(stages, other) < _distances(stages, best) else best
        return replace(chosen, statistics=best.statistics + other.statistics)

    other = (
        _improved(task, incumbent).best if stage.moves_replicas else place(stage, stage.replicas, task.bands, params)
    )
    best = nearer(incumbent, other)
    if best.band_violation <= 0:
        return best, Decision(None)
    decision = decided(stage, params)
    if decision.plan is not None:
        index = decision.plan.replica_index
        best = nearer(best, place(stage, decision.plan.replicas, task.bands, params, replica_index=index))
    if best.band_violation > 0 and params.effort.program_steps:
        nearest = least_widening(stage, _sets(stage), best, seed=task.seed, params=params).placed
        best = nearer(best, _judged(task, nearest))
    return best, decision


def _distances(stages: Sequence[SearchTask], placed: Placed) -> tuple[float, ...]:
    """Wrong leaders, then the distance outside each stage."""
    return (placed.misled, *(_judged(stage, placed).band_violation for stage in stages))


def _judged(task: SearchTask, placed: Placed) -> Placed:
    index = (placed.replicas == placed.leader[:, None]).argmax(axis=1).astype(np.int32)
    return place(task.problem, placed.replicas, task.bands, task.params, replica_index=index, done=placed.statistics)


def _sets(problem: Problem) -> ReplicaSets:
    return start_sets(problem) if problem.moves_replicas else ReplicaSets(problem.replicas, problem.replicas)


def _within_reach(problem: Problem, params: SolveParams) -> SolveParams:
    pairs = int((~problem.pinned).sum()) * int(problem.stays.sum())
    if pairs <= params.widening.most_pairs:
        return params
    steps = params.effort.program_steps // params.widening.large_steps_divisor
    return replace(params, effort=replace(params.effort, program_steps=steps))


def _stranded_rows(problem: Problem, replicas: Ints) -> Longs:
    return np.flatnonzero((replicas == problem.broker_count).any(axis=1) | _on_leaving(problem, replicas))


def _lawful(problem: Problem, row: int, params: SolveParams) -> Ints:
    """Raises InfeasibleError with the smallest proved cause, or as undecided."""
    cause = smallest_cause(problem, params.linear_program)
    if cause is not None:
        raise cause.error()
    free = without_bands(replace(problem, cap=None), np.ones(len(problem.resources), dtype=np.bool_))
    decision = decided(replace(free, budget=Budget()), params)
    if decision.plan is not None:
        return decision.plan.replicas
    raise InfeasibleError(
        fact(FactCode.NO_ROOM_FOR_REPLICA, partition=problem.name_of(row), is_proved=decision.is_none_proved),
        fact(FactCode.ADD_BROKER_OR_DISK),
    )


def _on_leaving(problem: Problem, replicas: Ints) -> Flags:
    on_broker = (replicas >= 0) & (replicas < problem.broker_count)
    leaving: Flags = on_broker & ~problem.stays[np.where(on_broker, replicas, 0)]
    return np.asarray(leaving.any(axis=1))


# Preferred leaders. With ``auto.leader.rebalance.enable`` (the default) the first replica of each list soon leads again
# if it is in sync, so a plan is judged at its end and after that election. A first replica out of sync will catch up.
#
# Promises, in order
# 1. Least load above a limit (capacity or cap) in both states, of these ways: leaders as found; with each list
#    reordered that an election would undo; preferred leaders first, others only where bands need it; leaders as found
#    without needless changes; where the replicas stay, today's leaders and lists.
# 2. Bands of higher rank (``Problem.band_rank``) are violated least at the end.
# 3. No election after the plan ends less even than one today, if a way allows that.
# 4. Least load outside bands in the worse state.
# 5. Fewest elections and reordered lists together, then fewest reordered lists.
# 6. A list whose first replica may not lead (a demoted broker) is reordered.
#
# Example: lists begin 4/4/4, broker 2 restarted and leads nothing (6/6/0): electing its own four reorders no list.


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    replicas: Ints
    leader: Ints


def elected_leaders(problem: Problem, replicas: Ints, leader: Ints) -> Ints:
    """Leaders after a preferred election; a list that stays gets ``problem.preferred``."""
    if problem.preferred is None:
        return leader
    is_untouched = (replicas == problem.replicas).all(axis=1) & (leader == problem.leader)
    return np.where(is_untouched, problem.preferred, leader).astype(np.int32)


def settled(problem: Problem, solution: Solution, params: SolveParams = DEFAULTS) -> Solution:
    """The same sets, with lists and leaders that an election keeps even."""
    preferred = problem.preferred
    if preferred is None or problem.elects_preferred:
        return solution
    if np.array_equal(preferred, problem.leader):
        return solution
    solved = _Way(solution.replicas, solution.leader)
    ways = [_reordered(problem, solved, _may_not_lead(problem)), _reordered(problem, solved, ~problem.pinned)]
    for elects_first in (True, False):
        elected = _elected(problem, solved, params, elects_first=elects_first)
        ways += [_reordered(problem, elected, _may_not_lead(problem)), _reordered(problem, elected, ~problem.pinned)]
    ways.append(_reordered(problem, _as_today(problem, solved), _may_not_lead(problem)))
    allowed = problem.budget.max_leader_changes
    if allowed is not None:
        within = [plan_cost(problem, way.replicas, way.leader).leader_changes <= allowed for way in ways]
        ways = [way for way, is_within in zip(ways, within, strict=True) if is_within] or ways[:1]
    today = _unevenness(problem, broker_loads(problem, problem.replicas, preferred))
    best = min(ways, key=lambda way: _worth(problem, way, today))
    return replace(
        solution,
        replicas=best.replicas,
        leader=best.leader,
        cost=plan_cost(problem, best.replicas, best.leader),
        after=broker_loads(problem, best.replicas, best.leader),
        topic_excess=(solution.topic_excess[0], topic_excess(problem.topic, best.replicas, problem.stays)),
    )


def with_needed_changes(problem: Problem, solution: Solution) -> Solution:
    """The same sets without needless leader changes and orders. Each row goes back to today's list and leader, to
    today's list and an election, or to today's leader, if no broker is then farther outside, before and after election.
    One that goes back may let another one do so: rows are tried until none does.
    """
    if problem.elects_preferred:
        return solution
    now = problem.leader
    preferred = now if problem.preferred is None else problem.preferred
    lists, leader = solution.replicas.copy(), solution.leader.copy()
    elected = elected_leaders(problem, lists, leader)
    states = [_Shifted.of(problem, broker_loads(problem, lists, leads)) for leads in (leader, elected)]
    may_stay = (now != ABSENT) & problem.keeps_leaders[now] & ~problem.pinned
    may_be_elected = (preferred != ABSENT) & (problem.takes_leaders | problem.keeps_leaders)[preferred]
    is_same_set = (np.sort(lists, axis=1) == np.sort(problem.replicas, axis=1)).all(axis=1)
    keeps = np.where(is_same_set, may_be_elected, (lists == now[:, None]).any(axis=1) & (leader != now))

    # A leader change without a new list elects the preferred broker.
    def goes_back(row: int) -> bool:
        stays, first = now[row], preferred[row]
        if is_same_set[row]:
            ways = [(problem.replicas[row], (stays, first))]
            if problem.takes_leaders[first]:
                ways.append((problem.replicas[row], (first, first)))
        else:
            ways = [(lists[row][np.argsort(lists[row] != stays, kind="stable")], (stays, stays))]
        was, extra = (leader[row], elected[row]), problem.leader_extra[row]
        for new_list, leads in ways:
            if all(map(_Shifted.allows, states, was, leads, (extra, extra))):
                for state, source, target in zip(states, was, leads, strict=True):
                    state.shift(source, target, extra)
                lists[row], (leader[row], elected[row]) = new_list, leads
                return True
        return False

    rows = np.flatnonzero((lists != problem.replicas).any(axis=1) & may_stay & keeps).tolist()
    while rows:
        left = [row for row in rows if not goes_back(row)]
        rows = left if len(left) < len(rows) else []
    after = broker_loads(problem, lists, leader)
    return replace(solution, replicas=lists, leader=leader, cost=plan_cost(problem, lists, leader), after=after)


@dataclass(frozen=True, slots=True, eq=False)
class _Shifted:
    load: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, problem: Problem, load: Floats) -> _Shifted:
        """Bands and limits, or ``load`` where that is outside."""
        slack = BAND_TOLERANCE * resource_scale(problem)
        high = np.maximum(np.minimum(problem.band_high, problem.limit), load)
        return cls(load, np.minimum(problem.band_low, load) - slack, high + slack)

    def allows(self, source: int, target: int, extra: Floats) -> bool:
        is_kept = (self.load[target] + extra <= self.high[target]) & (self.load[source] - extra >= self.low[source])
        return source == target or bool(is_kept.all())

    def shift(self, source: int, target: int, extra: Floats) -> None:
        self.load[target] += extra
        self.load[source] -= extra


def away_from_demoted(problem: Problem, replicas: Ints, leader: Ints) -> Ints:
    """Lists with the leader first where an election would restore a demoted broker."""
    if problem.preferred is None or problem.elects_preferred:
        return replicas
    return _reordered(problem, _Way(replicas, leader), _may_not_lead(problem)).replicas


def leaders_first(problem: Problem, replicas: Ints, leader: Ints) -> Ints:
    """Lists with the leader first wherever an election would change it."""
    if problem.preferred is None or problem.elects_preferred:
        return replicas
    return _reordered(problem, _Way(replicas, leader), ~problem.pinned).replicas


def _as_today(problem: Problem, way: _Way) -> _Way:
    stays = (np.sort(way.replicas, axis=1) == np.sort(problem.replicas, axis=1)).all(axis=1)
    keeps = stays & problem.keeps_leaders[problem.leader] & (problem.leader != ABSENT)
    lists = np.where(keeps[:, None], problem.replicas, way.replicas)
    return _Way(lists, np.where(keeps, problem.leader, way.leader).astype(np.int32))


def _may_not_lead(problem: Problem) -> Flags:
    preferred = problem.preferred
    assert preferred is not None
    return np.asarray(~problem.pinned & (preferred != ABSENT) & ~problem.keeps_leaders[preferred])


def _reordered(problem: Problem, way: _Way, which: Flags) -> _Way:
    rows = np.flatnonzero(which & (elected_leaders(problem, way.replicas, way.leader) != way.leader))
    if not len(rows):
        return way
    replicas = way.replicas.copy()
    is_leader = replicas[rows] == way.leader[rows, None]
    order = np.argsort(~is_leader, axis=1, kind="stable")
    replicas[rows] = np.take_along_axis(replicas[rows], order, axis=1)
    return _Way(replicas, way.leader)


def _elected(problem: Problem, way: _Way, params: SolveParams, *, elects_first: bool) -> _Way:
    """Preferred leaders where the list stays, others as bands need them."""
    assert problem.preferred is not None
    stays = (np.sort(way.replicas, axis=1) == np.sort(problem.replicas, axis=1)).all(axis=1) & ~problem.pinned
    may = (candidates(problem, problem.replicas) & (problem.replicas == problem.preferred[:, None])).any(axis=1)
    start = np.where(stays & may & elects_first, problem.preferred, way.leader).astype(np.int32)
    settled_today = replace(problem, leader=np.where(may, problem.preferred, problem.leader).astype(np.int32))
    lists = np.where(stays[:, None], problem.replicas, way.replicas)
    bands = working_bands(problem, problem.band_low, problem.band_high, params.bands)
    chosen = go_on_leading(settled_today, lists, start, bands, params)
    replicas, leader = in_kafka_order(problem, lists, chosen.replica_index)
    return _Way(replicas, leader)


def _worth(problem: Problem, way: _Way, elected_today: float) -> tuple[float, float, float, float, int, int]:
    """Sort key: promises 1 to 5, in order."""
    elected = elected_leaders(problem, way.replicas, way.leader)
    loads = [broker_loads(problem, way.replicas, leader) for leader in (way.leader, elected)]
    above = sum(float(np.maximum(load - problem.limit, 0.0)[problem.stays].sum(axis=0) @ (1 / resource_scale(problem)))
                for load in loads)  # fmt: skip
    outside = max(float(_outside(problem, load).sum()) for load in loads)
    lost = max(_unevenness(problem, loads[1]) - elected_today, 0.0)
    rank = np.zeros(len(problem.resources)) if problem.band_rank is None else problem.band_rank
    first = _outside(problem, loads[0])[:, (rank == rank.min(initial=0)) & (rank != rank.max(initial=0))]
    same_set = (np.sort(way.replicas, axis=1) == np.sort(problem.replicas, axis=1)).all(axis=1)
    reordered = int((same_set & (way.replicas != problem.replicas).any(axis=1)).sum())
    changes = plan_cost(problem, way.replicas, way.leader).leader_changes
    return (
        round(above, 6),
        round(float(first.sum()), 4),
        round(lost, 4),
        round(outside, 4),
        changes + reordered,
        reordered,
    )


def _unevenness(problem: Problem, load: Floats) -> float:
    """One broker far out is worse than two half as far."""
    return float((_outside(problem, load) ** 2).sum())


def _outside(problem: Problem, load: Floats) -> Floats:
    outside = np.maximum(load - problem.band_high, 0.0) + np.maximum(problem.band_low - load, 0.0)
    share = outside[problem.stays] / resource_scale(problem)
    return np.where(share > BAND_TOLERANCE, share, 0.0)
