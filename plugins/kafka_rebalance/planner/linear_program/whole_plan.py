"""Tiny clusters: replica sets and leaders together, as one program in whole numbers.

Replicas first and leaders afterwards may fail where a broker's band is only a partition or two wide: the replica sets
that the bytes prefer leave no replica that could lead them. Here both are chosen at once.

    minimise bytes copied, then copies, then leader changes
    over x (a replica is there) and y <= x (and leads), both 0 or 1; bands of all resources, racks, factors, capacities

Example: three partitions with one replica each on a broker that shall lead nothing: no leader can change without its
replica, so what the leaders' bands allow says which replicas stay.

Branch and bound by HiGHS: exponential at worst, hence only for so many pairs of partition and broker and so many
nodes as its parameters allow. Deterministic: one thread, no clock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.fair_share import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.linear_program.relaxation import (
    Arcs,
    Rows,
    arcs_of,
    capacity_rows,
    disk_beyond,
    has_capacity,
    in_order,
    rack_rows,
)
from kafka_rebalance.planner.may_lead import can_be_led, candidates
from kafka_rebalance.planner.params import DEFAULTS, LinearProgramParams, SolveParams, WholePlanParams
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.planner.working_bands import WorkingBands, working_bands
from kafka_rebalance.resources import COUNTED

# HiGHS by way of scipy: nothing meets all rows.
_NONE = 2


@dataclass(frozen=True, slots=True, eq=False)
class WholePlan:
    """``replicas`` int32[P, W], and ``replica_index`` int32[P] of who leads."""

    replicas: Ints
    replica_index: Ints


def is_tiny(problem: Problem, params: WholePlanParams = DEFAULTS.linear_program.whole_plan) -> bool:
    """Small enough for a program in whole numbers; preferred leaders are nobody's choice."""
    return problem.partition_count * problem.broker_count <= params.most_pairs and not problem.elects_preferred


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """``plan``: the cheapest found, None where none was found; ``is_none_proved``: there is none."""

    plan: WholePlan | None
    is_none_proved: bool = False


def whole_plan(
    problem: Problem, bands: WorkingBands, params: LinearProgramParams = DEFAULTS.linear_program
) -> WholePlan | None:
    """The cheapest plan inside ``bands``; None where there is none or the search for it ran out of nodes."""
    return _solved(problem, bands, params).plan


def decided(problem: Problem, params: SolveParams = DEFAULTS, *, within_budget: bool = False) -> Decision:
    """A plan inside the bands and caps of ``problem``, or the proof that there is none.

    Neither where the cluster is too large or the nodes ran out, nor for preferred leaders, nor where a budget may leave
    rules open. ``within_budget``: a plan that costs no more than the budget.

    The plan is looked for a hair inside the bands, and "there is no plan" holds only if there is none a hair outside.
    """
    program = params.linear_program
    pairs = problem.partition_count * problem.broker_count
    if pairs > program.whole_plan.most_decided_pairs or problem.elects_preferred:
        return Decision(None)
    if problem.budget.is_limited and not within_budget:
        return Decision(None)
    low, high = problem.band_low, problem.band_high
    program = replace(program, whole_plan=replace(program.whole_plan, nodes=program.whole_plan.decided_nodes))
    gap = program.whole_plan.decided_gap
    found = _solved(
        problem, working_bands(problem, low, high, params.bands), program, gap=gap, within_budget=within_budget
    )
    if found.plan is not None and has_capacity(problem, found.plan.replicas):
        return Decision(found.plan)
    if not found.is_none_proved:
        return Decision(None)
    hair = 2 * params.bands.margin * resource_scale(problem)
    is_whole = np.array([name in COUNTED for name in problem.resources], dtype=np.bool_)
    hair = np.where(is_whole, params.bands.count_margin, hair)
    wider = WorkingBands(np.where(low > 0, low - hair, low), np.where(problem.stays[:, None], high + hair, high))
    return Decision(
        None,
        _solved(problem, wider, program, gap=gap, hair=params.bands.margin, within_budget=within_budget).is_none_proved,
    )


