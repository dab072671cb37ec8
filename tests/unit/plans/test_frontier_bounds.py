from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.bounds import better_prices
from kafka_rebalance.planner.params import AscentParams, BoundParams
from kafka_rebalance.plans.frontier import searched
from kafka_rebalance.plans.params import DEFAULTS
from kafka_rebalance.plans.request import build_request
from tests.benchmarks import bench_cpu
from tests.benchmarks.bench_scale import Size, skewed_snapshot

ASCENT = DEFAULTS.frontier.solve.bounds.ascent
SMALL = Size("small", brokers=12, partitions=300, racks=3)
LARGE = Size("large", brokers=100, partitions=10_000, racks=4)


@pytest.mark.parametrize(("size", "climbs"), [(SMALL, True), (LARGE, False)])
def test_prices_climb_for_a_point_in_all_their_steps_or_in_none(size: Size, *, climbs: bool) -> None:
    problem = build_request(skewed_snapshot(size), PlanOptions(within=0.03)).problem(0.03)
    prices = np.zeros_like(problem.band_high)
    assert (better_prices(problem, prices, ASCENT) is not None) == climbs
    assert ASCENT.least_steps == ASCENT.most_steps == AscentParams().most_steps


def test_without_the_climb_a_points_bound_is_weaker_and_still_one() -> None:
    plan_request = build_request(skewed_snapshot(SMALL), PlanOptions(within=0.03))
    flat = replace(DEFAULTS.frontier.solve, bounds=BoundParams(ascent=AscentParams(work=0)))
    bands = (0.06, 0.03, 0.015)
    strong, weak = (
        [point.point for point in searched(plan_request, bands, 0, params=params) if point is not None]
        for params in (DEFAULTS.frontier, replace(DEFAULTS.frontier, solve=flat))
    )
    assert len(strong) == len(weak) == len(bands)
    bounds = [
        (first.lower_bound_bytes or 0.0, other.lower_bound_bytes or 0.0)
        for first, other in zip(strong, weak, strict=True)
    ]
    assert all(0 < low <= high for high, low in bounds)
    assert any(low < high for high, low in bounds)
    assert all(low <= (item.bytes or 0) for (_, low), item in zip(bounds, strong, strict=True))


def test_the_benchmark_times_the_plan_without_its_frontier() -> None:
    plan, search_s, frontier_s = bench_cpu.timed(skewed_snapshot(SMALL), 0.1, has_frontier=False)
    assert plan.moves
    assert plan.frontier == ()
    assert search_s > frontier_s
