from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.hours_outside import HoursOutside, HourStanding, hours_outside
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource, LoadStatistic
from kafka_rebalance.snapshot.history import HourlyLoads, hourly_loads, measured_reading, with_window_loads
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from tests.unit.planner.sample_clusters import brokers, cluster, row

IN = LoadKind.IN_BYTES_PER_S
# Four partitions of one replica on two brokers: 0 holds two that are busy, 1 two that are not.
ROWS = [row("t", 0, [0]), row("t", 1, [0]), row("t", 2, [1]), row("t", 3, [1])]
HOURS = {  # hours ago → rates
    3: [100.0, 100.0, 100.0, 100.0],
    2: [100.0, 100.0, 10.0, 10.0],
    1: [190.0, 10.0, 10.0, 190.0],
    0: [100.0, 100.0, 20.0, 20.0],
}


def at(hours_ago, rates):
    snapshot = cluster(ROWS, brokers(2))
    moment = snapshot.captured_at - timedelta(hours=hours_ago)
    values = np.array([np.nan if rate is None else rate for rate in rates])
    loads = PartitionLoads({IN: LoadColumn(values, LoadSource.PROMETHEUS, 3600.0)})
    return replace(snapshot, captured_at=moment, loads=loads)


def window_of(hours) -> tuple:
    """The newest snapshot with the mean of the hours, and the hours."""
    series = [at(ago, rates) for ago, rates in hours.items()]
    readings = [measured_reading(snapshot) for snapshot in series]
    hourly = hourly_loads(series[-1], readings, max(hours) + 1)
    return with_window_loads(series[-1], hourly, LoadStatistic.MEAN), hourly


def test_hours_are_judged_by_the_band_at_their_own_level():
    """Before: 200 of 220 and of 240 in two hours. After: 200 of 200, 110 of 110, 200 of 200, 120 of 120."""
    snapshot, hourly = window_of(HOURS)
    plan = make_plan(snapshot, PlanOptions(within=0.1, with_frontier=False))
    moved = {(move.partition, move.to_replicas) for move in plan.moves}
    assert moved in ({(1, (1,)), (2, (0,))}, {(0, (1,)), (3, (0,))})  # two names for one placement
    result = hours_outside(snapshot, plan, hourly)
    assert result is not None
    assert [hour.brokers_outside_before for hour in result.judged] == [0, 2, 0, 2]
    assert [hour.until[11:16] for hour in result.judged] == ["09:00", "10:00", "11:00", "12:00"]
    assert (result.before, result.after, result.hours) == (2, 0, 4)


def test_an_hour_that_is_mostly_unknown_is_not_judged_and_single_holes_count_with_their_usual():
    hours = HOURS | {2: [100.0, None, None, None]}
    snapshot, hourly = window_of(hours)
    plan = make_plan(snapshot, PlanOptions(within=0.1, with_frontier=False))
    result = hours_outside(snapshot, plan, hourly)
    assert result is not None
    assert len(result.judged) == 3
    assert (result.fact.args["hours"], result.fact.args["judged"]) == (4, 3)


def test_what_aims_at_no_band_or_knows_no_hours_has_no_hours():
    snapshot, hourly = window_of(HOURS)
    plan = make_plan(snapshot, PlanOptions(preferred_election=True, with_frontier=False))
    assert hours_outside(snapshot, plan, hourly) is None
    even = make_plan(snapshot, PlanOptions(with_frontier=False))
    assert hours_outside(snapshot, even, None) is None
    only_messages = HourlyLoads(hourly.until, 4, {LoadKind.IN_MESSAGES_PER_S: hourly.values[IN]}, hourly.flattened)
    assert hours_outside(snapshot, even, only_messages) is None


def test_the_fact_and_the_document_say_the_same():
    """Two of three hours outside before, none after; 3 brokers in 3 hours, then none."""
    hours = HoursOutside(4, (HourStanding("a", 2, 0), HourStanding("b", 0, 0), HourStanding("c", 1, 0)))
    assert (hours.before, hours.after, hours.gain) == (2, 0, 1.0)
    assert hours.fact == fact(
        FactCode.HOURS_OUTSIDE_BAND, hours=4, judged=3, outside_before=2, outside_after=0, mean_brokers_before=1.0,
        mean_brokers_after=0.0,
    )  # fmt: skip
    document = hours.document()
    assert document["fact"] == hours.fact.document()
    assert (document["hours"], document["hours_judged"], document["hours_outside_before"]) == (4, 3, 2)
    assert document["by_hour"][0] == {"until": "a", "brokers_outside_before": 2, "brokers_outside_after": 0}
    assert HoursOutside(1, (HourStanding("a", 0, 0),)).gain == pytest.approx(0)