def _solved(
    problem: Problem,
    bands: WorkingBands,
    params: LinearProgramParams,
    *,
    gap: float = 0.0,
    hair: float = 0.0,
    within_budget: bool = False,
) -> Decision:
    """The answer of the program to a ``gap`` of its cost; ``hair``: capacities are larger by this share."""
    if hair:
        problem = replace(problem, limit=problem.limit * (1 + hair))
    program = whole_program(problem, bands, params)
    if program is None:
        return Decision(None)
    if within_budget:
        budget_rows(program)
    count = len(program.arcs.row)
    answer = milp(
        copy_costs(problem, program.arcs, params.whole_plan),
        integrality=np.ones(2 * count, dtype=np.int64),
        bounds=Bounds(np.zeros(2 * count), program.top),
        constraints=[
            LinearConstraint(sp.vstack(program.rows.blocks).tocsr(), -np.inf, np.concatenate(program.rows.most)),
            LinearConstraint(program.equal, program.wanted, program.wanted),
        ],
        options={"mip_rel_gap": gap, "node_limit": params.whole_plan.nodes},
    )
    plan = None if answer.x is None else program.plan_of(answer.x)
    return Decision(plan, plan is None and answer.status == _NONE)


@dataclass(frozen=True, slots=True, eq=False)
class WholeProgram:
    """The rules of all plans inside bands, over 2·A variables: who is there, then who leads.

    ``equal`` · x = ``wanted``; x is at most ``top``; ``rows`` hold the rest.
    """

    problem: Problem
    arcs: Arcs
    rows: Rows
    equal: Any
    wanted: Floats
    top: Floats

    def variables_of(self, replicas: Ints, leader: Ints) -> Floats:
        """A plan as variables, float64[2·A]."""
        is_there = (replicas[self.arcs.row] == self.arcs.broker[:, None]).any(axis=1)
        return np.concatenate([is_there, leader[self.arcs.row] == self.arcs.broker]).astype(np.float64)

    def plan_of(self, variables: Floats) -> WholePlan:
        """Variables as a plan."""
        count = len(self.arcs.row)
        is_there, leads = variables[:count] > 0.5, variables[count : 2 * count] > 0.5
        return _as_plan(self.problem, self.arcs, is_there, leads)


def whole_program(
    problem: Problem, bands: WorkingBands, params: LinearProgramParams = DEFAULTS.linear_program, *, more: int = 0
) -> WholeProgram | None:
    """The rules, with ``more`` variables after the others.

    None where nothing may be touched, or a partition has too few places.

    Where leaders alone may change, replicas that could not stay are no part of the program: None.
    """
    arcs = arcs_of(problem, params.arcs)
    if not problem.moves_replicas:
        arcs = arcs.only(arcs.is_kept)
        if len(arcs.row) != int((problem.replicas[~problem.pinned] >= 0).sum()):
            return None
    count = len(arcs.row)
    found = np.bincount(arcs.row, minlength=problem.partition_count)
    if not count or (problem.moves_replicas and (found < problem.target_rf)[~problem.pinned].any()):
        return None
    rows = Rows(2 * count + more)
    _load_rows(problem, arcs, bands, rows)
    if problem.moves_replicas:
        capacity_rows(problem, arcs, rows)
        if (problem.takes_replicas == problem.stays).all() and problem.must_leave is None:
            rack_rows(problem, arcs, rows)
        else:
            _spread_rows(problem, arcs, rows)
    pair = np.arange(count)
    rows.add(np.tile(pair, 2), np.append(pair, pair + count), np.repeat([-1.0, 1.0], count), np.zeros(count))
    equal, wanted = _counted(problem, arcs, more)
    top = np.append(np.ones(count), _may_lead(problem, arcs).astype(np.float64))
    return WholeProgram(problem, arcs, rows, equal, wanted, top)


