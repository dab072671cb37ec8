"""Units of the search: mean load and mean bytes of a broker."""

from __future__ import annotations

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.problem import Problem


def resource_scale(problem: Problem) -> Floats:
    """Mean load per broker that stays, 1 if 0."""
    total = (problem.follower_load * problem.target_rf[:, None] + problem.leader_extra).sum(axis=0)
    mean: Floats = total / max(1, int(problem.stays.sum()))
    return np.where(mean > 0, mean, 1.0)


def mean_bytes(problem: Problem) -> float:
    return float((problem.move_bytes * problem.target_rf).sum()) / max(1, int(problem.stays.sum()))


def move_costs(problem: Problem, per_move: float) -> Floats:
    """Bytes of a copy in mean bytes per broker, plus the charge of the move."""
    total = float((problem.move_bytes * problem.target_rf).sum())
    brokers = max(1, int(problem.stays.sum()))
    replicas = max(1, int(problem.target_rf.sum()))
    if total <= 0:
        return np.full(problem.partition_count, brokers / replicas)
    return problem.move_bytes * (brokers / total) + per_move * brokers / replicas


def bytes_per_move(problem: Problem, worth_per_move: float) -> float:
    """``worth_per_move`` is a share of a replica's mean bytes."""
    total = float((problem.move_bytes * problem.target_rf).sum())
    return worth_per_move * total / max(1, int(problem.target_rf.sum()))


def candidates(problem: Problem, replicas: Ints) -> Flags:
    """No replica in an offline dir. Pinned partitions keep their leader."""
    is_there = replicas >= 0
    is_today = is_there & (replicas == problem.leader[:, None])
    may_lead: Flags = is_there & (problem.takes_leaders[replicas] | (is_today & problem.keeps_leaders[replicas]))
    if problem.must_leave is not None:
        for j in range(problem.replicas.shape[1]):
            offline = np.where(problem.must_leave[:, j], problem.replicas[:, j], ABSENT)
            may_lead &= replicas != offline[:, None]
    frozen = problem.pinned & is_today.any(axis=1)
    may_lead[frozen] = is_today[frozen]
    return may_lead


def can_be_led(problem: Problem) -> Flags:
    """A replica of today may lead, or can move to a broker that may."""
    today = candidates(problem, problem.replicas).any(axis=1)
    if today.all() or not problem.moves_replicas:
        return np.asarray(today)
    sets = problem.sets
    open_to = problem.takes_replicas & problem.takes_leaders & sets.brokers
    barred = np.zeros(problem.partition_count, dtype=np.int64)
    if problem.must_leave is not None:
        is_open_here = open_to[sets.of_partition[:, None], np.maximum(problem.replicas, 0)]
        barred = (problem.must_leave & (problem.replicas >= 0) & is_open_here).sum(axis=1)
    return np.asarray(today | (~problem.pinned & (barred < open_to.sum(axis=1)[sets.of_partition])))
