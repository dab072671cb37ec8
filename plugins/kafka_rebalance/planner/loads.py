"""What each broker carries under a placement, in absolute units."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.planner.problem import Floats, Ints, Problem
from kafka_rebalance.planner.state import sum_loads


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
