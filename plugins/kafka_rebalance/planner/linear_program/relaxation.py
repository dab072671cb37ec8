"""Linear relaxation of a placement: its moves (arcs), optimum and rounding; small ones as integer programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.bands import distinct_racks, even_spread
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.planner.bounds import cover_row, pinned_load
from kafka_rebalance.planner.leaders import go_on_leading
from kafka_rebalance.planner.params import (
    ANY_SPREAD,
    DEFAULTS,
    ArcParams,
    LinearProgramParams,
    SolveParams,
    WholePlanParams,
)
from kafka_rebalance.planner.placed import Placed, better, place
from kafka_rebalance.planner.replicas.search import anneal_replicas, replica_columns, search_replicas
from kafka_rebalance.planner.scales import can_be_led, candidates, mean_bytes, move_costs, resource_scale
from kafka_rebalance.planner.solution import NOTHING_DONE, Cover, SearchStatistics
from kafka_rebalance.planner.state import ReplicaSets, WorkingBands, topic_excess, working_bands
from kafka_rebalance.resources import COUNTED, REPLICA_CARRIED


@dataclass(frozen=True, slots=True, eq=False)
class Arcs:
    """Lawful pairs of a free partition and a broker. weight absolute, for ``columns``; cost in the search's units, 0
    where kept; fixed: load of other partitions; copied: disk of their new replicas.
    """

    columns: list[int]
    row: Longs
    broker: Longs
    is_kept: Flags
    weight: Floats
    cost: Floats
    fixed: Floats
    copied: Floats

    def only(self, some: Flags) -> Arcs:
        return replace(
            self,
            row=self.row[some],
            broker=self.broker[some],
            is_kept=self.is_kept[some],
            weight=self.weight[some],
            cost=self.cost[some],
        )


def is_small(problem: Problem, params: ArcParams = DEFAULTS.linear_program.arcs) -> bool:
    return problem.partition_count * problem.broker_count <= params.most_arcs


def arcs_of(problem: Problem, params: ArcParams = DEFAULTS.linear_program.arcs) -> Arcs:
    columns = replica_columns(problem)
    is_held, barred = np.zeros((2, problem.partition_count, problem.broker_count), dtype=np.bool_)
    rows, replica_indexes = np.nonzero(problem.replicas >= 0)
    brokers = problem.replicas[rows, replica_indexes]
    is_held[rows, brokers] = True
    if problem.must_leave is not None:
        barred[rows, brokers] = problem.must_leave[rows, replica_indexes]
    carried = problem.follower_load[:, columns]
    if int(problem.target_rf.max(initial=1)) == 1:
        carried = carried + problem.leader_extra[:, columns]
    receivers = (problem.takes_replicas & problem.sets.brokers)[problem.sets.of_partition]
    allowed = np.where(is_held, problem.stays[None, :] & ~barred, receivers)
    # A sole replica leads, so its broker must be able to, unless none is.
    allowed &= is_held | ((problem.target_rf > 1) | ~can_be_led(problem))[:, None] | problem.takes_leaders[None, :]
    row, broker = np.nonzero(allowed & ~problem.pinned[:, None])
    is_kept = is_held[row, broker]
    weight, beyond = carried[row], disk_beyond(problem)
    disk = problem.column("disk")
    if beyond is not None and disk in columns:
        weight[:, columns.index(disk)] += beyond[row, broker]
        carried_there = carried[rows].copy()
        carried_there[:, columns.index(disk)] += beyond[rows, brokers]
    else:
        carried_there = carried[rows]
    fixed = np.zeros((problem.broker_count, len(columns)))
    pinned = problem.pinned[rows]
    np.add.at(fixed, brokers[pinned], carried_there[pinned])
    cost = move_costs(problem, params.cost_per_move)[row]
    cost = cost + params.cost_of_crowding * _crowding(problem, params)[problem.topic[row], broker]
    return Arcs(
        columns, row, broker, is_kept, weight, np.where(is_kept, 0.0, cost), fixed, np.zeros(problem.broker_count)
    )


def _crowding(problem: Problem, params: ArcParams) -> Floats:
    topics = int(problem.topic.max(initial=-1)) + 1
    rows, replica_indexes = np.nonzero(problem.replicas >= 0)
    topic_replicas = np.zeros((topics, problem.broker_count))
    np.add.at(topic_replicas, (problem.topic[rows], problem.replicas[rows, replica_indexes]), 1.0)
    replica_count = np.bincount(problem.topic, weights=problem.target_rf, minlength=topics)
    share = np.ceil(replica_count / max(1, int(problem.stays.sum())))
    crowd = np.clip(topic_replicas - share[:, None] + 1.0, 0.0, 3.0)
    return np.asarray(crowd * float(move_costs(problem, params.cost_per_move).mean()))


def disk_beyond(problem: Problem) -> Floats | None:
    if problem.own_disk is None:
        return None
    beyond = np.zeros((problem.partition_count, problem.broker_count))
    rows, replica_indexes = np.nonzero(problem.replicas >= 0)
    beyond[rows, problem.replicas[rows, replica_indexes]] = (
        problem.own_disk[rows, replica_indexes] - problem.move_bytes[rows]
    )
    return beyond


# Linear program of all moves:
#
#     minimise Σ cost · x
#     over 0 <= x <= 1 for each arc, Σ of a partition's arcs = its factor, racks' even shares, loads in their bands
#
# At a vertex only about as many partitions are split as load rows are tight.


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """``prices`` and ``covers`` prove the cost. ``regret`` float64[A]: cost of one whole arc more or less."""

    share: Floats
    prices: Floats
    regret: Floats
    covers: tuple[Cover, ...] = ()


@dataclass(slots=True)
class Rows:
    """Rows "Σ factor · x <= most" over ``variables``, the arcs first."""

    variables: int
    blocks: list[sp.csr_matrix] = field(default_factory=list)
    most: list[Floats] = field(default_factory=list)

    def add(self, line: Longs, arc: Longs, factor: Floats, most: Floats) -> None:
        self.blocks.append(sp.csr_matrix((factor, (line, arc)), (len(most), self.variables)))
        self.most.append(most)


def relax(
    problem: Problem,
    arcs: Arcs,
    low: Floats,
    high: Floats,
    decided: Floats | None = None,
    covers: tuple[Cover, ...] = (),
    solver: Literal["highs", "highs-ipm"] = "highs",
) -> Relaxed | None:
    """Optimum, None where no shares meet the bands float64[B, all D].

    ``decided`` float64[A]: fixed shares, nan where open. "highs-ipm": interior points, quicker for many arcs.
    """
    count = len(arcs.row)
    free = np.flatnonzero(~problem.pinned)
    if not len(free) or not count:
        return None
    line = np.searchsorted(free, arcs.row)
    every: Any = sp.csr_matrix((np.ones(count), (line, np.arange(count))), (len(free), count))
    rows = Rows(count)
    top, bottom = load_rows(problem, arcs, low, high, rows)
    capacity_rows(problem, arcs, rows)
    rack_rows(problem, arcs, rows)
    cover_rows(problem, arcs, covers, rows)
    box: Any = (0, 1) if decided is None else _box(decided)
    matrix: Any = sp.vstack(rows.blocks).tocsr()
    answer = linprog(
        arcs.cost,
        matrix,
        np.concatenate(rows.most),
        every,
        problem.target_rf[free].astype(np.float64),
        bounds=box,
        method=solver,
    )
    if not answer.success or answer.x is None:
        return None
    duals = -answer.ineqlin.marginals
    regret = np.abs(answer.lower.marginals) + np.abs(answer.upper.marginals)
    priced = _priced(problem, covers, duals[len(duals) - len(covers) :])
    return Relaxed(answer.x, prices_of(problem, arcs, top, bottom, duals), regret, priced)


def _box(decided: Floats) -> Floats:
    is_open = np.isnan(decided)
    return np.column_stack([np.where(is_open, 0.0, decided), np.where(is_open, 1.0, decided)])


def load_rows(problem: Problem, arcs: Arcs, low: Floats, high: Floats, rows: Rows) -> tuple[Longs, Longs]:
    """Add rows; return the cells of [B, columns] with a row, top and bottom."""
    dims, scale = len(arcs.columns), resource_scale(problem)[arcs.columns]
    cell = (arcs.broker[:, None] * dims + np.arange(dims)).ravel()
    arc = np.repeat(np.arange(len(arcs.row)), dims)
    loads = sp.csr_matrix(((arcs.weight / scale).ravel(), (cell, arc)), (problem.broker_count * dims, len(arcs.row)))
    headroom = ((np.minimum(high, problem.limit)[:, arcs.columns] - arcs.fixed) / scale).ravel()
    lack = ((low[:, arcs.columns] - arcs.fixed) / scale).ravel()
    stays = np.repeat(problem.stays, dims)
    top, bottom = np.flatnonzero(stays & np.isfinite(headroom)), np.flatnonzero(stays & (lack > 0))
    rows.blocks += [loads[top], -loads[bottom]]
    rows.most += [headroom[top], -lack[bottom]]
    return top, bottom


def prices_of(problem: Problem, arcs: Arcs, top: Longs, bottom: Longs, duals: Floats) -> Floats:
    dims, scale = len(arcs.columns), resource_scale(problem)[arcs.columns]
    price = np.zeros(problem.broker_count * dims)
    price[top] += duals[: len(top)]
    price[bottom] -= duals[len(top) : len(top) + len(bottom)]
    prices = np.zeros((problem.broker_count, len(problem.resources)))
    prices[:, arcs.columns] = price.reshape(-1, dims) * mean_bytes(problem) / scale
    return prices


def cover_rows(problem: Problem, arcs: Arcs, covers: tuple[Cover, ...], rows: Rows) -> None:
    if not covers:
        return
    number = np.full((problem.partition_count, problem.broker_count), -1)
    number[arcs.row, arcs.broker] = np.arange(len(arcs.row))
    pinned, scale = pinned_load(problem), resource_scale(problem)
    line, arc, factor = [], [], []
    most = np.zeros(len(covers))
    for i, cover in enumerate(covers):
        constraint = cover_row(problem, cover, pinned)
        if constraint is not None:
            line.append(np.full(len(constraint.row), i))
            arc.append(number[constraint.row, cover.broker])
            factor.append(constraint.weight / scale[cover.column])
            most[i] = constraint.most / scale[cover.column]
    if line:
        rows.add(np.concatenate(line), np.concatenate(arc), np.concatenate(factor), most)
    else:
        rows.add(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), most)


def _priced(problem: Problem, covers: tuple[Cover, ...], duals: Floats) -> tuple[Cover, ...]:
    unit = mean_bytes(problem) / resource_scale(problem)
    prices = [float(dual * unit[cover.column]) for cover, dual in zip(covers, duals.tolist(), strict=True)]
    return tuple(replace(cover, price=price) for cover, price in zip(covers, prices, strict=True) if price > 0)


def capacity_rows(problem: Problem, arcs: Arcs, rows: Rows) -> None:
    """Add rows: new copies fit beside everything there today."""
    disk = problem.column("disk")
    if disk is None:
        return
    tight = np.flatnonzero(np.isfinite(problem.limit[:, disk]))
    if not len(tight):
        return
    today = broker_loads(problem, problem.replicas, problem.leader)[:, disk]
    scale = resource_scale(problem)[disk]
    new = np.flatnonzero(~arcs.is_kept & np.isin(arcs.broker, tight))
    line = np.searchsorted(tight, arcs.broker[new])
    most = np.maximum(problem.limit[tight, disk] - today[tight] - arcs.copied[tight], 0.0) / scale
    rows.add(line, new, problem.follower_load[arcs.row[new], disk] / scale, most)


def rack_rows(problem: Problem, arcs: Arcs, rows: Rows) -> None:
    racks = distinct_racks(problem.rack)
    sizes, chosen = problem.sets.rack_sizes(racks, problem.stays), problem.sets.of_partition[arcs.row]
    for (number, size), factor in product(enumerate(sizes), np.unique(problem.target_rf[arcs.row]).tolist()):
        quota, odd = even_spread(factor, size)
        mine = np.flatnonzero((problem.target_rf[arcs.row] == factor) & (chosen == number))
        rack = racks[arcs.broker[mine]]
        group, line = np.unique(arcs.row[mine] * len(size) + rack, return_inverse=True)
        share = quota[group % len(size)].astype(np.float64)
        rows.add(line, mine, np.ones(len(mine)), share + (1.0 if odd else 0.0))
        least = np.flatnonzero(share > 0)
        if len(least):
            some = np.flatnonzero(np.isin(line, least))
            rows.add(np.searchsorted(least, line[some]), mine[some], -np.ones(len(some)), -share[least])


# Core of the linear program, solved in whole numbers first (Balas and Zemel 1980): partitions that plan and program
# place differently, split ones, and those whose next place costs least per byte.


def core_arcs(problem: Problem, arcs: Arcs, relaxed: Relaxed, share: Floats, params: LinearProgramParams) -> Flags:
    count, limits, unused = problem.partition_count, params.neighbourhoods, params.arcs.unused_share
    least_bytes = float(problem.move_bytes.max(initial=0.0)) * limits.least_core_size
    size = np.maximum(problem.move_bytes, max(least_bytes, 1e-300)) / max(mean_bytes(problem), 1e-300)
    loss = relaxed.regret / size[arcs.row]
    cheapest = np.full(count, np.inf)
    other = relaxed.share < 1 - unused
    np.minimum.at(cheapest, arcs.row[other], loss[other])
    cheapest[arcs.row[np.abs(share - relaxed.share) > unused]] = -1.0
    chosen = np.zeros(count, dtype=np.bool_)
    chosen[np.argsort(cheapest, kind="stable")[: limits.core_partitions]] = True
    is_chosen = chosen[arcs.row]
    is_taken = (share > 0.5) | (relaxed.share > unused) | arcs.is_kept
    is_open = is_chosen & is_taken
    others = np.flatnonzero(is_chosen & ~is_taken)
    spare = max(0, limits.core_arcs - int(is_open.sum()))
    is_open[others[np.argsort(loss[others], kind="stable")[:spare]]] = True
    return is_open


# Linear program with each broker's flows; today's leader sends the copies.
#
#     minimise Σ cost · x + weight · T
#     over x as in ``relaxation``, each broker's bytes in and bytes out <= T <= most


@dataclass(frozen=True, slots=True, eq=False)
class Flowing:
    """Duals per unit of T; ``busiest``: T in bytes."""

    share: Floats
    regret: Floats
    prices: Floats
    receiving: Floats
    sending: Floats
    busiest: float


def relax_flows(
    problem: Problem, arcs: Arcs, cost: Floats, *, weight: float = 0.0, most: float = np.inf
) -> Flowing | None:
    """Optimum, None where no shares meet the bands with T <= ``most`` bytes."""
    count, brokers, unit = len(arcs.row), problem.broker_count, max(mean_bytes(problem), 1e-300)
    free = np.flatnonzero(~problem.pinned)
    rows = Rows(count)
    top, bottom = load_rows(problem, arcs, problem.band_low, problem.band_high, rows)
    capacity_rows(problem, arcs, rows)
    rack_rows(problem, arcs, rows)
    limits = np.concatenate(rows.most)
    new = np.flatnonzero(~arcs.is_kept)
    size = problem.move_bytes[arcs.row[new]] / unit
    leader = problem.leader[arcs.row[new]]
    led = leader >= 0
    into = sp.csr_matrix((size, (arcs.broker[new], new)), (brokers, count))
    out = sp.csr_matrix((size[led], (leader[led], new[led])), (brokers, count))
    busy: Any = sp.hstack([sp.vstack([into, out]), sp.csr_matrix(-np.ones((2 * brokers, 1)))])
    others: Any = sp.hstack([sp.vstack(rows.blocks), sp.csr_matrix((len(limits), 1))])
    line = np.searchsorted(free, arcs.row)
    every: Any = sp.csr_matrix((np.ones(count), (line, np.arange(count))), (len(free), count + 1))
    matrix: Any = sp.vstack([others, busy]).tocsr()
    answer = linprog(
        np.append(cost, weight),
        matrix,
        np.append(limits, np.zeros(2 * brokers)),
        every,
        problem.target_rf[free].astype(np.float64),
        bounds=[(0, 1)] * count + [(0, most / unit)],
        method="highs",
    )
    if not answer.success or answer.x is None:
        return None
    duals = np.maximum(-answer.ineqlin.marginals, 0.0)
    receiving, sending = np.split(duals[len(limits) :], 2)
    return Flowing(
        share=answer.x[:count],
        regret=np.abs(answer.lower.marginals[:count]) + np.abs(answer.upper.marginals[:count]),
        prices=prices_of(problem, arcs, top, bottom, duals),
        receiving=receiving,
        sending=sending,
        busiest=float(answer.x[-1]) * unit,
    )


def rounded(
    problem: Problem, sets: ReplicaSets, arcs: Arcs, share: Floats, params: ArcParams = DEFAULTS.linear_program.arcs
) -> ReplicaSets:
    """Sets near ``share``; a partition without a lawful one keeps that of ``sets``. O(A log A)."""
    replicas = sets.replicas.copy()
    racks = distinct_racks(problem.rack)
    sizes, chosen_set = problem.sets.rack_sizes(racks, problem.stays), problem.sets.of_partition
    used = np.flatnonzero(share > params.unused_share)
    used = used[np.lexsort((arcs.broker[used], -share[used], arcs.row[used]))]
    begin = np.searchsorted(arcs.row[used], np.arange(problem.partition_count + 1))
    for row in np.flatnonzero(~problem.pinned).tolist():
        factor = int(problem.target_rf[row])
        ranked = arcs.broker[used[begin[row] : begin[row + 1]]]
        chosen = ranked.tolist() if len(ranked) == factor else _spread(ranked, factor, racks, sizes[chosen_set[row]])
        if len(chosen) == factor:
            replicas[row] = in_order(problem.replicas[row], chosen)
    return ReplicaSets(replicas, sets.original)


def decided_by(
    problem: Problem, arcs: Arcs, share: Floats, replicas: Ints, decided: Floats, params: ArcParams
) -> Floats:
    """The heavier half of the split partitions set to ``replicas``; all nan if no new one is split."""
    is_split = (share > params.unused_share) & (share < 1 - params.unused_share)
    split = np.unique(arcs.row[is_split])
    heaviest = split[np.argsort(-problem.move_bytes[split], kind="stable")][: (len(split) + 1) // 2]
    mine = np.flatnonzero(np.isin(arcs.row, heaviest))
    chosen = (replicas[arcs.row[mine]] == arcs.broker[mine, None]).any(axis=1)
    decided = decided.copy()
    decided[mine] = chosen
    return decided


def has_capacity(problem: Problem, replicas: Ints) -> bool:
    """No receiver exceeds its capacity or today's load, also while both copies exist."""
    if not np.isfinite(problem.limit).any():
        return True
    is_copy = replicas >= 0
    for j in range(problem.replicas.shape[1]):
        is_copy &= replicas != problem.replicas[:, j : j + 1]
    rows, replica_indexes = np.nonzero(is_copy)
    today = broker_loads(problem, problem.replicas, problem.leader)
    gained = np.zeros_like(today)
    np.add.at(gained, replicas[rows, replica_indexes], problem.follower_load[rows])
    carried = [d for d, name in enumerate(problem.resources) if name in REPLICA_CARRIED]
    disk = problem.column("disk")
    after = broker_loads(problem, replicas, problem.leader)
    peak = after.copy()
    if disk is not None:
        peak[:, disk] = today[:, disk] + gained[:, disk]
    limit = np.maximum(problem.limit, today)
    if disk is not None:
        limit[:, disk] = problem.limit[:, disk]
    over = (peak > limit * (1 + 1e-9)) & (gained > 0)
    return not bool(over[:, carried].any())


