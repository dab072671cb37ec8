"""Bounds on numbers of copies and of leader changes, by counting.

A broker above a band in one resource gives up at least as many replicas as its heaviest ones that cover the excess; a
broker that lacks replicas receives them; what is on brokers that leave goes; new replicas of a growing factor come on
top. A broker that leads too much stops leading its heaviest partitions until the rest fits.

Example: 103 replicas where 100 are allowed: 3 copies, and more if those 3 do not weigh enough.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.fair_share import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.bounds.covering_prices import Holdings, carried, drop_costs
from kafka_rebalance.planner.grouping import grouped_order
from kafka_rebalance.planner.params import DEFAULTS, BoundParams


def least_copies(
    problem: Problem, holdings: Holdings, load: Floats, columns: list[int], params: BoundParams = DEFAULTS.bounds
) -> float:
    """Replica copies of any plan. O(P·W log P)."""
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
    """Items of cost 1 that must go, beside all of cost 0, to take ``excess`` off: the heaviest first."""
    left = excess - float(weight[cost == 0].sum())
    if left <= least_excess * excess:
        return 0.0
    heaviest = np.cumsum(np.sort(weight[cost > 0])[::-1])
    return float(min(int(np.searchsorted(heaviest, left * (1 - least_excess))) + 1, len(heaviest)))


def _sharing_racks(problem: Problem, cost: Floats) -> float:
    """A partition on fewer racks than it could use copies one replica for each rack that it lacks."""
    racks = np.append(distinct_racks(problem.rack), -1)
    open_racks = len(np.unique(racks[:-1][problem.takes_replicas]))
    held = np.sort(np.where(problem.replicas >= 0, racks[problem.replicas], -1), axis=1)
    is_new = np.ones(held.shape, dtype=np.bool_)
    is_new[:, 1:] = held[:, 1:] != held[:, :-1]
    used = (is_new & (held >= 0)).sum(axis=1)
    growth = np.maximum(problem.target_rf - (problem.replicas >= 0).sum(axis=1), 0)
    lacking = np.maximum(np.minimum(problem.target_rf, open_racks) - used - growth, 0)
    return float((lacking * cost)[~problem.pinned & ~problem.is_confined].sum())


def least_leader_stops(problem: Problem, load: Floats, params: BoundParams = DEFAULTS.bounds) -> float:
    """Leader changes of any plan, whether replicas move or not."""
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
