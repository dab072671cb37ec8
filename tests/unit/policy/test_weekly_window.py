import random
from datetime import UTC, datetime, timedelta, timezone

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.policy import WeeklyWindow, longest_minutes

MONDAY = datetime(2026, 11, 23, tzinfo=UTC)


def windows(*texts: str) -> tuple[WeeklyWindow, ...]:
    return tuple(WeeklyWindow.from_text(text) for text in texts)


@pytest.mark.parametrize(
    ("text", "days", "opens", "minutes"),
    [
        ("22:00-05:00", set(range(7)), 1320, 420),
        ("Sat 08:00-20:00", {5}, 480, 720),
        ("Fri-Mon 00:00-00:00", {4, 5, 6, 0}, 0, 1440),
    ],
)
def test_what_is_written_is_what_is_meant(text: str, days: set[int], opens: int, minutes: int) -> None:
    assert WeeklyWindow.from_text(text) == WeeklyWindow(frozenset(days), opens, minutes)


@pytest.mark.parametrize(
    "text", ["", "22-05", "Mon 24:00-05:00", "Mun 22:00-05:00", "mon 22:00-05:00", "Mon 22:60-05:00"]
)
def test_what_is_no_window_is_refused_with_what_was_given(text: str) -> None:
    with pytest.raises(InvalidInputError):
        WeeklyWindow.from_text(text)


def test_a_night_belongs_to_the_day_on_which_it_begins() -> None:
    (night,) = windows("Mon 22:00-05:00")
    assert night.is_open(MONDAY + timedelta(hours=22))
    assert night.is_open(MONDAY + timedelta(hours=28, minutes=59))
    assert not night.is_open(MONDAY + timedelta(hours=29))
    assert not night.is_open(MONDAY + timedelta(hours=4))  # of the Sunday before: that one does not open


def test_hours_are_utc_wherever_the_clock_stands() -> None:
    (night,) = windows("Mon 22:00-23:00")
    there = timezone(timedelta(hours=2))
    assert night.is_open((MONDAY + timedelta(hours=22, minutes=30)).astimezone(there))
    assert not night.is_open(datetime(2026, 11, 23, 22, 30, tzinfo=there))


@pytest.mark.parametrize(
    ("texts", "minutes"),
    [
        (("22:00-05:00",), 420),
        (("22:00-00:00", "00:00-05:00"), 420),
        (("Fri 18:00-00:00", "Sat-Sun 00:00-00:00", "Mon 00:00-06:00"), 3600),
        (("Sun 20:00-00:00", "Mon 00:00-01:00"), 300),
        (("00:00-00:00",), 7 * 1440),
    ],
)
def test_windows_that_touch_are_one(texts: tuple[str, ...], minutes: int) -> None:
    assert longest_minutes(windows(*texts)) == minutes


def test_the_longest_stretch_is_what_a_clock_sees() -> None:
    """Random windows: each minute of two weeks."""
    chance = random.Random(5)
    for _ in range(8):
        made = tuple(
            WeeklyWindow(frozenset(chance.sample(range(7), 2)), chance.randrange(1440), chance.randrange(1, 1441))
            for _ in range(chance.randint(1, 3))
        )
        longest = run = 0
        for minute in range(14 * 1440):
            is_open = any(window.is_open(MONDAY + timedelta(minutes=minute)) for window in made)
            run = run + 1 if is_open else 0
            longest = max(longest, run)
        assert min(longest, 7 * 1440) == longest_minutes(made)
