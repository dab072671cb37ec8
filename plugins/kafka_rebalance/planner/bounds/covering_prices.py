"""Prices of what brokers hold too much of: a covering problem for each broker above its bands, all resources at once.

What leaves one broker is copied to another, so what the brokers' coverings cost adds up; the prices together prove at
least that sum (``lagrangian.py``). Drained brokers and replicas that must leave need no price.
Example: a broker 2 GB above its band in disk and 1,000 replicas above it in count gives up small and dense ones, the
cheapest mixture of which the two prices prove.

Complexity: O(n · D) expected for each sweep over the n replicas of a broker.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Longs
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.grouping import grouped_order
from kafka_rebalance.planner.params import DEFAULTS, BoundParams
from kafka_rebalance.planner.replicas.covering import cover
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.planner.tolerances import NOT_COVERABLE


@dataclass(frozen=True, slots=True, eq=False)
class Holdings:
    """Replicas that may move, grouped by broker: those of broker b are start[b]..start[b+1].

    row int64[n], column int64[n], is_forced bool[n]: it has to leave whatever the balance.
    """

    start: Longs
    row: Longs
    column: Longs
    is_forced: Flags


def holdings_of(problem: Problem) -> Holdings:
    """O(P·W)."""
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
    """float64[n, columns]: what replicas weigh where they are."""
    weight = problem.follower_load[row][:, columns]
    disk = problem.column("disk")
    if problem.own_disk is not None and disk in columns:
        weight[:, columns.index(disk)] = problem.own_disk[row, column]
    return weight


def drop_costs(problem: Problem, cost: Floats) -> Floats:
    """float64[P]: what a replica's leaving costs; nothing where replicas are given up."""
    return np.where(problem.target_rf < (problem.replicas >= 0).sum(axis=1), 0.0, cost)


def covering_prices(
    problem: Problem, holdings: Holdings, load: Floats, columns: list[int], params: BoundParams = DEFAULTS.bounds
) -> Floats:
    """float64[B, D] prices >= 0, in bytes per unit of load; load float64[B, D] is today's."""
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
        prices[b, columns] = _prices_of_one(cost[row[~forced]], free, left, params.covering_sweeps)
    prices[:, columns] *= unit / scale
    return prices


def _prices_of_one(cost: Floats, weight: Floats, excess: Floats, sweeps: int) -> Floats:
    found = np.zeros(len(excess))
    if len(cost) == 0 or not (excess > 0).any():
        return found
    value = cover(cost, weight, np.ascontiguousarray(excess), found, np.empty((2, len(cost))), sweeps)
    return np.zeros(len(excess)) if value >= NOT_COVERABLE else found
