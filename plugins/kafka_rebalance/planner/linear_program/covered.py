"""The linear program of all moves with covers: as near to whole replicas as rows of single brokers bring it.

Where replicas are few and large, the program moves shares of them that no plan can move: a third of a hot partition
leaves a broker, another third comes to one that has no room for all of it. Covers (``bounds/covers.py``) cut that off.

1. Of the program's shares, each broker and resource names the set whose cover they break most: replicas that leave for
   the greater part are not in it, copies that come for the greater part are, for several meanings of "greater".
2. The program is solved with these rows, two or three times; whatever its prices are, they prove a bound.

Example, the demo (12 brokers × 3,308 partitions): 1,329 GB by shares, 1,371 GB and 1,391 GB with covers, 1,394 GB at
the optimum. Complexity: a linear program a round, none where covers promise
little, or there are so many arcs that replicas are small beside bands.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats, Longs
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.bounds.covers import cover_row, may_stay_on, pinned_load
from kafka_rebalance.planner.linear_program.arcs import Arcs
from kafka_rebalance.planner.linear_program.relaxation import Relaxed, relax
from kafka_rebalance.planner.params import DEFAULTS, CoverParams
from kafka_rebalance.planner.replicas.replica_search import replica_columns
from kafka_rebalance.planner.scales import mean_bytes
from kafka_rebalance.planner.solution import Cover
from kafka_rebalance.planner.working_bands import WorkingBands


def with_covers(
    problem: Problem,
    arcs: Arcs,
    relaxed: Relaxed,
    bands: WorkingBands,
    params: CoverParams = DEFAULTS.linear_program.covers,
) -> Relaxed:
    """The program's optimum for ``bands`` with covers; ``relaxed``, the one without, where they promise little."""
    covers: tuple[Cover, ...] = ()
    best, cost = relaxed, float(arcs.cost @ relaxed.share)
    first = cost
    if len(arcs.row) > params.most_arcs:
        return relaxed
    for _ in range(params.rounds):
        broken = broken_covers(problem, arcs, best.share, params)
        if promised(best, broken) < params.least_promise * cost * mean_bytes(problem):
            break
        covers = (*best.covers, *(cover for cover, _ in broken))
        found = relax(problem, arcs, bands.low, bands.high, covers=covers)
        if found is None:
            break
        rise = float(arcs.cost @ found.share) - cost
        best, cost = found, cost + rise
        if rise < params.least_rise * cost:
            break
    return best if cost >= first * (1 + params.least_worth) else relaxed


def promised(relaxed: Relaxed, broken: list[tuple[Cover, float]]) -> float:
    """Bytes that what covers lack would cost at the prices of their brokers."""
    return sum(max(0.0, float(relaxed.prices[cover.broker, cover.column])) * lack for cover, lack in broken)


def broken_covers(
    problem: Problem, arcs: Arcs, share: Floats, params: CoverParams = DEFAULTS.linear_program.covers
) -> list[tuple[Cover, float]]:
    """For each broker and resource the cover that ``share`` float64[A] breaks most, and what it lacks of it."""
    pinned = pinned_load(problem)
    by_broker = np.argsort(arcs.broker, kind="stable")
    begin = np.searchsorted(arcs.broker[by_broker], np.arange(problem.broker_count + 1))
    found = []
    for b in np.flatnonzero(problem.stays).tolist():
        mine = by_broker[begin[b] : begin[b + 1]]
        there = np.zeros(problem.partition_count)
        there[arcs.row[mine]] = share[mine]
        sets = _sets(problem, b, there, params)
        for column in replica_columns(problem):
            tried = [_broken(problem, Cover(b, column, gone, come), there, pinned) for gone, come in sets]
            cover, lack, part = max(tried, key=lambda one: one[2])
            if part > params.least_broken:
                found.append((cover, lack))
    return found


def _sets(problem: Problem, broker: int, there: Floats, params: CoverParams) -> list[tuple[Longs, Longs]]:
    """Who is gone and who has come, for each meaning of it; what is named at such length nobody reads."""
    held = may_stay_on(problem, broker).any(axis=1)
    sets = []
    for least in params.least_shares:
        is_in = there > least
        gone, come = np.flatnonzero(held & ~is_in), np.flatnonzero(~held & is_in)
        if len(gone) + len(come) <= params.most_named:
            sets.append((gone, come))
    return sets or [(np.zeros(0, np.int64), np.zeros(0, np.int64))]


def _broken(problem: Problem, cover: Cover, there: Floats, pinned: Floats) -> tuple[Cover, float, float]:
    """What is lacking, in units of the resource and as a share of the surplus."""
    row = cover_row(problem, cover, pinned)
    if row is None:
        return cover, 0.0, 0.0
    lack = row.surplus - float(row.weight @ (1.0 - there[row.row]))
    return cover, lack, lack / row.surplus
