from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kafka_rebalance.advisory.disk_outlook import LEAST_DAYS, DiskForecast, disk_outlook, known_growth
from kafka_rebalance.facts import FactCode, fact

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def forecast(
    broker: int, days: float | None, with_plan: float | None = None, history: int = 14, growth: float | None = None
) -> DiskForecast:
    at = None if days is None else NOW + timedelta(days=days)
    later = None if with_plan is None else NOW + timedelta(days=with_plan)
    return DiskForecast(broker, 0.9, history, at, later, growth)


def test_the_soonest_stands_first_with_what_the_plan_does_for_it() -> None:
    result = disk_outlook([forecast(1, 40.4), forecast(7, 11.2, 39.6), forecast(3, None)], NOW)
    assert [(item.args["broker"], item.args["days"], item.args["days_with_plan"]) for item in result] == [
        (7, pytest.approx(11.2), pytest.approx(39.6)), (1, pytest.approx(40.4), None),
    ]  # fmt: skip


def test_growth_is_known_where_days_suffice_and_the_disk_grows() -> None:
    reported = [
        forecast(1, 9, growth=1.5),
        forecast(2, 9, history=LEAST_DAYS - 1, growth=9),
        forecast(3, None, growth=-5),
    ]
    assert known_growth([*reported, forecast(4, None)]) == {1: 2}


def test_many_are_counted() -> None:
    lines = disk_outlook([forecast(broker, 10 + broker) for broker in range(6)], NOW)
    assert len(lines) == 4
    assert lines[-1] == fact(FactCode.MORE_DISKS_FILL, brokers=3, horizon_days=90)


def test_full_is_full_and_a_receiver_may_be_full_at_once() -> None:
    full, filling = disk_outlook([forecast(1, 0), forecast(2, 0.3, -1)], NOW)
    assert full == fact(FactCode.DISK_FILLS, broker=1, used_ratio=0.9, days=0, days_with_plan=None)
    assert filling.args["days_with_plan"] == -1


def test_none_that_fills_up_is_said() -> None:
    assert disk_outlook([forecast(1, None), forecast(2, 91)], NOW) == (fact(FactCode.NO_DISK_FILLS, horizon_days=90),)


def test_too_short_a_history_and_a_part_of_the_brokers_tell_nothing() -> None:
    assert disk_outlook([], NOW) == ()
    assert disk_outlook([forecast(1, 5), forecast(2, 5, history=LEAST_DAYS - 1)], NOW) == ()
