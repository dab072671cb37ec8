"""One problem in, one solution out: replica sets, leaders, cost, bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Budget, Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.planner.bounds.lower_bounds import least_price, lower_bounds, raised, raised_by_covers
from kafka_rebalance.planner.infeasible.smallest_cause import smallest_cause
from kafka_rebalance.planner.linear_program.arcs import is_small
from kafka_rebalance.planner.linear_program.programs import improve_with_lp
from kafka_rebalance.planner.linear_program.restricted import improve_with_restricted_lp, is_middling
from kafka_rebalance.planner.linear_program.rounding import has_capacity
from kafka_rebalance.planner.linear_program.task import Task, spread_allowed
from kafka_rebalance.planner.linear_program.whole_plan import Decision, decided
from kafka_rebalance.planner.params import DEFAULTS, SolveParams
from kafka_rebalance.planner.placed import Placed, better, place
from kafka_rebalance.planner.replicas.replica_search import anneal_replicas, search_replicas
from kafka_rebalance.planner.replicas.replica_sets import start_sets
from kafka_rebalance.planner.solution import Bounds, Solution
from kafka_rebalance.planner.state import ReplicaSets
from kafka_rebalance.planner.tolerances import ANY_SPREAD
from kafka_rebalance.planner.topic_spread import topic_excess
from kafka_rebalance.planner.widening.least_widening import cheaper, least_widening
from kafka_rebalance.planner.widening.levels import reached_levels, widened_problem
from kafka_rebalance.planner.widening.ranks import given_up, without_bands
from kafka_rebalance.planner.working_bands import WorkingBands, working_bands


def solve(problem: Problem, *, seed: int = 0, params: SolveParams = DEFAULTS) -> Solution:
    """The cheapest plan found that meets the rules and bands, and what nobody can beat.

    Raises InfeasibleError where hard rules cannot be met, naming the smallest cause and what would help.
    """
    bands = working_bands(problem, problem.band_low, problem.band_high, params.bands)
    if problem.moves_replicas:
        best, bounds = _moved(problem, bands, seed, params)
    else:
        best, bounds = place(problem, problem.replicas, bands, params), lower_bounds(problem, params=params.bounds)
    outside = _Outside(problem)
    if best.band_violation > 0 and not problem.elects_preferred:
        decision = decided(problem, params) if params.effort.program_steps else Decision(None)
        if decision.plan is not None:
            index = decision.plan.replica_index
            best = better(best, place(problem, decision.plan.replicas, bands, params, replica_index=index), ANY_SPREAD)
            if problem.moves_replicas:
                best, stronger = _moved(problem, bands, seed, params, best)
                bounds = max(bounds, stronger, key=lambda proved: proved.bytes.value)
        if best.band_violation > 0:
            best, outside = _by_rank(problem, best, seed, params)
            if params.effort.program_steps:
                best, bounds = _widened(problem, outside.within, best, bounds, seed, params)
        outside = replace(outside, is_proved=decision.is_none_proved)
    return Solution(
        replicas=best.replicas,
        leader=best.leader,
        cost=best.cost,
        bounds=bounds,
        band_low=problem.band_low,
        band_high=problem.band_high,
        before=broker_loads(problem, problem.replicas, problem.leader),
        after=best.after,
        topic_excess=(topic_excess(problem.topic, problem.replicas, problem.stays), best.topic_excess),
        statistics=best.statistics,
        gave_way=outside.gave_way,
        is_outside_proved=outside.is_proved,
        are_caps_proved=outside.are_caps_proved,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Outside:
    """What is known where no plan was found inside all bands.

    within           the problem, the bands that others give way to widened to what was reached
    gave_way         resource whose band was given up for a while → those that it was given up for
    is_proved        no plan is inside all bands; are_caps_proved: none keeps the caps
    """

    within: Problem
    gave_way: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_proved: bool = False
    are_caps_proved: bool = False


def _by_rank(problem: Problem, found: Placed, seed: int, params: SolveParams) -> tuple[Placed, _Outside]:
    """``found``, or a plan that keeps the caps and comes nearer to the bands that others give way to."""
    best, within, are_caps_proved = found, problem, False
    gave_way: dict[str, tuple[str, ...]] = {}
    stages: list[Problem] = []
    for dropped in given_up(problem):
        stages.append(without_bands(within, dropped))
        now = _judged(stages[-1], best, params)
        if now.band_violation <= 0:
            continue
        other, decision = _without_others(stages, now, seed, params)
        are_caps_proved |= bool(dropped.all()) and decision.is_none_proved
        if _distances(stages, other, params) < _distances(stages, now, params):
            outside = {problem.resources[side.resource] for side in reached_levels(stages[-1], now.after).sides()}
            gave_way |= {problem.resources[d]: tuple(sorted(outside)) for d in np.flatnonzero(dropped).tolist()}
            best = other
        if not dropped.all():  # a cap is not widened
            within = widened_problem(within, reached_levels(stages[-1], best.after), params.bands)
    return best, _Outside(within, gave_way, are_caps_proved=are_caps_proved)


def _without_others(
    stages: Sequence[Problem], known: Placed, seed: int, params: SolveParams
) -> tuple[Placed, Decision]:
    """The best plan found for the bands of the last of ``stages`` alone, no farther outside those before it than
    ``known``; and what was proved where it is outside.
    """
    stage = stages[-1]
    bands = working_bands(stage, stage.band_low, stage.band_high, params.bands)

    def nearer(found: Placed, other: Placed) -> Placed:
        is_nearer = _distances(stages, other, params) < _distances(stages, found, params)
        chosen = other if is_nearer else found
        return replace(chosen, statistics=found.statistics + other.statistics)

    if stage.moves_replicas:
        found = nearer(known, _moved(stage, bands, seed, params, known)[0])
    else:
        found = nearer(known, place(stage, stage.replicas, bands, params))
    if found.band_violation <= 0:
        return found, Decision(None)
    decision = decided(stage, params)
    if decision.plan is not None:
        index = decision.plan.replica_index
        found = nearer(found, place(stage, decision.plan.replicas, bands, params, replica_index=index))
    if found.band_violation > 0 and params.effort.program_steps:
        nearest = least_widening(stage, _sets(stage), found, seed=seed, params=params).placed
        found = nearer(found, _judged(stage, nearest, params))
    return found, decision


def _distances(stages: Sequence[Problem], found: Placed, params: SolveParams) -> tuple[float, ...]:
    """How far a plan is outside each stage, the first one first; before that, who is led by whom."""
    return (found.misled, *(_judged(stage, found, params).band_violation for stage in stages))


def _judged(problem: Problem, found: Placed, params: SolveParams) -> Placed:
    """The same placement by other bands."""
    bands = working_bands(problem, problem.band_low, problem.band_high, params.bands)
    index = (found.replicas == found.leader[:, None]).argmax(axis=1).astype(np.int32)
    return place(problem, found.replicas, bands, params, replica_index=index, done=found.statistics)


def _sets(problem: Problem) -> ReplicaSets:
    return start_sets(problem) if problem.moves_replicas else ReplicaSets(problem.replicas, problem.replicas)


def _moved(
    problem: Problem, bands: WorkingBands, seed: int, params: SolveParams, known: Placed | None = None
) -> tuple[Placed, Bounds]:
    """The best of what the search finds, or what is ``known``, and what programs or annealing make of it.

    Bounds come after the search: a first run finds what they compile on disk by then (``compile_ahead`` of the shell).
    """
    sets = start_sets(problem)
    found = search_replicas(problem, sets, bands, seed=seed, params=params)
    # What found no place at first may have found one since.
    rows = _stranded_rows(problem, found.replicas) if found.stranded else np.zeros(0, dtype=np.int64)
    if len(rows):
        start = ReplicaSets(_lawful(problem, int(rows[0]), params), sets.original)
        found = search_replicas(problem, start, bands, seed=seed, params=params)
        if found.stranded or not has_capacity(problem, found.replicas):
            found = replace(found, replicas=start.replicas)
    bounds = lower_bounds(problem, params=params.bounds)
    best = place(problem, found.replicas, bands, params, done=found.statistics)
    if known is not None:
        best = better(known, best, ANY_SPREAD)
    gaps, effort = params.gaps, params.effort
    if not best.is_near(bounds.bytes.value, gaps.near):
        bounds = raised(problem, bounds, params.bounds)
    least = least_price(problem, bounds, params.costs)
    if effort.program_steps and is_small(problem, params.linear_program.arcs):
        if not best.is_near(least, gaps.near):
            return improve_with_lp(problem, sets, bands, best, bounds, seed=seed, params=params)
        return best, bounds
    if best.is_near(least, gaps.far):
        return best, bounds
    best = _annealed(problem, sets, bands, best, seed, params)
    asks_program = effort.program_steps > 0 and is_middling(problem, params.linear_program.restricted)
    if asks_program and not best.is_near(least, gaps.far):
        allowed = spread_allowed(problem, best, params.linear_program.spread_given_up)
        task = Task(problem, sets, bands, allowed, seed, params)
        best = improve_with_restricted_lp(task, best, bounds, least)
    return best, bounds


def _widened(
    problem: Problem, within: Problem, found: Placed, bounds: Bounds, seed: int, params: SolveParams
) -> tuple[Placed, Bounds]:
    """No plan was found inside the bands: the cheapest found within the least bands that are met, however topics are
    spread; and ``bounds``, with what covers found on the way prove for the problem's own bands.

    ``within``: the problem, some bands widened already to what was reached.
    """
    least = least_widening(within, _sets(within), found, seed=seed, params=params)
    best = cheaper(within, least, least.placed, seed=seed, params=params)
    wider = widened_problem(within, least.levels, params.bands)
    if problem.moves_replicas:
        wider_bands = working_bands(wider, wider.band_low, wider.band_high, params.bands)
        best, wider_bounds = _moved(wider, wider_bands, seed, _within_reach(problem, params), best)
        proof = wider_bounds.proofs.get("bytes")
        if proof is not None:
            bounds = raised_by_covers(problem, bounds, proof.prices, proof.covers, params.bounds)
    return best, bounds


def _within_reach(problem: Problem, params: SolveParams) -> SolveParams:
    """Fewer steps on large clusters: how near the bands come was the dear part, and they are another target anyway."""
    pairs = int((~problem.pinned).sum()) * int(problem.stays.sum())
    if pairs <= params.widening.most_pairs:
        return params
    steps = params.effort.program_steps // params.widening.large_steps_divisor
    return replace(params, effort=replace(params.effort, program_steps=steps))


def _annealed(
    problem: Problem, sets: ReplicaSets, bands: WorkingBands, found: Placed, seed: int, params: SolveParams
) -> Placed:
    """The better of what was found and what that becomes by annealing."""
    if not params.effort.anneal_steps:
        return found
    warm = ReplicaSets(found.replicas, sets.original)
    annealed = anneal_replicas(problem, warm, bands, seed=seed, params=params)
    other = place(problem, annealed.replicas, bands, params, done=annealed.statistics)
    allowed = max(found.topic_excess, topic_excess(problem.topic, problem.replicas, problem.stays))
    return better(found, other, allowed)


def _stranded_rows(problem: Problem, replicas: Ints) -> Longs:
    """Partitions with a replica nowhere, or on a broker that leaves."""
    return np.flatnonzero((replicas == problem.broker_count).any(axis=1) | _on_leaving(problem, replicas))


def _lawful(problem: Problem, row: int, params: SolveParams) -> Ints:
    """int32[P, W]: replica sets by the rules alone, where the search found no place for a replica of ``row``.

    Raises InfeasibleError with the smallest cause that is proved, or with what is not known.
    """
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
