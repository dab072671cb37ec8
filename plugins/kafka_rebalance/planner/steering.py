"""Cheaper plans by the cost that comes first, usually the busiest broker's bytes (time).

Promises, in order: bands and rules hold, topics crowd no worse; the first cost does not rise, or not above its bound
and slack; it falls until it is within the slack of its bound, then the next cost does.

Each step solves a part of the plan again: partitions that move, those that the flow program moves, and some with little
effect (Shaw 1998). Example: two of 10 brokers send 146 and 126 of 300 GB; with copies of others' leaders none sends
above 45 GB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.bands import distinct_racks, even_spread
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.planner.linear_program.relaxation import Arcs, arcs_of, has_capacity, relax_flows
from kafka_rebalance.planner.params import BAND_TOLERANCE, DEFAULTS, SolveParams, SteeringParams
from kafka_rebalance.planner.scales import mean_bytes, resource_scale
from kafka_rebalance.planner.state import topic_excess, topic_limit


@dataclass(frozen=True, slots=True)
class CostTotals:
    """``busiest``: bytes that one broker receives or sends; over the throttle, the least time."""

    bytes: float = 0.0
    moves: float = 0.0
    busiest: float = 0.0
    leaders: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Placing:
    replicas: Ints
    leader: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Flows:
    """float64[B] bytes; copies are sent by today's leader."""

    received: Floats
    sent: Floats


def is_copy(problem: Problem, replicas: Ints) -> Flags:
    copied: Flags = replicas >= 0
    for j in range(problem.replicas.shape[1]):
        copied = copied & (replicas != problem.replicas[:, j : j + 1])
    return copied


def flows_of(problem: Problem, placing: Placing) -> Flows:
    row, j = np.nonzero(is_copy(problem, placing.replicas))
    size, leader, brokers = problem.move_bytes[row], problem.leader[row], problem.broker_count
    led = leader >= 0
    return Flows(
        received=np.bincount(placing.replicas[row, j], weights=size, minlength=brokers).astype(np.float64),
        sent=np.bincount(leader[led], weights=size[led], minlength=brokers).astype(np.float64),
    )


def costs_of(problem: Problem, placing: Placing) -> CostTotals:
    copies = is_copy(problem, placing.replicas).sum(axis=1)
    flows = flows_of(problem, placing)
    return CostTotals(
        bytes=float((copies * problem.move_bytes).sum()),
        moves=float(copies.sum()),
        busiest=max(float(flows.received.max(initial=0.0)), float(flows.sent.max(initial=0.0))),
        leaders=float(((placing.leader != problem.leader) & (placing.leader != ABSENT)).sum()),
    )


# Integer program of one part: replicas and leaders together.
#
#     minimise the weighed costs over on[p, b], leads[p, b] in {0, 1}, T >= 0
#     each partition on its factor of brokers, racks evenly, led by one of them who may lead; all loads in their bands;
#     room for both copies while they exist; no topic crowded worse; each broker's bytes in and out <= T
#
# Only open partitions change; new replicas go to open brokers or as planned.


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """``weight`` of each cost; ``most``: limit of the whole plan, inf: any."""

    weight: CostTotals
    most: CostTotals


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Open ``rows``, and ``brokers`` that may receive; of the partitions ``led`` only the leader."""

    rows: Longs
    led: Longs
    brokers: Flags


@dataclass(frozen=True, slots=True, eq=False)
class _Arcs:
    """``line`` int64[A] into the part's rows."""

    rows: Longs
    line: Longs
    broker: Longs
    is_kept: Flags
    may_lead: Flags
    weight: Floats  # float64[A, D]
    size: Floats  # copied bytes float64[A], 0 where kept


@dataclass(slots=True)
class _Rows:
    count: int
    blocks: list[Any]
    least: list[Floats]
    most: list[Floats]

    def add(self, line: Longs, variable: Longs, factor: Floats, least: Floats, most: Floats) -> None:
        self.blocks.append(sp.csr_matrix((factor, (line, variable)), (len(most), self.count)))
        self.least.append(least)
        self.most.append(most)


