"""Bands that nobody can meet: no side comes nearer alone, and within what is reached nothing is cheaper.

Both are asked of an exact model of small clusters, which shares no code with the planner.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.planner.solution import Solution
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.planner.widening import Levels, Side, reached_levels, widened_problem
from kafka_rebalance.plans.request import build_request
from tests.properties.exact_with_disks import ExactWithDisks
from tests.properties.small_clusters import small_cluster

# A side is as near as it can come if it cannot come nearer by so much of the mean, all others as they are.
NEARER = 0.01
MOST_OF_OPTIMUM = 1.05
FAST, ALL = (10, 23, 29, 385), range(420)


@pytest.mark.usefixtures("whole_search")
def test_no_side_of_a_widened_band_comes_nearer_alone_and_the_bytes_are_what_it_needs() -> None:
    assert _faults(FAST) == (len(FAST), [])


@pytest.mark.matrix
@pytest.mark.slow
def test_two_hundred_clusters_whose_bands_nobody_can_meet() -> None:
    count, faults = _faults(ALL)
    assert count >= 200
    assert faults == []


def _faults(seeds: Sequence[int]) -> tuple[int, list[str]]:
    """How many clusters had a band widened, and what is wrong with that."""
    found_count, faults = 0, []
    for seed in seeds:
        snapshot, options = small_cluster(seed)
        problem = build_request(snapshot, options).problem(options.band)
        try:
            solution = solve(problem)
        except InfeasibleError:
            continue
        levels = reached_levels(problem, solution.after)
        if problem.elects_preferred or not levels.sides() or _has_closed_rack(problem):
            continue
        found_count += 1
        faults += [
            f"seed {seed}: {fault}" for fault in (*_nearer(problem, levels), *_dearer(problem, solution, levels))
        ]
    return found_count, faults


def _has_closed_rack(problem: Problem) -> bool:
    """A rack whose brokers stay and take nothing new: the planner leaves its replicas there, the model need not."""
    return bool(set(problem.rack[problem.stays].tolist()) - set(problem.rack[problem.takes_replicas].tolist()))


def _nearer(problem: Problem, levels: Levels) -> list[str]:
    return [
        f"{problem.resources[side.resource]} could come from {levels.of(side):.3f} to {level:.3f}"
        for side, level in ((side, _one_step(levels, side)) for side in levels.sides())
        if ExactWithDisks(widened_problem(problem, levels.with_level(side, level))).least("leader_changes") is not None
    ]


def _one_step(levels: Levels, side: Side) -> float:
    return levels.of(side) - NEARER if side.is_high else levels.of(side) + NEARER


def _dearer(problem: Problem, solution: Solution, levels: Levels) -> list[str]:
    best = ExactWithDisks(widened_problem(problem, levels)).least("bytes")
    if best is None:
        return ["the exact model finds no plan within what this one reaches"]
    bytes_of_plan = solution.cost.bytes
    return [] if bytes_of_plan <= MOST_OF_OPTIMUM * best + 1 else [f"{bytes_of_plan:,.0f} bytes, {best:,.0f} would do"]


def test_levels_are_multiples_of_the_plain_mean_and_bands_follow_capacity() -> None:
    """The mean is the same for all; a band is widened by the level on every broker that stays, never narrowed."""
    snapshot, options = small_cluster(6)
    problem = build_request(snapshot, options).problem(options.band)
    levels = Levels(np.full(len(problem.resources), np.nan), np.full(len(problem.resources), np.nan))
    disk = problem.resources.index("disk")
    wider = widened_problem(problem, levels.with_level(Side(disk, is_high=True), 1.5))
    mean = (problem.follower_load[:, disk] * problem.target_rf).sum() / problem.capacity[problem.stays, disk].sum()
    assert wider.band_high[problem.stays, disk] == pytest.approx(1.5 * mean * problem.capacity[problem.stays, disk])
    assert np.array_equal(wider.band_low, problem.band_low)
    others = [d for d in range(len(problem.resources)) if d != disk]
    assert np.array_equal(wider.band_high[:, others], problem.band_high[:, others])
    assert not levels.sides()
