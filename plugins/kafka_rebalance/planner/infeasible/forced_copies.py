"""What must be copied whatever the plan, and what the disks have left for it: what all counting rests on.

A copy is there beside everything that is on its disk today, so a broker takes no more than its limit less today's load.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from kafka_rebalance.arrays import Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.even_spread import even_spread
from kafka_rebalance.cluster_arrays.fair_share import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem


@dataclass(frozen=True, slots=True, eq=False)
class ForcedCopies:
    """``free``, ``today``, ``limit`` float64[B] of disk; ``rack`` int32[B], brokers without a rack alone.

    ``copies`` int64[P]: how many at the least; ``into_rack`` int64[P, K]: of these, how many at the least in each rack.
    """

    size: Floats
    today: Floats
    limit: Floats
    free: Floats
    rack: Ints
    copies: Longs
    into_rack: Longs


def forced_copies(problem: Problem) -> ForcedCopies | None:
    """None where disks are not known. O(P·(W + K))."""
    disk = problem.column("disk")
    if disk is None or not problem.moves_replicas:
        return None
    today = broker_loads(problem, problem.replicas, problem.leader)[:, disk]
    limit = problem.limit[:, disk]
    free = np.where(problem.takes_replicas, np.maximum(limit - today, 0.0), 0.0)
    rack = distinct_racks(problem.rack)
    copies, into_rack = _least_copies(problem, rack)
    return ForcedCopies(problem.follower_load[:, disk], today, limit, free, rack, copies, into_rack)


def _least_copies(problem: Problem, rack: Ints) -> tuple[Longs, Longs]:
    """Copies of each partition, int64[P], and into each rack, int64[P, K].

    Racks bind only where every broker that stays takes replicas: elsewhere the rule gives way.
    """
    racks = int(rack.max(initial=0)) + 1
    sizes, chosen = problem.sets.rack_sizes(rack, problem.stays), problem.sets.of_partition
    into = np.zeros((problem.partition_count, racks), dtype=np.int64)
    kept = (problem.replicas >= 0) & problem.stays[problem.replicas]
    if problem.must_leave is not None:
        kept &= ~problem.must_leave
    usable = np.minimum(kept.sum(axis=1), problem.target_rf)
    if (problem.takes_replicas == problem.stays).all():
        there = np.zeros_like(into)
        rows, slots = np.nonzero(kept)
        np.add.at(there, (rows, rack[problem.replicas[rows, slots]]), 1)
        for (number, size), factor in product(enumerate(sizes), np.unique(problem.target_rf).tolist()):
            share, odd = even_spread(factor, size)
            mine = (problem.target_rf == factor) & (chosen == number)
            into[mine] = np.maximum(share[None, :] - there[mine], 0)
            more = (there[mine] > share[None, :]).sum(axis=1)
            usable[mine] = np.minimum(there[mine], share[None, :]).sum(axis=1) + np.minimum(more, odd)
    into[problem.pinned] = 0
    return np.where(problem.pinned, 0, problem.target_rf - usable).astype(np.int64), into
