"""Which replicas may lead, and what can be led by somebody who may."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Ints
from kafka_rebalance.cluster_arrays.problem import Problem


def candidates(problem: Problem, replicas: Ints) -> Flags:
    """bool[P, W]: replicas that may lead, none in an offline dir.

    Pinned partitions keep their leader; so does a partition none may lead.
    """
    is_there = replicas >= 0
    is_today = is_there & (replicas == problem.leader[:, None])
    may_lead: Flags = is_there & (problem.takes_leaders[replicas] | (is_today & problem.keeps_leaders[replicas]))
    if problem.must_leave is not None:
        for j in range(problem.replicas.shape[1]):
            offline = np.where(problem.must_leave[:, j], problem.replicas[:, j], NOBODY)
            may_lead &= replicas != offline[:, None]
    frozen = problem.pinned & is_today.any(axis=1)
    may_lead[frozen] = is_today[frozen]
    return may_lead


def can_be_led(problem: Problem) -> Flags:
    """bool[P]: somebody who may lead it can be had: one of today's replicas, else a broker that a replica can move to.

    Where this is false, and for what is pinned, a broker goes on leading that should not.
    """
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
