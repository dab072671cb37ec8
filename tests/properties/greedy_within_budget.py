"""The greedy search that anybody would write first: the one step within the budget that lowers imbalance most, again.

Written from the rules alone, on whole tables of loads; nothing is kept between steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kafka_assignors.arrays import ABSENT, Floats, Ints
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.planner.placed import plan_cost
from kafka_rebalance.plans.budget import fits_budget

Step = tuple[int, int, int, int]  # partition, slot (-1: the leader alone), where it goes, who leads then


def imbalance_of(problem: Problem, load: Floats) -> float:
    """Share of all load outside the bands, over or under whichever is more, summed over resources."""
    total = np.where(load.sum(axis=0) > 0, load.sum(axis=0), 1.0)
    above = np.maximum(load - problem.band_high, 0.0)[problem.stays].sum(axis=0)
    below = np.maximum(problem.band_low - load, 0.0)[problem.stays].sum(axis=0)
    return float((np.maximum(above, below) / total).sum())


def greedy(problem: Problem, fits: Callable[[Ints, Ints], bool] | None = None) -> tuple[Ints, Ints]:
    """Replicas and leaders from today's, by single replica moves (the leader goes along) and leader changes.

    ``fits``: replicas and leaders that the budget allows; the problem's, where None. For problems without limits and
    anything that must move, at most one replica of a partition in a rack.
    """
    is_within = fits or (lambda after, leads: fits_budget(problem, plan_cost(problem, after, leads)))
    replicas, leader = problem.replicas.copy(), problem.leader.copy()
    while True:
        now = imbalance_of(problem, broker_loads(problem, replicas, leader))
        steps = _steps(problem, replicas, leader)
        left = _imbalances_after(problem, replicas, leader, steps)
        lower = np.flatnonzero(left < now - 1e-12)
        nearest = lower[np.argsort(left[lower], kind="stable")]
        best = next((steps[n] for n in nearest.tolist() if is_within(*_taken(replicas, leader, steps[n]))), None)
        if best is None:
            return replicas, leader
        replicas, leader = _taken(replicas, leader, best)


def _imbalances_after(problem: Problem, replicas: Ints, leader: Ints, steps: Sequence[Step]) -> Floats:
    """Imbalance after each step alone."""
    load = broker_loads(problem, replicas, leader)
    p, j, target, led = np.array(steps, dtype=np.int64).reshape(-1, 4).T
    then, row = np.broadcast_to(load, (len(p), *load.shape)).copy(), np.arange(len(p))
    moves = np.flatnonzero(j >= 0)
    then[moves, replicas[p, j][moves]] -= problem.follower_load[p[moves]]
    then[moves, target[moves]] += problem.follower_load[p[moves]]
    then[row, leader[p]] -= problem.leader_extra[p]
    then[row, led] += problem.leader_extra[p]
    total = np.where(load.sum(axis=0) > 0, load.sum(axis=0), 1.0)
    above = np.maximum(then - problem.band_high, 0.0)[:, problem.stays].sum(axis=1)
    below = np.maximum(problem.band_low - then, 0.0)[:, problem.stays].sum(axis=1)
    result: Floats = (np.maximum(above, below) / total).sum(axis=1)
    return result


def _steps(problem: Problem, replicas: Ints, leader: Ints) -> list[Step]:
    """All that can be done next."""
    steps = []
    for p in np.flatnonzero(~problem.pinned).tolist():
        held = [b for b in replicas[p].tolist() if b >= 0]
        steps += [(p, -1, -1, b) for b in held if b != leader[p]]
        if problem.moves_replicas:
            for j, source in enumerate(held):
                others = [b for b in range(problem.broker_count) if b not in held and _is_apart(problem, held, j, b)]
                steps += [(p, j, b, b if source == leader[p] else int(leader[p])) for b in others]
    return steps


def _is_apart(problem: Problem, held: list[int], j: int, target: int) -> bool:
    """No other replica than the one that goes there is in the rack of ``target``; who has no rack is apart."""
    rack = problem.rack[target]
    return rack == ABSENT or all(problem.rack[b] != rack for k, b in enumerate(held) if k != j)


def _taken(replicas: Ints, leader: Ints, step: Step) -> tuple[Ints, Ints]:
    p, j, target, led = step
    after, leads = replicas.copy(), leader.copy()
    if j >= 0:
        after[p, j] = target
    leads[p] = led
    return after, leads
