"""Are there brokers enough for the replicas that are wanted, and may what must be emptied be touched?

Example: factor 3 where two brokers take replicas: one is lacking, for all partitions that want it.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import FactCode, fact


def require_enough_brokers(problem: Problem) -> None:
    """Raises InfeasibleError where some partition has fewer lawful brokers than replicas, with how many are lacking,
    and where a broker must be emptied of what may not be touched. O(P·W).
    """
    sets = problem.sets
    open_to = problem.takes_replicas & sets.brokers
    is_open_here = open_to[sets.of_partition[:, None], np.maximum(problem.replicas, 0)]
    kept = (problem.replicas >= 0) & problem.stays[problem.replicas]
    barred = np.zeros(problem.partition_count, dtype=np.int64)
    if problem.must_leave is not None:
        kept &= ~problem.must_leave
        barred = (problem.must_leave & (problem.replicas >= 0) & is_open_here).sum(axis=1)
    keeps_closed = (kept & ~is_open_here).sum(axis=1)
    lawful = open_to.sum(axis=1)[sets.of_partition] + keeps_closed - barred
    lacking = np.where(problem.pinned, 0, problem.target_rf - lawful)
    if (lacking > 0).any():
        raise _too_few(problem, lacking, lawful)
    _require_touchable(problem)


def _too_few(problem: Problem, lacking: np.ndarray, lawful: np.ndarray) -> InfeasibleError:
    """The partition that lacks most stands for all that want as many and have as few."""
    row = int(lacking.argmax())
    wanted, may, short = int(problem.target_rf[row]), int(lawful[row]), int(lacking[row])
    alike = int(((lacking > 0) & (problem.target_rf == wanted) & (lawful == may)).sum())
    is_confined = bool(problem.is_confined[row])
    return InfeasibleError(
        fact(
            FactCode.TOO_FEW_BROKERS,
            replication_factor=wanted,
            brokers=may,
            lacking=short,
            partitions=alike,
            partition=problem.name_of(row),
            is_confined=is_confined,
        ),
        fact(FactCode.ADD_BROKERS, brokers=short, is_confined=is_confined, or_replication_factor=may or None),
    )


def _require_touchable(problem: Problem) -> None:
    """Raises InfeasibleError for the broker that must be emptied of what may not be touched, with how much that is."""
    there = (problem.replicas >= 0) & problem.pinned[:, None]
    on_leaving = there & ~problem.stays[np.where(there, problem.replicas, 0)]
    if not on_leaving.any():
        return
    rows, columns = np.nonzero(on_leaving)
    gone = int(problem.replicas[rows[0], columns[0]])
    held = rows[problem.replicas[rows, columns] == gone]
    broker = int(problem.broker_ids[gone])
    raise InfeasibleError(
        fact(
            FactCode.IMMOVABLE_ON_LEAVING_BROKER,
            broker=broker,
            partitions=len(held),
            partition=problem.name_of(int(held[0])),
        ),
        fact(FactCode.LET_MOVE, broker=broker, partitions=len(held)),
    )
