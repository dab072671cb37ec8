from dataclasses import asdict, replace

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan
from rebalance_advisor.publish.plan_words import frontier_lines, frontier_rows, plan_lines
from tests.unit.planner.sample_clusters import random_cluster


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(random_cluster(2, broker_count=6, topics=8), PlanOptions())


def test_each_point_is_a_row_and_the_plan_is_marked(plan: Plan) -> None:
    rows = frontier_rows([asdict(point) for point in plan.frontier])
    assert len(rows) == len(plan.frontier) >= 8
    assert [row["name"] for row in rows if row["name"]] == ["cheap", "knee", "even"]
    assert sum(row["is_recommended"] for row in rows) == 1
    assert rows[-1]["band"] == "±1.0 %"


def test_a_point_without_a_known_size_says_so_and_not_zero(plan: Plan) -> None:
    unknown = [asdict(replace(point, bytes=None, lower_bound_bytes=None)) for point in plan.frontier]
    assert {row["bytes"] for row in frontier_rows(unknown)} == {"unknown"}


def test_the_terminal_names_cheap_knee_and_even(plan: Plan) -> None:
    text = "\n".join(frontier_lines([asdict(point) for point in plan.frontier]))
    assert all(name in text for name in ("cheap", "knee", "even", "(this plan)"))
    assert text in "\n".join(plan_lines(plan))
