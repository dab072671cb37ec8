"""The simulation behind docs/internals/loads.md, in small: its own arithmetic beside the product's, and its table."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.hours_outside import hours_outside
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.snapshot.figures import LoadStatistic
from kafka_rebalance.snapshot.history import with_window_loads
from tests.properties.hours_outside_the_band import (
    BAND,
    JUDGED,
    WIDE_BAND,
    Outcome,
    as_hourly,
    broker_hours,
    table,
    weeks,
)
from tests.properties.test_plan_stays_put import after_plan

SMALL = {"broker_count": 6, "topics": 8}


def test_the_products_count_of_hours_is_what_plain_sums_say() -> None:
    """Six alike brokers, two on each rack, three replicas: the fair share is the plain mean."""
    of = weeks(3, **SMALL)
    snapshot = with_window_loads(of.snapshot, as_hourly(of.snapshot, of.before), LoadStatistic.MEAN)
    plan = make_plan(snapshot, PlanOptions(within=BAND, with_frontier=False))
    result = hours_outside(snapshot, plan, as_hourly(of.snapshot, of.after, JUDGED))
    assert result is not None
    for placed, reported in (
        (of.snapshot, [hour.brokers_outside_before for hour in result.judged]),
        (after_plan(of.snapshot, plan), [hour.brokers_outside_after for hour in result.judged]),
    ):
        outside = np.zeros((JUDGED, SMALL["broker_count"]), dtype=np.bool_)
        for written_once in (True, False):
            loads = broker_hours(placed, of.after, written_once=written_once)
            level = loads / loads.mean(axis=1, keepdims=True)
            outside |= (level > 1 + BAND) | (level < 1 - BAND)
        # float32 hours: a broker exactly at its edge may fall on either side
        assert np.abs(outside.sum(axis=1) - reported).sum() <= 2


def test_the_table_tells_median_and_worst_seed_of_each_load() -> None:
    """Three seeds: the median of 30, 10, 20 is 20, the worst 30."""
    results = [
        {"mean": Outcome({BAND: hours, WIDE_BAND: hours // 2}, hours / 100, hours // 10, 1 + hours / 100)}
        for hours in (30, 10, 20)
    ]
    *_, line = table(results)
    assert line == "| mean | 20 | 30 | 10 | 15 | 2 | 3 | 0.20 | 1.20 | 1.30 |"