def _spread(ranked: Longs, factor: int, racks: Ints, size: Longs) -> list[int]:
    quota, odd = even_spread(factor, size)
    quota_left, odd_left = quota.copy(), odd
    chosen: list[int] = []
    for broker in ranked.tolist():
        rack = racks[broker]
        if len(chosen) == factor:
            break
        if quota_left[rack] > 0:
            quota_left[rack] -= 1
        elif quota_left[rack] == 0 and odd_left > 0:
            quota_left[rack] -= 1
            odd_left -= 1
        else:
            continue
        chosen.append(broker)
    return chosen


def in_order(today: Ints, chosen: list[int]) -> Ints:
    """Survivors in today's order, then the new ones."""
    kept = [broker for broker in today.tolist() if broker in chosen]
    listed = kept + [broker for broker in chosen if broker not in kept]
    row = np.full(len(today), ABSENT, dtype=np.int32)
    row[: len(listed)] = listed
    return row


# Starting points: rounded shares; then after a dive, and for narrower bands.


def program_starts(
    problem: Problem,
    sets: ReplicaSets,
    arcs: Arcs,
    relaxed: Relaxed | None,
    bands: WorkingBands,
    reached: Floats,
    params: LinearProgramParams = DEFAULTS.linear_program,
) -> Iterator[ReplicaSets]:
    """Most promising first. Without ``relaxed``, bands are widened to ``reached``."""
    scale = resource_scale(problem)
    low, high = bands.low, bands.high
    limits = params.starts
    shrinks, dives = limits.shrinks, limits.dives
    if len(arcs.row) > limits.few_arcs:
        shrinks, dives = shrinks[:1], 0
    if relaxed is None:
        low, high = np.minimum(low, reached), np.maximum(high, reached)
        relaxed = relax(problem, arcs, low, high)
    for shrink in shrinks:
        lowest, highest = low + shrink * scale * (low > 0), high - shrink * scale
        if shrink > 0:
            relaxed = relax(problem, arcs, lowest, highest)
        decided = np.full(len(arcs.row), np.nan)
        for dive in range(1 + dives):
            if relaxed is None:
                break
            start = rounded(problem, sets, arcs, relaxed.share, params.arcs)
            yield start
            if dive < dives:
                decided = decided_by(problem, arcs, relaxed.share, start.replicas, decided, params.arcs)
                relaxed = relax(problem, arcs, lowest, highest, decided)


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """``allowed`` replicas may exceed their topic's fair share."""

    problem: Problem
    sets: ReplicaSets
    bands: WorkingBands
    allowed: int
    seed: int
    params: SolveParams

    def better(
        self, best: Placed, replicas: Ints, *, replica_index: Ints | None = None, done: SearchStatistics = NOTHING_DONE
    ) -> Placed:
        if not has_capacity(self.problem, replicas):
            return replace(best, statistics=best.statistics + done)
        return better(best, self.placed(best, replicas, replica_index=replica_index, done=done), self.allowed)

    def placed(
        self, best: Placed, replicas: Ints, *, replica_index: Ints | None = None, done: SearchStatistics = NOTHING_DONE
    ) -> Placed:
        """Leaders chosen anew, or those of ``best`` where that is nearer."""
        problem, bands, params = self.problem, self.bands, self.params
        candidate = place(problem, replicas, bands, params, replica_index=replica_index, done=done)
        if replica_index is not None or candidate.band_violation <= best.band_violation:
            return candidate
        chosen = go_on_leading(problem, replicas, best.leader, bands, params)
        other = place(problem, replicas, bands, params, replica_index=chosen.replica_index, done=chosen.statistics)
        return better(candidate, other, ANY_SPREAD)

    def searched(self, best: Placed, start: ReplicaSets, number: int) -> Placed:
        result = search_replicas(self.problem, start, self.bands, seed=self.seed + number, params=self.params)
        if result.stranded:
            return replace(best, statistics=best.statistics + result.statistics)
        return self.better(best, result.replicas, done=result.statistics)

    def annealed(self, best: Placed, start: ReplicaSets, params: SolveParams, number: int = 0) -> Placed:
        result = anneal_replicas(self.problem, start, self.bands, seed=self.seed + number, params=params)
        return self.better(best, result.replicas, done=result.statistics)


