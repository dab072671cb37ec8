"""Lower bounds on bytes, replica moves and leader changes of any plan, each with its proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_rebalance.cluster_arrays.bands import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.facts import BoundProof
from kafka_rebalance.planner.params import (
    BOUND_ROUNDING,
    BOUND_SLACK,
    COVER_ROUNDING,
    DEFAULTS,
    NOT_COVERABLE,
    ONE_THREAD_PRODUCTS,
    AscentParams,
    BoundParams,
    CostParams,
)
from kafka_rebalance.planner.replicas.kernels import cover
from kafka_rebalance.planner.scales import bytes_per_move, mean_bytes, resource_scale
from kafka_rebalance.planner.solution import Bounds, CostProof, Cover, LowerBound, PriceCertificate
from kafka_rebalance.planner.sorting import grouped_order
from kafka_rebalance.resources import REPLICA_CARRIED

# Prices for loads above the bands: one covering problem per broker, all resources at once. Evicted replicas are copied
# elsewhere, so the covering costs add up, and the prices prove at least that sum (``proven_by``). O(n · D) expected a
# sweep.


@dataclass(frozen=True, slots=True, eq=False)
class Holdings:
    """Movable replicas; those of broker b are start[b]..start[b+1]."""

    start: Longs
    row: Longs
    column: Longs
    is_forced: Flags


def holdings_of(problem: Problem) -> Holdings:
    cells = np.flatnonzero(((problem.replicas >= 0) & ~problem.pinned[:, None]).ravel())
    broker = problem.replicas.ravel()[cells]
    order = grouped_order(broker, problem.broker_count)
    cells, broker = cells[order], broker[order]
    row, column = np.divmod(cells, problem.replicas.shape[1])
    forced = ~problem.stays[broker]
    if problem.must_leave is not None:
        forced |= problem.must_leave.ravel()[cells]
    start = np.searchsorted(broker, np.arange(problem.broker_count + 1))
    return Holdings(start.astype(np.int64), row, column, forced)


def carried(problem: Problem, columns: list[int], row: Longs, column: Longs) -> Floats:
    weight = problem.follower_load[row][:, columns]
    disk = problem.column("disk")
    if problem.own_disk is not None and disk in columns:
        weight[:, columns.index(disk)] = problem.own_disk[row, column]
    return weight


def drop_costs(problem: Problem, cost: Floats) -> Floats:
    return np.where(problem.target_rf < (problem.replicas >= 0).sum(axis=1), 0.0, cost)


def covering_prices(
    problem: Problem, holdings: Holdings, load: Floats, columns: list[int], params: BoundParams = DEFAULTS.bounds
) -> Floats:
    """Bytes per unit of load, float64[B, D] >= 0."""
    scale = resource_scale(problem)[columns]
    unit = max(float(problem.move_bytes.mean()), 1e-300) if problem.partition_count else 1.0
    cost = drop_costs(problem, problem.move_bytes) / unit
    prices = np.zeros_like(load)
    excess = np.maximum(load[:, columns] - problem.band_high[:, columns], 0.0) / scale
    excess[excess < params.least_excess] = 0.0
    for b in np.flatnonzero(excess.any(axis=1) & problem.stays).tolist():
        span = slice(int(holdings.start[b]), int(holdings.start[b + 1]))
        row, column, forced = holdings.row[span], holdings.column[span], holdings.is_forced[span]
        weight = np.ascontiguousarray(carried(problem, columns, row, column) / scale)
        left = excess[b] - weight[forced].sum(axis=0)
        free = np.ascontiguousarray(weight[~forced])
        prices[b, columns] = _prices_of_broker(cost[row[~forced]], free, left, params.covering_sweeps)
    prices[:, columns] *= unit / scale
    return prices


def _prices_of_broker(cost: Floats, weight: Floats, excess: Floats, sweeps: int) -> Floats:
    prices = np.zeros(len(excess))
    if len(cost) == 0 or not (excess > 0).any():
        return prices
    value = cover(cost, weight, np.ascontiguousarray(excess), prices, np.empty((2, len(cost))), sweeps)
    return np.zeros(len(excess)) if value >= NOT_COVERABLE else prices


# Bounds by counting: a broker above a band evicts at least as many replicas (leaders) as its heaviest that cover the
# excess. Add replicas that brokers lack, those on drained brokers, and those of growing factors.


def least_copies(
    problem: Problem, holdings: Holdings, load: Floats, columns: list[int], params: BoundParams = DEFAULTS.bounds
) -> float:
    """Lower bound for any plan. O(P·W log P)."""
    now = (problem.replicas >= 0).sum(axis=1)
    free = ~problem.pinned
    grown = float(np.maximum(problem.target_rf - now, 0)[free].sum())
    cost = drop_costs(problem, np.ones(problem.partition_count))
    brokers = np.repeat(np.arange(problem.broker_count), np.diff(holdings.start))
    out = np.bincount(brokers, weights=cost[holdings.row] * holdings.is_forced, minlength=problem.broker_count)
    excess = load[:, columns] - problem.band_high[:, columns]
    is_above = excess > params.least_excess * np.maximum(load[:, columns], 1.0)
    for b in np.flatnonzero(is_above.any(axis=1)).tolist():
        span = slice(int(holdings.start[b]), int(holdings.start[b + 1]))
        row = holdings.row[span]
        weight, price = carried(problem, columns, row, holdings.column[span]), cost[row]
        for i in np.flatnonzero(is_above[b]).tolist():
            out[b] = max(out[b], fewest(float(excess[b, i]), weight[:, i], price, params.least_excess))
    lacking = 0.0
    count = problem.column("replicas")
    if count is not None:
        lacking = float(np.ceil(problem.band_low[:, count] - load[:, count] - params.count_tolerance).clip(0).sum())
    return max(grown + float(out.sum()), lacking, grown + _sharing_racks(problem, cost))


def fewest(excess: float, weight: Floats, cost: Floats, least_excess: float = DEFAULTS.bounds.least_excess) -> float:
    """Items of cost 1 that must go, heaviest first, after all of cost 0."""
    left = excess - float(weight[cost == 0].sum())
    if left <= least_excess * excess:
        return 0.0
    heaviest = np.cumsum(np.sort(weight[cost > 0])[::-1])
    return float(min(int(np.searchsorted(heaviest, left * (1 - least_excess))) + 1, len(heaviest)))


def _sharing_racks(problem: Problem, cost: Floats) -> float:
    racks = np.append(distinct_racks(problem.rack), -1)
    open_racks = len(np.unique(racks[:-1][problem.takes_replicas]))
    rack_of_replica = np.sort(np.where(problem.replicas >= 0, racks[problem.replicas], -1), axis=1)
    is_new = np.ones(rack_of_replica.shape, dtype=np.bool_)
    is_new[:, 1:] = rack_of_replica[:, 1:] != rack_of_replica[:, :-1]
    used = (is_new & (rack_of_replica >= 0)).sum(axis=1)
    growth = np.maximum(problem.target_rf - (problem.replicas >= 0).sum(axis=1), 0)
    lacking = np.maximum(np.minimum(problem.target_rf, open_racks) - used - growth, 0)
    return float((lacking * cost)[~problem.pinned & ~problem.is_confined].sum())


def least_leader_stops(problem: Problem, load: Floats, params: BoundParams = DEFAULTS.bounds) -> float:
    """Lower bound for any plan, with or without moves."""
    now, leader = problem.replicas, problem.leader
    free = ~problem.pinned & (leader >= 0)
    could_lead = (now >= 0) & problem.takes_leaders[now]
    if problem.must_leave is not None:
        could_lead &= ~problem.must_leave
    has_other = could_lead.any(axis=1)
    rows = np.flatnonzero(free)
    must_stop = rows[~problem.keeps_leaders[leader[rows]] & np.asarray(has_other)[rows]]
    stop = np.bincount(leader[must_stop], minlength=problem.broker_count).astype(np.float64)
    if problem.elects_preferred:
        return float(stop.sum())
    led = np.bincount(leader[rows], minlength=problem.broker_count)
    count, out = problem.column("leaders"), problem.column("out")
    start = 0.0
    if count is not None:
        stop = np.maximum(stop, np.ceil(load[:, count] - problem.band_high[:, count] - params.count_tolerance))
        start = float(np.ceil(problem.band_low[:, count] - load[:, count] - params.count_tolerance).clip(0).sum())
    if out is not None:
        excess = load[:, out] - problem.band_high[:, out]
        order = rows[grouped_order(leader[rows], problem.broker_count)]
        begin = np.searchsorted(leader[order], np.arange(problem.broker_count + 1))
        for b in np.flatnonzero(excess > params.least_excess * np.maximum(load[:, out], 1.0)).tolist():
            sent = problem.leader_extra[order[begin[b] : begin[b + 1]], out]
            stop[b] = max(stop[b], fewest(float(excess[b]), sent, np.ones(len(sent)), params.least_excess))
    return max(float(np.minimum(stop, led).clip(0).sum()), start)


# Cover inequalities. Take any set S of replicas that may be on a broker; ``surplus`` is its weight beyond the room
# within the band.
#
#     Σ over S of min(weight, surplus) · (1 - is there)  >=  surplus        (a knapsack cover, Carr et al. 2000)
#
# Proof: if one replica as heavy as the surplus is absent, that suffices; else no weight was capped. Leaders' extra
# loads only reduce the room. Example: room for 10, replicas of 6, 4 and 3: a whole replica leaves, not half of the 6.


@dataclass(frozen=True, slots=True, eq=False)
class CoverRow:
    """``weight`` is capped at ``surplus`` > 0."""

    row: Longs
    weight: Floats
    surplus: float

    @property
    def most(self) -> float:
        """Right side of Σ weight · is there <= most."""
        return float(self.weight.sum()) - self.surplus


def pinned_load(problem: Problem) -> Floats:
    pinned = np.where(problem.pinned[:, None], problem.replicas, ABSENT)
    return np.asarray(broker_loads(problem, pinned, np.where(problem.pinned, problem.leader, ABSENT)))


def may_stay_on(problem: Problem, broker: int) -> Flags:
    is_on_broker = (problem.replicas == broker) & ~problem.pinned[:, None]
    if problem.must_leave is not None:
        is_on_broker &= ~problem.must_leave
    return np.asarray(is_on_broker & problem.stays[broker])


def cover_row(problem: Problem, cover: Cover, pinned: Floats) -> CoverRow | None:
    """None where the broker is drained or the set fits its band up to rounding."""
    is_on_broker = may_stay_on(problem, cover.broker)
    stays = is_on_broker.any(axis=1)
    is_in_cover = np.array(stays)
    is_in_cover[cover.gone] = False
    is_in_cover[cover.come] = ~problem.pinned[cover.come]
    weight = problem.follower_load[:, cover.column].copy()
    if problem.own_disk is not None and cover.column == problem.column("disk"):
        weight[stays] = problem.own_disk[is_on_broker]
    row = np.flatnonzero(is_in_cover & (weight > 0))
    headroom = float(problem.band_high[cover.broker, cover.column] - pinned[cover.broker, cover.column])
    surplus = float(weight[row].sum()) * (1 - COVER_ROUNDING) - headroom
    if not problem.stays[cover.broker] or not np.isfinite(headroom) or surplus <= 0:
        return None
    return CoverRow(row, np.minimum(weight[row], surplus), surplus)


@dataclass(frozen=True, slots=True, eq=False)
class Surcharges:
    """``amount`` for a replica of ``row`` on ``broker``, ``constant`` once."""

    row: Longs
    broker: Longs
    amount: Floats
    constant: float

    def of_slice(self, rows: Longs) -> tuple[Longs, Longs, Floats]:
        """Positions in ``rows`` int64[M], brokers and amounts."""
        some = slice(*np.searchsorted(self.row, [rows[0], rows[-1] + 1])) if len(rows) else slice(0, 0)
        row, broker, amount = self.row[some], self.broker[some], self.amount[some]
        position = np.searchsorted(rows, row)
        is_in_rows = rows[position] == row
        return position[is_in_rows], broker[is_in_rows], amount[is_in_rows]


def surcharges(problem: Problem, covers: tuple[Cover, ...]) -> Surcharges:
    pinned, constant = pinned_load(problem), 0.0
    cells: list[Longs] = [np.zeros(0, dtype=np.int64)]
    amounts: list[Floats] = [np.zeros(0)]
    for inequality in covers:
        constraint = cover_row(problem, inequality, pinned)
        if constraint is not None:
            cells.append(constraint.row * problem.broker_count + inequality.broker)
            amounts.append(inequality.price * constraint.weight)
            constant -= inequality.price * constraint.most
    cell, inverse = np.unique(np.concatenate(cells), return_inverse=True)
    amount = np.bincount(inverse, weights=np.concatenate(amounts), minlength=len(cell)).astype(np.float64)
    row, broker = np.divmod(cell, problem.broker_count)
    return Surcharges(row, broker, amount, constant)


class Choices(NamedTuple):
    """P partitions on B brokers in G groups, in units of the search.

    extra         load of the leader beside ``follower``
    size          bytes that ``receiving`` float64[B] multiplies
    kept          int32[P, W]: places of replicas that may stay, -1 = none; beyond: their disk beyond the leader's
    disk          column, -1 = none
    leader        place of today's leader, -1 = none
    closed, shut  inf where no replica may arrive, or may become leader; else 0
    begin         int64[G + 1]: first broker of each group
    """

    follower: Floats
    extra: Floats
    cost: Floats
    size: Floats
    receiving: Floats
    kept: Ints
    beyond: Floats
    disk: int
    leader: Ints
    closed: Floats
    shut: Floats
    begin: Longs
    factor: Longs


class Chosen(NamedTuple):
    """``received`` in units of ``size``; it and ``copies`` are not counted where ``copies`` is empty. Place of each
    ``leader``, -1 = none.
    """

    load: Floats
    copies: Floats
    received: Floats
    leader: Longs

    @classmethod
    def of(cls, price: Floats, partitions: int) -> Chosen:
        return cls(np.zeros_like(price), np.zeros(partitions), np.zeros(price.shape[1]), np.zeros(partitions, np.int64))

    @classmethod
    def loads_only(cls, price: Floats, partitions: int) -> Chosen:
        return cls.of(price, partitions)._replace(copies=np.zeros(0))


@inner_kernel
def _add_prices(carried: Floats, p: int, price: Floats, total: Floats) -> None:
    for b in range(price.shape[1]):
        total[b] = 0.0
    for d in range(price.shape[0]):
        amount = carried[p, d]
        if amount != 0:
            for b in range(price.shape[1]):
                total[b] += amount * price[d, b]


@inner_kernel
def _price_options(choices: Choices, price: Floats, p: int, option: Floats, led: Floats, kept: Floats) -> None:
    _add_prices(choices.follower, p, price, option)
    _add_prices(choices.extra, p, price, led)
    for j in range(kept.shape[0]):
        b = choices.kept[p, j]
        if b >= 0:
            beyond = 0.0 if choices.disk < 0 else choices.beyond[p, j] * price[choices.disk, b]
            kept[j] = option[b] + beyond
    for b in range(price.shape[1]):
        option[b] += choices.cost[p] + choices.size[p] * choices.receiving[b] + choices.closed[b]
    for j in range(kept.shape[0]):
        b = choices.kept[p, j]
        if b >= 0:
            option[b] = min(option[b], kept[j])
    leader = choices.leader[p]
    as_today = np.inf if leader < 0 else option[leader] + led[leader]
    for b in range(price.shape[1]):
        led[b] += option[b] + choices.shut[b]
    if leader >= 0:
        led[leader] = as_today


@inner_kernel
def _cheapest_of(begin: Longs, value: Floats, least: Floats, at: Longs) -> None:
    for k in range(least.shape[0]):
        least[k] = np.inf
        at[k] = -1
        for b in range(begin[k], begin[k + 1]):
            if value[b] < least[k]:
                least[k] = value[b]
                at[k] = b


@inner_kernel
def _choose(least: Floats, chosen: Longs, count: int) -> float:
    total, filled = 0.0, 0
    if count > least.shape[0]:
        return np.inf
    for k in range(least.shape[0]):
        i = filled
        if filled == count:
            if least[k] >= least[chosen[count - 1]]:
                continue
            i = count - 1
        else:
            filled += 1
        while i > 0 and least[chosen[i - 1]] > least[k]:
            chosen[i] = chosen[i - 1]
            i -= 1
        chosen[i] = k
    for i in range(count):
        total += least[chosen[i]]
    return total


@inner_kernel
def _best_leader(least: Floats, leading: Floats, dearest: float) -> int:
    best, leader = np.inf, -1
    for k in range(least.shape[0]):
        over = leading[k] - min(least[k], dearest)
        if over < best:
            best, leader = over, k
    return leader


@inner_kernel
def _giving_way(chosen: Longs, count: int, leader: int) -> int:
    """The leader's own group, else the dearest; -1 where no broker leads."""
    for i in range(count):
        if chosen[i] == leader:
            return leader
    return -1 if leader < 0 else int(chosen[count - 1])


