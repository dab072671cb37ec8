from __future__ import annotations

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Robustness, Verdict
from kafka_rebalance.snapshot.model import ClusterSnapshot
from tests.unit.planner.sample_clusters import GB, brokers, cluster, random_cluster, row


def planned(snapshot: ClusterSnapshot, seed: int = 0) -> tuple[Plan, Robustness]:
    plan = make_plan(snapshot, PlanOptions(with_frontier=False), seed=seed)
    assert plan.robustness is not None
    assert (plan.robustness.trials, plan.robustness.noise) == (20, 0.30)
    return plan, plan.robustness


def test_a_large_skew_is_still_one_when_loads_are_off() -> None:
    plan, robustness = planned(random_cluster(3, topics=60))
    assert plan.verdict is Verdict.REBALANCE
    assert robustness.verdict_stands >= 18


def test_many_small_partitions_in_balance_stay_quiet_when_loads_are_off() -> None:
    plan, robustness = planned(cluster([row("t", p, [p % 4]) for p in range(400)], brokers(4)))
    assert plan.verdict is Verdict.NOTHING_TO_DO
    assert robustness.verdict_stands == 20


def test_a_balance_that_hangs_on_one_partition_a_broker_does_not_stand() -> None:
    """Each broker holds one partition: its load is off as far as that partition's."""
    plan, robustness = planned(cluster([row("t", p, [p], 10 * GB) for p in range(6)], brokers(6)))
    assert plan.verdict is Verdict.NOTHING_TO_DO
    assert robustness.verdict_stands < 10


def test_what_moving_cannot_mend_is_still_uneven_when_loads_are_off() -> None:
    rows = [row("huge", 0, [0], 900 * GB), *(row("small", p, [p % 3], GB) for p in range(3))]
    plan, robustness = planned(cluster(rows, brokers(3)))
    assert plan.verdict is Verdict.NOT_FIXABLE_BY_MOVING
    assert robustness.verdict_stands == 20


def test_where_nothing_was_measured_nothing_can_be_off() -> None:
    plan = make_plan(cluster([row("t", p, [0, 1], None) for p in range(30)], brokers(4)), PlanOptions())
    assert plan.robustness is None


def test_the_same_seed_says_the_same() -> None:
    snapshot = random_cluster(5)
    assert planned(snapshot, seed=7)[1] == planned(snapshot, seed=7)[1]
