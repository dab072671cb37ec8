"""Return the narrowest bands that were reached, resource by resource, where no plan was found for the given ones.

It begins with what the search left outside. Then one side after the other, the widest first, comes as near as it can
while no other goes farther out: none can come nearer alone afterwards, as far as the programs and searches see.

Example: 6 brokers, ±10 %, one partition of 1.8 means: the search left disk within 0.62..1.80. 1.80 cannot be less; the
five others share 4.2 means, and 0.81..1.80 is what the lower side comes to.
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

# Bands give way by rank: caps are kept before any band, what was ordered before defaults (``Problem.band_rank``).
#
# Example: disks of 0.5 and 2 TB, ``--target disk=0.9..1.1``. With equal counts of replicas, a default, no disk comes
# below 2.1 × the mean. So the band of disk is met first with all others left out, and counts are then brought as near
# to their own as it allows.


def given_up(problem: Problem) -> list[Flags]:
    """bool[D] each, resources whose bands are left out: all where there are caps, then those of each rank but the
    first, the highest rank alone at last.
    """
    rank = np.zeros(len(problem.resources), dtype=np.int32) if problem.band_rank is None else problem.band_rank
    steps = [rank > step for step in np.unique(rank)[:-1].tolist()]
    has_caps = problem.cap is not None and bool(np.isfinite(problem.cap[problem.stays]).any())
    return [np.ones(len(rank), dtype=np.bool_), *steps] if has_caps else steps


def without_bands(problem: Problem, dropped: Flags) -> Problem:
    """The same problem, the bands of ``dropped`` bool[D] left out; caps remain."""
    cap = np.full_like(problem.band_high, np.inf) if problem.cap is None else problem.cap
    free = problem.stays[:, None] & dropped[None, :]
    return replace(
        problem,
        band_low=np.where(free, 0.0, problem.band_low),
        band_high=np.where(free, cap, problem.band_high),
    )


# How far bands are widened: for each resource and side one level, a multiple of the plain mean, the same for all.
#
# Example: a mean of 10 GB, a band up to 11 GB, one partition of 18 GB: the level of the upper side is 1.8, and the band
# of every broker goes up to 18 GB.


@dataclass(frozen=True, slots=True)
class Side:
    """One side of one resource's band."""

    resource: int  # column
    is_high: bool


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """``low``, ``high`` float64[D], nan where the band asked for is kept."""

    low: Floats
    high: Floats

    def of(self, side: Side) -> float:
        """One of them."""
        return float((self.high if side.is_high else self.low)[side.resource])

    def sides(self) -> tuple[Side, ...]:
        """What is widened."""
        return tuple(
            Side(d, is_high)
            for d in range(len(self.low))
            for is_high in (True, False)
            if not np.isnan((self.high if is_high else self.low)[d])
        )

    def with_level(self, side: Side, level: float) -> Levels:
        """The same with another level of one side."""
        low, high = self.low.copy(), self.high.copy()
        (high if side.is_high else low)[side.resource] = level
        return Levels(low, high)


def mean_loads(problem: Problem) -> Floats:
    """float64[B, D]: what a level of 1 is for each broker, 0 on those that leave."""
    total = (problem.follower_load * problem.target_rf[:, None] + problem.leader_extra).sum(axis=0)
    mean = plain_mean(total, problem.capacity, problem.stays) * problem.capacity
    return np.where(problem.stays[:, None], mean, 0.0)


def reached_levels(problem: Problem, after: Floats) -> Levels:
    """The levels that hold the loads ``after`` float64[B, D]."""
    mean, stays = mean_loads(problem), problem.stays[:, None]
    level = np.divide(after, mean, out=np.ones_like(after), where=mean > 0)
    slack = BAND_ROUNDING * mean.max(axis=0, initial=0.0) + BAND_ROUNDING
    over = stays & (after > problem.band_high + slack) & (mean > 0)
    under = stays & (after < problem.band_low - slack) & (mean > 0)
    low = np.where(under, level, np.inf).min(axis=0)
    high = np.where(over, level, -np.inf).max(axis=0)
    return Levels(np.where(np.isinf(low), np.nan, low), np.where(np.isinf(high), np.nan, high))


