"""One problem in, one solution out: replica sets, leaders, cost, bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.planner.bounds.lower_bounds import least_price, lower_bounds, raised, raised_by_covers
from kafka_rebalance.planner.infeasible.smallest_cause import smallest_cause
from kafka_rebalance.planner.linear_program.arcs import is_small
from kafka_rebalance.planner.linear_program.programs import improve_with_lp
from kafka_rebalance.planner.linear_program.restricted import improve_with_restricted_lp, is_middling
from kafka_rebalance.planner.linear_program.task import Task, spread_allowed
from kafka_rebalance.planner.params import DEFAULTS, SolveParams
from kafka_rebalance.planner.placed import Placed, better, place
from kafka_rebalance.planner.replicas.replica_search import anneal_replicas, search_replicas
from kafka_rebalance.planner.replicas.replica_sets import start_sets
from kafka_rebalance.planner.solution import Bounds, Solution
from kafka_rebalance.planner.state import ReplicaSets
from kafka_rebalance.planner.tolerances import ANY_SPREAD
from kafka_rebalance.planner.topic_spread import topic_excess
from kafka_rebalance.planner.widening.least_widening import cheaper, least_widening
from kafka_rebalance.planner.widening.levels import widened_problem
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
    if best.band_violation > 0 and params.effort.program_steps and not problem.elects_preferred:
        best, bounds = _widened(problem, best, bounds, seed, params)
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
    )


def _moved(
    problem: Problem, bands: WorkingBands, seed: int, params: SolveParams, known: Placed | None = None
) -> tuple[Placed, Bounds]:
    """The best of what the search finds, or what is ``known``, and what programs or annealing make of it.

    Bounds come after the search: a first run finds what they compile on disk by then (``compile_ahead`` of the shell).
    """
    sets = start_sets(problem)
    found = search_replicas(problem, sets, bands, seed=seed, params=params)
    if found.stranded:  # what found no place at first may have found one since
        for row in _stranded_rows(problem, found.replicas)[:1].tolist():
            cause = smallest_cause(problem, params.linear_program)
            raise _stranded(problem, row) if cause is None else cause.error()
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


def _widened(problem: Problem, found: Placed, bounds: Bounds, seed: int, params: SolveParams) -> tuple[Placed, Bounds]:
    """No plan meets the bands: the cheapest found within the least bands that are met, however topics are spread; and
    ``bounds``, with what covers found on the way prove for the problem's own bands.
    """
    sets = start_sets(problem) if problem.moves_replicas else ReplicaSets(problem.replicas, problem.replicas)
    least = least_widening(problem, sets, found, seed=seed, params=params)
    best = cheaper(problem, least, least.placed, seed=seed, params=params)
    wider = widened_problem(problem, least.levels, params.bands)
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


def _stranded(problem: Problem, row: int) -> InfeasibleError:
    return InfeasibleError(
        f"a replica of {problem.name_of(row)} finds no broker with room for it; no count proves that there is none",
        "add a broker or disk, or exclude fewer brokers",
    )


def _on_leaving(problem: Problem, replicas: Ints) -> Flags:
    on_broker = (replicas >= 0) & (replicas < problem.broker_count)
    leaving: Flags = on_broker & ~problem.stays[np.where(on_broker, replicas, 0)]
    return np.asarray(leaving.any(axis=1))
