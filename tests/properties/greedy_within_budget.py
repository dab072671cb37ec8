"""The greedy search that anybody would write first: the one step within the budget that lowers imbalance most, again.

Written from the rules alone, on whole tables of loads; nothing is kept between steps.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats, Ints
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.placed import plan_cost
from kafka_rebalance.plans.frontier.within_budget import fits_budget


def imbalance_of(problem: Problem, load: Floats) -> float:
    """Share of all load outside the bands, over or under whichever is more, summed over resources."""
    total = np.where(load.sum(axis=0) > 0, load.sum(axis=0), 1.0)
    above = np.maximum(load - problem.band_high, 0.0)[problem.stays].sum(axis=0)
    below = np.maximum(problem.band_low - load, 0.0)[problem.stays].sum(axis=0)
    return float((np.maximum(above, below) / total).sum())


def greedy(problem: Problem) -> tuple[Ints, Ints]:
    """Replicas and leaders from today's, by single replica moves (the leader goes along) and leader changes.

    For problems without racks, limits and anything that must move.
    """
    replicas, leader = problem.replicas.copy(), problem.leader.copy()
    while True:
        load = broker_loads(problem, replicas, leader)
        now, best = imbalance_of(problem, load), None
        for p, j, target, led in _steps(problem, replicas, leader):
            then = load.copy()
            if j >= 0:
                then[replicas[p, j]] -= problem.follower_load[p]
                then[target] += problem.follower_load[p]
            if led != leader[p]:
                then[leader[p]] -= problem.leader_extra[p]
                then[led] += problem.leader_extra[p]
            left = imbalance_of(problem, then)
            if left < now - 1e-12 and _is_within(problem, replicas, leader, (p, j, target, led)):
                now, best = left, (p, j, target, led)
        if best is None:
            return replicas, leader
        p, j, target, led = best
        if j >= 0:
            replicas[p, j] = target
        leader[p] = led


def _steps(problem: Problem, replicas: Ints, leader: Ints) -> list[tuple[int, int, int, int]]:
    """Partition, slot (-1: the leader alone), where it goes, who leads then."""
    steps = []
    for p in np.flatnonzero(~problem.pinned).tolist():
        held = [b for b in replicas[p].tolist() if b >= 0]
        steps += [(p, -1, -1, b) for b in held if b != leader[p]]
        if problem.moves_replicas:
            for j, source in enumerate(held):
                others = [b for b in range(problem.broker_count) if b not in held]
                steps += [(p, j, b, b if source == leader[p] else int(leader[p])) for b in others]
    return steps


def _is_within(problem: Problem, replicas: Ints, leader: Ints, step: tuple[int, int, int, int]) -> bool:
    p, j, target, led = step
    after, leads = replicas.copy(), leader.copy()
    if j >= 0:
        after[p, j] = target
    leads[p] = led
    return fits_budget(problem, plan_cost(problem, after, leads))