def widened_problem(problem: Problem, levels: Levels, params: BandParams = DEFAULTS.bands) -> Problem:
    """``problem`` with its bands widened to ``levels``, and by what a search stays inside them; never above a cap."""
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


# A program in whole numbers that is too large to be solved at once, improved part by part.
#
# What is on a few brokers is decided anew, replicas and leaders together, and all else stays as it is: large
# neighbourhood search (Shaw 1998), as ``linear_program.neighbourhoods`` makes it for replicas alone. Deterministic:
# steps and nodes are counted, one thread, no clock.


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """What is minimised over all variables: ``factor`` · x, within ``least`` <= x <= ``most``, float64 each.

    ``is_whole`` bool: 0 or 1. ``step``: what lowers the goal by less is no improvement; ``patience``: so many times as
    many steps as of others. ``first(x)``: the brokers that
    a step must open, the others are drawn.
    """

    factor: Floats
    least: Floats
    most: Floats
    is_whole: Flags
    step: float
    patience: int
    first: Callable[[Floats], Longs]


def improved(program: WholeProgram, goal: Goal, start: Floats, *, seed: int, params: WideningParams) -> Floats:
    """``start``, a solution, or what steps from it come to."""
    matrix: Any = sp.vstack(program.rows.blocks).tocsc()
    rules = (matrix, np.concatenate(program.rows.most), program.equal.tocsc())
    rng, best, since = np.random.default_rng(seed), start, 0
    is_tiny = 2 * len(program.arcs.row) <= params.few_variables
    most, nodes = (params.few_variables, params.nodes) if is_tiny else (params.open_variables, params.step_nodes)
    for _ in range(params.steps * goal.patience):
        is_open, is_all = _opened(program, goal, best, rng, most)
        found = _decided(program, goal, rules, best, is_open, nodes)
        since = 0 if found is not None else since + 1
        best = best if found is None else found
        if since >= params.patience * goal.patience or (is_all and found is None):
            break
    return best


def _opened(program: WholeProgram, goal: Goal, best: Floats, rng: np.random.Generator, most: int) -> tuple[Flags, bool]:
    """Variables that one step decides, and whether these are all: brokers are opened while there is left."""
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
    wanted = (program.wanted - equal @ rest)[counted]
    answer = milp(
        goal.factor[some],
        integrality=goal.is_whole[some].astype(np.int64),
        bounds=Bounds(goal.least[some], goal.most[some]),
        constraints=[
            LinearConstraint(sp.vstack([part[bound], cut]), -np.inf, left),
            LinearConstraint(same[counted], wanted, wanted),
        ],
        options={"node_limit": nodes, "mip_rel_gap": 1e-3},
    )
    if answer.x is None:
        return None
    found = best.copy()
    found[some] = np.where(goal.is_whole[some], np.round(answer.x), answer.x)
    return found


# Small clusters: how near one side of one resource can come while all others stay where they are, as one program.
#
#     minimise z (of a lower side: maximise it)
#     over all plans inside the bands, those of this side aside: a broker is inside the band asked for, or z holds it
#
# Which of the two is one more 0 or 1 for each broker. Tiny clusters are decided at once, larger ones part by part from
# a plan that is known. Branch and bound by HiGHS. Deterministic: one thread, nodes are counted, no clock.


