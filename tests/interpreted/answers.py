"""Answers to small cases of everything that kernels compute, as text: the same whether they are compiled or not.

``python -m tests.interpreted.answers`` prints them; ``tests/unit/kernels/test_interpreted_kernels.py`` compares.
"""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np

from kafka_assignors.partitioners import registry as partitioners
from kafka_assignors.partitioners.contract import RecordSample, TopicTarget
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.placement.recorded_cases import answer
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.request import build_request
from tests.conformance.recorded import cases, families
from tests.unit.planner.sample_clusters import random_cluster

# Recorded cases of each family that are answered, the smallest first.
CASES = 2


def assignments() -> list[object]:
    """Of each recorded family the smallest cases."""
    answered: list[object] = []
    for family in families():
        smallest = sorted(cases(family), key=lambda case: len(json.dumps(case["input"])))[:CASES]
        answered += [answer({field: case[field] for field in ("id", "strategy", "input")}) for case in smallest]
    return answered


def partitions() -> list[object]:
    """A few hundred keys, some null, some empty, through every partitioner."""
    rng = np.random.default_rng(1)
    keys: list[bytes | None] = [
        bytes(rng.integers(0, 256, int(rng.integers(0, 24)), dtype=np.uint8)) for _ in range(200)
    ]
    keys += [None] * 20
    sample = RecordSample.of_keys(KeyColumn.of(keys))
    return [
        [name, partitioners.by_name(name).partition(sample, TopicTarget(7)).tolist()]
        for name in sorted(partitioner.name for partitioner in partitioners.BUILT_IN)
    ]


def plans() -> list[object]:
    """Replicas, leaders, cost and bound of small clusters, with rates and without, one of them losing a broker."""
    answered: list[object] = []
    for seed, options in (
        (1, PlanOptions()),
        (2, PlanOptions(remove_brokers=frozenset({0}))),
        (3, PlanOptions(within=0.3)),
    ):
        plan_request = build_request(
            random_cluster(seed, broker_count=4, topics=2, racks=2, with_rates=seed != 2), options
        )
        solution = solve(plan_request.problem(options.band))
        answered.append(
            [
                solution.replicas.tolist(), solution.leader.tolist(), solution.cost.bytes,
                solution.bounds.bytes.value, asdict(solution.statistics),
            ]
        )  # fmt: skip
    return answered


def answers() -> str:
    """All of them as JSON."""
    return json.dumps({"assignments": assignments(), "partitions": partitions(), "plans": plans()}, sort_keys=True)


if __name__ == "__main__":
    print(answers())
