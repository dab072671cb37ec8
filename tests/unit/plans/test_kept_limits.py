from __future__ import annotations

import json

import numpy as np
import pytest

from kafka_rebalance.facts import FactCode
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.budget import first_lifted, lifted, lifts
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict, to_document
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.load import LoadColumn, LoadKind, LoadSource, PartitionLoads
from kafka_rebalance.snapshot.model import Broker, Capacity, ClusterSnapshot, Partition, Topic, partition_table
from kafka_rebalance.verify import verify_plan
from tests.sample import for_each

FAST, ALL = 5, 200


def loaded(seed: int) -> ClusterSnapshot:
    """Four to seven brokers, the first hold most; each can send half to 1.3 times the mean."""
    rng = np.random.default_rng(seed)
    count, rows = int(rng.integers(4, 8)), []
    odds = np.arange(count, 0, -1.0)
    for p in range(60):
        first, second = rng.choice(count, size=2, replace=False, p=odds / odds.sum()).tolist()
        size = int(rng.lognormal(0, 1) * 1e9)
        rows.append(Partition("t", p, (first, second), first, log_bytes=(size, size)))
    ins = rng.lognormal(0, 1, 60) * 1e5
    outs = ins * rng.uniform(0.5, 3, 60)
    capacity = Capacity(out_bytes_per_s=float(outs.sum() / count * rng.uniform(0.5, 1.3)))
    brokers = tuple(Broker(b, rack=f"r{b % 3}", capacity=capacity) for b in range(count))
    rates = {LoadKind.IN_BYTES_PER_S: ins, LoadKind.OUT_BYTES_PER_S: outs}
    loads = PartitionLoads({kind: LoadColumn(values, LoadSource.PROMETHEUS) for kind, values in rates.items()})
    return ClusterSnapshot("c", brokers, (Topic("t"),), partition_table(rows, {"t": 0}), loads=loads)


def planned(snapshot: ClusterSnapshot, **fields: object) -> Plan:
    plan = make_plan(snapshot, PlanOptions(within=0.1, with_frontier=False, **fields))  # type: ignore[arg-type]
    document = json.loads(json.dumps(to_document(plan)))
    assert [str(fault) for fault in verify_plan(document, snapshot).wrong] == []
    return plan


def test_who_would_be_lifted_is_named_with_what_they_can_carry() -> None:
    snapshot = loaded(9)
    problem = build_request(snapshot, PlanOptions(within=0.1)).problem(0.1)
    solution = solve(problem)  # even, and above what they can: what a plan must not be
    assert lifts(problem, solution)
    out = problem.resources.index("out")
    assert set(np.argwhere(lifted(problem, solution))[:, 1].tolist()) == {out}
    assert first_lifted(problem, solution).args["resource"] == "out"


@for_each("seed", range(ALL), fast=range(FAST), rest_mark=pytest.mark.matrix, rest_items=4)
def test_no_plan_lifts_anybody_above_a_limit(seed: int) -> None:
    """``verify`` looks at each broker: none above its limit carries more than before."""
    snapshot = loaded(seed)
    assert planned(snapshot).verdict in (Verdict.REBALANCE, Verdict.NOT_FIXABLE_BY_MOVING)
    removed = planned(snapshot, remove_brokers=frozenset({0}))
    if removed.verdict is Verdict.INFEASIBLE:
        assert removed.reasons[0].code is FactCode.BROKER_ABOVE_CAPACITY