@inner_kernel
def _add_load(carried: Floats, p: int, broker: int, load: Floats) -> None:
    for d in range(load.shape[0]):
        load[d, broker] += carried[p, d]


@inner_kernel
def _is_kept(kept: Ints, p: int, broker: int) -> bool:
    """Inner kernels get few arrays: one with all of ``Choices`` would be called, not inlined, at twice the time."""
    stays = False
    for j in range(kept.shape[1]):
        stays |= kept[p, j] == broker
    return stays


@kernel
def cheapest_placements(choices: Choices, price: Floats, result: Chosen) -> float:
    """Return the total cost; fill ``result``."""
    brokers, groups = price.shape[1], choices.begin.shape[0] - 1
    option, led, kept = np.empty(brokers), np.empty(brokers), np.empty(choices.kept.shape[1])
    least, leading = np.empty(groups), np.empty(groups)
    at, leads_at, chosen = np.empty(groups, np.int64), np.empty(groups, np.int64), np.empty(groups, np.int64)
    result.load[:], result.copies[:], result.received[:], result.leader[:] = 0.0, 0.0, 0.0, -1
    total = 0.0
    for p in range(choices.cost.shape[0]):
        _price_options(choices, price, p, option, led, kept)
        _cheapest_of(choices.begin, option, least, at)
        _cheapest_of(choices.begin, led, leading, leads_at)
        factor = choices.factor[p]
        value = _choose(least, chosen, factor)
        if value == np.inf:
            continue
        total += value
        dearest = least[chosen[factor - 1]]
        leader = _best_leader(least, leading, dearest)
        out = _giving_way(chosen, factor, leader)
        if leader >= 0:
            total += leading[leader] - min(least[leader], dearest)
            result.leader[p] = leads_at[leader]
            _add_load(choices.follower, p, leads_at[leader], result.load)
            _add_load(choices.extra, p, leads_at[leader], result.load)
        for i in range(factor):
            if chosen[i] != out:
                _add_load(choices.follower, p, at[chosen[i]], result.load)
        if result.copies.shape[0]:
            for i in range(factor):
                broker = leads_at[leader] if chosen[i] == out and leader >= 0 else at[chosen[i]]
                if not _is_kept(choices.kept, p, broker):
                    result.copies[p] += 1.0
                    result.received[broker] += choices.size[p]
    return total


