from __future__ import annotations

import pytest

from kafka_rebalance.plans.plan import TraceStep
from kafka_rebalance.plans.state import ignore
from rebalance_advisor.stage_times import StageTimes, watch_of


def test_each_stage_is_a_line_with_its_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter((10.0, 10.5, 13.0))
    watch = StageTimes(clock=lambda: next(times))
    watch(TraceStep("balance", 1200, 3 * 2**30, 7))
    watch(TraceStep("budget", 5, None, 0))
    assert capsys.readouterr().err.splitlines() == [
        "    0.500 s  balance: 1,200 replica moves, 3.0 GiB, 7 leader changes",
        "    2.500 s  budget: 5 replica moves, unknown, 0 leader changes",
    ]


def test_nothing_is_told_unless_it_is_wanted() -> None:
    assert watch_of(is_verbose=False) is ignore
    assert isinstance(watch_of(is_verbose=True), StageTimes)
