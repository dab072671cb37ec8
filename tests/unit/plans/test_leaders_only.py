import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, to_document
from kafka_rebalance.verify import verify_plan
from tests.unit.planner.sample_clusters import random_cluster


def planned(seed: int, options: PlanOptions) -> Plan:
    snapshot = random_cluster(seed, topics=60)
    plan = make_plan(snapshot, options)
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    return plan


def skews(plan: Plan, resource: str) -> tuple[float, float]:
    outcome = next(resource_outcome for resource_outcome in plan.resources if resource_outcome.resource == resource)
    return outcome.skew_before, outcome.skew_after


@pytest.mark.parametrize("resource", ["out", "cpu", "leaders"])
@pytest.mark.parametrize("seed", [2, 5])
def test_one_target_is_met_or_neared_by_leaders_alone_and_nothing_is_copied(resource: str, seed: int) -> None:
    options = PlanOptions(leaders_only=True, with_frontier=False, targets={resource: Target(None, 1.1)})
    plan = planned(seed, options)
    before, after = skews(plan, resource)
    assert after < before
    assert (plan.cost.bytes, plan.cost.replica_moves) == (0, 0)
    assert all(sorted(move.from_replicas) == sorted(move.to_replicas) for move in plan.moves)


def test_leader_changes_within_a_budget_repair_as_much_as_they_can() -> None:
    free = planned(2, PlanOptions(leaders_only=True, with_frontier=False, within=0.1))
    limit = free.cost.leader_changes // 2
    plan = planned(2, PlanOptions(leaders_only=True, with_frontier=False, within=0.1, max_leader_changes=limit))
    assert 0 < plan.cost.leader_changes <= limit
    assert skews(plan, "leaders")[1] < skews(plan, "leaders")[0]


def test_disk_and_incoming_bytes_are_left_out_and_it_is_said_why() -> None:
    plan = planned(2, PlanOptions(leaders_only=True, with_frontier=False))
    assert plan.left_out["disk"] == plan.left_out["in"] == fact(FactCode.REPLICAS_STAY)
