"""Narrowest bands reached, resource by resource, where no plan meets the given ones.

From the search's loads on, each side, widest first, comes as near as it can while no other goes farther out. Example: 6
brokers, ±10 %, one partition of 1.8 means: 1.80 cannot be less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from kafka_assignors.arrays import Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.bands import BAND_ROUNDING, plain_mean
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.linear_program.relaxation import (
    WholePlan,
    WholeProgram,
    carried_by,
    copy_costs,
    has_capacity,
    whole_program,
)
from kafka_rebalance.planner.params import ANY_SPREAD, DEFAULTS, BandParams, SolveParams, WideningParams
from kafka_rebalance.planner.placed import Placed, better, place
from kafka_rebalance.planner.replicas.search import anneal_replicas, search_replicas
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.planner.solution import NOTHING_DONE, SearchStatistics
from kafka_rebalance.planner.state import ReplicaSets, WorkingBands, working_bands

# Bands yield by rank (``Problem.band_rank``): defaults before explicit bands, caps never.


def given_up(problem: Problem) -> list[Flags]:
    """Resources to drop: all if there are caps, then all ranks above the first, above the second, …"""
    rank = np.zeros(len(problem.resources), dtype=np.int32) if problem.band_rank is None else problem.band_rank
    steps = [rank > step for step in np.unique(rank)[:-1].tolist()]
    has_caps = problem.cap is not None and bool(np.isfinite(problem.cap[problem.stays]).any())
    return [np.ones(len(rank), dtype=np.bool_), *steps] if has_caps else steps


def without_bands(problem: Problem, dropped: Flags) -> Problem:
    """Only the caps of ``dropped`` resources stay."""
    cap = np.full_like(problem.band_high, np.inf) if problem.cap is None else problem.cap
    free = problem.stays[:, None] & dropped[None, :]
    return replace(
        problem,
        band_low=np.where(free, 0.0, problem.band_low),
        band_high=np.where(free, cap, problem.band_high),
    )


@dataclass(frozen=True, slots=True)
class Side:
    resource: int
    is_high: bool


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Multiples of the plain mean, one for each resource and side; nan where the band is kept."""

    low: Floats
    high: Floats

    def of(self, side: Side) -> float:
        return float((self.high if side.is_high else self.low)[side.resource])

    def sides(self) -> tuple[Side, ...]:
        return tuple(
            Side(d, is_high)
            for d in range(len(self.low))
            for is_high in (True, False)
            if not np.isnan((self.high if is_high else self.low)[d])
        )

    def with_level(self, side: Side, level: float) -> Levels:
        low, high = self.low.copy(), self.high.copy()
        (high if side.is_high else low)[side.resource] = level
        return Levels(low, high)


def mean_loads(problem: Problem) -> Floats:
    """Load at level 1, 0 on drained brokers."""
    total = (problem.follower_load * problem.target_rf[:, None] + problem.leader_extra).sum(axis=0)
    mean = plain_mean(total, problem.capacity, problem.stays) * problem.capacity
    return np.where(problem.stays[:, None], mean, 0.0)


def reached_levels(problem: Problem, after: Floats) -> Levels:
    mean, stays = mean_loads(problem), problem.stays[:, None]
    level = np.divide(after, mean, out=np.ones_like(after), where=mean > 0)
    slack = BAND_ROUNDING * mean.max(axis=0, initial=0.0) + BAND_ROUNDING
    over = stays & (after > problem.band_high + slack) & (mean > 0)
    under = stays & (after < problem.band_low - slack) & (mean > 0)
    low = np.where(under, level, np.inf).min(axis=0)
    high = np.where(over, level, -np.inf).max(axis=0)
    return Levels(np.where(np.isinf(low), np.nan, low), np.where(np.isinf(high), np.nan, high))


def widened_problem(problem: Problem, levels: Levels, params: BandParams = DEFAULTS.bands) -> Problem:
    """Bands include the search's margin, never above a cap."""
    mean, stays = mean_loads(problem), problem.stays[:, None]
    margin = 2 * params.margin * resource_scale(problem)
    is_high, is_low = ~np.isnan(levels.high), ~np.isnan(levels.low)
    high = np.maximum(problem.band_high, np.nan_to_num(levels.high) * mean + margin)
    if problem.cap is not None:
        high = np.minimum(high, np.maximum(problem.cap, problem.band_high))
    low = np.maximum(np.minimum(problem.band_low, np.nan_to_num(levels.low) * mean - margin), 0.0)
    return replace(
        problem,
        band_high=np.where(stays & is_high, high, problem.band_high),
        band_low=np.where(stays & is_low, low, problem.band_low),
    )


