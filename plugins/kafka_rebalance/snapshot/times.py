"""Times in text ↔ aware ``datetime``.

ISO 8601: date and time to the minute or finer, extended or basic (``2026-11-20T06:00:00+01:00``, ``20261120T060000Z``,
a space for the ``T``). Zone ``Z``, ``+01:00``, ``+0100`` or ``+01``. Digits below a microsecond are cut off.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.facts import Fact, FactCode, fact

_ISO = re.compile(
    r"(?P<year>\d{4})(?P<dash>-?)(?P<month>\d\d)(?P=dash)(?P<day>\d\d)[T ]"
    r"(?P<hour>\d\d)(?P<colon>:?)(?P<minute>\d\d)(?:(?P=colon)(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?P<zone>Z|(?P<sign>[+-])(?P<hours>[01]\d|2[0-3]):?(?P<minutes>[0-5]\d)?)?",
    re.ASCII,
)
_EXAMPLE = "write 2026-01-31T06:00:00Z"


def parse_time(text: str, location: str, *, needs_zone: bool = False) -> datetime:
    """Return the moment in the given zone, else UTC; ``needs_zone`` refuses text without one.

    Raises InvalidInputError at ``location`` for other text.
    """
    match = _ISO.fullmatch(text)
    if match is None:
        raise _no_time(text, location)
    if needs_zone and match["zone"] is None:
        raise InvalidInputError.at(location, f"{excerpt(text)} is a time without a zone", _EXAMPLE)
    parts = [int(match[part] or 0) for part in ("year", "month", "day", "hour", "minute", "second")]
    year, month, day, hour, minute, second = parts
    microsecond = int((match["fraction"] or "0").ljust(6, "0")[:6])
    try:
        return datetime(year, month, day, hour, minute, second, microsecond, _zone(match))
    except ValueError:  # 30 February, 25 o'clock
        raise _no_time(text, location) from None


def time_text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def optional_time_text(moment: datetime | None) -> str | None:
    return None if moment is None else time_text(moment)


def _zone(match: re.Match[str]) -> timezone:
    if match["sign"] is None:
        return UTC
    offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
    return timezone(-offset if match["sign"] == "-" else offset) if offset else UTC


def _no_time(text: str, location: str) -> InvalidInputError:
    return InvalidInputError.at(location, f"{excerpt(text)} is no ISO 8601 time", _EXAMPLE)


# between correct clocks
CLOCK_TOLERANCE = timedelta(minutes=5)
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def format_span(span: timedelta) -> str:
    """Return the largest unit of which there are two or more: ``21 days``, ``36 h``."""
    seconds = int(span.total_seconds())
    for size, unit in ((_DAY, "days"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def age_of(captured_at: datetime, now: datetime) -> timedelta:
    """Return the age, at least zero. Raises InvalidInputError for a snapshot from the future."""
    age = now - captured_at
    if age < -CLOCK_TOLERANCE:
        raise InvalidInputError.at(
            f"captured_at {time_text(captured_at)}", f"is {format_span(-age)} after this machine's {time_text(now)}",
            "set the wrong one of the two clocks right, and read the cluster again",
        )  # fmt: skip
    return max(age, timedelta())


def too_old(captured_at: datetime | None, now: datetime, limit: timedelta | None) -> Fact | None:
    """Return why the snapshot is too old; None where it is not, or without limit or time. Raises as ``age_of``."""
    if captured_at is None:
        return None
    age = age_of(captured_at, now)
    if limit is None or age <= limit:
        return None
    seconds = (int(span.total_seconds()) for span in (age, limit))
    return fact(FactCode.SNAPSHOT_TOO_OLD, **dict(zip(("age_s", "limit_s"), seconds, strict=True)))
