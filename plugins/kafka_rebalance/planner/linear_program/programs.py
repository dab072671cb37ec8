"""Small clusters: what programs, linear and in whole numbers, make of the plan found, and the bound they prove."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import Floats, Ints
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.bounds.lower_bounds import lower_bounds
from kafka_rebalance.planner.linear_program.arcs import Arcs, arcs_of
from kafka_rebalance.planner.linear_program.neighbourhoods import Program, cheaper_plans
from kafka_rebalance.planner.linear_program.relaxation import Relaxed, relax
from kafka_rebalance.planner.linear_program.rounding import has_capacity, rounded
from kafka_rebalance.planner.linear_program.starts import program_starts
from kafka_rebalance.planner.linear_program.whole_plan import is_tiny, whole_plan
from kafka_rebalance.planner.params import SolveParams
from kafka_rebalance.planner.placed import Placed, better, place
from kafka_rebalance.planner.replicas.replica_search import search_replicas
from kafka_rebalance.planner.solution import Bounds
from kafka_rebalance.planner.state import ReplicaSets
from kafka_rebalance.planner.statistics import NOTHING_DONE, SearchStatistics
from kafka_rebalance.planner.topic_spread import topic_excess
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

    1. inside the bands, else as near to them as was found; 2. fewest bytes; topics spread no worse than today or found.
    """
    allowed = max(found.topic_excess, topic_excess(problem.topic, problem.replicas, problem.stays))
    task = _Task(problem, sets, bands, allowed, seed, params)
    is_whole = is_tiny(problem, params.linear_program.whole_plan)
    best = _whole(task, bands, found) if is_whole else found
    arcs = arcs_of(problem, params.linear_program.arcs)
    relaxed = relax(problem, arcs, bands.low, bands.high)
    if relaxed is not None:
        stronger = lower_bounds(problem, prices=relaxed.prices, params=params.bounds)
        bounds = max(bounds, stronger, key=lambda proved: proved.bytes.value)
    if best.band_violation > 0:
        best = _searched(task, arcs, relaxed, best)
    if best.is_near(bounds.bytes.value, params.gaps.near):
        return best, bounds
    if not is_whole:
        best = _in_neighbourhoods(task, arcs, relaxed, best)
    elif best.band_violation > 0:  # no plan meets the bands: the cheapest that comes as near as this one
        best = _whole(task, _reached(problem, bands, best), best)
    return best, bounds


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """What stays the same whichever program is tried; ``allowed`` replicas may lie where their topic has enough."""

    problem: Problem
    sets: ReplicaSets
    bands: WorkingBands
    allowed: int
    seed: int
    params: SolveParams

    def better(
        self, best: Placed, replicas: Ints, *, replica_index: Ints | None = None, done: SearchStatistics = NOTHING_DONE
    ) -> Placed:
        """``best``, or ``replicas`` int32[P, W] led by ``replica_index`` where they are lawful and worth more."""
        if not has_capacity(self.problem, replicas):
            return replace(best, statistics=best.statistics + done)
        return better(
            best,
            place(self.problem, replicas, self.bands, self.params, replica_index=replica_index, done=done),
            self.allowed,
        )


def _searched(task: _Task, arcs: Arcs, relaxed: Relaxed | None, found: Placed) -> Placed:
    """The first plan inside the bands that a search from roundings of linear programs comes to, else the best."""
    best, params = found, task.params
    for start in program_starts(task.problem, task.sets, arcs, relaxed, task.bands, found.after, params.linear_program):
        for number in range(params.linear_program.starts.searches):
            other = search_replicas(task.problem, start, task.bands, seed=task.seed + number, params=params)
            if other.stranded:
                best = replace(best, statistics=best.statistics + other.statistics)
            else:
                best = task.better(best, other.replicas, done=other.statistics)
            if best.band_violation <= 0:
                return best
    return best


def _in_neighbourhoods(task: _Task, arcs: Arcs, relaxed: Relaxed | None, found: Placed) -> Placed:
    """The best of what parts of ``found``, decided anew, come to; where it is outside its bands it goes no farther."""
    problem, params = task.problem, task.params.linear_program
    low, high = np.minimum(task.bands.low, found.after), np.maximum(task.bands.high, found.after)
    if found.band_violation > 0 and not _is_same_program(arcs, task.bands, low, high):
        relaxed = relax(problem, arcs, low, high)
    if relaxed is None:
        return found
    best, most = found, task.params.effort.program_steps
    if found.band_violation > 0:
        most //= params.neighbourhoods.steps_outside_divisor
    program = Program(problem, arcs, relaxed, (low, high), params)
    for share in cheaper_plans(program, found.replicas, allowed=task.allowed, steps=most, seed=task.seed):
        replicas = rounded(problem, task.sets, arcs, share, params.arcs).replicas
        best = task.better(best, replicas, done=SearchStatistics(neighbourhoods=1))
    return best


def _is_same_program(arcs: Arcs, bands: WorkingBands, low: Floats, high: Floats) -> bool:
    """Of what the program's arcs carry, low..high are the bands that it was solved for: leaders alone are outside."""
    columns = arcs.columns
    return np.array_equal(low[:, columns], bands.low[:, columns]) and np.array_equal(
        high[:, columns], bands.high[:, columns]
    )


def _whole(task: _Task, bands: WorkingBands, found: Placed) -> Placed:
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
