from __future__ import annotations

from typing import Any

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.render import render


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({}, "log dir growth over 60 s, known for 33.3 % of partitions"),
        ({"known_ratio": 1.0, "window_s": None}, "log dir growth"),
        ({"window_s": 604_800.0, "is_of_history": True, "known_ratio": 1.0}, "log dir growth over 7.0 days"),
    ],
)
def test_a_load_is_named_with_its_source(more: dict[str, Any], message: str) -> None:
    known = {"source": "log_dir_growth", "window_s": 60.0, "is_of_history": False, "known_ratio": 1 / 3}
    assert render(fact(FactCode.LOAD_SOURCE, **(known | more))) == message


@pytest.mark.parametrize(
    ("days", "with_plan", "message"),
    [
        (11.2, 39.6, "broker 7 reaches 85 % of its disk in 11 days, with the plan in 40 days"),
        (0.3, -1.0, "broker 7 reaches 85 % of its disk in a day, with the plan at once"),
        (11.2, 11.2, "broker 7 reaches 85 % of its disk in 11 days"),  # nothing moves
        (40.4, None, "broker 7 reaches 85 % of its disk in 40 days"),
        (0.0, None, "broker 7's disk is 90 % full already"),
    ],
)
def test_a_disk_that_fills(days: float, with_plan: float | None, message: str) -> None:
    reason = fact(FactCode.DISK_FILLS, broker=7, used_ratio=0.9, days=days, days_with_plan=with_plan)
    assert render(reason) == message


def test_disks_that_are_not_named() -> None:
    assert (
        render(fact(FactCode.MORE_DISKS_FILL, brokers=3, horizon_days=90)) == "3 more brokers reach it within 90 days"
    )
    assert render(fact(FactCode.MORE_DISKS_FILL, brokers=1, horizon_days=90)).startswith("1 more broker reaches it")
