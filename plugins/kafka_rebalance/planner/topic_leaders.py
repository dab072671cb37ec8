"""Nearest placement found that gives each broker its leaders of topics (``--min-topic-leaders``).

Promises, in order: the budget and all hard rules hold; on a small cluster all leaders are found, or proved impossible;
bands are left no further than needed; few bytes, then few leader changes.

Small clusters: one integer program. Others: an assignment for each topic; a program for what limits or the budget
forbid; then leader changes that repair bands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.planner.params import (
    BAND_TOLERANCE,
    DEFAULTS,
    GAIN_TOLERANCE,
    PROGRAM_MARGIN,
    PROGRAM_WHOLE,
    SUM_TOLERANCE,
    TopicLeaderParams,
)
from kafka_rebalance.planner.scales import move_costs, resource_scale


@dataclass(frozen=True, slots=True, eq=False)
class LeaderDemand:
    """``need`` int64[T, B]; ``of_partition`` int32[P]: the topic's row, or ABSENT."""

    need: Longs
    of_partition: Ints

    def led(self, leader: Ints) -> Longs:
        topics, brokers = self.need.shape
        counted = (self.of_partition != ABSENT) & (leader != ABSENT)
        cell = self.of_partition[counted].astype(np.int64) * brokers + leader[counted]
        return np.bincount(cell, minlength=topics * brokers).reshape(topics, brokers)

    def lacking_of(self, topic: int, leaders: Ints) -> Longs:
        led = np.bincount(leaders[leaders != ABSENT], minlength=self.need.shape[1])
        return np.asarray(np.maximum(self.need[topic] - led, 0))

    def rows_by_topic(self) -> list[Longs]:
        order = np.argsort(self.of_partition, kind="stable")
        first = np.searchsorted(self.of_partition[order], np.arange(len(self.need) + 1))
        return [order[first[topic] : first[topic + 1]] for topic in range(len(self.need))]

    def lacking(self, leader: Ints) -> Longs:
        return np.asarray(np.maximum(self.need - self.led(leader), 0))


# Lists keep the profile of their racks; Kafka's order is made at the end.


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """``rows`` int64[K] get ``lists`` int32[K, W] led by ``leaders``."""

    rows: Longs
    lists: Ints
    leaders: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, at: Longs | Flags | slice) -> Choices:
        return Choices(self.rows[at], self.lists[at], self.leaders[at])


def joined(parts: Sequence[Choices], width: int) -> Choices:
    if not parts:
        return Choices(np.zeros(0, np.int64), np.zeros((0, width), np.int32), np.zeros(0, np.int32))
    return Choices(
        np.concatenate([choices.rows for choices in parts]),
        np.concatenate([choices.lists for choices in parts]),
        np.concatenate([choices.leaders for choices in parts]),
    )


def other_leaders(problem: Problem, rows: Longs, lists: Ints, leader: Ints) -> Choices:
    return lawful(problem, _with_each_leader(rows, lists[rows]), lists, leader)


def other_replicas(problem: Problem, rows: Longs, lists: Ints, leader: Ints, broker: int) -> Choices:
    """``broker`` replaces one replica of each of ``rows`` and leads. O(K·W²)."""
    mine = rows[~(lists[rows] == broker).any(axis=1)]
    parts = []
    for column in range(lists.shape[1]):
        at = mine[lists[mine, column] >= 0]
        changed = lists[at].copy()
        changed[:, column] = broker
        parts.append(Choices(at, changed, np.full(len(at), broker, dtype=np.int32)))
    return lawful(problem, joined(parts, lists.shape[1]), lists, leader)


def all_choices(problem: Problem, rows: Longs, lists: Ints, leader: Ints, most: int) -> Choices | None:
    """Every other lawful placement of ``rows``; None if these may exceed ``most``."""
    if not problem.moves_replicas:
        return other_leaders(problem, rows, lists, leader) if len(rows) * lists.shape[1] <= most else None
    brokers = np.flatnonzero(problem.stays).tolist()
    factors = (lists[rows] >= 0).sum(axis=1)
    if sum(comb(len(brokers), factor) * factor for factor in factors.tolist()) > most:
        return None
    parts = []
    for factor in np.unique(factors).tolist():
        mine = rows[factors == factor]
        for members in combinations(brokers, factor):
            changed = np.full((len(mine), lists.shape[1]), ABSENT, dtype=np.int32)
            changed[:, :factor] = members
            parts.append(_with_each_leader(mine, changed))
    return lawful(problem, joined(parts, lists.shape[1]), lists, leader)


