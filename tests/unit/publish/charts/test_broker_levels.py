from __future__ import annotations

from typing import Any

import pytest

from rebalance_advisor.publish.charts import MOST_BROKERS, band_of, broker_levels_chart, broker_rows


def outcome(**more: Any) -> dict[str, Any]:
    return {
        "resource": "disk", "capacity": None, "mean_level": 10.0, "band_asked": [0.9, 1.1], "widened_to": [None, None],
    } | more  # fmt: skip


def plan(before: dict[str, float], after: dict[str, float]) -> dict[str, Any]:
    return {"before": {"disk": before}, "after": {"disk": after}}


def test_a_level_is_load_over_mean_times_capacity() -> None:
    # mean level 0.5 of capacity: broker 1 of 40 should carry 20, broker 2 of 20 should carry 10
    resource = outcome(mean_level=0.5, capacity={"1": 40.0, "2": 20.0})
    rows = broker_rows(plan({"1": 30.0, "2": 5.0}, {"1": 20.0, "2": 10.0}), resource)
    assert [(row["broker"], row["before"], row["after"]) for row in rows] == [("1", 1.5, 1.0), ("2", 0.5, 1.0)]


def test_of_many_brokers_the_furthest_before_or_after_are_drawn_in_the_order_of_their_ids() -> None:
    before = {str(broker): 10.0 for broker in range(100)} | {"7": 30.0, "50": 0.0}
    after = {str(broker): 10.0 for broker in range(100)} | {"99": 15.0}
    rows = broker_rows(plan(before, after), outcome())
    brokers = [int(row["broker"]) for row in rows]
    assert len(rows) == MOST_BROKERS
    assert {7, 50, 99} <= set(brokers)
    assert brokers == sorted(brokers)


def test_a_broker_that_leaves_has_nothing_afterwards_and_a_mean_of_zero_divides_nothing() -> None:
    assert broker_rows(plan({"3": 10.0}, {}), outcome())[0]["after"] == 0.0
    assert broker_rows(plan({"3": 0.0}, {"3": 0.0}), outcome(mean_level=0.0))[0]["before"] == 0.0


@pytest.mark.parametrize(
    ("fields", "band"),
    [
        (outcome(), (0.9, 1.1)), (outcome(widened_to=[None, 1.3]), (0.9, 1.3)),
        (outcome(band_asked=[None, 2.0]), (None, 2.0)),
    ],
)  # fmt: skip
def test_the_band_is_the_one_that_is_met(fields: dict[str, Any], band: tuple[float | None, float | None]) -> None:
    assert band_of(fields) == band


@pytest.mark.parametrize(("band", "marks"), [((0.9, 1.1), 4), ((None, None), 3)])
def test_the_stripe_is_drawn_where_there_is_a_band(band: tuple[float | None, float | None], marks: int) -> None:
    rows = broker_rows(plan({"1": 30.0}, {"1": 20.0}), outcome())
    chart = broker_levels_chart(rows, band)
    assert len(chart["layer"]) == marks
    if marks == 4:
        assert chart["layer"][0]["data"]["values"] == [{"low": 0.9, "high": 1.1}]
