"""The plan that an executor finds is the plan that the shell finds."""

import json

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.builder import make_plan
from kafka_rebalance.plans.plan import to_document

pytestmark = pytest.mark.stack


def test_each_form_gets_the_plan_of_its_options(spark, real_map):
    from rebalance_advisor.version import advisor_version
    from spark_jobs.search_plan import search_plans

    forms = [{"balance_within": 0.3}, {"max_moves": 5, "exclude_topic": ["nothing"]}]
    options = [PlanOptions(within=0.3), PlanOptions(max_moves=5, exclude_topics=("nothing",))]
    expected = [to_document(make_plan(real_map, each, seed=7, advisor_version=advisor_version())) for each in options]
    assert search_plans(spark, real_map, forms, 7) == json.loads(json.dumps(expected))


def test_a_topic_that_the_gate_holds_is_left_alone(real_map):
    from spark_jobs.search_plan import plan_for, without_topics

    topic = real_map.topics[0].name
    form = without_topics({"balance_within": 0.3, "exclude_topic": ["a.*"]}, [topic, "b.c"])
    assert form["exclude_topic"][0] == "a.*"
    assert r"b\.c" in form["exclude_topic"]
    assert plan_for(real_map, {"balance_within": 0.3}, 0)["moves"]
    assert all(move["topic"] != topic for move in plan_for(real_map, form, 0)["moves"])
