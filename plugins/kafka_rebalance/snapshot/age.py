"""How old a reading is, and whether it is too old to rest advice on. The caller gives the time."""

from __future__ import annotations

from datetime import datetime, timedelta

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.snapshot.times import time_text

# How far two right clocks may differ.
CLOCK_TOLERANCE = timedelta(minutes=5)
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def span_words(span: timedelta) -> str:
    """In the largest unit of which there are two or more: ``21 days``, ``36 h``, ``90 min``, ``45 s``."""
    seconds = int(span.total_seconds())
    for size, unit in ((_DAY, "days"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def age_of(captured_at: datetime, now: datetime) -> timedelta:
    """Return how old a reading is, never less than nothing.

    Raises InvalidInputError for one from the future: one of the two clocks is wrong, and no age can be told.
    """
    age = now - captured_at
    if age < -CLOCK_TOLERANCE:
        raise InvalidInputError.at(
            f"captured_at {time_text(captured_at)}", f"is {span_words(-age)} after this machine's {time_text(now)}",
            "set the wrong one of the two clocks right, and read the cluster again",
        )  # fmt: skip
    return max(age, timedelta())


def too_old(captured_at: datetime | None, now: datetime, limit: timedelta | None) -> Fact | None:
    """Why no plan can rest on this reading; None where one can, no limit is given, or the input has no time (that is a
    gap of its coverage already). Raises InvalidInputError for a reading from the future.
    """
    if captured_at is None:
        return None
    age = age_of(captured_at, now)
    if limit is None or age <= limit:
        return None
    seconds = (int(span.total_seconds()) for span in (age, limit))
    return fact(FactCode.SNAPSHOT_TOO_OLD, **dict(zip(("age_s", "limit_s"), seconds, strict=True)))
