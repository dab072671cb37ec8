from datetime import UTC, datetime, timedelta

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.snapshot.times import age_of, format_span, too_old

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("age", "limit", "seconds"),
    [
        (timedelta(days=21), timedelta(hours=2), (21 * 86_400, 7200)),
        (
            timedelta(hours=2, seconds=1),
            timedelta(hours=2),
            (7201, 7200),
        ),
        (timedelta(hours=2), timedelta(hours=2), None),
        (timedelta(minutes=-5), timedelta(hours=2), None),
        (timedelta(minutes=-5), timedelta(), None),
        (timedelta(days=2000), None, None),
    ],
)
def test_a_reading_beyond_its_limit_is_too_old(age, limit, seconds):
    result = too_old(NOW - age, NOW, limit)
    assert (None if result is None else (result.args["age_s"], result.args["limit_s"])) == seconds


@pytest.mark.parametrize("limit", [None, timedelta(hours=2), timedelta(days=3650)])
def test_a_reading_from_the_future_is_refused_whatever_the_limit(limit):
    with pytest.raises(InvalidInputError, match=r"captured_at 2027-12-27T12:00:00Z: is 400 days after this machine's"):
        too_old(NOW + timedelta(days=400), NOW, limit)
    with pytest.raises(InvalidInputError, match="is 6 min after"):
        age_of(NOW + timedelta(minutes=6), NOW)


def test_an_age_is_never_negative():
    assert [age_of(NOW - age, NOW) for age in (timedelta(minutes=-4), timedelta(days=2))] == [
        timedelta(), timedelta(days=2)
    ]  # fmt: skip


def test_a_reading_without_a_time_has_no_age():
    assert too_old(None, NOW, timedelta(seconds=1)) is None


def test_spans_are_told_in_the_largest_unit_of_which_there_are_two():
    spans = (timedelta(seconds=119), timedelta(minutes=119), timedelta(hours=47), timedelta(hours=48))
    assert [format_span(span) for span in spans] == ["119 s", "119 min", "47 h", "2 days"]
