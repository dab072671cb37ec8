from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_rebalance.cluster_arrays.problem import Budget
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.planner.solution import PlanCost
from kafka_rebalance.plans.budget import fits_budget, search, without_balance
from kafka_rebalance.plans.frontier import RatedPoint, are_bytes_known, in_order, named, without_vain
from kafka_rebalance.plans.params import DEFAULTS
from kafka_rebalance.plans.plan import FrontierPoint
from tests.unit.planner.hand_problems import THREE, hand_problem

LEAST_POINTS = DEFAULTS.frontier.least_points


def point(size: int | None, unevenness: float, *, tolerance: float = 0.1, chosen: bool = False) -> RatedPoint:
    moves = 0 if size == 0 else 1
    return RatedPoint(FrontierPoint(tolerance, size, moves, 0, None, {}, is_recommended=chosen), unevenness)


def test_points_stand_by_price() -> None:
    ordered = in_order([point(30, 0.1), point(0, 0.9), point(10, 0.5)])
    assert [(rated.point.bytes, rated.unevenness) for rated in ordered] == [(0, 0.9), (10, 0.5), (30, 0.1)]


def test_a_point_dearer_than_a_more_even_one_takes_that_ones_place() -> None:
    ordered = in_order([point(20, 0.5, tolerance=0.2), point(10, 0.3, tolerance=0.1), point(0, 0.9, tolerance=0.5)])
    assert [(rated.point.bytes, rated.point.tolerance) for rated in ordered] == [(0, 0.5), (10, 0.2), (10, 0.1)]


def test_the_plan_itself_stays_what_it_is() -> None:
    ordered = in_order([point(20, 0.5, chosen=True), point(10, 0.3)])
    assert [rated.point.bytes for rated in ordered] == [10, 20]


def test_a_point_that_costs_more_and_is_more_even_nowhere_is_left_out() -> None:
    """Compared with cheaper points and with the plan, which stays; the same plan for another band costs no more."""

    def skewed(size: int, disk: float, leaders: float, *, chosen: bool = False) -> RatedPoint:
        rated = point(size, disk + leaders - 2, chosen=chosen)
        return replace(rated, point=replace(rated.point, skew={"disk": disk, "leaders": leaders}))

    plan, vain, twin = skewed(0, 1.2, 1.2, chosen=True), skewed(50, 1.2 - 4e-10, 1.2), skewed(60, 1.2, 1.1)
    assert without_vain([plan, vain, twin, twin]) == [plan, twin, twin]
    dear = skewed(90, 1.3, 1.3, chosen=True)
    assert without_vain([skewed(0, 1.2, 1.2), dear]) == [skewed(0, 1.2, 1.2), dear]


def test_where_a_size_is_unknown_replicas_are_the_price() -> None:
    points = [point(None, 0.5), point(10, 0.3)]
    assert not are_bytes_known(points)
    assert points[0].price(by_bytes=False) == (0, 1, 0)


def test_the_knee_is_farthest_below_the_straight_line() -> None:
    """From (0, 1.0) to (70, 0): at 20 bytes 0.2 are left, 0.51 below the line; at 10 bytes most fell for each byte."""
    rest = [1.0, 0.55, 0.2, 0.16, 0.12, 0.08, 0.04, 0.0]
    points = named([point(10 * i, rest[i]) for i in range(len(rest))])
    assert {i: item.name for i, item in enumerate(points) if item.name} == {1: "cheap", 2: "knee", 7: "even"}
    assert all(item.reasons for item in points if item.name)


def test_too_few_points_or_none_that_moves_anything_have_no_names() -> None:
    assert named([point(10 * i, 1.0 - i / 10) for i in range(DEFAULTS.frontier.least_points - 1)]) == ()
    assert named([point(0, 1.0)] * DEFAULTS.frontier.least_points) == ()


def test_each_limit_of_a_budget_counts() -> None:
    problem = hand_problem(THREE, 3)
    for budget in (Budget(max_bytes=9.0), Budget(max_replica_moves=1), Budget(max_leader_changes=1)):
        tight = replace(problem, budget=budget)
        assert fits_budget(tight, PlanCost(9.0, 1, 1))
        assert not fits_budget(tight, PlanCost(10.0, 2, 2))
    assert fits_budget(problem, PlanCost(1e30, 10**9, 10**9))


def test_a_budget_below_the_cheapest_move_moves_nothing() -> None:
    """15, 10 and 5 GB in 6, 4 and 5: the least move into 8..12 is 4 GB."""
    problem = hand_problem(THREE, 3, within=0.2)
    assert search(problem).cost.bytes == 4.0
    assert search(replace(problem, budget=Budget(max_bytes=4.0))).cost.bytes == 4.0
    assert search(replace(problem, budget=Budget(max_bytes=3.9))).cost.bytes == 0.0


def test_what_must_move_is_not_cut_by_a_budget() -> None:
    problem = hand_problem(THREE, 3, within=0.2, leaving=[2])  # its 5 GB have one place to go
    with pytest.raises(InfeasibleError, match=r"budget_too_small\(copied_bytes=5.0"):
        search(replace(problem, budget=Budget(max_bytes=4.9)))


def test_without_balance_any_load_is_inside() -> None:
    problem = without_balance(hand_problem(THREE, 3))
    assert problem.band_low.max() == 0
    assert problem.band_high.min() == pytest.approx(60.0)  # twice all there is


def cheap(*, is_free: bool) -> Fact:
    return fact(FactCode.POINT_CHEAP, unit="bytes", is_free=is_free, is_beside_forced=False)


def test_what_is_free_is_no_bargain_for_each_byte_where_anything_before_the_knee_costs_some() -> None:
    """Costs 0, 0, 10, 20, …: the second is free. With the knee at 20 the bargain is 10; at 10 only the free one is
    left.
    """
    cost = [0, 0, *range(10, 80, 10)]
    late = named([point(cost[i], rest) for i, rest in enumerate([1.0, 0.9, 0.6, 0.3, 0.28, 0.26, 0.25, 0.24, 0.23])])
    assert [result.name for result in late[:4]] == [None, None, "cheap", "knee"]
    assert late[2].reasons == (cheap(is_free=False),)
    early = named([point(cost[i], rest) for i, rest in enumerate([1.0, 0.5, 0.4, 0.3, 0.25, 0.2, 0.18, 0.17, 0.16])])
    assert [result.name for result in early[:3]] == [None, "cheap", "knee"]
    assert early[1].reasons == (cheap(is_free=True),)
