from __future__ import annotations

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.problem import broker_loads
from kafka_rebalance.cluster_arrays.snapshot_arrays import Wanted, assemble
from kafka_rebalance.planner.params import BAND_TOLERANCE
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.planner.solve import solve
from tests.benchmarks.generated import generated


@pytest.mark.parametrize("seed", [0, 9])  # regression: the plan of seed 9 had one change too many
def test_each_change_left_out_alone_leaves_a_band(seed: int) -> None:
    resources = ("disk", "in", "out", "replicas", "leaders")
    problem = assemble(*generated(8, 200, 3, seed=seed), Wanted(within=0.1, resources=resources))
    solution = solve(problem)
    changed = np.flatnonzero(
        (solution.leader != problem.leader) & (solution.replicas == problem.leader[:, None]).any(axis=1)
    )
    assert len(changed)
    for row in changed.tolist():
        leader = solution.leader.copy()
        leader[row] = problem.leader[row]
        load = broker_loads(problem, solution.replicas, leader)
        outside = np.maximum(load - problem.band_high, problem.band_low - load) / resource_scale(problem)
        assert outside.max() > BAND_TOLERANCE, row
