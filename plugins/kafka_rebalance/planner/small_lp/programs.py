"""Small clusters: what programs, linear and in whole numbers, make of the plan found, and the bound they prove."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.planner.bounds.lower_bounds import lower_bounds
from kafka_rebalance.planner.placed import Placed, better, place
from kafka_rebalance.planner.problem import Problem
from kafka_rebalance.planner.replicas.replica_search import Effort, search_replicas
from kafka_rebalance.planner.replicas.replica_sets import ReplicaSets
from kafka_rebalance.planner.small_lp.arcs import Arcs, arcs_of
from kafka_rebalance.planner.small_lp.neighbourhoods import cheaper_plans
from kafka_rebalance.planner.small_lp.relaxation import Relaxed, relax
from kafka_rebalance.planner.small_lp.rounding import has_room, rounded
from kafka_rebalance.planner.small_lp.starts import program_starts
from kafka_rebalance.planner.small_lp.whole_plan import is_tiny, whole_plan
from kafka_rebalance.planner.solution import Bounds
from kafka_rebalance.planner.topic_spread import topic_excess
from kafka_rebalance.planner.working_bands import WorkingBands

# Searches from each rounding of a linear program, with different seeds.
SEARCHES = 4
# Where no band is met the plan is worth so many times fewer steps.
LESS = 4


def with_programs(
    problem: Problem,
    sets: ReplicaSets,
    bands: WorkingBands,
    found: Placed,
    bounds: Bounds,
    *,
    seed: int,
    effort: Effort,
    steps: dict[str, int],
) -> tuple[Placed, Bounds]:
    """The best of ``found`` and what the programs come to; ``bounds`` or better ones.

    1. inside the bands, else as near to them as was found; 2. fewest bytes; topics spread no worse than today or found.
    """
    allowed = max(found.topic_excess, topic_excess(problem.topic, problem.replicas, problem.stays))
    best = _whole(problem, bands, found, allowed, steps) if is_tiny(problem) else found
    arcs = arcs_of(problem)
    relaxed = relax(problem, arcs, bands.low, bands.high)
    if relaxed is not None:
        bounds = max(bounds, lower_bounds(problem, prices=relaxed.prices), key=lambda each: each.bytes.value)
    if best.strays > 0:
        best = _searched(problem, sets, bands, arcs, relaxed, best, allowed, seed, effort, steps)
    if best.is_near(bounds.bytes.value):
        return best, bounds
    if not is_tiny(problem):
        best = _in_neighbourhoods(problem, sets, bands, arcs, relaxed, best, allowed, seed, effort, steps)
    elif best.strays > 0:  # no plan meets the bands: the cheapest that comes as near as this one
        best = _whole(problem, _reached(problem, bands, best), best, allowed, steps)
    return best, bounds


def _searched(
    problem: Problem,
    sets: ReplicaSets,
    bands: WorkingBands,
    arcs: Arcs,
    relaxed: Relaxed | None,
    found: Placed,
    allowed: int,
    seed: int,
    effort: Effort,
    steps: dict[str, int],
) -> Placed:
    """The first plan inside the bands that a search from roundings of linear programs comes to, else the best."""
    best = found
    for start in program_starts(problem, sets, arcs, relaxed, bands, found.after):
        for number in range(SEARCHES):
            replicas, stranded = search_replicas(problem, start, bands, seed=seed + number, effort=effort, steps=steps)
            if stranded or not has_room(problem, replicas):
                continue
            best = better(best, place(problem, replicas, bands, steps), allowed)
            if best.strays <= 0:
                return best
    return best


def _in_neighbourhoods(
    problem: Problem,
    sets: ReplicaSets,
    bands: WorkingBands,
    arcs: Arcs,
    relaxed: Relaxed | None,
    found: Placed,
    allowed: int,
    seed: int,
    effort: Effort,
    steps: dict[str, int],
) -> Placed:
    """The best of what parts of ``found``, decided anew, come to; where it is outside its bands it goes no farther."""
    low, high = np.minimum(bands.low, found.after), np.maximum(bands.high, found.after)
    if found.strays > 0:
        relaxed = relax(problem, arcs, low, high)
    if relaxed is None:
        return found
    best, most = found, effort.program_steps if found.strays <= 0 else effort.program_steps // LESS
    found_shares = cheaper_plans(
        problem, arcs, relaxed, (low, high), found.replicas, allowed=allowed, steps=most, seed=seed
    )
    for share in found_shares:
        steps["neighbourhoods"] = steps.get("neighbourhoods", 0) + 1
        replicas = rounded(problem, sets, arcs, share).replicas
        if has_room(problem, replicas):
            best = better(best, place(problem, replicas, bands, steps), allowed)
    return best


def _whole(problem: Problem, bands: WorkingBands, found: Placed, allowed: int, steps: dict[str, int]) -> Placed:
    """The better of what was found and the program in whole numbers."""
    whole = whole_plan(problem, bands)
    if whole is None or not has_room(problem, whole.replicas):
        return found
    return better(found, place(problem, whole.replicas, bands, steps, whole.slot), allowed)


def _reached(problem: Problem, bands: WorkingBands, found: Placed) -> WorkingBands:
    """``bands`` widened, alike for all brokers, until ``found`` is inside."""
    stays = problem.stays[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.where(stays & (bands.high > 0), found.after / bands.high, 1.0).max(axis=0, initial=1.0)
        below = np.where(stays & (bands.low > 0), found.after / bands.low, 1.0).min(axis=0, initial=1.0)
    return WorkingBands(bands.low * below, bands.high * above)
