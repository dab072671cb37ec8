from __future__ import annotations

from dataclasses import replace

from kafka_rebalance.cluster_arrays.problem import broker_loads
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.dead_band import worst_deviation
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Verdict, to_document
from kafka_rebalance.plans.request import build_request
from tests.unit.planner.sample_clusters import random_cluster


def test_who_stayed_put_stays_put_until_a_tenth_beyond_the_dead_band() -> None:
    snapshot, options = random_cluster(3, broker_count=6, topics=12), PlanOptions(with_frontier=False)
    problem = build_request(snapshot, options).problem(options.band)
    worst = worst_deviation(problem, broker_loads(problem, problem.replicas, problem.leader), options.band or 0.0)
    assert worst is not None
    far = abs(worst.ratio - 1)
    resting = make_plan(snapshot, replace(options, dead_band=far * 2))
    just_beyond, well_beyond = replace(options, dead_band=far / 1.05), replace(options, dead_band=far / 1.15)

    assert resting.verdict is Verdict.NOTHING_TO_DO
    assert make_plan(snapshot, just_beyond).verdict is Verdict.REBALANCE
    assert make_plan(snapshot, just_beyond, previous=to_document(resting)).verdict is Verdict.NOTHING_TO_DO
    assert make_plan(snapshot, well_beyond, previous=to_document(resting)).verdict is Verdict.REBALANCE