def lawful(problem: Problem, choices: Choices, lists: Ints, leader: Ints) -> Choices:
    rows, changed, leaders = choices.rows, choices.lists, choices.leaders
    now, today, is_replica = lists[rows], problem.replicas[rows], changed >= 0
    is_today = _is_on(today, changed)
    barred = np.zeros(changed.shape, dtype=np.bool_)
    if problem.must_leave is not None:
        barred = _is_on(np.where(problem.must_leave[rows], today, ABSENT), changed) & problem.moves_replicas
    open_to = problem.takes_replicas[changed] | (is_today & problem.stays[changed])
    open_to &= problem.sets.brokers[problem.sets.of_partition[rows][:, None], changed]
    is_kept = _is_on(now, changed)
    may = (~is_replica | is_kept | (open_to & ~barred)).all(axis=1)
    may &= (_profile(problem, now) == _profile(problem, changed)).all(axis=1) | is_kept.all(axis=1)
    keeps = (leaders == problem.leader[rows]) & problem.keeps_leaders[leaders]
    may &= problem.takes_leaders[leaders] | keeps
    if problem.must_leave is not None:
        offline = problem.must_leave[rows] & (today == leaders[:, None])
        may &= ~offline.any(axis=1)
    may &= (leaders != leader[rows]) | ~(is_kept | ~is_replica).all(axis=1)
    return choices.take(may)


def _with_each_leader(rows: Longs, lists: Ints) -> Choices:
    parts = []
    for column in range(lists.shape[1]):
        at = np.flatnonzero(lists[:, column] >= 0)
        parts.append(Choices(rows[at], lists[at], lists[at, column]))
    return joined(parts, lists.shape[1])


def _is_on(lists: Ints, brokers: Ints) -> Flags:
    return np.asarray((brokers[:, :, None] == lists[:, None, :]).any(axis=2) & (brokers >= 0))


def _profile(problem: Problem, lists: Ints) -> Longs:
    """Replicas on each replica's rack, sorted: [1, 1, 0] is two racks. No rack: one of its own."""
    alone = int(problem.rack.max(initial=ABSENT)) + 1 + np.arange(problem.broker_count)
    rack = np.where(problem.rack == ABSENT, alone, problem.rack)
    racks = np.where(lists >= 0, rack[lists], -1 - np.arange(lists.shape[1])[None, :])
    same = (racks[:, :, None] == racks[:, None, :]).sum(axis=2)
    # A rack of k replicas counts k times as k, so this identifies all sizes.
    return np.asarray(np.sort(np.where(lists >= 0, same, 0), axis=1))


# Assignment of the leaders of one topic. Promises, in order: fewest copies; fewest lacking leaders; little harm to
# bands, few bytes, few changes, each change weighed alone.
#
# Keeping a leader is free, a leader change cheap, impossible ones dearest. What remains needs a copy each (a maximum
# matching), so a second assignment copies to those brokers. O(n³) (``linear_sum_assignment``).


def assigned(placement: LedPlacement, need: Longs, mine: Longs, params: TopicLeaderParams) -> Choices:
    """One choice for each of ``mine``; some leaders may still lack."""
    problem, lists, leader = placement.problem, placement.lists, placement.leader
    needed = np.repeat(np.arange(problem.broker_count), need)
    choices = other_leaders(problem, mine, lists, leader)
    cost, best = _costs(placement, mine, choices, params)
    chosen = _solved(cost, needed, params)
    short = np.unique(needed[~_is_kept(cost, needed, chosen, params)])
    if len(short) and problem.moves_replicas:
        copies = [other_replicas(problem, mine, lists, leader, broker) for broker in short.tolist()]
        choices = joined([choices, *copies], lists.shape[1])
        cost, best = _costs(placement, mine, choices, params)
        chosen = _solved(cost, needed, params)
    made = best[needed, chosen][_is_kept(cost, needed, chosen, params)]
    return choices.take(made[made >= 0])