# Better prices by ascent on the Lagrangian (Adam on its supergradient); weak duality: every result proves a bound.
#
# The step size is the same for all resources, or the median bytes per load of each (with many tiny partitions a small
# price of replicas moves them all). Large clusters try the second first; small ones, which have the prices of a linear
# program, only the first.


def better_prices(problem: Problem, prices: Floats, params: AscentParams = DEFAULTS.bounds.ascent) -> Floats | None:
    """Prices that prove more; None if none were found or the cluster is too large."""
    free = ~problem.pinned
    count = int(free.sum())
    steps = min(params.most_steps, params.work // max(1, count * problem.broker_count))
    if not count or steps < params.least_steps or not problem.moves_replicas:
        return None
    scale = resource_scale(problem)
    unit = max(mean_bytes(problem), 1e-300)
    order, choices = choices_of(problem, scale, unit)
    low, high = open_bands(problem, scale)
    start, low, high = (prices * scale / unit)[order].T, low[order].T, high[order].T
    units = [np.ones((len(scale), 1))]
    if count * problem.broker_count > params.few_pairs:
        units.insert(0, _usual_costs(choices))
    tried = (_climbed(choices, start, low, high, unit * params.first_step, steps, params) for unit in units)
    price = next((better for better in tried if better is not None), None)
    if price is None:
        return None
    result = np.empty_like(prices)
    result[order] = price.T * unit / scale
    return result


def open_bands(problem: Problem, scale: Floats) -> tuple[Floats, Floats]:
    """Bands without pinned loads, in units of ``scale``; ±infinity on drained brokers, which get no price."""
    fixed = pinned_load(problem)
    low = np.where(problem.stays[:, None], (problem.band_low - fixed) / scale, -np.inf)
    high = np.where(problem.stays[:, None], (problem.band_high - fixed) / scale, np.inf)
    return low, high


def _groups(problem: Problem) -> Ints:
    racks = distinct_racks(problem.rack)
    suffice = int(problem.target_rf.max(initial=1)) <= len(np.unique(racks[problem.takes_replicas]))
    suffice &= problem.broker_sets is None
    return np.asarray(racks if suffice else np.arange(problem.broker_count))


def choices_of(problem: Problem, scale: Floats, unit: float) -> tuple[Longs, Choices]:
    order = np.argsort(_groups(problem), kind="stable")
    free = np.flatnonzero(~problem.pinned)
    group = np.unique(_groups(problem)[order], return_inverse=True)[1]
    position = np.empty(problem.broker_count + 1, dtype=np.int32)
    position[order], position[-1] = np.arange(problem.broker_count), ABSENT
    now = problem.replicas[free]
    stays = (now >= 0) & problem.stays[now]
    if problem.must_leave is not None:
        stays &= ~problem.must_leave[free]
    disk = problem.column("disk")
    beyond = np.zeros(now.shape)
    if problem.own_disk is not None and disk is not None:
        beyond = (problem.own_disk[free] - problem.move_bytes[free, None]) / scale[disk]
    leads = problem.takes_leaders | problem.keeps_leaders
    choices = Choices(
        follower=np.ascontiguousarray(problem.follower_load[free] / scale),
        extra=np.ascontiguousarray(problem.leader_extra[free] / scale),
        cost=problem.move_bytes[free] / unit,
        size=problem.move_bytes[free] / unit,
        receiving=np.zeros(problem.broker_count),
        kept=np.where(stays, position[now], ABSENT).astype(np.int32),
        beyond=beyond,
        disk=-1 if disk is None else disk,
        leader=position[problem.leader[free]],
        closed=np.where(problem.takes_replicas[order], 0.0, np.inf),
        shut=np.where(leads[order], 0.0, np.inf),
        begin=np.searchsorted(group, np.arange(int(group.max(initial=0)) + 2)).astype(np.int64),
        factor=problem.target_rf[free].astype(np.int64),
    )
    return order, choices


def _climbed(
    choices: Choices,
    price: Floats,
    low: Floats,
    high: Floats,
    first_step: Floats,
    steps: int,
    params: AscentParams,
) -> Floats | None:
    least, most = np.where(np.isfinite(low), -np.inf, 0.0), np.where(np.isfinite(high), np.inf, 0.0)
    price = np.ascontiguousarray(np.clip(price, least, most))
    shrinking = params.last_step / params.first_step
    ascent = Ascent(
        low=np.ascontiguousarray(low),
        high=np.ascontiguousarray(high),
        length=np.array([(first_step * shrinking ** (step / steps))[:, 0] for step in range(steps)]),
        begun=np.array([1 - params.memory ** (step + 1) for step in range(steps)]),
        long_begun=np.array([1 - params.long_memory ** (step + 1) for step in range(steps)]),
        memory=params.memory,
        long_memory=params.long_memory,
        least_slope=params.least_slope,
    )
    prices = np.empty_like(price)
    return prices if _ascend(choices, ascent, price, Chosen.loads_only(price, len(choices.cost)), prices) else None


class Ascent(NamedTuple):
    """Bands float64[D, B] and S steps; ``begun`` corrects means that began at 0.

    length  float64[S, D]
    """

    low: Floats
    high: Floats
    length: Floats
    begun: Floats
    long_begun: Floats
    memory: float
    long_memory: float
    least_slope: float


@kernel
def _ascend(choices: Choices, ascent: Ascent, price: Floats, chosen: Chosen, better_price: Floats) -> bool:
    """Return whether prices better than the first were found; these fill ``better_price``."""
    low, high, mean, square = ascent.low, ascent.high, np.zeros_like(price), np.zeros_like(price)
    best, has_better = -np.inf, False
    for step in range(len(ascent.begun)):
        value = cheapest_placements(choices, price, chosen) - _paid(price, low, high)
        if value > best:
            has_better = best > -np.inf
            better_price[:] = price
            best = value
        for d in range(price.shape[0]):
            for b in range(price.shape[1]):
                slope = _slope(price[d, b], chosen.load[d, b], low[d, b], high[d, b])
                mean[d, b] = ascent.memory * mean[d, b] + (1 - ascent.memory) * slope
                square[d, b] = ascent.long_memory * square[d, b] + (1 - ascent.long_memory) * slope * slope
                roughly = np.sqrt(square[d, b] / ascent.long_begun[step]) + ascent.least_slope
                moved = price[d, b] + ascent.length[step, d] * (mean[d, b] / ascent.begun[step]) / roughly
                is_open = high[d, b] < np.inf if moved > 0 else low[d, b] > -np.inf
                # Stops at 0: the other side of the band has another limit.
                price[d, b] = moved if is_open and price[d, b] * moved >= 0 else 0.0
    return has_better


@inner_kernel
def _paid(price: Floats, low: Floats, high: Floats) -> float:
    above, below = 0.0, 0.0
    for d in range(price.shape[0]):
        for b in range(price.shape[1]):
            if price[d, b] > 0:
                above += price[d, b] * high[d, b]
            elif price[d, b] < 0:
                below += price[d, b] * low[d, b]
    return above + below


@inner_kernel
def _slope(price: float, load: float, low: float, high: float) -> float:
    if price > 0:
        return load - high
    if price < 0:
        return load - low
    return max(load - high, 0.0) + min(load - low, 0.0)


def _usual_costs(choices: Choices) -> Floats:
    """Median cost of a copy over its load, at most 1; 1 where it is 0."""
    usual = np.ones((choices.follower.shape[1], 1))
    for d, carried_by in enumerate((choices.follower + choices.extra).T):
        carries = carried_by > 0
        median = float(np.median(choices.cost[carries] / carried_by[carries])) if carries.any() else 0.0
        usual[d, 0] = min(median, 1.0) or 1.0
    return usual


# Lagrangian of the whole problem: at any prices a lower bound on the bytes of every plan.
#
# For prices π (bytes per unit of load, positive where a broker holds too much, negative where too little):
#
#     Σ over partitions of min over lawful placements (bytes copied + Σ π · load placed) - Σ π⁺ · high + Σ π⁻ · low
#
# The minimum is exact. With the cheapest racks chosen, a leader in rack k replaces the replica there, else the dearest
# chosen, so it adds the least over k of
#
#     (cheapest leader in k) - min(cheapest replica in k, dearest replica chosen)
#
# One broker of a rack suffices where it is cheapest in every resource. Racks are distinct where racks suffice, else
# brokers; drained brokers and forced replicas keep nothing; pinned partitions are a constant. With N brokers not
# dominated in their rack: O(P · N · D).


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
    """Bound that ``prices`` and ``covers`` prove. A copy costs ``cost`` float64[P] plus ``receiving`` float64[B] a
    byte; a leader other than today's ``leader_change``.
    """
    racks = distinct_racks(problem.rack)
    charge = np.zeros(len(prices)) if receiving is None else receiving
    targets = np.flatnonzero(problem.takes_replicas)
    if not covers:  # a surcharge can make the dominating broker dearer
        targets = _cheapest_of_racks(problem, np.column_stack([prices, charge]), racks)
    dearer = surcharges(problem, covers)
    open_racks = len(np.unique(racks[problem.takes_replicas]))
    total = _pinned_cost(problem, prices) - _limits_at(problem, prices) + dearer.constant
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
    prices = np.where(problem.stays[:, None], prices, 0.0)
    highest = np.abs(prices).max(axis=0, initial=0.0)
    carried = (problem.follower_load * problem.target_rf[:, None] + problem.leader_extra).sum(axis=0)
    limits = _limits_at(problem, prices, np.abs)
    return float((highest * carried).sum() + limits + np.abs(dearer.amount).sum() + abs(dearer.constant))


def _add_surcharges(
    problem: Problem, dearer: Surcharges, rows: Longs, targets: Longs, sides: tuple[Floats, Floats]
) -> None:
    new, kept = sides
    position, broker, amount = dearer.of_slice(rows)
    column = np.full(problem.broker_count, -1)
    column[targets] = np.arange(len(targets))
    receives = column[broker] >= 0
    new[position[receives], column[broker[receives]]] += amount[receives]
    at, j = np.nonzero(problem.replicas[rows[position]] == broker[:, None])
    kept[position[at], j] += amount[at]


def _costs_something(problem: Problem, racks: Ints) -> Flags:
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


def _pinned_cost(problem: Problem, prices: Floats) -> float:
    rows = np.flatnonzero(problem.pinned)
    if not len(rows):
        return 0.0
    value = _kept_costs(problem, prices, rows)
    led = rows[problem.leader[rows] >= 0]
    leading = (problem.leader_extra[led] * prices[problem.leader[led]]).sum()
    return float(value[problem.replicas[rows] >= 0].sum() + leading)


def _kept_costs(problem: Problem, prices: Floats, rows: Longs) -> Floats:
    now = problem.replicas[rows]
    value = np.zeros(now.shape)
    for d in np.flatnonzero(prices.any(axis=0)).tolist():
        value += np.take(prices[:, d], now) * problem.follower_load[rows, d][:, None]
    disk = problem.column("disk")
    if problem.own_disk is not None and disk is not None:
        value += prices[:, disk][now] * (problem.own_disk[rows] - problem.move_bytes[rows, None])
    return value


def _cheapest_of_racks(problem: Problem, prices: Floats, racks: Ints) -> Longs:
    """Receivers that no other of their rack dominates: as cheap in every resource, and may lead as well."""
    leads = problem.takes_leaders | problem.keeps_leaders
    needs_all = int(problem.target_rf.max(initial=1)) > len(np.unique(racks[problem.takes_replicas]))
    needs_all |= problem.broker_sets is not None  # the dominating broker may be of another set
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
    new = cost[rows, None] + _multiplied(problem.follower_load[rows], prices[targets].T)
    if problem.broker_sets is not None:
        new[~problem.broker_sets.brokers[problem.broker_sets.of_partition[rows]][:, targets]] = np.inf
    now = problem.replicas[rows]
    may_stay = (now >= 0) & problem.stays[now]
    if problem.must_leave is not None:
        may_stay &= ~problem.must_leave[rows]
    return new, np.where(may_stay, _kept_costs(problem, prices, rows), np.inf)


def _multiplied(left: Floats, right: Floats) -> Floats:
    """In pieces too small for BLAS threads, whose waiting costs more."""
    product = np.empty((len(left), right.shape[1]))
    step = max(1, ONE_THREAD_PRODUCTS // max(1, right.size))
    for begin in range(0, len(left), step):
        np.matmul(left[begin : begin + step], right, out=product[begin : begin + step])
    return product


@dataclass(frozen=True, slots=True, eq=False)
class _LeaderPrices:
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
        return bool(self.columns) or self.change > 0

    def added(self, problem: Problem, rows: Longs, brokers: Longs) -> Floats:
        """Infinite where a broker may not lead."""
        cost = _multiplied(problem.leader_extra[rows][:, self.columns], self.price[brokers].T) + self.change
        cost[:, ~self.may_lead[brokers]] = np.inf
        return cost

    def added_here(self, problem: Problem, rows: Longs) -> Floats:
        """Today's leader may go on anywhere."""
        now = problem.replicas[rows]
        cost = (problem.leader_extra[rows][:, self.columns][:, None, :] * self.price[now]).sum(axis=2)
        cost = cost + np.where(now == problem.leader[rows, None], 0.0, self.change)
        return np.where(self.may_lead[now] | (now == problem.leader[rows, None]), cost, np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class _Options:
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
    options = np.full((len(new), int(group.max(initial=0)) + 1), np.inf)
    for i, b in enumerate(targets.tolist()):
        column = options[:, group[b]]
        np.minimum(column, new[:, i], out=column)
    rows = np.arange(len(new))
    for j in range(now.shape[1]):
        current_group = group[now[:, j]]
        options[rows, current_group] = np.minimum(options[rows, current_group], kept[:, j])
    return options


def _sum_of_least(options: Floats, leads: Floats | None, count: Ints) -> float:
    most = min(int(count.max()), options.shape[1])
    least = np.sort(np.partition(options, most - 1, axis=1)[:, :most], axis=1)
    total = float(least[(np.arange(most) < count[:, None]) & np.isfinite(least)].sum())
    if leads is None:
        return total
    dearest = least[np.arange(len(least)), np.minimum(count, most) - 1]
    can = np.isfinite(dearest) & np.isfinite(leads).any(axis=1)
    over = leads[can] - np.minimum(options[can], dearest[can, None])
    return total + float(over.min(axis=1).sum())


# Promises, in order: no bound exceeds the cost of the cheapest lawful plan within the bands; the bound on bytes comes
# with its prices (``PriceCertificate`` or ``CostProof``). O(P·W·(racks + D)) a proof.


NOTHING = LowerBound(0.0, BoundProof.NOTHING_MOVES)
PROOFS = {
    "forced": BoundProof.FORCED_COPIES,
    "excess": BoundProof.PRICES_ABOVE_BANDS,
    "deficit": BoundProof.PRICES_BELOW_BANDS,
    "racks": BoundProof.PRICES_BY_RACK,
    "linear program": BoundProof.LINEAR_PROGRAM,
}


def lower_bounds(problem: Problem, *, prices: Floats | None = None, params: BoundParams = DEFAULTS.bounds) -> Bounds:
    """Bounds for the original bands; ``prices`` are tried as well."""
    load = broker_loads(problem, problem.replicas, problem.leader)
    changes = LowerBound(least_leader_stops(problem, load, params), BoundProof.COUNTED_LEADERS)
    if not problem.moves_replicas:
        return Bounds(NOTHING, NOTHING, changes)
    columns = [d for d, name in enumerate(problem.resources) if name in REPLICA_CARRIED]
    holdings = holdings_of(problem)
    fewest = least_copies(problem, holdings, load, columns, params)
    copies = LowerBound(fewest, BoundProof.COUNTED_REPLICAS)
    tried = {
        "forced": np.zeros_like(load),
        "excess": covering_prices(problem, holdings, load, columns, params),
        "deficit": _deficit_prices(problem, load),
    }
    by_rack = _rack_prices(problem, holdings, load, tried["excess"], tried["deficit"])
    if by_rack is not None:
        tried["racks"] = by_rack
    if prices is not None:
        tried["linear program"] = prices
    parts = {
        name: max(0.0, proven_by(problem, tried_prices, problem.move_bytes, params))
        for name, tried_prices in tried.items()
    }
    best = max(parts, key=lambda name: (parts[name], name == "forced"))
    certificate = PriceCertificate(tried[best], parts[best])
    return Bounds(LowerBound(parts[best], PROOFS[best]), copies, changes, parts, certificate)


def bounds_from(problem: Problem, bounds: Bounds, params: BoundParams = DEFAULTS.bounds) -> Bounds:
    load = broker_loads(problem, problem.replicas, problem.leader)
    changes = LowerBound(least_leader_stops(problem, load, params), BoundProof.COUNTED_LEADERS)
    return replace(bounds, leader_changes=changes)


def raised(problem: Problem, bounds: Bounds, params: BoundParams = DEFAULTS.bounds) -> Bounds:
    if bounds.certificate is None:
        return bounds
    prices = better_prices(problem, bounds.certificate.prices, params.ascent)
    if prices is None:
        return bounds
    value = proven_by(problem, prices, problem.move_bytes, params)
    if value <= bounds.bytes.value:
        return bounds
    return replace(
        bounds,
        bytes=LowerBound(value, BoundProof.DUAL_ASCENT),
        parts={**bounds.parts, "ascent": value},
        certificate=PriceCertificate(prices, value),
    )


def raised_by_covers(
    problem: Problem, bounds: Bounds, prices: Floats, covers: tuple[Cover, ...], params: BoundParams = DEFAULTS.bounds
) -> Bounds:
    if not covers:
        return bounds
    value = proven_by(problem, prices, problem.move_bytes, params, covers=covers)
    if value <= bounds.bytes.value:
        return bounds
    no_price = np.zeros(problem.broker_count)
    return replace(
        bounds,
        bytes=LowerBound(value, BoundProof.LINEAR_PROGRAM_WITH_COVERS),
        parts={**bounds.parts, "covers": value},
        proofs={**bounds.proofs, "bytes": CostProof(prices, no_price, no_price, value, covers)},
    )


def least_price(problem: Problem, bounds: Bounds, costs: CostParams) -> float:
    return bounds.bytes.value + bounds.replica_moves.value * bytes_per_move(problem, costs.worth_per_move)


def _deficit_prices(problem: Problem, load: Floats) -> Floats:
    prices = np.zeros_like(load)
    disk = problem.column("disk")
    if disk is not None:
        prices[:, disk] = np.where(load[:, disk] < problem.band_low[:, disk], -1.0, 0.0)
    return prices


def _rack_prices(problem: Problem, holdings: Holdings, load: Floats, above: Floats, below: Floats) -> Floats | None:
    """Each rack at the prices ``above`` or ``below``, whichever prove more; None if all choose alike or a partition may
    leave a rack out.

    Proof: a partition with a replica in each rack moves none between racks, so each rack copies the larger of its
    brokers' excess and deficit.
    """
    racks = distinct_racks(problem.rack)
    if int(problem.target_rf.max(initial=0)) < len(np.unique(racks[problem.takes_replicas])):
        return None
    columns = np.flatnonzero(above.any(axis=0)).tolist()
    brokers = np.repeat(np.arange(problem.broker_count), np.diff(holdings.start))
    cost = drop_costs(problem, problem.move_bytes)[holdings.row]
    worth = (carried(problem, columns, holdings.row, holdings.column) * above[brokers][:, columns]).sum(axis=1)
    kept_back = np.where(holdings.is_forced, worth - cost, np.maximum(worth - cost, 0.0))
    excess = (above * np.where(above > 0, load - problem.band_high, 0.0)).sum(axis=1)
    excess -= np.bincount(brokers, weights=kept_back, minlength=problem.broker_count)
    deficit = (np.maximum(problem.band_low - load, 0.0) * -below).sum(axis=1)
    lacking = np.bincount(racks, weights=deficit)
    lacks_more = lacking > np.bincount(racks, weights=excess)
    if lacks_more.all() or not lacks_more.any():
        return None
    return np.where(lacks_more[racks][:, None], below, above)
