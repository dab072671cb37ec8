"""Causes that lie in two limits at once: disks without room for another copy, and counts that do not let loads be even.

Both are shown, not guessed: the first compares the smallest replica with the freest disk, the second adds up the
largest (smallest) replicas that a broker's count of replicas allows.
Example: 30 partitions of 10 GB, disks of 1 TB and 500 GB: 180 GB are the least for the first, its count of replicas
allows 16, and any 16 hold 160 GB. O(P log P) each.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats, Ints
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.facts import Fact, FactCode, fact


def disks_full(problem: Problem, broker: int, replicas: Ints, leader: Ints) -> Fact | None:
    """Return that nothing of ``broker`` fits on any other disk, for both copies are there for a while; else None."""
    d = problem.column("disk")
    if d is None or not problem.moves_replicas:
        return None
    free_capacity = (problem.limit - broker_loads(problem, replicas, leader))[:, d]
    receivers = problem.takes_replicas & (np.arange(problem.broker_count) != broker)
    free = ~problem.pinned & ((replicas == broker) & (replicas >= 0)).any(axis=1)
    if not free.any() or not receivers.any():
        return None
    smallest = float(problem.follower_load[free, d].min())
    freest = int(np.where(receivers, free_capacity, -np.inf).argmax())
    if smallest <= float(free_capacity[freest]):
        return None
    return fact(
        FactCode.DISKS_FULL,
        freest_broker=int(problem.broker_ids[freest]),
        free_bytes=max(float(free_capacity[freest]), 0.0),
        broker=int(problem.broker_ids[broker]),
        smallest_replica_bytes=smallest,
    )


def count_band_binds(problem: Problem, d: int, broker: int, *, is_high: bool) -> Fact | None:
    """Return that the broker's band of replicas (leaders) alone keeps its load of resource ``d`` outside; else None."""
    name = problem.resources[d]
    counted = "replicas" if problem.follower_load[:, d].any() else "leaders"
    c = problem.column(counted)
    if c is None or c == d or (counted == "replicas" and not problem.moves_replicas):
        return None
    count = _whole(problem, broker, c, is_high=is_high)
    size = np.sort(_least(problem, d) if is_high and counted == "replicas" else _most(problem, d))
    chosen = size[: max(count, 0)] if is_high else size[::-1][: max(count, 0)]
    edge = float(problem.band_high[broker, d] if is_high else problem.band_low[broker, d])
    held = float(chosen.sum())
    if count > len(size) or (held <= edge * (1 + BAND_ROUNDING) if is_high else held >= edge * (1 - BAND_ROUNDING)):
        return None
    return fact(
        FactCode.COUNT_BAND_BINDS,
        broker=int(problem.broker_ids[broker]),
        counted=counted,
        count=count,
        resource=name,
        side="high" if is_high else "low",
        times_edge=held / edge,
    )


def _whole(problem: Problem, broker: int, c: int, *, is_high: bool) -> int:
    """The fewest (where a load is too high) or most replicas that the band of counts allows."""
    if is_high:
        return int(np.ceil(float(problem.band_low[broker, c]) - BAND_ROUNDING))
    high = float(problem.band_high[broker, c])
    return int(np.floor(high + BAND_ROUNDING)) if np.isfinite(high) else int(problem.target_rf.sum()) + 1


def _least(problem: Problem, d: int) -> Floats:
    """float64[P]: what one replica of each partition carries at the least."""
    least = problem.follower_load[:, d]
    if problem.own_disk is not None and d == problem.column("disk"):
        least = np.minimum(least, np.where(problem.replicas >= 0, problem.own_disk, np.inf).min(axis=1))
    return np.asarray(least)


def _most(problem: Problem, d: int) -> Floats:
    """float64[P]: what one replica of each partition carries at the most, the leader's part included."""
    most = problem.follower_load[:, d]
    if problem.own_disk is not None and d == problem.column("disk"):
        most = np.maximum(most, np.where(problem.replicas >= 0, problem.own_disk, 0.0).max(axis=1))
    return np.asarray(most + problem.leader_extra[:, d])
