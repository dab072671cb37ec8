"""The frontier's parts on three brokers with 15, 10 and 5 GB: which bands, how uneven, and a point for each."""

from __future__ import annotations

import numpy as np
import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target
from kafka_rebalance.plans.frontier import bands_between, searched, unevenness, with_frontier
from kafka_rebalance.plans.params import FrontierParams
from kafka_rebalance.plans.pipeline import make_plan
from tests.unit.planner.sample_clusters import GB
from tests.unit.plans.hand_plans import SNAPSHOT, hand

FEW = FrontierParams(steps=3)


def test_unevenness_is_what_the_fullest_have_above_their_shares() -> None:
    """Shares are 10 GB, 2 replicas and 1 leader: half, half and two too much."""
    even_problem = hand().plan_request.problem(1.0, {})
    loads = {
        "disk": np.array([15.0, 10.0, 5.0]) * GB, "replicas": np.array([3.0, 2.0, 1.0]),
        "leaders": np.array([3.0, 0.0, 0.0]),
    }  # fmt: skip
    assert unevenness(even_problem, loads) == pytest.approx(0.5 + 0.5 + 2.0)
    even = {"disk": np.full(3, 10.0) * GB, "replicas": np.full(3, 2.0), "leaders": np.ones(3)}
    assert unevenness(even_problem, even) == 0.0


def test_bands_narrow_from_most_of_todays_worst_to_a_hundredth() -> None:
    """Broker 0 leads 3 × its share, 2 too much; widest the lesser of 0.8 × 2 and what may be asked for, then in equal
    ratios, and none beside the plan's own.
    """
    bands = bands_between(hand(PlanOptions(within=0.5)).plan_request, FEW)
    assert bands == pytest.approx([0.99, (0.99 * 0.01) ** 0.5, 0.01], abs=1e-4)
    assert [PlanOptions(within=band).band for band in bands] == list(bands)
    assert bands_between(hand(PlanOptions(within=0.0101)).plan_request, FEW) == bands[:-1]
    targets = PlanOptions(within=0.0101, targets={"disk": Target(None, 1.2)})
    assert bands_between(hand(targets).plan_request, FEW) == bands  # targets are no band of the frontier


def test_an_election_of_preferred_leaders_has_no_frontier() -> None:
    elected = PlanOptions(preferred_election=True)
    assert bands_between(hand(elected).plan_request, FEW) == ()
    plan = make_plan(SNAPSHOT, elected)
    assert with_frontier(plan, hand(elected).plan_request, seed=0) is plan


def test_a_point_for_each_band_and_what_is_searched_is_told() -> None:
    reported: list[str] = []
    points = searched(hand().plan_request, (1.6, 0.2), 0, reported.append)
    assert reported == ["what other allowed ranges would cost"] * 2
    wide, narrow = (rated for rated in points if rated is not None)
    assert (wide.point.tolerance, narrow.point.tolerance) == (1.6, 0.2)
    assert narrow.unevenness <= wide.unevenness
    for rated in (wide, narrow):
        assert rated.point.bytes is not None
        assert rated.point.lower_bound_bytes is not None
        assert rated.point.lower_bound_bytes <= rated.point.bytes
