from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_rebalance.cluster_arrays.problem import Budget
from kafka_rebalance.cluster_arrays.snapshot_arrays import Wanted, assemble
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.budget import search
from tests.benchmarks.generated import generated


@pytest.mark.parametrize("seed", range(2))
def test_fewer_leader_changes_are_not_bought_with_bytes(seed: int) -> None:
    problem = assemble(*generated(8, 600, 3, seed=seed), Wanted(within=0.1, resources=("disk", "out", "leaders")))
    whole = solve(problem)
    most = whole.cost.leader_changes // 2
    result = search(replace(problem, budget=Budget(max_leader_changes=most)))
    assert 0 < result.cost.leader_changes <= most
    assert 0 < result.cost.bytes <= whole.cost.bytes
