"""The plan that an executor finds is the plan that the shell finds."""

import json

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from rebalance_advisor.request.run_request import RunRequest

pytestmark = pytest.mark.stack


def test_each_request_gets_the_plan_of_its_options(spark, real_map):
    from rebalance_advisor.jobs.searching import search_plans
    from rebalance_advisor.version import advisor_version

    forms = [
        {"balance_within": 0.3},
        {"max_moves": 5, "exclude_topic": ["nothing"]},
        {"no_frontier": True, "leaders_only": True},
    ]
    options = [
        PlanOptions(within=0.3),
        PlanOptions(max_moves=5, exclude_topics=("nothing",)),
        PlanOptions(leaders_only=True, with_frontier=False),
    ]
    expected = [
        to_document(make_plan(real_map, option, seed=7, advisor_version=advisor_version())) for option in options
    ]
    requests = [RunRequest.from_mapping({**form, "seed": 7}) for form in forms]
    assert search_plans(spark, real_map, requests) == json.loads(json.dumps(expected))


def test_a_topic_that_the_gate_holds_is_left_alone(real_map):
    from rebalance_advisor.jobs.searching import plan_without_frontier, request_of
    from rebalance_advisor.store import Quarantined, Run

    topic = real_map.topics[0].name
    run = Run(1, "run", "kit", "snapshot", {"balance_within": 0.3, "exclude_topic": ["a.*"]}, 0, "running", 12)
    held = [Quarantined(kind, name, "rule") for kind, name in (("topic", topic), ("topic", "b.c"), ("group", "g"))]
    request = request_of(run, held)
    assert request.options.exclude_topics[0] == "a.*"
    assert r"b\.c" in request.options.exclude_topics
    assert plan_without_frontier(real_map, RunRequest.from_mapping({"balance_within": 0.3}))["moves"]
    assert all(move["topic"] != topic for move in plan_without_frontier(real_map, request)["moves"])
