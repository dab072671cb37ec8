from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.broker_rules import broker_loss_overloads, rack_loss_overloads
from kafka_rebalance.findings.context import FindingContext
from kafka_rebalance.findings.finding import Severity
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.scoring.scores import AfterFailure, LoadAfterLoss, Losses, WorstLoss
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from tests.unit.planner.sample_clusters import random_cluster

SNAPSHOT = random_cluster(1, broker_count=6, topics=3)
PLAN = make_plan(SNAPSHOT, PlanOptions(within=0.3, with_frontier=False))


def losses(load: float | None) -> Losses:
    """Broker 3's loss brings broker 1 to ``load`` of 100."""
    worst = WorstLoss(None, None if load is None else LoadAfterLoss("3", 1, "out", load, 100.0))
    return Losses(worst, worst)


def context(before: float | None, after: float | None, *, has_plan: bool = True) -> FindingContext:
    plan = replace(PLAN, after_failure=AfterFailure(losses(before), losses(after)))
    return FindingContext(SNAPSHOT, score_cluster(SNAPSHOT), [], plan if has_plan else None, None)


def test_a_loss_above_capacity_is_told_with_its_amount_and_what_the_plan_leaves() -> None:
    assert PLAN.moves
    (broker_loss_overload,) = broker_loss_overloads(context(120.0, 110.0))
    assert (
        broker_loss_overload.subject,
        broker_loss_overload.severity,
        broker_loss_overload.evidence["over_capacity_ratio"],
    ) == ("3", Severity.MEDIUM, 1.2)
    args = broker_loss_overload.recommendation.args
    assert (args["broker"], args["overloaded_broker"], args["load"], args["capacity"]) == ("3", 1, 120.0, 100.0)
    assert args["way"].code is FactCode.PLAN_LEAVES_OVERLOAD
    assert args["way"].args["times_capacity"] == pytest.approx(1.1)
    assert round(broker_loss_overload.gain, 6) == 0.5
    (mended,) = rack_loss_overloads(context(130.0, 90.0))
    assert (mended.subject_type.value, mended.severity, mended.gain) == ("rack", Severity.HIGH, 1.0)
    assert mended.recommendation.args["way"] == fact(FactCode.PLAN_PREVENTS_OVERLOAD, kind="rack")


def test_nothing_is_told_below_capacity_or_where_nothing_is_known() -> None:
    assert not list(broker_loss_overloads(context(100.0, 90.0)))
    assert not list(broker_loss_overloads(context(None, None)))
    assert not list(rack_loss_overloads(context(150.0, 90.0, has_plan=False)))
