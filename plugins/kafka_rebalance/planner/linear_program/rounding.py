"""From shares to replica sets: almost all are whole, the few split ones go where most of them is; a search mends it."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import NOBODY, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.even_spread import even_spread
from kafka_rebalance.cluster_arrays.fair_share import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.linear_program.arcs import Arcs
from kafka_rebalance.planner.params import DEFAULTS, ArcParams
from kafka_rebalance.planner.state import ReplicaSets
from kafka_rebalance.resources import REPLICA_CARRIED


def rounded(
    problem: Problem, sets: ReplicaSets, arcs: Arcs, share: Floats, params: ArcParams = DEFAULTS.linear_program.arcs
) -> ReplicaSets:
    """Replica sets near ``share`` float64[A]; a partition that finds no lawful one keeps that of ``sets``. O(A log A).

    Example: 0.7 of a replica on broker 3 and 0.3 on broker 5 of the same rack: it goes to broker 3.
    """
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
    """``decided`` float64[A] with the heavier half of the partitions that ``share`` splits set to ``replicas``.

    What is heavy is decided first: the rest can still make up for it. All nan where nothing new is split.
    """
    is_split = (share > params.unused_share) & (share < 1 - params.unused_share)
    split = np.unique(arcs.row[is_split])
    heaviest = split[np.argsort(-problem.move_bytes[split], kind="stable")][: (len(split) + 1) // 2]
    mine = np.flatnonzero(np.isin(arcs.row, heaviest))
    chosen = (replicas[arcs.row[mine]] == arcs.broker[mine, None]).any(axis=1)
    decided = decided.copy()
    decided[mine] = chosen
    return decided


def has_capacity(problem: Problem, replicas: Ints) -> bool:
    """No broker that receives is above its capacity, or what it carries today, also while both copies exist."""
    if not np.isfinite(problem.limit).any():
        return True
    is_copy = replicas >= 0
    for j in range(problem.replicas.shape[1]):
        is_copy &= replicas != problem.replicas[:, j : j + 1]
    rows, replica_indexes = np.nonzero(is_copy)
    taken = broker_loads(problem, problem.replicas, problem.leader)
    gained = np.zeros_like(taken)
    np.add.at(gained, replicas[rows, replica_indexes], problem.follower_load[rows])
    carried = [d for d, name in enumerate(problem.resources) if name in REPLICA_CARRIED]
    disk = problem.column("disk")
    after = broker_loads(problem, replicas, problem.leader)
    peak = after.copy()
    if disk is not None:
        peak[:, disk] = taken[:, disk] + gained[:, disk]
    limit = np.maximum(problem.limit, taken)
    if disk is not None:  # no more fits beside what the disk holds today
        limit[:, disk] = problem.limit[:, disk]
    over = (peak > limit * (1 + 1e-9)) & (gained > 0)
    return not bool(over[:, carried].any())


def _spread(ranked: Longs, factor: int, racks: Ints, size: Longs) -> list[int]:
    """The first ``factor`` of ``ranked`` that no rack has too many of; fewer where racks stand in the way."""
    held, odd = even_spread(factor, size)
    left, odd_left = held.copy(), odd
    chosen: list[int] = []
    for broker in ranked.tolist():
        rack = racks[broker]
        if len(chosen) == factor:
            break
        if left[rack] > 0:
            left[rack] -= 1
        elif left[rack] == 0 and odd_left > 0:
            left[rack] -= 1
            odd_left -= 1
        else:
            continue
        chosen.append(broker)
    return chosen


def in_order(today: Ints, chosen: list[int]) -> Ints:
    """A row of replicas: who stays first, in today's order; then the new ones."""
    kept = [broker for broker in today.tolist() if broker in chosen]
    listed = kept + [broker for broker in chosen if broker not in kept]
    row = np.full(len(today), NOBODY, dtype=np.int32)
    row[: len(listed)] = listed
    return row
