"""Caps step by step, on the move that leaves 11, 10 and 9 GB."""

from __future__ import annotations

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.bands import BAND_ROUNDING
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.explain import (
    OverCap,
    above_cap,
    over_caps,
    refuse_too_much_for_the_caps,
    require_within_caps,
)
from tests.unit.planner.sample_clusters import GB
from tests.unit.plans.hand_plans import hand

AFTER = {"disk": np.array([11.0, 10.0, 9.0]) * GB, "leaders": np.array([2.0, 0.0, 1.0])}
ABOVE = OverCap("disk", 0, 11.0 * GB, 10 * GB)


def test_the_broker_furthest_above_each_cap_is_named() -> None:
    request = hand(PlanOptions(caps={"disk": 10 * GB, "leaders": 2, "in": 1})).plan_request
    assert over_caps(request, AFTER) == (ABOVE,)  # two leaders are two; rates are unknown
    assert over_caps(request, {"leaders": AFTER["leaders"] + 1}) == (OverCap("leaders", 0, 3.0, 2),)


def test_a_broker_that_leaves_has_no_cap() -> None:
    options = PlanOptions(caps={"disk": 9.5 * GB}, remove_brokers=frozenset({0}))
    assert over_caps(hand(options).plan_request, AFTER) == (OverCap("disk", 1, 10.0 * GB, 9.5 * GB),)


@pytest.mark.parametrize(("parts", "is_over"), [(0.5, False), (2.0, True)])
def test_what_rounding_leaves_over_is_not_above(parts: float, is_over: bool) -> None:
    request = hand(PlanOptions(caps={"disk": 10 * GB})).plan_request
    load = 10 * GB * (1 + parts * BAND_ROUNDING)
    assert bool(over_caps(request, {"disk": np.array([load, 0.0, 0.0])})) is is_over


def test_caps_that_all_brokers_together_cannot_keep() -> None:
    tight, enough = hand(PlanOptions(caps={"disk": 9 * GB})), hand(PlanOptions(caps={"disk": 10 * GB}))
    with pytest.raises(InfeasibleError, match=r"limits_too_low\(resource='disk', needed=3.*, limit=2"):
        refuse_too_much_for_the_caps(tight.plan_request, tight.problem)
    refuse_too_much_for_the_caps(enough.plan_request, enough.problem)


def test_a_plan_above_its_caps_is_refused_in_words() -> None:
    request = hand(PlanOptions(caps={"disk": 10 * GB})).plan_request
    args = {"broker": 0, "resource": "disk", "load": 11.0 * GB, "cap": 10 * GB}
    assert above_cap(request, ABOVE).args == args
    with pytest.raises(InfeasibleError, match="proof='none', is_limited=False"):
        require_within_caps(request, (ABOVE,))
    limited = hand(PlanOptions(caps={"disk": 10 * GB}, max_moves=1)).plan_request
    with pytest.raises(InfeasibleError, match="proof='none', is_limited=True"):
        require_within_caps(limited, (ABOVE,))
    require_within_caps(request, ())
