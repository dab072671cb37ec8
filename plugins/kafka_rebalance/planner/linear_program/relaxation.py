"""The linear program of all moves: which part of which replica goes where, and the prices that prove what it costs.

    minimise Σ cost · x
    over 0 <= x <= 1 for each arc, Σ of a partition's arcs = its factor, each rack its even share, loads in their bands

At a vertex almost all x are whole: about as many partitions are split as there are tight rows of loads. Example: 10
brokers × 1,000 partitions are 10,000 arcs, 17 partitions are split, 0.2 CPU seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from kafka_rebalance.arrays import Floats, Longs
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.even_spread import even_spread
from kafka_rebalance.cluster_arrays.fair_share import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.bounds.covers import cover_row, pinned_load
from kafka_rebalance.planner.linear_program.arcs import Arcs
from kafka_rebalance.planner.scales import mean_bytes, resource_scale
from kafka_rebalance.planner.solution import Cover


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """``share`` float64[A] of each arc; ``prices`` float64[B, all D], bytes per unit of load, prove the cost, together
    with ``covers`` where there are any.

    ``regret`` float64[A]: what a whole one more, or less, of an arc would cost (0: nothing at the margin).
    """

    share: Floats
    prices: Floats
    regret: Floats
    covers: tuple[Cover, ...] = ()


@dataclass(slots=True)
class Rows:
    """Rows "Σ factor · x <= most" over ``variables``, the arcs first; gathered in blocks."""

    variables: int
    blocks: list[sp.csr_matrix] = field(default_factory=list)
    most: list[Floats] = field(default_factory=list)

    def add(self, line: Longs, arc: Longs, factor: Floats, most: Floats) -> None:
        """A block of ``len(most)`` rows."""
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
    """None where no shares meet the bands low..high float64[B, all D]. Deterministic: one thread, no clock.

    ``decided`` float64[A]: shares that are fixed already, nan where not. ``covers``: rows more, which get their prices.
    ``solver`` of scipy's ``linprog``: interior points ("highs-ipm") where there are so many arcs that they are quicker.
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
    """Rows for tops and bottoms of bands; returns which cells of [B, columns] have one."""
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
    """float64[B, all D]: what the rows of loads cost (``load_rows``), in bytes per unit of load."""
    dims, scale = len(arcs.columns), resource_scale(problem)[arcs.columns]
    price = np.zeros(problem.broker_count * dims)
    price[top] += duals[: len(top)]
    price[bottom] -= duals[len(top) : len(top) + len(bottom)]
    prices = np.zeros((problem.broker_count, len(problem.resources)))
    prices[:, arcs.columns] = price.reshape(-1, dims) * mean_bytes(problem) / scale
    return prices


def cover_rows(problem: Problem, arcs: Arcs, covers: tuple[Cover, ...], rows: Rows) -> None:
    """One row for each; an empty one where the set fits."""
    if not covers:
        return
    number = np.full((problem.partition_count, problem.broker_count), -1)
    number[arcs.row, arcs.broker] = np.arange(len(arcs.row))
    pinned, scale = pinned_load(problem), resource_scale(problem)
    line, arc, factor = [], [], []
    most = np.zeros(len(covers))
    for i, cover in enumerate(covers):
        found = cover_row(problem, cover, pinned)
        if found is not None:
            line.append(np.full(len(found.row), i))
            arc.append(number[found.row, cover.broker])
            factor.append(found.weight / scale[cover.column])
            most[i] = found.most / scale[cover.column]
    if line:
        rows.add(np.concatenate(line), np.concatenate(arc), np.concatenate(factor), most)
    else:
        rows.add(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), most)


def _priced(problem: Problem, covers: tuple[Cover, ...], duals: Floats) -> tuple[Cover, ...]:
    """Those that cost something, at their prices."""
    unit = mean_bytes(problem) / resource_scale(problem)
    prices = [float(dual * unit[cover.column]) for cover, dual in zip(covers, duals.tolist(), strict=True)]
    return tuple(replace(cover, price=price) for cover, price in zip(covers, prices, strict=True) if price > 0)


def capacity_rows(problem: Problem, arcs: Arcs, rows: Rows) -> None:
    """New copies fit beside everything that is there today."""
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
    """No rack of a partition above its even share, and none below."""
    racks = distinct_racks(problem.rack)
    sizes, chosen = problem.sets.rack_sizes(racks, problem.stays), problem.sets.of_partition[arcs.row]
    for (number, size), factor in product(enumerate(sizes), np.unique(problem.target_rf[arcs.row]).tolist()):
        held, odd = even_spread(factor, size)
        mine = np.flatnonzero((problem.target_rf[arcs.row] == factor) & (chosen == number))
        rack = racks[arcs.broker[mine]]
        group, line = np.unique(arcs.row[mine] * len(size) + rack, return_inverse=True)
        share = held[group % len(size)].astype(np.float64)
        rows.add(line, mine, np.ones(len(mine)), share + (1.0 if odd else 0.0))
        least = np.flatnonzero(share > 0)
        if len(least):
            some = np.flatnonzero(np.isin(line, least))
            rows.add(np.searchsorted(least, line[some]), mine[some], -np.ones(len(some)), -share[least])