def spread_allowed(problem: Problem, incumbent: Placed, given_up: float) -> int:
    today = topic_excess(problem.topic, problem.replicas, problem.stays)
    return max(incumbent.topic_excess, today) + int(given_up * int(problem.target_rf.sum()))


# Integer program of tiny clusters: where a band is a partition or two wide, sets chosen by bytes may leave no replica
# that could lead.
#
#     minimise bytes copied, then copies, then leader changes
#     over x (a replica is there) and y <= x (and leads), both 0 or 1; bands, racks, factors, capacities


# infeasible
_NONE = 2


@dataclass(frozen=True, slots=True, eq=False)
class WholePlan:
    replicas: Ints
    replica_index: Ints


def is_tiny(problem: Problem, params: WholePlanParams = DEFAULTS.linear_program.whole_plan) -> bool:
    return problem.partition_count * problem.broker_count <= params.most_pairs and not problem.elects_preferred


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    plan: WholePlan | None
    is_none_proved: bool = False


def whole_plan(
    problem: Problem, bands: WorkingBands, params: LinearProgramParams = DEFAULTS.linear_program
) -> WholePlan | None:
    """Cheapest plan; None if there is none or the nodes ran out."""
    return _solved(problem, bands, params).plan


def decided(problem: Problem, params: SolveParams = DEFAULTS, *, within_budget: bool = False) -> Decision:
    """A plan inside bands and caps (by a margin), or the proof that there is none for bands wider by the margin.

    Neither if the cluster is too large, nodes ran out, leaders are preferred ones, or a budget may leave rules open.
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
    solution = _solved(
        problem, working_bands(problem, low, high, params.bands), program, gap=gap, within_budget=within_budget
    )
    if solution.plan is not None and has_capacity(problem, solution.plan.replicas):
        return Decision(solution.plan)
    if not solution.is_none_proved:
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
    """``hair``: share added to capacities."""
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
            LinearConstraint(program.equal, program.required, program.required),
        ],
        options={"mip_rel_gap": gap, "node_limit": params.whole_plan.nodes},
    )
    plan = None if answer.x is None else program.plan_of(answer.x)
    return Decision(plan, plan is None and answer.status == _NONE)


@dataclass(frozen=True, slots=True, eq=False)
class WholeProgram:
    """2·A variables: is there, then leads. ``equal`` · x = ``required``; x <= ``top``."""

    problem: Problem
    arcs: Arcs
    rows: Rows
    equal: Any
    required: Floats
    top: Floats

    def variables_of(self, replicas: Ints, leader: Ints) -> Floats:
        is_there = (replicas[self.arcs.row] == self.arcs.broker[:, None]).any(axis=1)
        return np.concatenate([is_there, leader[self.arcs.row] == self.arcs.broker]).astype(np.float64)

    def plan_of(self, variables: Floats) -> WholePlan:
        count = len(self.arcs.row)
        is_there, leads = variables[:count] > 0.5, variables[count : 2 * count] > 0.5
        return _as_plan(self.problem, self.arcs, is_there, leads)


def whole_program(
    problem: Problem, bands: WorkingBands, params: LinearProgramParams = DEFAULTS.linear_program, *, more: int = 0
) -> WholeProgram | None:
    """Rules of all plans, with ``more`` further variables. None if nothing is free, a partition has too few places, or
    leaders alone may change and a replica could not stay.
    """
    arcs = arcs_of(problem, params.arcs)
    if not problem.moves_replicas:
        arcs = arcs.only(arcs.is_kept)
        if len(arcs.row) != int((problem.replicas[~problem.pinned] >= 0).sum()):
            return None
    count = len(arcs.row)
    arc_count = np.bincount(arcs.row, minlength=problem.partition_count)
    if not count or (problem.moves_replicas and (arc_count < problem.target_rf)[~problem.pinned].any()):
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
    equal, required = _counted(problem, arcs, more)
    top = np.append(np.ones(count), _may_lead(problem, arcs).astype(np.float64))
    return WholeProgram(problem, arcs, rows, equal, required, top)


def carried_by(problem: Problem, arcs: Arcs) -> tuple[Floats, Floats]:
    """Weights and load of pinned partitions, in means."""
    scale = resource_scale(problem)
    weight = problem.follower_load[arcs.row] / scale
    beyond, disk = disk_beyond(problem), problem.column("disk")
    if beyond is not None and disk is not None:
        weight[:, disk] += beyond[arcs.row, arcs.broker] / scale[disk]
    pinned = np.where(problem.pinned[:, None], problem.replicas, ABSENT)
    fixed = broker_loads(problem, pinned, np.where(problem.pinned, problem.leader, ABSENT))
    return np.vstack([weight, problem.leader_extra[arcs.row] / scale]), np.asarray(fixed / scale)


def copy_costs(problem: Problem, arcs: Arcs, params: WholePlanParams) -> Floats:
    unit = max(float(problem.move_bytes.max(initial=0.0)), 1e-300)
    copies = np.where(arcs.is_kept, 0.0, problem.move_bytes[arcs.row] / unit + params.cost_per_copy)
    return np.append(copies, np.where(problem.leader[arcs.row] == arcs.broker, 0.0, params.cost_per_leader_change))


def budget_rows(program: WholeProgram) -> list[tuple[str, float]]:
    """Add rows; return the limits' names and units."""
    problem, arcs, rows = program.problem, program.arcs, program.rows
    new, count = np.flatnonzero(~arcs.is_kept), len(arcs.row)
    changed = count + np.flatnonzero(problem.leader[arcs.row] != arcs.broker)
    unit = max(float(problem.move_bytes.max(initial=0.0)), 1e-300)
    sides = (
        ("max_bytes", new, problem.move_bytes[arcs.row[new]] / unit, unit),
        ("max_replica_moves", new, np.ones(len(new)), 1.0),
        ("max_leader_changes", changed, np.ones(len(changed)), 1.0),
    )
    added = []
    for name, variable, factor, unit_of in sides:
        limit = getattr(problem.budget, name)
        if limit is not None:
            rows.add(np.zeros(len(variable), dtype=np.int64), variable, factor, np.array([limit / unit_of]))
            added.append((name, unit_of))
    return added


