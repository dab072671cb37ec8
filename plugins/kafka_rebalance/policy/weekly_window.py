"""Hours of the week in which a plan may be carried out, such as ``Mon-Fri 22:00-05:00``, always in UTC."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.visible_text import excerpt

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_FORM = re.compile(r"(?:([A-Z][a-z]{2})(?:-([A-Z][a-z]{2}))? )?(\d{2}):(\d{2})-(\d{2}):(\d{2})")
_DAY_MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class WeeklyWindow:
    """``days`` on which it opens (0 is Monday), ``opens`` in minutes after midnight, ``minutes`` long (1 to 1440).

    ``22:00-05:00`` closes on the day after; ``00:00-00:00`` is a whole day.
    """

    days: frozenset[int]
    opens: int
    minutes: int

    @classmethod
    def from_text(cls, text: str) -> WeeklyWindow:
        """``22:00-05:00`` (every day), ``Sat 08:00-20:00``, ``Fri-Mon 00:00-00:00``.

        Raises InvalidInputError for anything else.
        """
        match = _FORM.fullmatch(text)
        if match is None:
            raise InvalidInputError.at(excerpt(text), "is no window", "write it as Mon-Fri 22:00-05:00, in UTC")
        first, last = match[1] or "Mon", match[2] or match[1] or "Sun"
        for day in (first, last):
            if day not in _DAYS:
                raise InvalidInputError.at(excerpt(text), f"{day} is no day", f"days are {', '.join(_DAYS)}")
        start = _DAYS.index(first)
        days = frozenset((start + i) % 7 for i in range((_DAYS.index(last) - start) % 7 + 1))
        opens, closes = _minutes(text, match[3], match[4]), _minutes(text, match[5], match[6])
        return cls(days, opens, (closes - opens) % _DAY_MINUTES or _DAY_MINUTES)

    def is_open(self, now: datetime) -> bool:
        """Is ``now`` (with its time zone) within it?"""
        utc = now.astimezone(UTC)
        midnight = utc.replace(hour=0, minute=0, second=0, microsecond=0)
        for day in (midnight, midnight - timedelta(days=1)):  # a window of the day before may reach into this one
            opened = day + timedelta(minutes=self.opens)
            if day.weekday() in self.days and opened <= utc < opened + timedelta(minutes=self.minutes):
                return True
        return False


def longest_minutes(windows: tuple[WeeklyWindow, ...]) -> int:
    """How long the longest stretch is that lies in one window or in several that follow each other without a gap.

    A week without a gap gives the whole week.

    >>> longest_minutes((WeeklyWindow.from_text("22:00-00:00"), WeeklyWindow.from_text("00:00-05:00")))
    420
    """
    week = 7 * _DAY_MINUTES
    open_minutes = bytearray(week)
    for window in windows:
        for day in window.days:
            begins = day * _DAY_MINUTES + window.opens
            for minute in range(begins, begins + window.minutes):
                open_minutes[minute % week] = 1
    if all(open_minutes):
        return week
    stretches = bytes(open_minutes * 2).split(b"\0")  # twice: one stretch may reach over the end of the week
    return max(len(stretch) for stretch in stretches)


def _minutes(text: str, hour: str, minute: str) -> int:
    if int(hour) > 23 or int(minute) > 59:
        raise InvalidInputError.at(excerpt(text), f"{hour}:{minute} is no time", "times go from 00:00 to 23:59")
    return int(hour) * 60 + int(minute)
