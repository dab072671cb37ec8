from __future__ import annotations

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.scales import can_be_led, candidates
from tests.unit.planner.hand_problems import random_problem


def plain_candidates(problem: Problem, p: int, held: list[int]) -> set[int]:
    """Brokers of ``held`` that may lead partition ``p``."""
    leader = int(problem.leader[p])
    if problem.pinned[p] and leader in held:
        return {leader}
    offline = set() if problem.must_leave is None else set(problem.replicas[p, problem.must_leave[p]].tolist())
    goes_on = {leader} if leader >= 0 and problem.keeps_leaders[leader] else set()
    return {b for b in held if b not in offline and (problem.takes_leaders[b] or b in goes_on)}


def plain_can_be_led(problem: Problem, p: int) -> bool:
    """By a replica of today's, or on an open broker without an offline one."""
    held = [b for b in problem.replicas[p].tolist() if b >= 0]
    if plain_candidates(problem, p, held):
        return True
    offline = set() if problem.must_leave is None else set(problem.replicas[p, problem.must_leave[p]].tolist())
    may_be_on = problem.sets.brokers[problem.sets.of_partition[p]]
    receives = problem.takes_replicas & problem.takes_leaders & may_be_on
    return bool(
        problem.moves_replicas and not problem.pinned[p] and any(receives[b] for b in range(5) if b not in offline)
    )


def test_candidates_and_what_can_be_led_are_what_plain_loops_find() -> None:
    draw, led = np.random.default_rng(3), []
    for case in range(150):
        problem = random_problem(draw)
        other = np.full(problem.replicas.shape, -1, dtype=np.int32)
        for p in range(8):
            width = int(draw.integers(1, problem.replicas.shape[1] + 1))
            other[p, :width] = draw.permutation(5)[:width]
        for replicas in (problem.replicas, other):
            may = candidates(problem, replicas)
            for p, line in enumerate(replicas.tolist()):
                results = {b for b, is_able in zip(line, may[p].tolist(), strict=True) if is_able}
                assert results == plain_candidates(problem, p, [b for b in line if b >= 0]), (case, p)
        led.append([plain_can_be_led(problem, p) for p in range(8)])
        assert can_be_led(problem).tolist() == led[-1], case
    assert 0.2 < np.mean(led) < 0.9
