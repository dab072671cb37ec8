"""Small clusters: how near one side of one resource can come while all others stay where they are, as one program.

    minimise z (of a lower side: maximise it)
    over all plans inside the bands, those of this side aside: a broker is inside the band asked for, or z holds it

Which of the two is one more 0 or 1 for each broker. Tiny clusters are decided at once, larger ones part by part from a
plan that is known. Branch and bound by HiGHS. Deterministic: one thread, nodes are counted, no clock.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats, Longs
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.linear_program.whole_plan import (
    WholePlan,
    WholeProgram,
    carried_by,
    copy_costs,
    whole_program,
)
from kafka_rebalance.planner.params import SolveParams
from kafka_rebalance.planner.placed import Placed
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.planner.widening.levels import Levels, Side, mean_loads, widened_problem
from kafka_rebalance.planner.widening.neighbourhood import Goal, improved
from kafka_rebalance.planner.working_bands import WorkingBands, working_bands


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

    Above: load <= z · mean where outside, load <= asked where not; below with all signs turned. Where nobody is outside
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
