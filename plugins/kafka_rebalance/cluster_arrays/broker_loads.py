"""What each broker carries under a placement, in absolute units."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats, Ints
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.kernels.decorators import kernel


def broker_loads(problem: Problem, replicas: Ints, leader: Ints) -> Floats:
    """float64[B, D] of ``replicas`` int32[P, W] led by brokers ``leader`` int32[P] (-1: nobody). O(P·W·D)."""
    load = np.zeros((problem.broker_count, len(problem.resources)))
    led = (replicas == leader[:, None]) & (replicas >= 0)
    slot = np.where(led.any(axis=1), led.argmax(axis=1), -1).astype(np.int32)
    disk = problem.column("disk")
    own = np.zeros((0, 0))
    if problem.own_disk is not None and disk is not None:
        own = problem.own_disk - problem.move_bytes[:, None]
    sum_loads(
        replicas,
        problem.replicas,
        slot,
        problem.follower_load,
        problem.leader_extra,
        own,
        -1 if disk is None else disk,
        load,
    )
    return load


@kernel
def sum_loads(
    replicas: Ints,
    home: Ints,
    leader_slot: Ints,
    follower: Floats,
    extra: Floats,
    own: Floats,
    disk_column: int,
    load: Floats,
) -> None:
    """Add up ``load`` float64[brokers, D] of a placement."""
    for p in range(replicas.shape[0]):
        for j in range(replicas.shape[1]):
            b = replicas[p, j]
            if b < 0:
                continue
            for d in range(load.shape[1]):
                load[b, d] += follower[p, d]
            if leader_slot[p] == j:
                for d in range(load.shape[1]):
                    load[b, d] += extra[p, d]
            if own.shape[0] > 0:
                for i in range(home.shape[1]):
                    if home[p, i] == b:
                        load[b, disk_column] += own[p, i]