def nearer_plan(
    problem: Problem, levels: Levels, side: Side, known: Placed, *, seed: int, params: SolveParams
) -> WholePlan | None:
    """A plan within ``levels``, nearer on ``side`` than ``known``, the nearest found; None where there is none."""
    wider = widened_problem(problem, levels, params.bands)
    bands = working_bands(wider, wider.band_low, wider.band_high, params.bands)
    (bands.high if side.is_high else bands.low)[:, side.resource] = np.inf if side.is_high else 0.0
    program = whole_program(wider, bands, params.linear_program, more=1 + problem.broker_count)
    if program is None:
        return None
    asked = working_bands(problem, problem.band_low, problem.band_high, params.bands)
    level, count, sign = levels.of(side), len(program.arcs.row), 1.0 if side.is_high else -1.0
    top = _side_rows(program, asked, level, side, params.widening.least_step)
    factor, is_whole = np.zeros(program.rows.variables), np.ones(program.rows.variables, dtype=np.bool_)
    factor[2 * count], is_whole[2 * count] = sign, False

    mean, edge = mean_loads(problem)[:, side.resource], (asked.high if side.is_high else asked.low)[:, side.resource]

    def loads(variables: Floats) -> Floats:
        weights, fixed = carried_by(problem, program.arcs)
        carried = weights[:, side.resource] * variables[: 2 * count]
        held = np.bincount(np.tile(program.arcs.broker, 2), weights=carried, minlength=problem.broker_count)
        return np.asarray((held + fixed[:, side.resource]) * resource_scale(problem)[side.resource])

    def farthest(variables: Floats) -> Longs:
        load = loads(variables)
        step = params.widening.least_step * mean
        out = problem.stays & (sign * (load - edge) > 0) & (sign * (load - variables[2 * count] * mean) > -step)
        return np.flatnonzero(out)

    start = np.concatenate([program.variables_of(known.replicas, known.leader), [level], np.zeros(len(mean))])
    start[2 * count + 1 :] = problem.stays & (sign * (loads(start) - edge) > 0)
    top = np.append(program.top, top)
    goal = Goal(factor, np.zeros(len(factor)), top, is_whole, params.widening.least_step, 1, farthest)
    found = improved(program, goal, start, seed=seed, params=params.widening)
    return None if found is start else program.plan_of(found)


def cheaper_plan(wider: Problem, known: Placed, *, seed: int, params: SolveParams) -> WholePlan | None:
    """A plan within the bands of ``wider``, cheaper than ``known``; None where none was found."""
    bands = working_bands(wider, wider.band_low, wider.band_high, params.bands)
    program = whole_program(wider, bands, params.linear_program)
    if program is None:
        return None
    factor = copy_costs(wider, program.arcs, params.linear_program.whole_plan)
    count = len(program.arcs.row)

    def none(_variables: Floats) -> Longs:
        return np.zeros(0, dtype=np.int64)

    start = program.variables_of(known.replicas, known.leader)
    step = 0.5 * params.linear_program.whole_plan.cost_per_leader_change
    is_whole, patience = np.ones(2 * count, dtype=np.bool_), params.widening.cost_steps
    goal = Goal(factor, np.zeros(2 * count), program.top, is_whole, step, patience, none)
    found = improved(program, goal, start, seed=seed, params=params.widening)
    return None if found is start else program.plan_of(found)


def _side_rows(program: WholeProgram, asked: WorkingBands, level: float, side: Side, step: float) -> Floats:
    """Adds the rows of the side and returns the upper bounds of its variables: z, and who is outside, float64[1 + B].

    Above: load <= z · mean where outside, load <= asked where not; below with all signs turned. Where none is outside
    z is free: below it may then be a ``step`` beyond the band, so that a plan that is less than that away is improved.
    """
    problem, arcs, d = program.problem, program.arcs, side.resource
    scale = resource_scale(problem)[d]
    weights, fixed = carried_by(problem, arcs)
    mean = mean_loads(problem)[:, d] / scale
    edge = (asked.high if side.is_high else asked.low)[:, d] / scale
    sign = 1.0 if side.is_high else -1.0
    may_be_out = problem.stays & (sign * (level * mean - edge) > 0) & (mean > 0)
    nearest = float(np.divide(edge, mean, out=np.zeros_like(edge), where=mean > 0).max())
    most_level = level if side.is_high else max(nearest, level) + 2 * step
    # Where z does not hold: by how much it would have to give way.
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
    """How far a side is outside the band asked for, in means."""
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
    """What no plan passes: the largest partition is somewhere, and what it leaves is what the others share."""
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
