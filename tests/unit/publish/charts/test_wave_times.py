from __future__ import annotations

from typing import Any

from rebalance_advisor.publish.charts import wave_times_chart


def wave(seconds: float | None, size: int = 0) -> dict[str, Any]:
    return {"seconds": seconds, "bytes": size, "moves": [0, 1]}


def test_each_wave_begins_where_the_one_before_ends() -> None:
    chart = wave_times_chart([wave(0.0), wave(3600.0, 2**30), wave(5400.0)])
    assert chart is not None
    rows = chart["data"]["values"]
    assert [(row["start"], row["end"]) for row in rows] == [(0, 0), (0, 1), (1, 2.5)]  # hours
    assert rows[1]["words"] == "2 partitions, 1.0 GiB"
    assert chart["layer"][0]["encoding"]["x"]["title"] == "hours from the start"


def test_a_short_plan_is_told_in_minutes() -> None:
    chart = wave_times_chart([wave(90.0)])
    assert chart is not None
    assert chart["data"]["values"][0]["end"] == 1.5


def test_what_takes_no_time_or_an_unknown_one_has_no_time_line() -> None:
    assert wave_times_chart([wave(0.0), wave(0.0)]) is None
    assert wave_times_chart([wave(10.0), wave(None)]) is None
    assert wave_times_chart([]) is None