def _may_lead(problem: Problem, arcs: Arcs) -> Flags:
    """If no broker may lead, a demoted leader goes on, or any broker leads."""
    able, row, broker = can_be_led(problem), arcs.row, arcs.broker
    is_today = problem.leader[row] == broker
    stays = np.zeros(problem.partition_count, dtype=np.bool_)
    stays[row[is_today]] = True
    may_lead: Flags = problem.takes_leaders[broker] | (is_today & problem.keeps_leaders[broker])
    return np.asarray(may_lead | (~able[row] & (is_today | ~stays[row])))


def _counted(problem: Problem, arcs: Arcs, more: int) -> tuple[Any, Floats]:
    free = np.flatnonzero(~problem.pinned)
    line, count = np.searchsorted(free, arcs.row), len(arcs.row)
    per_partition: Any = sp.csr_matrix((np.ones(count), (line, np.arange(count))), (len(free), count))
    today = (problem.replicas[free] >= 0).sum(axis=1)
    required = (problem.target_rf[free] if problem.moves_replicas else today).astype(np.float64)
    equal: Any = sp.block_diag([per_partition, per_partition]).tocsr()
    if more:
        equal = sp.hstack([equal, sp.csr_matrix((2 * len(free), more))]).tocsr()
    return equal, np.append(required, np.ones(len(free)))