# Large neighbourhood search (Shaw 1998): each step solves a few brokers again, replicas and leaders together.


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """Minimise ``factor`` · x within ``least`` <= x <= ``most``; ``is_whole``: 0 or 1.

    ``step``: least improvement; ``patience``: factor on the steps; ``first(x)``: brokers that a step must open.
    """

    factor: Floats
    least: Floats
    most: Floats
    is_whole: Flags
    step: float
    patience: int
    first: Callable[[Floats], Longs]


def improved(program: WholeProgram, goal: Goal, start: Floats, *, seed: int, params: WideningParams) -> Floats:
    matrix: Any = sp.vstack(program.rows.blocks).tocsc()
    rules = (matrix, np.concatenate(program.rows.most), program.equal.tocsc())
    rng, best, since = np.random.default_rng(seed), start, 0
    is_tiny = 2 * len(program.arcs.row) <= params.few_variables
    most, nodes = (params.few_variables, params.nodes) if is_tiny else (params.open_variables, params.step_nodes)
    for _ in range(params.steps * goal.patience):
        is_open, is_all = _opened(program, goal, best, rng, most)
        improvement = _decided(program, goal, rules, best, is_open, nodes)
        since = 0 if improvement is not None else since + 1
        best = best if improvement is None else improvement
        if since >= params.patience * goal.patience or (is_all and improvement is None):
            break
    return best


def _opened(program: WholeProgram, goal: Goal, best: Floats, rng: np.random.Generator, most: int) -> tuple[Flags, bool]:
    """Variables of one step; true if these are all."""
    arcs, count = program.arcs, len(program.arcs.row)
    first = goal.first(best)
    others = rng.permutation(np.setdiff1d(np.flatnonzero(program.problem.stays), first))
    is_there = best[:count] > 0.5
    chosen = np.zeros(program.problem.broker_count, dtype=np.bool_)
    is_open = np.zeros(count, dtype=np.bool_)
    order = np.concatenate([first, others])
    for number, broker in enumerate(order.tolist()):
        chosen[broker] = True
        rows = np.zeros(program.problem.partition_count, dtype=np.bool_)
        rows[arcs.row[is_there & chosen[arcs.broker]]] = True
        wider = rows[arcs.row] & (chosen[arcs.broker] | is_there)
        if number >= 2 and 2 * int(wider.sum()) > most:
            break
        is_open = wider
    return np.concatenate([is_open, is_open, np.ones(len(best) - 2 * count, dtype=np.bool_)]), bool(is_open.all())


def _decided(
    program: WholeProgram, goal: Goal, rules: tuple[Any, Floats, Any], best: Floats, is_open: Flags, nodes: int
) -> Floats | None:
    matrix, most, equal = rules
    rest, some = np.where(is_open, 0.0, best), np.flatnonzero(is_open)
    part, same = matrix[:, some].tocsr(), equal[:, some].tocsr()
    bound, counted = np.diff(part.indptr) > 0, np.diff(same.indptr) > 0
    now = float(goal.factor[some] @ best[some])
    cut = sp.csr_matrix(goal.factor[some])
    left = np.append((most - matrix @ rest)[bound], now - goal.step)
    required = (program.required - equal @ rest)[counted]
    answer = milp(
        goal.factor[some],
        integrality=goal.is_whole[some].astype(np.int64),
        bounds=Bounds(goal.least[some], goal.most[some]),
        constraints=[
            LinearConstraint(sp.vstack([part[bound], cut]), -np.inf, left),
            LinearConstraint(same[counted], required, required),
        ],
        options={"node_limit": nodes, "mip_rel_gap": 1e-3},
    )
    if answer.x is None:
        return None
    result = best.copy()
    result[some] = np.where(goal.is_whole[some], np.round(answer.x), answer.x)
    return result


# Integer program: nearest level of one side while all others stay.
#
#     minimise z (of a lower side: maximise it)
#     over all plans inside the bands, those of this side aside: a broker is inside the band asked for, or z holds it
#
# Tiny clusters at once, larger ones part by part.


