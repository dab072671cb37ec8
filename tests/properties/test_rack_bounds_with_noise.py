"""Bounds of racks that each hold one replica of every partition, of sizes that differ: never above the optimum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.problem import MeasuredLoads, Problem
from kafka_rebalance.cluster_arrays.snapshot_arrays import Brokers, Placement, Wanted, assemble
from kafka_rebalance.planner.bounds import lower_bounds, proven_by, raised
from tests.properties.exact_plans import ExactPlans

FAST, ALL = range(40), range(40, 1000)
SLACK = 1e-6


def test_no_bound_of_racks_is_above_the_optimum() -> None:
    _hold_all(FAST, least=5)


@pytest.mark.matrix
@pytest.mark.slow
def test_no_bound_of_racks_is_above_the_optimum_of_a_thousand_clusters() -> None:
    _hold_all(ALL, least=100)


def _hold_all(seeds: Sequence[int], least: int) -> None:
    """In ``least`` clusters racks prove more than excess or deficit of the whole cluster."""
    faults, stronger = [], 0
    for seed in seeds:
        problem = _two_racks(seed)
        bounds, optimum = lower_bounds(problem), ExactPlans(problem).least("bytes")
        if optimum is None:
            continue
        most = optimum + SLACK * max(optimum, 1.0)
        proved = [*bounds.parts.values(), raised(problem, bounds).bytes.value, *_shaken(problem, seed)]
        faults += [f"seed {seed}: {value:.9g} is above {optimum:.9g}" for value in proved if value > most]
        parts = bounds.parts
        stronger += parts.get("racks", 0.0) > (1 + SLACK) * max(parts["excess"], parts["deficit"])
    assert faults == []
    assert stronger >= least


def _two_racks(seed: int) -> Problem:
    """Five or six brokers on two racks, up to 12 partitions with a replica in each; followers off by up to 30 %."""
    draw = np.random.default_rng(seed)
    left, right, count = 2 + int(draw.integers(2)), 3, int(draw.integers(7, 13))
    brokers = left + right
    replicas = np.column_stack([
        draw.choice(left, count, p=draw.dirichlet(np.ones(left))),
        left + draw.choice(right, count, p=draw.dirichlet(np.ones(right))),
    ]).astype(np.int32)  # fmt: skip
    replicas = draw.permuted(replicas, axis=1)
    size, every = draw.lognormal(0, 0.5, count), np.ones(brokers, dtype=np.bool_)
    own = size[:, None] * np.column_stack([np.ones(count), np.exp(draw.normal(0, draw.choice([0, 0.03, 0.3]), count))])
    flags = Brokers(
        ids=np.arange(brokers), rack=(np.arange(brokers) >= left).astype(np.int32), stays=every, takes_replicas=every,
        takes_leaders=every, keeps_leaders=every, is_new=~every,
    )  # fmt: skip
    placement = Placement(
        replicas=replicas, leader=replicas[:, 0].copy(), topic=np.zeros(count, dtype=np.int32),
        loads=MeasuredLoads(disk_bytes=size), own_disk=own,
    )  # fmt: skip
    return assemble(flags, placement, Wanted(within=float(draw.uniform(0.15, 0.5)), resources=("disk",)))


def _shaken(problem: Problem, seed: int) -> list[float]:
    """What prices of either sign at random prove."""
    draw = np.random.default_rng((seed, 1))
    shaken = [draw.normal(0.0, 1.0, (problem.broker_count, 1)) for _ in range(5)]
    return [proven_by(problem, prices, problem.move_bytes) for prices in shaken]
