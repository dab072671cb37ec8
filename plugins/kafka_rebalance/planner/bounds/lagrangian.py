"""What prices prove: the Lagrangian of the whole problem, at any prices a lower bound on the bytes of every plan.

For prices π (bytes per unit of load; a broker's price is positive where it holds too much, negative where too little):

    Σ over partitions of min over lawful placements (bytes copied + Σ π · load placed) - Σ π⁺ · high + Σ π⁻ · low

The minimum over placements is exact but for who leads, which is chosen apart. One broker of each rack is enough to
look at where its prices are the lowest in every resource. Rules: distinct racks where racks suffice, else distinct
brokers; whoever does not stay, or must leave, keeps nothing; pinned partitions are a constant.

Complexity: O(P · N · D) for N brokers that no other of their rack undercuts, a slice of partitions at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.fair_share import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.params import DEFAULTS, BoundParams
from kafka_rebalance.planner.tolerances import ONE_THREAD_PRODUCTS


def proven_by(problem: Problem, prices: Floats, cost: Floats, params: BoundParams = DEFAULTS.bounds) -> float:
    """The bound that ``prices`` float64[B, D] prove, where a new copy costs ``cost`` float64[P]."""
    racks = distinct_racks(problem.rack)
    targets = _cheapest_of_racks(problem, prices, racks)
    open_racks = len(np.unique(racks[problem.takes_replicas]))
    total = _held_by_pinned(problem, prices) - _limits_at(problem, prices)
    free = np.flatnonzero(~problem.pinned if prices.any() else ~problem.pinned & _costs_something(problem, racks))
    leading = _LeaderPrices.of(problem, prices)
    step = params.partitions_per_slice
    for begin in range(0, len(free), step):
        rows = free[begin : begin + step]
        new, kept = _placement_costs(problem, prices, cost, rows, targets)
        total += _least_placements(problem, rows, new, kept, targets, racks, open_racks)
        total += leading.least(problem, rows)
    return total


def _costs_something(problem: Problem, racks: Ints) -> Flags:
    """bool[P]: partitions that copy even where no load has a price. Whoever keeps enough replicas apart does not."""
    may_stay = (problem.replicas >= 0) & problem.stays[problem.replicas]
    if problem.must_leave is not None:
        may_stay &= ~problem.must_leave
    apart = np.sort(np.where(may_stay, racks[problem.replicas], -1), axis=1)
    is_new = apart >= 0
    is_new[:, 1:] &= apart[:, 1:] != apart[:, :-1]
    costs: Flags = is_new.sum(axis=1) < problem.target_rf
    return costs


def _limits_at(problem: Problem, prices: Floats) -> float:
    above, below = prices > 0, prices < 0
    high = (prices[above] * problem.band_high[above]).sum()
    return float(high + (prices[below] * problem.band_low[below]).sum())


def _held_by_pinned(problem: Problem, prices: Floats) -> float:
    rows = np.flatnonzero(problem.pinned)
    if not len(rows):
        return 0.0
    value = _kept_costs(problem, prices, rows)
    led = rows[problem.leader[rows] >= 0]
    leading = (problem.leader_extra[led] * prices[problem.leader[led]]).sum()
    return float(value[problem.replicas[rows] >= 0].sum() + leading)


def _kept_costs(problem: Problem, prices: Floats, rows: Longs) -> Floats:
    """float64[M, W]: loads of today's replicas at their broker's prices (anything where there is none)."""
    now = problem.replicas[rows]
    value = np.zeros(now.shape)
    for d in np.flatnonzero(prices.any(axis=0)).tolist():
        value += np.take(prices[:, d], now) * problem.follower_load[rows, d][:, None]
    disk = problem.column("disk")
    if problem.own_disk is not None and disk is not None:
        value += prices[:, disk][now] * (problem.own_disk[rows] - problem.move_bytes[rows, None])
    return value


def _cheapest_of_racks(problem: Problem, prices: Floats, racks: Ints) -> Longs:
    """Brokers that may receive, without those that another one of their rack undercuts in every resource."""
    needs_all = int(problem.target_rf.max(initial=1)) > len(np.unique(racks[problem.takes_replicas]))
    receivers = np.flatnonzero(problem.takes_replicas)
    if needs_all:
        return receivers
    kept: list[int] = []
    for rack in np.unique(racks[receivers]).tolist():
        members = receivers[racks[receivers] == rack]
        members = members[np.argsort(prices[members].sum(axis=1), kind="stable")]
        best: list[int] = []
        for b in members.tolist():
            if not any((prices[a] <= prices[b]).all() for a in best):
                best.append(b)
        kept += best
    return np.array(sorted(kept), dtype=np.int64)


def _placement_costs(
    problem: Problem, prices: Floats, cost: Floats, rows: Longs, targets: Longs
) -> tuple[Floats, Floats]:
    """A copy on each of ``targets`` float64[M, N], and what stays float64[M, W]; inf where that is not lawful."""
    new = cost[rows, None] + _multiplied(problem.follower_load[rows], prices[targets].T)
    now = problem.replicas[rows]
    may_stay = (now >= 0) & problem.stays[now]
    if problem.must_leave is not None:
        may_stay &= ~problem.must_leave[rows]
    return new, np.where(may_stay, _kept_costs(problem, prices, rows), np.inf)


def _multiplied(left: Floats, right: Floats) -> Floats:
    """``left @ right`` in pieces so small that the library starts no threads: they would wait longer than they work."""
    product = np.empty((len(left), right.shape[1]))
    step = max(1, ONE_THREAD_PRODUCTS // max(1, right.size))
    for begin in range(0, len(left), step):
        np.matmul(left[begin : begin + step], right, out=product[begin : begin + step])
    return product


def _least_placements(
    problem: Problem, rows: Longs, new: Floats, kept: Floats, targets: Longs, racks: Ints, open_racks: int
) -> float:
    rf = problem.target_rf[rows]
    by_rack = rf <= open_racks
    total = 0.0
    for chosen, group in ((by_rack, racks), (~by_rack, np.arange(problem.broker_count, dtype=np.int32))):
        if chosen.any():
            options = _by_group(new[chosen], kept[chosen], problem.replicas[rows[chosen]], targets, group)
            total += _sum_of_least(options, rf[chosen])
    return total


def _by_group(new: Floats, kept: Floats, now: Ints, targets: Longs, group: Ints) -> Floats:
    """float64[M, groups]: the cheapest replica in each group, new or kept."""
    options = np.full((len(new), int(group.max(initial=0)) + 1), np.inf)
    for i, b in enumerate(targets.tolist()):
        column = options[:, group[b]]
        np.minimum(column, new[:, i], out=column)
    rows = np.arange(len(new))
    for j in range(now.shape[1]):
        place = group[now[:, j]]
        options[rows, place] = np.minimum(options[rows, place], kept[:, j])
    return options


def _sum_of_least(options: Floats, count: Ints) -> float:
    """The ``count`` smallest of each row together; what is not possible at all counts nothing."""
    most = min(int(count.max()), options.shape[1])
    least = np.sort(np.partition(options, most - 1, axis=1)[:, :most], axis=1)
    return float(least[(np.arange(most) < count[:, None]) & np.isfinite(least)].sum())


@dataclass(frozen=True, slots=True, eq=False)
class _LeaderPrices:
    """Prices float64[n, columns] of the brokers that may lead at all, of what leaders alone carry."""

    columns: list[int]
    some: Floats

    @classmethod
    def of(cls, problem: Problem, prices: Floats) -> _LeaderPrices:
        may_lead = problem.takes_leaders | problem.keeps_leaders
        columns = [d for d in np.flatnonzero(prices.any(axis=0)).tolist() if np.any(problem.leader_extra[:, d])]
        return cls(columns, np.unique(prices[may_lead][:, columns], axis=0) if columns else np.zeros((0, 0)))

    def least(self, problem: Problem, rows: Longs) -> float:
        """Leaders of ``rows`` at the cheapest broker."""
        if not len(self.some):
            return 0.0
        carried = problem.leader_extra[rows][:, self.columns]
        least = np.full(len(rows), np.inf)
        for price in self.some:
            np.minimum(least, carried @ price, out=least)
        return float(least.sum())
