"""Plans for clusters in trouble: Kafka can complete them, and no election undoes them."""

from __future__ import annotations

import pytest

from kafka_rebalance.plans.check import PlanStatus, ReasonCode, check_plan
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Verdict, to_document
from kafka_rebalance.verify import verify_plan
from tests.properties.unhealthy_clusters import faults_of, unhealthy_cluster
from tests.sample import for_each

# Of the cluster as it is, not of the plan: others' reassignments, writes that fail already, a broker yet to be added.
_OF_THE_CLUSTER = {ReasonCode.FOREIGN_REASSIGNMENT, ReasonCode.UNDER_MIN_ISR, ReasonCode.TARGET_GONE}


@pytest.mark.planned
@for_each("seed", range(2000), fast=range(80), rest_mark=pytest.mark.matrix, rest_items=4)
def test_no_plan_breaks_what_kafka_and_its_operators_count_on(seed: int) -> None:
    snapshot, options = unhealthy_cluster(seed)
    plan = make_plan(snapshot, options)
    document = to_document(plan)
    assert faults_of(document, snapshot, options) == []
    assert verify_plan(document, snapshot).wrong == ()
    if plan.verdict is Verdict.REBALANCE:
        checked = check_plan(document, snapshot)
        assert checked.status is PlanStatus.VALID or set(checked.codes) <= _OF_THE_CLUSTER, checked


def test_the_clusters_are_in_trouble_and_most_plans_move_something() -> None:
    made = [(snapshot, make_plan(snapshot, options)) for snapshot, options in map(unhealthy_cluster, range(60))]
    assert sum(plan.verdict is Verdict.REBALANCE for _, plan in made) > 30
    rows = [row for snapshot, _ in made for row in snapshot.each_partition()]
    for is_wanted in (
        lambda row: row.leader is not None and len(row.isr) < len(row.replicas),
        lambda row: row.leader is None,
        lambda row: row.leader not in (None, row.replicas[0]),
        lambda row: bool(row.adding),
    ):
        assert sum(map(is_wanted, rows)) > 30