def nearer_plan(
    problem: Problem, levels: Levels, side: Side, incumbent: Placed, *, seed: int, params: SolveParams
) -> WholePlan | None:
    """Plan on ``side`` within ``levels``, if nearer than ``incumbent``."""
    wider = widened_problem(problem, levels, params.bands)
    bands = working_bands(wider, wider.band_low, wider.band_high, params.bands)
    (bands.high if side.is_high else bands.low)[:, side.resource] = np.inf if side.is_high else 0.0
    program = whole_program(wider, bands, params.linear_program, more=1 + problem.broker_count)
    if program is None:
        return None
    requested = working_bands(problem, problem.band_low, problem.band_high, params.bands)
    level, count, sign = levels.of(side), len(program.arcs.row), 1.0 if side.is_high else -1.0
    top = _side_rows(program, requested, level, side, params.widening.least_step)
    factor, is_whole = np.zeros(program.rows.variables), np.ones(program.rows.variables, dtype=np.bool_)
    factor[2 * count], is_whole[2 * count] = sign, False

    mean, edge = (
        mean_loads(problem)[:, side.resource],
        (requested.high if side.is_high else requested.low)[:, side.resource],
    )

    def loads(variables: Floats) -> Floats:
        weights, fixed = carried_by(problem, program.arcs)
        carried = weights[:, side.resource] * variables[: 2 * count]
        planned_load = np.bincount(np.tile(program.arcs.broker, 2), weights=carried, minlength=problem.broker_count)
        return np.asarray((planned_load + fixed[:, side.resource]) * resource_scale(problem)[side.resource])

    def farthest(variables: Floats) -> Longs:
        load = loads(variables)
        step = params.widening.least_step * mean
        out = problem.stays & (sign * (load - edge) > 0) & (sign * (load - variables[2 * count] * mean) > -step)
        return np.flatnonzero(out)

    start = np.concatenate([program.variables_of(incumbent.replicas, incumbent.leader), [level], np.zeros(len(mean))])
    start[2 * count + 1 :] = problem.stays & (sign * (loads(start) - edge) > 0)
    top = np.append(program.top, top)
    goal = Goal(factor, np.zeros(len(factor)), top, is_whole, params.widening.least_step, 1, farthest)
    solution = improved(program, goal, start, seed=seed, params=params.widening)
    return None if solution is start else program.plan_of(solution)


def cheaper_plan(wider: Problem, incumbent: Placed, *, seed: int, params: SolveParams) -> WholePlan | None:
    bands = working_bands(wider, wider.band_low, wider.band_high, params.bands)
    program = whole_program(wider, bands, params.linear_program)
    if program is None:
        return None
    factor = copy_costs(wider, program.arcs, params.linear_program.whole_plan)
    count = len(program.arcs.row)

    def none(_variables: Floats) -> Longs:
        return np.zeros(0, dtype=np.int64)

    start = program.variables_of(incumbent.replicas, incumbent.leader)
    step = 0.5 * params.linear_program.whole_plan.cost_per_leader_change
    is_whole, patience = np.ones(2 * count, dtype=np.bool_), params.widening.cost_steps
    goal = Goal(factor, np.zeros(2 * count), program.top, is_whole, step, patience, none)
    solution = improved(program, goal, start, seed=seed, params=params.widening)
    return None if solution is start else program.plan_of(solution)