def decided_anew(problem: Problem, placing: Placing, part: Part, goal: Goal, params: SteeringParams) -> Placing | None:
    """Plan with the part solved again; None where the nodes ran out."""
    arcs = _arcs(problem, placing, part)
    count = len(arcs.line)
    if not count:
        return None
    rest = _rest(placing, arcs.rows)
    crowding = _crowding(problem, placing, arcs, rest)
    cells = len(crowding.spare)
    rows = _Rows(2 * count + cells + 1, [], [], [])
    _add_partitions(problem, arcs, rows)
    _add_racks(problem, arcs, rows)
    _add_loads(problem, arcs, rest, rows, params)
    _add_topics(arcs, crowding, rows)
    _add_flows(problem, arcs, rest, rows)
    objective = _add_costs(problem, arcs, rest, goal, rows)
    upper = np.concatenate([np.ones(count), arcs.may_lead.astype(np.float64), np.full(cells + 1, np.inf)])
    answer = milp(
        objective,
        integrality=np.append(np.ones(2 * count), np.zeros(cells + 1)),
        bounds=Bounds(0, upper),
        constraints=LinearConstraint(
            sp.vstack(rows.blocks).tocsr(), np.concatenate(rows.least), np.concatenate(rows.most)
        ),
        options={"mip_rel_gap": params.gap, "node_limit": params.nodes},
    )
    if answer.x is None:
        return None
    return _placed(problem, placing, arcs, answer.x[:count] > 0.5, answer.x[count:] > 0.5)


def _rest(placing: Placing, rows: Longs) -> Placing:
    replicas, leader = placing.replicas.copy(), placing.leader.copy()
    replicas[rows], leader[rows] = ABSENT, ABSENT
    return Placing(replicas, leader)


def _arcs(problem: Problem, placing: Placing, part: Part) -> _Arcs:
    rows, brokers = np.append(part.rows, part.led), problem.broker_count
    now, planned = problem.replicas[rows], placing.replicas[rows]
    is_held, barred, is_planned = np.zeros((3, len(rows), brokers), dtype=np.bool_)
    own = np.repeat(problem.move_bytes[rows, None], brokers, axis=1)
    for j in range(now.shape[1]):
        present = np.flatnonzero(now[:, j] >= 0)
        is_held[present, now[present, j]] = True
        if problem.must_leave is not None:
            barred[present, now[present, j]] = problem.must_leave[rows[present], j]
        if problem.own_disk is not None:
            own[present, now[present, j]] = problem.own_disk[rows[present], j]
    for j in range(planned.shape[1]):
        present = np.flatnonzero(planned[:, j] >= 0)
        is_planned[present, planned[present, j]] = True
    receives = problem.takes_replicas & part.brokers
    allowed = np.where(is_held, problem.stays[None, :] & ~barred, receives[None, :] | is_planned)
    allowed[len(part.rows) :] = is_planned[len(part.rows) :]
    line, broker = np.nonzero(allowed)
    is_kept = is_held[line, broker]
    weight = problem.follower_load[rows[line]]
    disk = problem.column("disk")
    if problem.own_disk is not None and disk is not None:
        weight[:, disk] = np.where(is_kept, own[line, broker], weight[:, disk])
    may_lead = problem.takes_leaders[broker] | ((problem.leader[rows[line]] == broker) & problem.keeps_leaders[broker])
    may_lead |= placing.leader[rows[line]] == broker  # a partition that none may lead keeps its leader
    size = np.where(is_kept, 0.0, problem.move_bytes[rows[line]])
    return _Arcs(rows, line, broker, is_kept, may_lead, weight, size)


def _add_partitions(problem: Problem, arcs: _Arcs, rows: _Rows) -> None:
    count, open_rows = len(arcs.line), len(arcs.rows)
    arc, ones = np.arange(count), np.ones(count)
    factor = problem.target_rf[arcs.rows].astype(np.float64)
    rows.add(arcs.line, arc, ones, factor, factor)
    rows.add(arcs.line, count + arc, ones, np.ones(open_rows), np.ones(open_rows))
    nothing = np.zeros(count)
    rows.add(np.tile(arc, 2), np.arange(2 * count), np.append(-ones, ones), nothing - np.inf, nothing)


