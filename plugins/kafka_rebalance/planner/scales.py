"""Units of the search: mean loads of brokers for what is loaded, mean bytes of brokers for what is copied."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.problem import Problem


def resource_scale(problem: Problem) -> Floats:
    """float64[D]: mean load per broker that stays, 1 where there is none."""
    total = (problem.follower_load * problem.target_rf[:, None] + problem.leader_extra).sum(axis=0)
    mean: Floats = total / max(1, int(problem.stays.sum()))
    return np.where(mean > 0, mean, 1.0)


def mean_bytes(problem: Problem) -> float:
    """Bytes of all replicas per broker that stays."""
    return float((problem.move_bytes * problem.target_rf).sum()) / max(1, int(problem.stays.sum()))


def move_costs(problem: Problem, per_move: float) -> Floats:
    """float64[P]: bytes of a new copy in units of the mean bytes per broker, plus a little for the move itself."""
    total = float((problem.move_bytes * problem.target_rf).sum())
    brokers = max(1, int(problem.stays.sum()))
    replicas = max(1, int(problem.target_rf.sum()))
    if total <= 0:
        return np.full(problem.partition_count, brokers / replicas)
    return problem.move_bytes * (brokers / total) + per_move * brokers / replicas


def bytes_per_move(problem: Problem, worth_per_move: float) -> float:
    """What a move is charged beside its bytes where it is a share of a replica's mean bytes."""
    total = float((problem.move_bytes * problem.target_rf).sum())
    return worth_per_move * total / max(1, int(problem.target_rf.sum()))
