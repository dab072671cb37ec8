"""The fewest leader changes that a leaders-only job can do with: exact for counts, so a bound for everything else."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.leaders.candidates import count_band
from kafka_rebalance.planner.leaders.even_counts import EvenLeaders, even_leaders
from kafka_rebalance.planner.may_lead import candidates


def least_leader_changes(problem: Problem) -> EvenLeaders | None:
    """The minimum for the band of leader counts, with the prices that prove it; rates can only ask for more.

    None where replicas may move (then a leader may come with its replica), where the preferred replica is to lead, or
    where no choice of leaders brings every count into its band.
    """
    d = problem.column("leaders")
    if problem.moves_replicas or problem.elects_preferred or d is None or not problem.partition_count:
        return None
    low, high = count_band(problem.band_low[:, d], problem.band_high[:, d])
    if (low > high).any():
        return None
    allowed = candidates(problem, problem.replicas)
    led = np.flatnonzero(allowed.any(axis=1))
    if len(led) < problem.partition_count:
        return None
    found = even_leaders(problem.replicas, problem.leader, low, high, may_lead=allowed)
    return None if found.left else found