def carried_by(problem: Problem, arcs: Arcs) -> tuple[Floats, Floats]:
    """What each of the 2·A variables weighs, float64[2·A, D], and what pinned partitions put on brokers, float64[B, D];
    both in means.
    """
    scale = resource_scale(problem)
    weight = problem.follower_load[arcs.row] / scale
    beyond, disk = disk_beyond(problem), problem.column("disk")
    if beyond is not None and disk is not None:
        weight[:, disk] += beyond[arcs.row, arcs.broker] / scale[disk]
    held = np.where(problem.pinned[:, None], problem.replicas, NOBODY)
    fixed = broker_loads(problem, held, np.where(problem.pinned, problem.leader, NOBODY))
    return np.vstack([weight, problem.leader_extra[arcs.row] / scale]), np.asarray(fixed / scale)


def copy_costs(problem: Problem, arcs: Arcs, params: WholePlanParams) -> Floats:
    """float64[2·A]: bytes of a copy in those of the largest partition, then copies, then leader changes."""
    unit = max(float(problem.move_bytes.max(initial=0.0)), 1e-300)
    copies = np.where(arcs.is_kept, 0.0, problem.move_bytes[arcs.row] / unit + params.cost_per_copy)
    return np.append(copies, np.where(problem.leader[arcs.row] == arcs.broker, 0.0, params.cost_per_leader_change))


def budget_rows(program: WholeProgram) -> list[tuple[str, float]]:
    """A row for each limit; returns their names and the units that they are in."""
    problem, arcs, rows = program.problem, program.arcs, program.rows
    new, count = np.flatnonzero(~arcs.is_kept), len(arcs.row)
    changed = count + np.flatnonzero(problem.leader[arcs.row] != arcs.broker)
    unit = max(float(problem.move_bytes.max(initial=0.0)), 1e-300)
    sides = (
        ("max_bytes", new, problem.move_bytes[arcs.row[new]] / unit, unit),
        ("max_replica_moves", new, np.ones(len(new)), 1.0),
        ("max_leader_changes", changed, np.ones(len(changed)), 1.0),
    )
    found = []
    for name, variable, factor, unit_of in sides:
        limit = getattr(problem.budget, name)
        if limit is not None:
            rows.add(np.zeros(len(variable), dtype=np.int64), variable, factor, np.array([limit / unit_of]))
            found.append((name, unit_of))
    return found


def _may_lead(problem: Problem, arcs: Arcs) -> Flags:
    """bool[A]. Where no broker may lead, a demoted leader goes on, or any broker follows."""
    able, row, broker = can_be_led(problem), arcs.row, arcs.broker
    is_today = problem.leader[row] == broker
    stays = np.zeros(problem.partition_count, dtype=np.bool_)
    stays[row[is_today]] = True
    may_lead: Flags = problem.takes_leaders[broker] | (is_today & problem.keeps_leaders[broker])
    return np.asarray(may_lead | (~able[row] & (is_today | ~stays[row])))


def _counted(problem: Problem, arcs: Arcs, more: int) -> tuple[Any, Floats]:
    """A partition has as many replicas as asked for, and one leader."""
    free = np.flatnonzero(~problem.pinned)
    line, count = np.searchsorted(free, arcs.row), len(arcs.row)
    one: Any = sp.csr_matrix((np.ones(count), (line, np.arange(count))), (len(free), count))
    today = (problem.replicas[free] >= 0).sum(axis=1)
    wanted = (problem.target_rf[free] if problem.moves_replicas else today).astype(np.float64)
    equal: Any = sp.block_diag([one, one]).tocsr()
    if more:
        equal = sp.hstack([equal, sp.csr_matrix((2 * len(free), more))]).tocsr()
    return equal, np.append(wanted, np.ones(len(free)))


