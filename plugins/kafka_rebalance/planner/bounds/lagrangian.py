"""What prices prove: the Lagrangian of the whole problem, at any prices a lower bound on the bytes of every plan.

For prices π (bytes per unit of load; a broker's price is positive where it holds too much, negative where too little):

    Σ over partitions of min over lawful placements (bytes copied + Σ π · load placed) - Σ π⁺ · high + Σ π⁻ · low

The minimum over placements is exact, and the leader is one of the replicas. With the cheapest racks chosen, leading in
rack k pushes out the replica chosen there, else the dearest one chosen, so what a leader adds is the least over k of

    (cheapest leader in k) - min(cheapest replica in k, dearest replica chosen)

One broker of each rack is enough to look at where its prices are the lowest in every resource. Rules: distinct racks
where racks suffice, else distinct brokers, as for partitions that are confined to some; whoever does not stay, or must
leave, keeps nothing; pinned partitions are a constant.

Complexity: O(P · N · D) for N brokers that no other of their rack undercuts, a slice of partitions at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.fair_share import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.bounds.covers import Surcharges, surcharges
from kafka_rebalance.planner.params import DEFAULTS, BoundParams
from kafka_rebalance.planner.solution import Cover
from kafka_rebalance.planner.tolerances import BOUND_ROUNDING, BOUND_SLACK, ONE_THREAD_PRODUCTS


def proven_by(
    problem: Problem,
    prices: Floats,
    cost: Floats,
    params: BoundParams = DEFAULTS.bounds,
    *,
    receiving: Floats | None = None,
    leader_change: float = 0.0,
    covers: tuple[Cover, ...] = (),
) -> float:
    """The bound that ``prices`` float64[B, D] and ``covers`` prove, where a new copy costs ``cost`` float64[P], and
    each of its bytes ``receiving`` float64[B] more where it comes to, another leader than today's ``leader_change``.
    """
    racks = distinct_racks(problem.rack)
    charge = np.zeros(len(prices)) if receiving is None else receiving
    targets = np.flatnonzero(problem.takes_replicas)
    if not covers:  # else who undercuts another may be dearer for a single replica
        targets = _cheapest_of_racks(problem, np.column_stack([prices, charge]), racks)
    dearer = surcharges(problem, covers)
    open_racks = len(np.unique(racks[problem.takes_replicas]))
    total = _held_by_pinned(problem, prices) - _limits_at(problem, prices) + dearer.constant
    has_price = bool(prices.any()) or bool(covers)
    free = np.flatnonzero(~problem.pinned if has_price else ~problem.pinned & _costs_something(problem, racks))
    leading = _LeaderPrices.of(problem, prices, leader_change)
    step = params.partitions_per_slice
    for begin in range(0, len(free), step):
        rows = free[begin : begin + step]
        new, kept = _placement_costs(problem, prices, cost, rows, targets)
        if receiving is not None:
            new += problem.move_bytes[rows, None] * receiving[targets]
        _add_surcharges(problem, dearer, rows, targets, (new, kept))
        total += _least_placements(problem, rows, _Options(targets, new, kept, leading), racks, open_racks)
    rounding = BOUND_ROUNDING * _added_up(problem, prices, dearer)
    return total - (rounding if rounding > BOUND_SLACK * max(abs(total), 1.0) else 0.0)


def _added_up(problem: Problem, prices: Floats, dearer: Surcharges) -> float:
    """All that prices and covers may come to: of terabytes beside partitions of a few bytes rounding is what counts."""
    prices = np.where(problem.stays[:, None], prices, 0.0)  # nothing can be put where nobody stays
    highest = np.abs(prices).max(axis=0, initial=0.0)
    carried = (problem.follower_load * problem.target_rf[:, None] + problem.leader_extra).sum(axis=0)
    limits = _limits_at(problem, prices, np.abs)
    return float((highest * carried).sum() + limits + np.abs(dearer.amount).sum() + abs(dearer.constant))


def _add_surcharges(
    problem: Problem, dearer: Surcharges, rows: Longs, targets: Longs, sides: tuple[Floats, Floats]
) -> None:
    """To copies float64[M, N] on ``targets`` and to what stays float64[M, W], whichever is on the broker."""
    new, kept = sides
    place, broker, amount = dearer.of_slice(rows)
    column = np.full(problem.broker_count, -1)
    column[targets] = np.arange(len(targets))
    receives = column[broker] >= 0
    new[place[receives], column[broker[receives]]] += amount[receives]
    at, j = np.nonzero(problem.replicas[rows[place]] == broker[:, None])
    kept[place[at], j] += amount[at]


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


def _limits_at(problem: Problem, prices: Floats, sign: Callable[[Floats], Floats] = np.asarray) -> float:
    above, below = prices > 0, prices < 0
    high = (sign(prices[above]) * problem.band_high[above]).sum()
    return float(high + (sign(prices[below]) * problem.band_low[below]).sum())


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
    """Brokers that may receive, without those that another one of their rack, which may lead if they may, undercuts in
    every resource.
    """
    leads = problem.takes_leaders | problem.keeps_leaders
    needs_all = int(problem.target_rf.max(initial=1)) > len(np.unique(racks[problem.takes_replicas]))
    needs_all |= problem.broker_sets is not None  # who undercuts another may be of another set
    receivers = np.flatnonzero(problem.takes_replicas)
    if needs_all:
        return receivers
    kept: list[int] = []
    for rack in np.unique(racks[receivers]).tolist():
        members = receivers[racks[receivers] == rack]
        members = members[np.argsort(prices[members].sum(axis=1), kind="stable")]
        best: list[int] = []
        for b in members.tolist():
            if not any((prices[a] <= prices[b]).all() and leads[a] >= leads[b] for a in best):
                best.append(b)
        kept += best
    return np.array(sorted(kept), dtype=np.int64)


def _placement_costs(
    problem: Problem, prices: Floats, cost: Floats, rows: Longs, targets: Longs
) -> tuple[Floats, Floats]:
    """A copy on each of ``targets`` float64[M, N], and what stays float64[M, W]; inf where that is not lawful."""
    new = cost[rows, None] + _multiplied(problem.follower_load[rows], prices[targets].T)
    if problem.broker_sets is not None:
        new[~problem.broker_sets.brokers[problem.broker_sets.of_partition[rows]][:, targets]] = np.inf
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


@dataclass(frozen=True, slots=True, eq=False)
class _LeaderPrices:
    """What leaders alone carry: ``columns`` that have a price; brokers that may ``lead``, and ``price``
    float64[B, columns]; what another leader than today's is charged for the ``change``.
    """

    columns: list[int]
    may_lead: Flags
    price: Floats
    change: float = 0.0

    @classmethod
    def of(cls, problem: Problem, prices: Floats, change: float) -> _LeaderPrices:
        columns = [d for d in np.flatnonzero(prices.any(axis=0)).tolist() if np.any(problem.leader_extra[:, d])]
        may_lead = problem.takes_leaders | problem.keeps_leaders
        return cls(columns, may_lead, np.ascontiguousarray(prices[:, columns]), change)

    @property
    def is_needed(self) -> bool:
        """Who leads makes a difference."""
        return bool(self.columns) or self.change > 0

    def added(self, problem: Problem, rows: Longs, brokers: Longs) -> Floats:
        """float64[M, N]: leaders of ``rows`` on each of ``brokers``, inf on those that may not lead."""
        cost = _multiplied(problem.leader_extra[rows][:, self.columns], self.price[brokers].T) + self.change
        cost[:, ~self.may_lead[brokers]] = np.inf
        return cost

    def added_here(self, problem: Problem, rows: Longs) -> Floats:
        """float64[M, W]: leaders on today's replicas; today's own may go on wherever it is."""
        now = problem.replicas[rows]
        cost = (problem.leader_extra[rows][:, self.columns][:, None, :] * self.price[now]).sum(axis=2)
        cost = cost + np.where(now == problem.leader[rows, None], 0.0, self.change)
        return np.where(self.may_lead[now] | (now == problem.leader[rows, None]), cost, np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class _Options:
    """``new`` float64[M, N] on ``targets``, ``kept`` float64[M, W], and what leading costs on top."""

    targets: Longs
    new: Floats
    kept: Floats
    leading: _LeaderPrices


def _least_placements(problem: Problem, rows: Longs, options: _Options, racks: Ints, open_racks: int) -> float:
    rf = problem.target_rf[rows]
    by_rack = (rf <= open_racks) & ~problem.is_confined[rows]
    total = 0.0
    for chosen, group in ((by_rack, racks), (~by_rack, np.arange(problem.broker_count, dtype=np.int32))):
        if not chosen.any():
            continue
        mine, new, kept = rows[chosen], options.new[chosen], options.kept[chosen]
        now = problem.replicas[mine]
        least = _by_group(new, kept, now, options.targets, group)
        leads = None
        if options.leading.is_needed:
            new = new + options.leading.added(problem, mine, options.targets)
            kept = kept + options.leading.added_here(problem, mine)
            leads = _by_group(new, kept, now, options.targets, group)
        total += _sum_of_least(least, leads, rf[chosen])
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


def _sum_of_least(options: Floats, leads: Floats | None, count: Ints) -> float:
    """The ``count`` smallest of each row together, and what a leader among them adds; what cannot be counts nothing."""
    most = min(int(count.max()), options.shape[1])
    least = np.sort(np.partition(options, most - 1, axis=1)[:, :most], axis=1)
    total = float(least[(np.arange(most) < count[:, None]) & np.isfinite(least)].sum())
    if leads is None:
        return total
    dearest = least[np.arange(len(least)), np.minimum(count, most) - 1]
    can = np.isfinite(dearest) & np.isfinite(leads).any(axis=1)
    over = leads[can] - np.minimum(options[can], dearest[can, None])
    return total + float(over.min(axis=1).sum())