def _side_rows(program: WholeProgram, bands: WorkingBands, level: float, side: Side, step: float) -> Floats:
    """Return upper bounds float64[1 + B] of z and of who is outside.

    Above: load <= z · mean if outside, else load <= band; below with signs turned. z may exceed the band by a
    ``step``, so that small distances improve.
    """
    problem, arcs, d = program.problem, program.arcs, side.resource
    scale = resource_scale(problem)[d]
    weights, fixed = carried_by(problem, arcs)
    mean = mean_loads(problem)[:, d] / scale
    edge = (bands.high if side.is_high else bands.low)[:, d] / scale
    sign = 1.0 if side.is_high else -1.0
    may_be_out = problem.stays & (sign * (level * mean - edge) > 0) & (mean > 0)
    nearest = float(np.divide(edge, mean, out=np.zeros_like(edge), where=mean > 0).max())
    most_level = level if side.is_high else max(nearest, level) + 2 * step
    slack = edge if side.is_high else np.maximum(most_level * mean - edge, 0.0)
    reach = np.maximum(level * mean - edge, 0.0) if side.is_high else edge
    brokers = np.flatnonzero(problem.stays)
    line_of = np.full(problem.broker_count, -1)
    line_of[brokers] = np.arange(len(brokers))
    carried = np.tile(line_of[arcs.broker], 2)
    mine = np.flatnonzero((carried >= 0) & (weights[:, d] != 0))
    first = 2 * len(arcs.row)
    outside, lines = first + 1 + brokers, np.arange(len(brokers))
    program.rows.add(
        np.concatenate([carried[mine], lines, lines]),
        np.concatenate([mine, np.full(len(brokers), first), outside]),
        np.concatenate([sign * weights[mine, d], -sign * mean[brokers], slack[brokers]]),
        (edge if side.is_high else slack)[brokers] - sign * fixed[brokers, d],
    )
    program.rows.add(
        np.concatenate([carried[mine], lines]),
        np.concatenate([mine, outside]),
        np.concatenate([sign * weights[mine, d], -reach[brokers]]),
        sign * (edge[brokers] - fixed[brokers, d]),
    )
    return np.append(most_level, may_be_out.astype(np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class Widened:
    """``placed`` is inside ``levels``."""

    levels: Levels
    placed: Placed


def least_widening(
    problem: Problem, sets: ReplicaSets, incumbent: Placed, *, seed: int, params: SolveParams
) -> Widened:
    task = _Task(problem, sets, seed, params)
    levels = reached_levels(problem, incumbent.after)
    best = Widened(levels, task.placed(levels, incumbent.replicas, incumbent.leader, done=incumbent.statistics))
    tries = params.widening.tries
    for side in sorted(levels.sides(), key=lambda side: -_excess(problem, levels, side)):
        if np.isnan(best.levels.of(side)):
            continue
        best, used = _by_search(task, best, side, tries)
        tries -= used
        if _is_small(problem, params) and not np.isnan(best.levels.of(side)):
            best = _by_program(task, best, side)
    return best


def cheaper(problem: Problem, least: Widened, incumbent: Placed, *, seed: int, params: SolveParams) -> Placed:
    wider = widened_problem(problem, least.levels, params.bands)
    plan = cheaper_plan(wider, incumbent, seed=seed, params=params) if _is_small(wider, params) else None
    if plan is None or not has_capacity(wider, plan.replicas):
        return incumbent
    bands = working_bands(wider, wider.band_low, wider.band_high, params.bands)
    candidate = place(wider, plan.replicas, bands, params, replica_index=plan.replica_index)
    return better(incumbent, candidate, ANY_SPREAD)


def _is_small(problem: Problem, params: SolveParams) -> bool:
    return problem.partition_count * problem.broker_count <= params.widening.most_pairs


def _excess(problem: Problem, levels: Levels, side: Side) -> float:
    mean = mean_loads(problem)[:, side.resource]
    edge = (problem.band_high if side.is_high else problem.band_low)[:, side.resource]
    edge_levels = np.divide(edge, mean, out=np.ones_like(edge), where=mean > 0)[mean > 0]
    return float(levels.of(side) - edge_levels.min() if side.is_high else edge_levels.max() - levels.of(side))


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    problem: Problem
    sets: ReplicaSets
    seed: int
    params: SolveParams

    def placed(
        self, levels: Levels, replicas: Ints, leader: Ints | None = None, *, done: SearchStatistics = NOTHING_DONE
    ) -> Placed:
        wider = widened_problem(self.problem, levels, self.params.bands)
        bands = working_bands(wider, wider.band_low, wider.band_high, self.params.bands)
        index = None if leader is None else (replicas == leader[:, None]).argmax(axis=1).astype(np.int32)
        return place(wider, replicas, bands, self.params, replica_index=index, done=done)

    def nearer(self, best: Widened, placed: Placed) -> Widened:
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


def _searched(task: _Task, wider: Problem, bands: WorkingBands, incumbent: Placed, seed: int) -> Placed:
    for step in (search_replicas, anneal_replicas):
        start = ReplicaSets(incumbent.replicas, task.sets.original)
        other = step(wider, start, bands, seed=seed, params=task.params)
        if other.stranded or not has_capacity(task.problem, other.replicas):
            continue
        placed = place(wider, other.replicas, bands, task.params, done=incumbent.statistics + other.statistics)
        incumbent = placed if placed.band_violation < incumbent.band_violation else incumbent
        if incumbent.band_violation <= 0:
            break
    return incumbent


def _nearest(problem: Problem, side: Side) -> float:
    """Bound on the level: the largest partition is somewhere, the others share the rest."""
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