def _load_rows(problem: Problem, arcs: Arcs, bands: WorkingBands, rows: Rows) -> None:
    """All resources of all brokers that stay, within bands and limits."""
    scale = resource_scale(problem)
    both, fixed = carried_by(problem, arcs)
    # A broker that is above a limit today may stay there.
    limit = np.maximum(problem.limit, broker_loads(problem, problem.replicas, problem.leader))
    headroom, lack = np.minimum(bands.high, limit) / scale - fixed, bands.low / scale - fixed
    broker, variable = np.tile(arcs.broker, 2), np.arange(2 * len(arcs.row))
    for d in range(len(scale)):
        for side, most in ((1.0, headroom[:, d]), (-1.0, -lack[:, d])):
            bound = np.flatnonzero(problem.stays & np.isfinite(most) & ((side > 0) | (most < 0)))
            mine = np.flatnonzero(np.isin(broker, bound))
            line = np.searchsorted(bound, broker[mine])
            rows.add(line, variable[mine], side * both[mine, d], most[bound])


def _spread_rows(problem: Problem, arcs: Arcs, rows: Rows) -> None:
    """No rack holds two replicas of a partition more than one that could still get one: where brokers take nothing, or
    not this partition, ``rack_rows`` asks for more than that.

    A rack with so few brokers that all may hold a replica binds only while one of them holds none.
    """
    racks, factor = distinct_racks(problem.rack), problem.target_rf
    number = np.full((problem.partition_count, problem.broker_count), -1)
    number[arcs.row, arcs.broker] = np.arange(len(arcs.row))
    barred = np.zeros(number.shape, dtype=np.bool_)
    if problem.must_leave is not None:
        line, column = np.nonzero(problem.must_leave & (problem.replicas >= 0))
        barred[line, problem.replicas[line, column]] = True
    opens = (problem.takes_replicas & problem.sets.brokers)[problem.sets.of_partition] & ~barred
    lines: list[int] = []
    columns: list[int] = []
    factors: list[float] = []
    count = 0
    for row in np.flatnonzero(~problem.pinned).tolist():
        able, mine = np.flatnonzero(opens[row]), np.flatnonzero(number[row] >= 0)
        for full, other in product(np.unique(racks[mine]).tolist(), np.unique(racks[able]).tolist()):
            held, others = mine[racks[mine] == full].tolist(), mine[racks[mine] == other].tolist()
            if full == other or len(held) < 2:
                continue
            receivers = able[racks[able] == other].tolist()
            for broker in receivers if len(receivers) <= factor[row] - 2 else [NOBODY]:
                lines += [count] * (len(held) + len(others))
                columns += [int(number[row, b]) for b in (*held, *others)]
                factors += [1.0] * len(held)
                factors += [-1.0 - (float(factor[row]) if b == broker else 0.0) for b in others]
                count += 1
    if count:
        rows.add(np.array(lines), np.array(columns), np.array(factors), np.ones(count))


def _as_plan(problem: Problem, arcs: Arcs, is_there: Flags, leads: Flags) -> WholePlan:
    """Who stays in today's order, then the new ones; pinned rows as they are."""
    replicas = problem.replicas.copy()
    leader = problem.leader.copy()
    leader[arcs.row[leads]] = arcs.broker[leads]
    for row in np.flatnonzero(~problem.pinned).tolist():
        chosen = arcs.broker[is_there & (arcs.row == row)].tolist()
        replicas[row] = in_order(problem.replicas[row], chosen)
    return WholePlan(replicas, _lawful(problem, replicas, (replicas == leader[:, None]).argmax(axis=1)))


def _lawful(problem: Problem, replicas: Ints, replica_index: Longs) -> Ints:
    """int32[P]: the leaders found; a closed one gives way where a replica that is new may lead.

    The program lets it go on where none of today's others may: it cannot say "unless one that may comes".
    """
    may_lead = candidates(problem, replicas)
    is_lawful = np.take_along_axis(may_lead, replica_index[:, None], axis=1)[:, 0] | ~may_lead.any(axis=1)
    return np.where(is_lawful, replica_index, may_lead.argmax(axis=1)).astype(np.int32)