def _costs(placement: LedPlacement, mine: Longs, choices: Choices, params: TopicLeaderParams) -> tuple[Floats, Longs]:
    """-1: the choice leads today."""
    shape = (placement.problem.broker_count, len(mine))
    harm, may = placement.effect(choices)
    costs = placement.costs(choices)
    price = np.clip(harm, 0.0, params.most_harm) + params.leader_worth + costs.worth
    price += np.maximum(costs.copies, 0) * params.copy_worth
    cost, best = np.full(shape, params.may_not), np.full(shape, -1, dtype=np.int64)
    order = np.flatnonzero(may)[np.argsort(-price[may], kind="stable")]  # the cheapest is last, and remains
    column = np.searchsorted(mine, choices.rows[order])
    cost[choices.leaders[order], column], best[choices.leaders[order], column] = price[order], order
    cost[placement.leader[mine], np.arange(len(mine))] = 0.0
    best[placement.leader[mine], np.arange(len(mine))] = -1
    return cost, best


def _solved(cost: Floats, needed: Longs, params: TopicLeaderParams) -> Longs:
    """An impossible one if there are too few."""
    padded = np.full((len(needed), max(cost.shape[1], len(needed))), params.may_not)
    padded[:, : cost.shape[1]] = cost[needed]
    columns = np.asarray(linear_sum_assignment(padded)[1], dtype=np.int64)
    return np.asarray(np.minimum(columns, cost.shape[1] - 1))


def _is_kept(cost: Floats, needed: Longs, chosen: Longs, params: TopicLeaderParams) -> Flags:
    is_first = np.zeros(len(chosen), dtype=np.bool_)
    is_possible = cost[needed, chosen] < params.may_not
    _, first = np.unique(np.where(is_possible, chosen, -1), return_index=True)
    is_first[first] = True
    return np.asarray(is_possible & is_first)


# Integer program over choices.
#
#     first   minimise the leaders that are lacking
#     then    minimise what is outside bands, then copies, then leader changes, with none lacking
#     over x (a choice is made) in 0 or 1, at most one a partition; hard limits and the budget hold
#
# Choices add up exactly. Over all choices a lacking leader is a proof.


@dataclass(frozen=True, slots=True)
class Decided:
    """``least_lacking``: a lower bound."""

    made: Longs
    least_lacking: int


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """``low`` <= ``matrix`` · choices <= ``high``."""

    matrix: sp.csr_array
    low: Floats
    high: Floats

    def with_slack(self, sign: float, before: int, after: int) -> LinearConstraint:
        count = len(self.low)
        parts = [
            self.matrix, sp.csr_array((count, before)), sign * sp.eye_array(count), sp.csr_array((count, after)),
        ]  # fmt: skip
        return LinearConstraint(sp.csr_array(sp.hstack(parts)), self.low, self.high)

    def plain(self, slacks: int) -> LinearConstraint:
        matrix = sp.hstack([self.matrix, sp.csr_array((len(self.low), slacks))])
        return LinearConstraint(sp.csr_array(matrix), self.low, self.high)


