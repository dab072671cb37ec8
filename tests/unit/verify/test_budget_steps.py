from __future__ import annotations

from typing import Any

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from kafka_rebalance.verify.verdict_rules import step_within_budget
from tests.unit.planner.sample_clusters import brokers, cluster, row

# Broker 0 leads all six and holds six replicas, 1 and 2 hold three each.
SNAPSHOT = cluster([row("t", p, (0, 1 + p % 2)) for p in range(6)], brokers(3))


def judged(snapshot: ClusterSnapshot = SNAPSHOT, **changed: int | None) -> list[str]:
    """Faults of a plan that does nothing within no budget at all, under other limits than it was made for."""
    options = PlanOptions(within=0.1, max_moves=0, max_leader_changes=0, with_frontier=False)
    document: dict[str, Any] = to_document(make_plan(snapshot, options))
    assert (document["verdict"], document["moves"]) == ("nothing_to_do", [])
    document["parameters"] = document["parameters"] | changed
    return [str(fault) for fault in verify_plan(document, snapshot).wrong if "budget allows" in str(fault)]


def test_a_step_that_the_budget_allows_refutes_a_plan_that_makes_none() -> None:
    """Broker 0 has nothing to give without its leadership, but 1's replicas may go nowhere better than 2."""
    assert step_within_budget({}, None, None, None) is None  # nothing has a band
    assert judged() == []
    assert "another leader of partition row 0" in judged(max_leader_changes=1)[0]
    assert judged(max_moves=1, max_move_bytes=1) == []  # no replica is that small, and no leader may change


def test_a_step_into_the_rack_of_another_replica_refutes_nothing() -> None:
    """Brokers 0 and 1 hold all six. Followers on 1 may go to 2 only if that is not in the rack of 0."""
    rows = [row("t", p, (0, 1)) for p in range(6)]
    assert judged(cluster(rows, brokers(3, racks=2)), max_moves=1) == []
    assert "a replica of partition row 0 on broker 2" in judged(cluster(rows, brokers(3, racks=3)), max_moves=1)[0]