def _add_racks(problem: Problem, arcs: _Arcs, rows: _Rows) -> None:
    racks = distinct_racks(problem.rack)
    size = np.bincount(racks[problem.stays], minlength=int(racks.max(initial=0)) + 1).astype(np.int64)
    factor_of = problem.target_rf[arcs.rows[arcs.line]]
    for factor in np.unique(factor_of).tolist():
        quota, odd = even_spread(factor, size)
        mine = np.flatnonzero(factor_of == factor)
        group, line = np.unique(arcs.line[mine] * len(size) + racks[arcs.broker[mine]], return_inverse=True)
        share = quota[group % len(size)].astype(np.float64)
        rows.add(line, mine, np.ones(len(mine)), share, share + (1.0 if odd else 0.0))


def _add_loads(problem: Problem, arcs: _Arcs, rest: Placing, rows: _Rows, params: SteeringParams) -> None:
    brokers, dims, scale = problem.broker_count, len(problem.resources), resource_scale(problem)
    count = len(arcs.line)
    fixed = broker_loads(problem, rest.replicas, rest.leader)
    extra = problem.leader_extra[arcs.rows[arcs.line]]
    cell = (arcs.broker[:, None] * dims + np.arange(dims)).ravel()
    variable = np.repeat(np.arange(count), dims)
    factor = np.append((arcs.weight / scale).ravel(), (extra / scale).ravel())
    low, high = problem.band_low, np.minimum(problem.band_high, problem.limit)
    slack = params.row_slack * (low < high)
    least = np.where(problem.stays[:, None], (low - fixed) / scale + slack, -np.inf)
    most = np.where(problem.stays[:, None], (high - fixed) / scale - slack, np.inf)
    block = sp.csr_matrix(
        (factor, (np.tile(cell, 2), np.append(variable, count + variable))), (brokers * dims, rows.count)
    )
    rows.blocks.append(block)
    rows.least.append(least.ravel())
    rows.most.append(most.ravel())
    disk = problem.column("disk")
    if disk is None or not np.isfinite(problem.limit[:, disk]).any():
        return
    today = broker_loads(problem, problem.replicas, problem.leader)[:, disk]
    spare_bytes = problem.limit[:, disk] - today - flows_of(problem, rest).received
    new = np.flatnonzero(~arcs.is_kept)
    line = arcs.broker[new]
    rows.add(
        line, new, arcs.size[new] / scale[disk], np.full(brokers, -np.inf), np.maximum(spare_bytes, 0.0) / scale[disk]
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Crowding:
    """Cells of topic and broker that the part could crowd; ``column`` -1 for none; ``spare``: room beside fixed
    replicas; ``excess``: total that may exceed it, as today or in the plan.
    """

    column: Longs
    spare: Floats
    excess: float


def _crowding(problem: Problem, placing: Placing, arcs: _Arcs, rest: Placing) -> _Crowding:
    brokers, limit = problem.broker_count, topic_limit(problem)
    row, j = np.nonzero(rest.replicas >= 0)
    key = problem.topic[row].astype(np.int64) * brokers + rest.replicas[row, j]
    spare = np.repeat(limit, brokers) - np.bincount(key, minlength=len(limit) * brokers)
    cell = problem.topic[arcs.rows[arcs.line]].astype(np.int64) * brokers + arcs.broker
    is_tight = np.bincount(cell, minlength=len(spare)) > np.maximum(spare, 0)
    column = np.where(is_tight, np.cumsum(is_tight) - 1, -1)
    allowed = max(
        topic_excess(problem.topic, replicas, problem.stays) for replicas in (problem.replicas, placing.replicas)
    )
    already = float(np.maximum(-spare, 0).sum())
    return _Crowding(column[cell], np.maximum(spare[is_tight], 0).astype(np.float64), max(0.0, allowed - already))


def _add_topics(arcs: _Arcs, crowding: _Crowding, rows: _Rows) -> None:
    cells, first = len(crowding.spare), 2 * len(arcs.line)
    mine = np.flatnonzero(crowding.column >= 0)
    line = np.append(crowding.column[mine], np.arange(cells))
    variable = np.append(mine, first + np.arange(cells))
    factor = np.append(np.ones(len(mine)), np.full(cells, -1.0))
    rows.add(line, variable, factor, np.full(cells, -np.inf), crowding.spare)
    together = np.zeros(cells, dtype=np.int64)
    rows.add(together, first + np.arange(cells), np.ones(cells), np.array([-np.inf]), np.array([crowding.excess]))


def _add_flows(problem: Problem, arcs: _Arcs, rest: Placing, rows: _Rows) -> None:
    """T is in mean bytes of a broker."""
    brokers, unit, flows = problem.broker_count, max(mean_bytes(problem), 1e-300), flows_of(problem, rest)
    new = np.flatnonzero(~arcs.is_kept)
    source = problem.leader[arcs.rows[arcs.line[new]]]
    for broker, already in ((arcs.broker[new], flows.received), (source.astype(np.int64), flows.sent)):
        has_broker = broker >= 0
        line: Longs = np.append(broker[has_broker], np.arange(brokers))
        variable: Longs = np.append(new[has_broker], np.full(brokers, rows.count - 1))
        factor = np.append(arcs.size[new][has_broker] / unit, np.full(brokers, -1.0))
        rows.add(line, variable, factor, np.full(brokers, -np.inf), -already / unit)


def _add_costs(problem: Problem, arcs: _Arcs, rest: Placing, goal: Goal, rows: _Rows) -> Floats:
    count, unit = len(arcs.line), max(mean_bytes(problem), 1e-300)
    copies = is_copy(problem, rest.replicas)
    spent_bytes = float((copies.sum(axis=1) * problem.move_bytes).sum())
    others = rest.leader != ABSENT
    spent_changes = float((rest.leader[others] != problem.leader[others]).sum())
    changes = (problem.leader[arcs.rows[arcs.line]] != arcs.broker).astype(np.float64)
    nothing = np.zeros(count)
    by_cost = (
        (goal.weight.bytes * unit, np.append(arcs.size / unit, nothing), (goal.most.bytes - spent_bytes) / unit),
        (goal.weight.moves, np.append((~arcs.is_kept).astype(np.float64), nothing), goal.most.moves - copies.sum()),
        (goal.weight.leaders, np.append(nothing, changes), goal.most.leaders - spent_changes),
    )
    objective = np.zeros(rows.count)
    objective[-1] = goal.weight.busiest * unit
    for weight, factor, most in by_cost:
        objective[: len(factor)] += weight * factor
        if np.isfinite(most):
            used = np.flatnonzero(factor)
            rows.add(np.zeros_like(used), used, factor[used], np.array([-np.inf]), np.array([float(most)]))
    if np.isfinite(goal.most.busiest):
        last = np.array([rows.count - 1])
        rows.add(np.zeros_like(last), last, np.ones(1), np.array([-np.inf]), np.array([goal.most.busiest / unit]))
    return objective


def _placed(problem: Problem, placing: Placing, arcs: _Arcs, on: Flags, leads: Flags) -> Placing:
    replicas, leader = placing.replicas.copy(), placing.leader.copy()
    for number, row in enumerate(arcs.rows.tolist()):
        mine = np.flatnonzero(arcs.line == number)
        chosen = arcs.broker[mine[on[mine]]].tolist()
        kept = [broker for broker in problem.replicas[row].tolist() if broker in chosen]
        listed = kept + [broker for broker in chosen if broker not in kept]
        replicas[row] = ABSENT
        replicas[row, : len(listed)] = listed
        leader[row] = int(arcs.broker[mine[leads[mine]]][0])
    return Placing(replicas, leader)


ANY = CostTotals(np.inf, np.inf, np.inf, np.inf)


def steered(
    problem: Problem,
    incumbent: Placing,
    least: CostTotals,
    order: Sequence[str],
    slack: float,
    *,
    seed: int,
    params: SolveParams = DEFAULTS,
) -> Placing:
    """``incumbent``, which is inside its bands, or a better plan. ``order``: names of ``CostTotals``."""
    best, spent, limits = incumbent, costs_of(problem, incumbent), params.steering
    if goal_of(spent, least, order, slack, limits) is None:
        return incumbent
    preference = preferences(problem, least.busiest * (1 + slack), params)
    rng, since = np.random.default_rng(seed), 0
    for _ in range(limits.steps):
        goal = goal_of(spent, least, order, slack, limits)
        if goal is None or since >= limits.patience:
            break
        other = decided_anew(problem, best, part_of(problem, best, preference, rng, limits), goal, limits)
        since += 1
        if other is None or not is_lawful(problem, other):
            continue
        costs = costs_of(problem, other)
        worth = tuple(value * (1 - limits.least_saving) for value in worth_of(spent, least, order, slack))
        if worth_of(costs, least, order, slack) < worth:
            best, spent, since = other, costs, 0
    return best


def goal_of(
    spent: CostTotals, least: CostTotals, order: Sequence[str], slack: float, params: SteeringParams
) -> Goal | None:
    scale = {name: max(getattr(least, name), params.least_saving * getattr(spent, name), 1e-300) for name in order}
    most = ANY
    for name in order:
        allowed = getattr(least, name) * (1 + slack)
        if getattr(spent, name) > allowed:
            weight = {other: params.others / scale[other] / len(order) for other in order}
            weight[name] = 1.0 / scale[name]
            return Goal(CostTotals(**weight), most)
        most = replace(most, **{name: allowed})
    return None


def worth_of(costs: CostTotals, least: CostTotals, order: Sequence[str], slack: float) -> tuple[float, ...]:
    """Sort key: each cost beyond its slack, then each cost."""
    beyond = tuple(max(getattr(costs, name), getattr(least, name) * (1 + slack)) for name in order)
    return beyond + tuple(getattr(costs, name) for name in order)


def preferences(problem: Problem, most_busy: float, params: SolveParams = DEFAULTS) -> Floats:
    """At least 1 for a partition that the linear program below ``most_busy`` moves, else less by its cost."""
    arcs = arcs_of(problem, params.linear_program.arcs)
    size = problem.move_bytes[arcs.row] / max(mean_bytes(problem), 1e-300)
    flowing = relax_flows(problem, arcs, np.where(arcs.is_kept, 0.0, size), most=most_busy)
    if flowing is None:
        return np.ones(problem.partition_count)
    regret = _least_regret(problem, arcs, flowing.regret, arcs.is_kept)
    regret += _least_regret(problem, arcs, flowing.regret, ~arcs.is_kept)
    rank = np.argsort(np.argsort(regret / np.maximum(problem.move_bytes, 1.0), kind="stable"), kind="stable")
    differs = np.abs(flowing.share - arcs.is_kept) > params.linear_program.arcs.unused_share
    is_moved = np.bincount(arcs.row[differs], minlength=problem.partition_count) > 0
    return np.asarray(np.exp(-rank / params.steering.undecided_partitions) + is_moved)


def _least_regret(problem: Problem, arcs: Arcs, regret: Floats, some: Flags) -> Floats:
    least = np.full(problem.partition_count, np.inf)
    np.minimum.at(least, arcs.row[some], regret[some])
    return least


def part_of(
    problem: Problem, plan: Placing, preference: Floats, rng: np.random.Generator, params: SteeringParams
) -> Part:
    """Moved partitions first, then by ``preference`` and a draw."""
    is_moved = is_copy(problem, plan.replicas).any(axis=1)
    priority = np.where(preference >= 1, 1 + preference, preference * rng.random(problem.partition_count))
    priority = np.where(problem.pinned, -1.0, priority + is_moved * 3.0)
    free = int((~problem.pinned).sum())
    ranked = np.argsort(-priority, kind="stable")[:free]
    count = min(params.partitions, free)
    others = rng.permutation(ranked[count:])[: params.led]
    return Part(np.sort(ranked[:count]), np.sort(others), _open_brokers(problem, plan, rng, params))


def _open_brokers(problem: Problem, plan: Placing, rng: np.random.Generator, params: SteeringParams) -> Flags:
    if int(problem.takes_replicas.sum()) <= params.most_brokers:
        return problem.takes_replicas
    received = flows_of(problem, plan).received
    busy = received / max(float(received.max(initial=0.0)), 1e-300) + rng.random(problem.broker_count)
    chosen = np.zeros(problem.broker_count, dtype=np.bool_)
    chosen[np.argsort(np.where(problem.takes_replicas, busy, np.inf), kind="stable")[: params.most_brokers]] = True
    return chosen


def is_lawful(problem: Problem, plan: Placing) -> bool:
    after = broker_loads(problem, plan.replicas, plan.leader)
    outside = np.maximum(after - problem.band_high, 0.0) + np.maximum(problem.band_low - after, 0.0)
    is_inside = (outside[problem.stays] / resource_scale(problem) <= BAND_TOLERANCE).all()
    return bool(is_inside) and has_capacity(problem, plan.replicas)