def _load_rows(problem: Problem, arcs: Arcs, bands: WorkingBands, rows: Rows) -> None:
    scale = resource_scale(problem)
    both, fixed = carried_by(problem, arcs)
    # A broker above a limit may stay so.
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
    """No rack holds two replicas more of a partition than one that could still get one. A small rack binds only while
    one of its brokers holds none.
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
            full_brokers, others = mine[racks[mine] == full].tolist(), mine[racks[mine] == other].tolist()
            if full == other or len(full_brokers) < 2:
                continue
            receivers = able[racks[able] == other].tolist()
            for broker in receivers if len(receivers) <= factor[row] - 2 else [ABSENT]:
                lines += [count] * (len(full_brokers) + len(others))
                columns += [int(number[row, b]) for b in (*full_brokers, *others)]
                factors += [1.0] * len(full_brokers)
                factors += [-1.0 - (float(factor[row]) if b == broker else 0.0) for b in others]
                count += 1
    if count:
        rows.add(np.array(lines), np.array(columns), np.array(factors), np.ones(count))


def _as_plan(problem: Problem, arcs: Arcs, is_there: Flags, leads: Flags) -> WholePlan:
    replicas = problem.replicas.copy()
    leader = problem.leader.copy()
    leader[arcs.row[leads]] = arcs.broker[leads]
    for row in np.flatnonzero(~problem.pinned).tolist():
        chosen = arcs.broker[is_there & (arcs.row == row)].tolist()
        replicas[row] = in_order(problem.replicas[row], chosen)
    return WholePlan(replicas, _lawful(problem, replicas, (replicas == leader[:, None]).argmax(axis=1)))


def _lawful(problem: Problem, replicas: Ints, replica_index: Longs) -> Ints:
    """Replace closed leaders where a new replica may lead, which the program cannot express."""
    may_lead = candidates(problem, replicas)
    is_lawful = np.take_along_axis(may_lead, replica_index[:, None], axis=1)[:, 0] | ~may_lead.any(axis=1)
    return np.where(is_lawful, replica_index, may_lead.argmax(axis=1)).astype(np.int32)
