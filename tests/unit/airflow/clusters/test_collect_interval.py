from datetime import timedelta

import pytest

from rebalance_advisor.airflow.clusters import DagSettings, age_limit_s, longest_interval

HOUR, DAY = 3600, 86_400


@pytest.mark.parametrize(
    ("schedule", "interval_s"),
    [
        ("0 * * * *", HOUR),
        ("* * * * *", 60),
        ("*/30 * * * *", HOUR / 2),
        ("@daily", DAY),
        ("*/5 8-18 * * *", 13 * HOUR + 5 * 60),  # from 18:55 to 8:00
        ("0 9 * * 1-5", 3 * DAY),  # from Friday to Monday
        ("0 0 1 * *", 31 * DAY),  # from March to April
        ("off", HOUR),  # by hand alone: as often as by default
    ],
)
def test_the_longest_time_between_two_collections(schedule, interval_s):
    assert longest_interval(schedule) == timedelta(seconds=interval_s)
    assert age_limit_s(DagSettings(collect_schedule=schedule)) == 2 * interval_s
