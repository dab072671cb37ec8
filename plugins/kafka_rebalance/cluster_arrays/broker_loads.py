"""What each broker carries under a placement, in absolute units."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_rebalance.arrays import Floats, Ints
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.kernels.decorators import kernel


class Carried(NamedTuple):
    """What replicas weigh, in the units wanted: ``follower`` float64[P, D], ``extra`` of leaders float64[P, D].

    ``own`` float64[P, W]: disk of today's replica beyond the leader's (float64[0, 0] where not known), which is added
    to the resource ``disk_column``.
    """

    follower: Floats
    extra: Floats
    own: Floats
    disk_column: int


def broker_loads(problem: Problem, replicas: Ints, leader: Ints) -> Floats:
    """float64[B, D] of ``replicas`` int32[P, W] led by brokers ``leader`` int32[P] (-1: nobody). O(P·W·D)."""
    load = np.zeros((problem.broker_count, len(problem.resources)))
    led = (replicas == leader[:, None]) & (replicas >= 0)
    replica_index = np.where(led.any(axis=1), led.argmax(axis=1), -1).astype(np.int32)
    disk = problem.column("disk")
    own = np.zeros((0, 0))
    if problem.own_disk is not None and disk is not None:
        own = problem.own_disk - problem.move_bytes[:, None]
    carried = Carried(problem.follower_load, problem.leader_extra, own, -1 if disk is None else disk)
    sum_loads(replicas, problem.replicas, replica_index, carried, load)
    return load


@kernel
def sum_loads(replicas: Ints, original: Ints, leader_index: Ints, carried: Carried, load: Floats) -> None:
    """Add up ``load`` float64[brokers, D] of a placement."""
    follower, extra, own, disk_column = carried
    for p in range(replicas.shape[0]):
        for j in range(replicas.shape[1]):
            b = replicas[p, j]
            if b < 0:
                continue
            for d in range(load.shape[1]):
                load[b, d] += follower[p, d]
            if leader_index[p] == j:
                for d in range(load.shape[1]):
                    load[b, d] += extra[p, d]
            if own.shape[0] > 0:
                for i in range(original.shape[1]):
                    if original[p, i] == b:
                        load[b, disk_column] += own[p, i]
