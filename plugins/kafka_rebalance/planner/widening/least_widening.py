"""Bands that no plan was found for are widened, resource by resource, to the least that is reached.

It begins with what the search left outside. Then one side after the other, the widest first, comes as near as it can
while no other goes farther out: none can come nearer alone afterwards, as far as the programs and searches see.

Example: 6 brokers, ±10 %, one partition of 1.8 means: the search left disk within 0.62..1.80. 1.80 cannot be less; the
five others share 4.2 means, and 0.81..1.80 is what the lower side comes to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Ints
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.linear_program.rounding import has_capacity
from kafka_rebalance.planner.params import SolveParams
from kafka_rebalance.planner.placed import Placed, better, place
from kafka_rebalance.planner.replicas.replica_search import anneal_replicas, search_replicas
from kafka_rebalance.planner.state import ReplicaSets
from kafka_rebalance.planner.statistics import NOTHING_DONE, SearchStatistics
from kafka_rebalance.planner.tolerances import ANY_SPREAD
from kafka_rebalance.planner.widening.levels import Levels, Side, mean_loads, reached_levels, widened_problem
from kafka_rebalance.planner.widening.nearest_program import cheaper_plan, nearer_plan
from kafka_rebalance.planner.working_bands import WorkingBands, working_bands


@dataclass(frozen=True, slots=True, eq=False)
class Widened:
    """The levels, and a plan that is inside them: ``placed``, judged by the problem widened to them."""

    levels: Levels
    placed: Placed


def least_widening(problem: Problem, sets: ReplicaSets, found: Placed, *, seed: int, params: SolveParams) -> Widened:
    """The least levels found, from those of ``found`` on."""
    task = _Task(problem, sets, seed, params)
    levels = reached_levels(problem, found.after)
    best = Widened(levels, task.placed(levels, found.replicas, found.leader, done=found.statistics))
    tries = params.widening.tries
    for side in sorted(levels.sides(), key=lambda side: -_excess(problem, levels, side)):
        if np.isnan(best.levels.of(side)):  # inside by now
            continue
        best, used = _by_search(task, best, side, tries)
        tries -= used
        if _is_small(problem, params) and not np.isnan(best.levels.of(side)):
            best = _by_program(task, best, side)
    return best


def cheaper(problem: Problem, least: Widened, known: Placed, *, seed: int, params: SolveParams) -> Placed:
    """``known``, or a cheaper plan within the same levels, by a program in whole numbers."""
    wider = widened_problem(problem, least.levels, params.bands)
    plan = cheaper_plan(wider, known, seed=seed, params=params) if _is_small(wider, params) else None
    if plan is None or not has_capacity(wider, plan.replicas):
        return known
    bands = working_bands(wider, wider.band_low, wider.band_high, params.bands)
    found = place(wider, plan.replicas, bands, params, replica_index=plan.replica_index)
    return better(known, found, ANY_SPREAD)


def _is_small(problem: Problem, params: SolveParams) -> bool:
    return problem.partition_count * problem.broker_count <= params.widening.most_pairs


def _excess(problem: Problem, levels: Levels, side: Side) -> float:
    """How far a side stands outside the band asked for, in means."""
    mean = mean_loads(problem)[:, side.resource]
    edge = (problem.band_high if side.is_high else problem.band_low)[:, side.resource]
    asked = np.divide(edge, mean, out=np.ones_like(edge), where=mean > 0)[mean > 0]
    return float(levels.of(side) - asked.min() if side.is_high else asked.max() - levels.of(side))


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    problem: Problem
    sets: ReplicaSets
    seed: int
    params: SolveParams

    def placed(
        self, levels: Levels, replicas: Ints, leader: Ints | None = None, *, done: SearchStatistics = NOTHING_DONE
    ) -> Placed:
        """``replicas`` judged within ``levels``; ``leader`` is chosen where None."""
        wider = widened_problem(self.problem, levels, self.params.bands)
        bands = working_bands(wider, wider.band_low, wider.band_high, self.params.bands)
        index = None if leader is None else (replicas == leader[:, None]).argmax(axis=1).astype(np.int32)
        return place(wider, replicas, bands, self.params, replica_index=index, done=done)

    def nearer(self, best: Widened, placed: Placed) -> Widened:
        """What ``placed`` reaches, within the levels of ``best``."""
        now = reached_levels(self.problem, placed.after)
        low = np.where(np.isnan(now.low), np.nan, np.fmax(now.low, best.levels.low))
        high = np.where(np.isnan(now.high), np.nan, np.fmin(now.high, best.levels.high))
        return Widened(Levels(low, high), placed)


def _by_program(task: _Task, best: Widened, side: Side) -> Widened:
    plan = nearer_plan(task.problem, best.levels, side, best.placed, seed=task.seed, params=task.params)
    if plan is None or not has_capacity(task.problem, plan.replicas):
        return best
    leader = plan.replicas[np.arange(len(plan.replicas)), plan.replica_index]
    placed = task.placed(best.levels, plan.replicas, leader, done=best.placed.statistics)
    if placed.band_violation > 0 or placed.misled > best.placed.misled:
        return best
    return task.nearer(best, placed)


def _by_search(task: _Task, best: Widened, side: Side, tries: int) -> tuple[Widened, int]:
    """By halves: the nearest level that leaders chosen anew, a search or annealing comes to; and tries made."""
    params, used = task.params.widening, 0
    nearest = _nearest(task.problem, side)
    while used < min(tries, params.tries_of_side) and not np.isnan(level := best.levels.of(side)):
        if abs(level - nearest) <= params.least_step:
            break
        target = (level + nearest) / 2
        other = _reaching(task, best, side, target)
        used += 1
        if other is None:
            nearest = target
        else:
            best = other
    return best, used


def _reaching(task: _Task, best: Widened, side: Side, target: float) -> Widened | None:
    """A plan within the levels, ``target`` on one side; None where none is found."""
    levels = best.levels.with_level(side, target)
    wider = widened_problem(task.problem, levels, task.params.bands)
    bands = working_bands(wider, wider.band_low, wider.band_high, task.params.bands)
    done = best.placed.statistics
    placed = place(wider, best.placed.replicas, bands, task.params, done=done)
    if task.problem.moves_replicas:
        for number in range(task.params.widening.searches):
            if placed.band_violation <= 0:
                break
            placed = _searched(task, wider, bands, placed, task.seed + number)
    if placed.band_violation > 0 or placed.misled > best.placed.misled:
        return None
    return task.nearer(Widened(levels, best.placed), placed)


def _searched(task: _Task, wider: Problem, bands: WorkingBands, found: Placed, seed: int) -> Placed:
    """What a search from ``found`` comes to, annealed where that is outside; ``found`` where that is no nearer."""
    for step in (search_replicas, anneal_replicas):
        start = ReplicaSets(found.replicas, task.sets.original)
        other = step(wider, start, bands, seed=seed, params=task.params)
        if other.stranded or not has_capacity(task.problem, other.replicas):
            continue
        placed = place(wider, other.replicas, bands, task.params, done=found.statistics + other.statistics)
        found = placed if placed.band_violation < found.band_violation else found
        if found.band_violation <= 0:
            break
    return found


def _nearest(problem: Problem, side: Side) -> float:
    """What no plan passes: the largest partition lies somewhere, and what it leaves is what the others share."""
    d, mean = side.resource, mean_loads(problem)
    unit = mean[problem.stays, d]
    if not (unit > 0).any():
        return 1.0
    largest = float((problem.follower_load[:, d] + problem.leader_extra[:, d]).max(initial=0.0))
    level = largest / float(unit.max())
    if side.is_high:
        edge = problem.band_high[problem.stays, d]
        return max(level, float((edge[unit > 0] / unit[unit > 0]).min()))
    edge = problem.band_low[problem.stays, d]
    return min(1.0, float((edge[unit > 0] / unit[unit > 0]).max()))
