import json
from dataclasses import asdict, replace

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Watched
from rebalance_advisor.page.pictures import bands
from rebalance_advisor.page.routes import point_rows
from rebalance_advisor.publish.plan_text import frontier_lines, frontier_rows, plan_lines
from rebalance_advisor.publish.report import plan_section
from rebalance_advisor.store.rows.results import _frontier_rows as frontier_point_rows
from rebalance_advisor.store.rows.results import _resource_rows as plan_resource_rows
from tests.unit.planner.sample_clusters import random_cluster


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(random_cluster(2, broker_count=6, topics=8), PlanOptions())


def balanced(plan: Plan) -> list[str]:
    return [outcome.resource for outcome in plan.resources if outcome.watched is None]


def test_each_point_is_a_row_and_the_plan_is_marked(plan: Plan) -> None:
    rows = frontier_rows([asdict(point) for point in plan.frontier], balanced(plan))
    assert len(rows) == len(plan.frontier) >= 8
    assert [row["name"] for row in rows if row["name"]] == ["cheap", "knee", "even"]
    assert sum(row["is_recommended"] for row in rows) == 1
    assert rows[-1]["band"] == "±1.0 %"


def test_a_point_without_a_known_size_says_so_and_not_zero(plan: Plan) -> None:
    unknown = [asdict(replace(point, bytes=None, lower_bound_bytes=None)) for point in plan.frontier]
    assert {row["bytes"] for row in frontier_rows(unknown, balanced(plan))} == {"unknown"}


def test_the_terminal_names_cheap_knee_and_even(plan: Plan) -> None:
    text = "\n".join(frontier_lines([asdict(point) for point in plan.frontier], balanced(plan)))
    assert all(name in text for name in ("cheap", "knee", "even", "(this plan)"))
    assert text in "\n".join(plan_lines(plan))


def test_report_page_and_terminal_tell_the_same_skew_and_name_what_is_only_watched(plan: Plan) -> None:
    watched = Watched(broker=1, load=1.0, capacity=10.0, is_assumed=False)
    outcomes = tuple(
        replace(resource, watched=watched if resource.resource == "in" else None) for resource in plan.resources
    )
    points = tuple(replace(point, skew={**point.skew, "in": 9.0}) for point in plan.frontier)
    of = replace(plan, resources=outcomes, frontier=points)
    report = plan_section({"plan": of.document})
    stored = [row | {"reasons": json.loads(row["reasons"])} for row in frontier_point_rows(of)]
    page = point_rows(stored, list(bands(plan_resource_rows(of))))
    skews = [row["skew"] for row in report["frontier"]]
    assert skews == [row["skew"] for row in page]
    assert all("9.00" not in skew for skew in skews)
    assert all(skew in "\n".join(plan_lines(of)) for row, skew in zip(page, skews, strict=True) if row["name"])
    assert report["not_balanced"] == ["in"]