def decide(
    placement: LedPlacement, demand: LeaderDemand, choices: Choices, params: TopicLeaderParams
) -> Decided | None:
    """Choices to make; None if nothing was found within the nodes."""
    count = len(choices)
    if not count:
        return Decided(np.zeros(0, np.int64), int(demand.lacking(placement.leader).sum()))
    hard, demanded = _hard(placement, choices), _demanded(placement, demand, choices)
    lacking = len(demanded.low)
    price = np.concatenate([np.zeros(count), np.ones(lacking)])
    first = _least_cost(price, count, [hard.plain(lacking), demanded.with_slack(1.0, 0, 0)], params)
    if first.x is None:
        return None
    made = np.flatnonzero(first.x[:count] > PROGRAM_WHOLE)
    if round(float(first.fun)) > 0:
        bound = 0.0 if first.mip_dual_bound is None else float(first.mip_dual_bound)
        return Decided(made, max(int(np.ceil(bound - PROGRAM_WHOLE)), 0))
    high, low = _banded(placement, choices)
    above, below = len(high.low), len(low.low)
    costs = placement.costs(choices)
    worth = costs.worth + costs.leader_changes * params.leader_worth + params.change_worth
    rows = [
        hard.plain(above + below), demanded.plain(above + below),
        high.with_slack(-1.0, 0, below), low.with_slack(1.0, above, 0),
    ]  # fmt: skip
    second = _least_cost(np.concatenate([worth, np.full(above + below, params.band_worth)]), count, rows, params)
    return Decided(made if second.x is None else np.flatnonzero(second.x[:count] > PROGRAM_WHOLE), 0)


def _least_cost(price: Floats, count: int, rows: list[LinearConstraint], params: TopicLeaderParams) -> Any:
    is_choice = np.arange(len(price)) < count
    return milp(
        price,
        integrality=is_choice.astype(np.int64),
        bounds=Bounds(0.0, np.where(is_choice, 1.0, np.inf)),
        constraints=[row for row in rows if len(row.lb)],
        options={"mip_rel_gap": params.program_gap, "node_limit": params.program_nodes},
    )


def _hard(placement: LedPlacement, choices: Choices) -> _Rows:
    count = len(choices)
    _, of_row = np.unique(choices.rows, return_inverse=True)
    one_each = sp.csr_array((np.ones(count), (of_row, np.arange(count))))
    loads = sp.csr_array(placement.loads(choices))
    spare = (placement.most - placement.load).reshape(-1)
    needed = np.flatnonzero(np.asarray(loads.maximum(0).sum(axis=1)).reshape(-1) > spare)
    costs, left = placement.costs(choices), np.array(placement.left())
    spent = np.stack([costs.copies, costs.copied_bytes, costs.leader_changes]).astype(np.float64)
    unit = np.array([1.0, max(float(placement.problem.move_bytes.max(initial=1.0)), 1.0), 1.0])
    is_limited = np.flatnonzero(np.isfinite(left))
    matrix = sp.csr_array(
        sp.vstack([one_each, loads[needed], sp.csr_array(spent[is_limited] / unit[is_limited, None])])
    )
    high = np.concatenate(
        [np.ones(one_each.shape[0]), np.maximum(spare[needed] - PROGRAM_MARGIN, 0.0), (left / unit)[is_limited]]
    )
    return _Rows(matrix, np.full(len(high), -np.inf), high)


def _demanded(placement: LedPlacement, demand: LeaderDemand, choices: Choices) -> _Rows:
    brokers = placement.problem.broker_count
    topic = demand.of_partition[choices.rows].astype(np.int64)
    of = np.flatnonzero(topic >= 0)
    new = topic[of] * brokers + choices.leaders[of]
    led = placement.leader[choices.rows[of]]
    had = np.flatnonzero(led >= 0)
    old = topic[of][had] * brokers + led[had]
    cells = demand.need.size
    matrix = sp.csr_array(
        (
            np.concatenate([np.ones(len(of)), -np.ones(len(had))]),
            (np.concatenate([new, old]), np.concatenate([of, of[had]])),
        ),
        shape=(cells, len(choices)),
    )
    needed = np.flatnonzero(demand.need.reshape(-1) > 0)
    least = (demand.need - demand.led(placement.leader)).reshape(-1)[needed].astype(np.float64)
    return _Rows(sp.csr_array(matrix[needed]), least, np.full(len(needed), np.inf))


