import numpy as np

from kafka_rebalance.facts import FactCode
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict, to_document
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    ClusterSnapshot,
    Partition,
    Topic,
    partition_table,
)
from kafka_rebalance.verify import verify_plan


def uneven(state: BrokerState = BrokerState.ALIVE) -> ClusterSnapshot:
    """Six brokers; the first two hold most of 120 partitions of 1,000 to 2,000 bytes."""
    rng = np.random.default_rng(3)
    rows = []
    for p in range(120):
        first = int(rng.choice(6, p=[0.35, 0.3, 0.1, 0.1, 0.1, 0.05]))
        second = int((first + 1 + rng.integers(5)) % 6)
        size = int(rng.integers(1000, 2000))
        rows.append(Partition("t", p, (first, second), first, log_bytes=(size, size)))
    brokers = tuple(Broker(b, state=state if b == 5 else BrokerState.ALIVE) for b in range(6))
    return ClusterSnapshot("c", brokers, (Topic("t"),), partition_table(rows, {"t": 0}))


def planned(snapshot: ClusterSnapshot, **limits: int) -> Plan:
    plan = make_plan(snapshot, PlanOptions(within=0.1, **limits))
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    return plan


def skew(plan: Plan) -> float:
    return next(outcome.skew_after for outcome in plan.resources if outcome.resource == "disk")


def test_a_larger_budget_buys_no_less_balance_and_is_never_exceeded() -> None:
    free = planned(uneven())
    assert free.cost.bytes
    skews = []
    for share in (0.2, 0.5, 0.8):
        limit = int(free.cost.bytes * share)
        plan = planned(uneven(), max_move_bytes=limit)
        assert 0 < (plan.cost.bytes or 0) <= limit
        skews.append(skew(plan))
    assert skews == sorted(skews, reverse=True)
    assert skews[-1] >= skew(free) - 1e-9


def test_moves_and_leader_changes_are_limited_too() -> None:
    assert planned(uneven(), max_moves=7).cost.replica_moves <= 7
    assert planned(uneven(), max_leader_changes=3).cost.leader_changes <= 3


def test_no_budget_at_all_moves_nothing() -> None:
    assert planned(uneven(), max_move_bytes=0, max_leader_changes=0).moves == ()


def test_what_must_move_is_not_left_out_for_a_budget() -> None:
    plan = make_plan(uneven(BrokerState.DRAINING), PlanOptions(within=0.1, max_moves=2))
    assert plan.verdict is Verdict.INFEASIBLE
    assert plan.reasons[0].code is FactCode.BUDGET_TOO_SMALL
