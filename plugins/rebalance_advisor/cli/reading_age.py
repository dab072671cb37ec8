"""How old the reading is that an answer rests on, in the first line: files never hold it, they do not know the time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from kafka_rebalance.snapshot.age import age_of, span_words

# Twice the hour in which the pipeline collects: what is older is called old.
FRESH = timedelta(hours=2)


def with_reading_age(lines: Sequence[str], captured_at: datetime | None, now: datetime) -> list[str]:
    """The lines, the first one with the age; as they are where the input has no time (that is a gap already).

    Raises InvalidInputError for a reading from the future.
    """
    if captured_at is None or not lines:
        return list(lines)
    return [f"{lines[0]}; {age_words(age_of(captured_at, now))}", *lines[1:]]


def age_s(captured_at: datetime | None, now: datetime) -> float | None:
    """Seconds, for ``--json``; None where the input has no time. Raises InvalidInputError as above."""
    return None if captured_at is None else age_of(captured_at, now).total_seconds()


def age_words(age: timedelta) -> str:
    """``reading 5 min old``; beyond ``FRESH`` it is called old."""
    if age <= FRESH:
        return f"reading {span_words(age)} old"
    return f"OLD READING: {span_words(age)} old"
