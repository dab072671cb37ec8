from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict, to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from tests.unit.planner.sample_clusters import GB, brokers, cluster, random_cluster, row
from tests.unit.verify.sample_plans import sealed

OPTIONS = {
    "default": PlanOptions(),
    "order": PlanOptions(within=0.05),
    "target": PlanOptions(targets={"disk": Target(None, 1.2)}),
    "leaders only": PlanOptions(leaders_only=True),
    "budget": PlanOptions(within=0.1, max_move_bytes=20 * GB),
    "drain": PlanOptions(remove_brokers=frozenset({3})),
}


@cache
def planned(option: str) -> tuple[Plan, ClusterSnapshot]:
    snapshot = random_cluster(11, topics=30)
    return make_plan(snapshot, OPTIONS[option]), snapshot


@pytest.mark.parametrize("option", OPTIONS)
def test_eight_points_or_more_run_from_least_to_even_none_below_its_bound(option: str) -> None:
    plan, snapshot = planned(option)
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    points = plan.frontier
    assert len(points) >= 8
    assert [point.name for point in points if point.name] == ["cheap", "knee", "even"]
    costs = [(point.bytes or 0, point.replica_moves, point.leader_changes) for point in points]
    assert costs == sorted(costs)
    assert all((point.lower_bound_bytes or 0) <= (point.bytes or 0) + 1 for point in points)
    assert points[-1].skew["leaders"] < points[0].skew["leaders"]


@pytest.mark.parametrize("option", OPTIONS)
def test_the_recommended_point_is_the_plan_and_says_why(option: str) -> None:
    plan, _ = planned(option)
    (point,) = (own for own in plan.frontier if own.is_recommended)
    assert (point.bytes, point.replica_moves) == (plan.cost.bytes, plan.cost.replica_moves)
    assert point.reasons


def test_the_first_point_moves_nothing_unless_something_must_move() -> None:
    assert planned("default")[0].frontier[0].replica_moves == 0
    drained = planned("drain")[0].frontier[0]
    assert drained.bytes == drained.lower_bound_bytes
    assert drained.bytes


def test_where_nothing_is_advised_the_frontier_still_says_what_more_would_cost() -> None:
    plan = make_plan(random_cluster(1, topics=60), PlanOptions(dead_band=0.99))
    assert plan.verdict is Verdict.NOTHING_TO_DO
    assert plan.frontier[0].is_recommended
    assert plan.frontier[0].reasons[0] == plan.reasons[0]
    assert plan.frontier[-1].bytes


def test_no_frontier_where_nothing_can_move_where_it_cannot_be_and_where_it_is_not_wanted() -> None:
    alone = make_plan(cluster([row("t", p, [0]) for p in range(5)], brokers(1)), PlanOptions())
    too_many = make_plan(cluster([row("t", 0, [0])], brokers(2)), PlanOptions(replication_factor=3))
    unwanted = make_plan(random_cluster(1), PlanOptions(with_frontier=False))
    elected = make_plan(random_cluster(1), PlanOptions(preferred_election=True))
    assert [plan.frontier for plan in (alone, too_many, unwanted, elected)] == [(), (), (), ()]


def test_without_sizes_points_tell_moves_and_no_bytes() -> None:
    snapshot = cluster([row("t", p, [0, 1], None) for p in range(60)], brokers(6))
    plan = make_plan(snapshot, PlanOptions())
    assert verify_plan(to_document(plan), snapshot).is_right
    assert {point.bytes for point in plan.frontier if point.replica_moves} == {None}
    assert {point.bytes for point in plan.frontier if not point.replica_moves} == {0}
    assert plan.frontier[-1].replica_moves > 0


def _swap(points: list[dict[str, Any]]) -> None:
    points[3], points[-2] = points[-2], points[3]


SPOILED: dict[str, Callable[[list[dict[str, Any]]], object]] = {
    "a bound above its bytes": lambda points: points[-1].update(lower_bound_bytes=points[-1]["bytes"] * 2.0),
    "points out of order": _swap,
    "a name is missing": lambda points: next(point for point in points if point["name"] == "knee").update(name=None),
    "two have the same name": lambda points: points[-2].update(name="even"),
    "nothing is recommended": lambda points: [point.update(is_recommended=False) for point in points],
    "another one is recommended": lambda points: [
        point.update(is_recommended=point is points[-1], reasons=[{"code": "point_even", "args": {}}])
        for point in points
    ],
    "the recommended one is cheaper than the plan": lambda points: next(
        point for point in points if point["is_recommended"]
    ).update(replica_moves=1),
    "nothing moves and it is more even": lambda points: points[0]["skew"].update(disk=1.0),
    "too few points": lambda points: points.__delitem__(slice(1, -5)),
    "a resource is left out": lambda points: points[4]["skew"].pop("disk"),
    "a negative cost": lambda points: points[0].update(leader_changes=-1),
    "bytes are not told": lambda points: points[2].update(bytes=None),
    "no reason": lambda points: points[-1].update(reasons=[]),
}


@pytest.mark.parametrize("kind", SPOILED)
def test_a_frontier_that_was_tampered_with_is_caught(kind: str) -> None:
    plan, snapshot = planned("order")
    document = copy.deepcopy(json.loads(json.dumps(to_document(plan))))
    SPOILED[kind](document["frontier"])
    assert "frontier" in verify_plan(sealed(document), snapshot).counts