def _banded(placement: LedPlacement, choices: Choices) -> tuple[_Rows, _Rows]:
    loads = sp.csr_array(placement.loads(choices))
    low, high = placement.bands
    load = placement.load.reshape(-1)
    changed = np.diff(loads.indptr) > 0
    above, below = np.flatnonzero(changed & np.isfinite(high)), np.flatnonzero(changed & (low > 0))
    upper = (high - load)[above] - PROGRAM_MARGIN
    lower = (low - load)[below] + PROGRAM_MARGIN
    return (
        _Rows(sp.csr_array(loads[above]), np.full(len(above), -np.inf), upper),
        _Rows(sp.csr_array(loads[below]), lower, np.full(len(below), np.inf)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceCosts:
    """``worth``: copies in mean bytes of a broker."""

    copies: Longs
    copied_bytes: Floats
    leader_changes: Longs
    worth: Floats


class LedPlacement:
    """``lists`` int32[P, W] with ``leader``; ``load`` float64[B, D] in means."""

    def __init__(self, problem: Problem, lists: Ints, leader: Ints, per_move: float) -> None:
        self.problem, self.lists, self.leader = problem, lists.copy(), leader.copy()
        self.scale = resource_scale(problem)
        self._move_cost = move_costs(problem, per_move)
        self.load = broker_loads(problem, self.lists, self.leader) / self.scale
        limit = np.where(problem.stays[:, None], problem.limit / self.scale, np.inf)
        self.most = np.maximum(limit, self.load)
        self._spent = self._spent_so_far()

    def spent(self) -> tuple[float, float, float]:
        return self._spent

    def _spent_so_far(self) -> tuple[float, float, float]:
        copies = self._copies(np.arange(len(self.lists)), self.lists)
        changed = (self.leader != self.problem.leader).sum()
        return float(copies.sum()), float((copies * self.problem.move_bytes).sum()), float(changed)

    def left(self) -> tuple[float, float, float]:
        budget = self.problem.budget
        most = (budget.max_replica_moves, budget.max_bytes, budget.max_leader_changes)
        pairs = zip(most, self.spent(), strict=True)
        first, second, third = (np.inf if limit is None else max(limit - had, 0.0) for limit, had in pairs)
        return first, second, third

    def costs(self, choices: Choices) -> ChoiceCosts:
        rows, problem = choices.rows, self.problem
        copies = self._copies(rows, choices.lists) - self._copies(rows, self.lists[rows])
        today = problem.leader[rows]
        changes = (choices.leaders != today).astype(np.int64) - (self.leader[rows] != today)
        return ChoiceCosts(copies, copies * problem.move_bytes[rows], changes, copies * self._move_cost[rows])

    def loads(self, choices: Choices) -> sp.csc_array:
        new = self._carried(choices.rows, choices.lists, choices.leaders)
        old = self._carried(choices.rows, self.lists[choices.rows], self.leader[choices.rows])
        change: sp.csc_array = sp.csc_array(new - old)
        change.data[np.abs(change.data) < SUM_TOLERANCE] = 0.0
        change.eliminate_zeros()
        return change

    def effect(self, choices: Choices) -> tuple[Floats, Flags]:
        """Added distance from bands, in means; whether within limits and budget."""
        change, count = self.loads(choices), len(choices)
        of = np.repeat(np.arange(count), np.diff(change.indptr))
        before, most = self.load.reshape(-1)[change.indices], self.most.reshape(-1)[change.indices]
        after = before + change.data
        low, high = (band.reshape(-1)[change.indices] for band in self._bands())
        worse = np.maximum(after - high, 0) + np.maximum(low - after, 0)
        worse -= np.maximum(before - high, 0) + np.maximum(low - before, 0)
        broken = np.bincount(of, weights=(after > most + SUM_TOLERANCE) & (change.data > 0), minlength=count) > 0
        costs, left = self.costs(choices), self.left()
        fits = np.ones(count, dtype=np.bool_)
        for more, spare in zip((costs.copies, costs.copied_bytes, costs.leader_changes), left, strict=True):
            fits &= (more <= spare) | (more <= 0)
        harm = np.bincount(of, weights=worse, minlength=count)
        return np.where(np.abs(harm) < GAIN_TOLERANCE, 0.0, harm), np.asarray(fits & ~broken)

    def allows_all(self, choices: Choices) -> bool:
        """All together, each for another partition, are within limits and budget."""
        after = self.load + np.asarray(self.loads(choices).sum(axis=1)).reshape(self.load.shape)
        costs, fits = self.costs(choices), bool((after <= self.most + SUM_TOLERANCE).all())
        for more, spare in zip((costs.copies, costs.copied_bytes, costs.leader_changes), self.left(), strict=True):
            fits = fits and (float(more.sum()) <= spare or float(more.sum()) <= 0)
        return fits

    def outside(self) -> float:
        return float(self._off(self.load).sum())

    def outside_of_brokers(self) -> Floats:
        return np.asarray(self._off(self.load).sum(axis=1))

    def _off(self, load: Floats) -> Floats:
        low, high = self._bands()
        return np.asarray(np.maximum(load - high, 0) + np.maximum(low - load, 0))

    def apply(self, choices: Choices) -> None:
        costs, (copies, copied_bytes, changes) = self.costs(choices), self._spent
        self._spent = (
            copies + float(costs.copies.sum()),
            copied_bytes + float(costs.copied_bytes.sum()),
            changes + float(costs.leader_changes.sum()),
        )
        self.load += np.asarray(self.loads(choices).sum(axis=1)).reshape(self.load.shape)
        self.lists[choices.rows], self.leader[choices.rows] = choices.lists, choices.leaders

    def _bands(self) -> tuple[Floats, Floats]:
        stays = self.problem.stays[:, None]
        low = np.where(stays, self.problem.band_low / self.scale, -np.inf)
        return low, np.where(stays, self.problem.band_high / self.scale, np.inf)

    @property
    def bands(self) -> tuple[Floats, Floats]:
        """In means; a drained broker has no band."""
        low, high = self._bands()
        return low.reshape(-1), high.reshape(-1)

    def _copies(self, rows: Longs, lists: Ints) -> Longs:
        today = self.problem.replicas[rows]
        return np.asarray(((lists[:, :, None] != today[:, None, :]).all(axis=2) & (lists >= 0)).sum(axis=1))

    def _carried(self, rows: Longs, lists: Ints, leaders: Ints) -> sp.csc_array:
        problem, resources = self.problem, len(self.problem.resources)
        k, j = np.nonzero(lists >= 0)
        amount = problem.follower_load[rows[k]] + np.where(
            (lists[k, j] == leaders[k])[:, None], problem.leader_extra[rows[k]], 0.0
        )
        disk = problem.column("disk")
        if problem.own_disk is not None and disk is not None:
            same = problem.replicas[rows[k]] == lists[k, j][:, None]
            own = (same * (problem.own_disk[rows[k]] - problem.move_bytes[rows[k]][:, None])).sum(axis=1)
            amount[:, disk] += own
        cell = lists[k, j].astype(np.int64)[:, None] * resources + np.arange(resources)[None, :]
        shape = (problem.broker_count * resources, len(rows))
        data = (amount / self.scale).reshape(-1)
        return sp.csc_array((data, (cell.reshape(-1), np.repeat(k, resources))), shape=shape)


@dataclass(frozen=True, slots=True, eq=False)
class Led:
    lists: Ints
    leader: Ints
    lacking: int
    is_proved: bool


def with_least_leaders(
    problem: Problem,
    demand: LeaderDemand,
    lists: Ints,
    leader: Ints,
    params: TopicLeaderParams = DEFAULTS.topic_leaders,
) -> Led:
    placement = LedPlacement(problem, lists, leader, params.move_worth)
    was_outside = placement.outside()
    rows = np.flatnonzero(~problem.pinned & (leader >= 0))
    is_proved = False
    if demand.lacking(placement.leader).any():
        is_proved = _all_at_once(placement, demand, rows, params, params.few_choices)
    if demand.lacking(placement.leader).any() and not is_proved:
        _by_topic(placement, demand, rows, params)
        if demand.lacking(placement.leader).any():
            is_proved = _all_at_once(placement, demand, rows, _quick(params), params.all_choices)
        if placement.outside() > was_outside + BAND_TOLERANCE:
            _mend_bands(placement, demand, rows, params)
    return Led(placement.lists, placement.leader, int(demand.lacking(placement.leader).sum()), is_proved)


def _all_at_once(
    placement: LedPlacement, demand: LeaderDemand, rows: Longs, params: TopicLeaderParams, most: int
) -> bool:
    every = all_choices(placement.problem, rows, placement.lists, placement.leader, most)
    chosen = None if every is None else decide(placement, demand, every, params)
    if every is None or chosen is None:
        return False
    placement.apply(every.take(chosen.made))
    return bool(demand.lacking(placement.leader).sum() <= chosen.least_lacking)


def _quick(params: TopicLeaderParams) -> TopicLeaderParams:
    return replace(params, program_nodes=params.mend_nodes, program_gap=params.mend_gap)


def _by_topic(placement: LedPlacement, demand: LeaderDemand, rows: Longs, params: TopicLeaderParams) -> None:
    is_free = np.zeros(len(placement.leader), dtype=np.bool_)
    is_free[rows] = True
    rows_of = demand.rows_by_topic()
    for topic in np.flatnonzero(demand.lacking(placement.leader).any(axis=1)).tolist():
        every = rows_of[topic]
        mine = every[is_free[every]]
        need = demand.lacking_of(topic, placement.leader[every[~is_free[every]]])
        for _ in range(params.assignments):
            made = _made_one_by_one(placement, assigned(placement, need, mine, params))
            short = np.flatnonzero(demand.lacking_of(topic, placement.leader[every]))
            if not made or not len(short):
                break
        if len(short):
            choices = _choices_of(placement, mine, short)
            chosen = decide(placement, demand, choices, params) if len(choices) <= params.topic_choices else None
            if chosen is not None:
                placement.apply(choices.take(chosen.made))


def _made_one_by_one(placement: LedPlacement, choices: Choices) -> bool:
    if placement.allows_all(choices):
        placement.apply(choices)
        return bool(len(choices))
    is_made = False
    for at in range(len(choices)):
        choice = choices.take(slice(at, at + 1))
        if placement.effect(choice)[1].all():
            placement.apply(choice)
            is_made = True
    return is_made


def _mend_bands(placement: LedPlacement, demand: LeaderDemand, rows: Longs, params: TopicLeaderParams) -> None:
    for _ in range(params.mend_rounds):
        if not _round(placement, demand, rows):
            break
    choices = other_leaders(placement.problem, rows, placement.lists, placement.leader)
    if demand.lacking(placement.leader).any() or len(choices) > params.topic_choices:
        return
    chosen = decide(placement, demand, choices, _quick(params))
    if chosen is not None:
        placement.apply(choices.take(chosen.made))


def _round(placement: LedPlacement, demand: LeaderDemand, rows: Longs) -> bool:
    topic, leader = demand.of_partition[rows], placement.leader[rows]
    spare = (demand.led(placement.leader) > demand.need)[np.maximum(topic, 0), leader] if len(demand.need) else True
    choices = other_leaders(placement.problem, rows[(topic < 0) | spare], placement.lists, placement.leader)
    old, outside = placement.leader[choices.rows], placement.outside_of_brokers() > BAND_TOLERANCE
    choices = choices.take(outside[old] | outside[choices.leaders])
    harm, may = placement.effect(choices)
    order = np.flatnonzero(may & (harm < -GAIN_TOLERANCE))
    order = order[np.argsort(harm[order], kind="stable")]
    touched: set[int] = set()
    made = []
    for at in order.tolist():
        pair = {int(placement.leader[choices.rows[at]]), int(choices.leaders[at])}
        if not pair & touched:
            touched |= pair
            made.append(at)
    return _made_one_by_one(placement, choices.take(np.array(made, dtype=np.int64)))


def _choices_of(placement: LedPlacement, mine: Longs, short: Longs) -> Choices:
    problem, lists, leader = placement.problem, placement.lists, placement.leader
    parts = [other_leaders(problem, mine, lists, leader)]
    if problem.moves_replicas:
        parts += [other_replicas(problem, mine, lists, leader, broker) for broker in short.tolist()]
    return joined(parts, lists.shape[1])
