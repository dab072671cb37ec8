"""Are there brokers enough for the replicas that are wanted, and may what must be emptied be touched?

Example: factor 3 where two brokers take replicas: one is lacking, for all partitions that want it.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError


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
    whose = "1 partition" if alike == 1 else f"{alike:,} partitions"
    brokers, verb = ("broker", "is") if short == 1 else ("brokers", "are")
    first = " first" if alike > 1 else ""
    confined = " where its topic is to be" if problem.is_confined[row] else ""
    return InfeasibleError(
        f"replication factor {wanted} needs as many brokers that may hold a replica, and only {may} may{confined}: "
        f"{short} {verb} lacking, for {whose} ({problem.name_of(row)}{first})",
        f"add {short} {brokers}{confined}" + (f", or ask for replication factor {may}" if may else ""),
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
    name, first = problem.broker_name(gone), problem.name_of(int(held[0]))
    whose = first if len(held) == 1 else f"{len(held):,} partitions ({first} first)"
    raise InfeasibleError(
        f"{whose} may not be touched, but {name} must be emptied", f"let {'it' if len(held) == 1 else 'them'} move, "
        f"or keep {name}",
    )  # fmt: skip
