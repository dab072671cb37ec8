"""Small clusters: what programs, linear and in whole numbers, make of the plan found, and the bound they prove."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.bounds.lower_bounds import least_price, lower_bounds, raised, raised_by_covers
from kafka_rebalance.planner.linear_program.annealed import annealed_again
from kafka_rebalance.planner.linear_program.arcs import Arcs, arcs_of
from kafka_rebalance.planner.linear_program.covered import with_covers
from kafka_rebalance.planner.linear_program.neighbourhoods import Program, cheaper_plans, decided_core
from kafka_rebalance.planner.linear_program.relaxation import Relaxed, relax
from kafka_rebalance.planner.linear_program.rounding import has_capacity, rounded
from kafka_rebalance.planner.linear_program.starts import program_starts
from kafka_rebalance.planner.linear_program.task import Task, spread_allowed
from kafka_rebalance.planner.linear_program.whole_plan import is_tiny, whole_plan
from kafka_rebalance.planner.params import SolveParams
from kafka_rebalance.planner.placed import Placed, better
from kafka_rebalance.planner.solution import Bounds
from kafka_rebalance.planner.state import ReplicaSets
from kafka_rebalance.planner.statistics import SearchStatistics
from kafka_rebalance.planner.working_bands import WorkingBands


def improve_with_lp(
    problem: Problem,
    sets: ReplicaSets,
    bands: WorkingBands,
    found: Placed,
    bounds: Bounds,
    *,
    seed: int,
    params: SolveParams,
) -> tuple[Placed, Bounds]:
    """The best of ``found`` and what the programs come to; ``bounds`` or better ones.

    1. inside the bands, else as near to them as was found; 2. fewest bytes; topics spread hardly worse than today or as
    found.
    """
    allowed = spread_allowed(problem, found, params.linear_program.spread_given_up)
    task = Task(problem, sets, bands, allowed, seed, params)
    is_whole = is_tiny(problem, params.linear_program.whole_plan)
    best = _whole(task, bands, found) if is_whole else found
    arcs = arcs_of(problem, params.linear_program.arcs)
    relaxed = relax(problem, arcs, bands.low, bands.high)
    if relaxed is not None:
        stronger = raised(problem, lower_bounds(problem, prices=relaxed.prices, params=params.bounds), params.bounds)
        bounds = max(bounds, stronger, key=lambda proved: proved.bytes.value)
    was_inside = best.band_violation <= 0
    if not was_inside:
        best = _searched(task, arcs, relaxed, best)
    if best.is_near(least_price(problem, bounds, params.costs), params.gaps.near):
        return best, bounds
    if is_whole:
        if best.band_violation > 0:  # no plan meets the bands: the cheapest that comes as near as this one
            best = _whole(task, _reached(problem, bands, best), best)
    elif relaxed is not None and best.band_violation <= 0:  # outside, bands are widened first
        relaxed = with_covers(problem, arcs, relaxed, bands, params.linear_program.covers)
        bounds = raised_by_covers(problem, bounds, relaxed.prices, relaxed.covers, params.bounds)
        if best.is_near(least_price(problem, bounds, params.costs), params.gaps.near):
            return best, bounds
        if was_inside:  # else a rounding is what it was found from
            best = _rounded(task, arcs, relaxed, best)
        least = least_price(problem, bounds, params.costs)
        best = annealed_again(task, best, params.linear_program.bold.tries, 1, least=least, near=params.gaps.near)
        if not best.is_near(least, params.gaps.near):
            best = _in_neighbourhoods(task, arcs, relaxed, best)
    return best, bounds


def _searched(task: Task, arcs: Arcs, relaxed: Relaxed | None, found: Placed) -> Placed:
    """The first plan inside the bands that a search from roundings of linear programs comes to, else the best."""
    best, params = found, task.params
    for start in program_starts(task.problem, task.sets, arcs, relaxed, task.bands, found.after, params.linear_program):
        for number in range(params.linear_program.starts.searches):
            best = task.searched(best, start, number)
            if best.band_violation <= 0:
                return best
    return best


def _rounded(task: Task, arcs: Arcs, relaxed: Relaxed, found: Placed) -> Placed:
    """The best of ``found``, which is inside its bands, and what searches from the program's shares come to."""
    start = rounded(task.problem, task.sets, arcs, relaxed.share, task.params.linear_program.arcs)
    best = found
    for number in range(task.params.linear_program.starts.searches_inside):
        best = task.searched(best, start, number)
    return best


def _in_neighbourhoods(task: Task, arcs: Arcs, relaxed: Relaxed, found: Placed) -> Placed:
    """The best of what parts of ``found``, which is inside its bands, come to when they are decided anew."""
    problem, params = task.problem, task.params.linear_program
    best, limits = found, (task.bands.low, task.bands.high)
    program = Program(problem, arcs, relaxed, limits, params)
    tries = 0
    if relaxed.covers:  # else replicas are so small that a few brokers at a time are decided sooner
        best, tries = _with_core(task, program, best)
    steps = task.params.effort.program_steps - tries
    for share in cheaper_plans(program, best.replicas, allowed=task.allowed, steps=steps, seed=task.seed):
        replicas = rounded(problem, task.sets, arcs, share, params.arcs).replicas
        best = task.better(best, replicas, done=SearchStatistics(neighbourhoods=1))
    return best


def _with_core(task: Task, program: Program, found: Placed) -> tuple[Placed, int]:
    """``found``, which is inside its bands, with the core of the program decided anew, and how often that was tried.

    Leaders come later: where no choice of them keeps a broker inside its bands any more, what it leads is held and the
    core is decided again.
    """
    problem, best, tries = task.problem, found, 0
    held = np.zeros(problem.partition_count, dtype=np.bool_)
    while tries < min(task.params.linear_program.neighbourhoods.core_tries, task.params.effort.program_steps):
        share = decided_core(program, found.replicas, allowed=task.allowed, held=held)
        tries += 1
        if share is None:
            break
        replicas = rounded(problem, task.sets, program.arcs, share, task.params.linear_program.arcs).replicas
        other = task.placed(found, replicas, done=SearchStatistics(neighbourhoods=1))
        if other.band_violation <= 0 and has_capacity(problem, replicas):
            best = better(best, other, task.allowed)
            break
        best = replace(best, statistics=best.statistics + other.statistics)
        outside = (other.after > task.bands.high) | (other.after < task.bands.low)
        held |= (outside.any(axis=1) & problem.stays)[found.leader]
    return best, tries


def _whole(task: Task, bands: WorkingBands, found: Placed) -> Placed:
    """The better of what was found and the program in whole numbers for ``bands``; the problem's own tell its worth."""
    whole = whole_plan(task.problem, bands, task.params.linear_program)
    return found if whole is None else task.better(found, whole.replicas, replica_index=whole.replica_index)


def _reached(problem: Problem, bands: WorkingBands, found: Placed) -> WorkingBands:
    """``bands`` widened, alike for all brokers, until ``found`` is inside."""
    stays = problem.stays[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.where(stays & (bands.high > 0), found.after / bands.high, 1.0).max(axis=0, initial=1.0)
        below = np.where(stays & (bands.low > 0), found.after / bands.low, 1.0).min(axis=0, initial=1.0)
    return WorkingBands(bands.low * below, bands.high * above)
