"""A team's limits for plans, and the broken ones.

Hours of the week are in UTC. A plan is judged by its document alone. An unknown cost breaks every limit of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.facts import Fact, FactCode, fact

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_FORM = re.compile(r"(?:([A-Z][a-z]{2})(?:-([A-Z][a-z]{2}))? )?(\d{2}):(\d{2})-(\d{2}):(\d{2})")
_DAY_MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class WeeklyWindow:
    """``days`` on which it opens (0: Monday), ``opens`` in minutes after midnight, 1 to 1440 ``minutes`` long.

    ``22:00-05:00`` closes on the next day; ``00:00-00:00`` is a whole day.
    """

    days: frozenset[int]
    opens: int
    minutes: int

    @classmethod
    def from_text(cls, text: str) -> WeeklyWindow:
        """``22:00-05:00``, ``Sat 08:00-20:00``, ``Fri-Mon 00:00-00:00``. Else raises InvalidInputError."""
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
        utc = now.astimezone(UTC)
        midnight = utc.replace(hour=0, minute=0, second=0, microsecond=0)
        for day in (midnight, midnight - timedelta(days=1)):  # yesterday's window may reach into today
            opened = day + timedelta(minutes=self.opens)
            if day.weekday() in self.days and opened <= utc < opened + timedelta(minutes=self.minutes):
                return True
        return False


def longest_minutes(windows: tuple[WeeklyWindow, ...]) -> int:
    """Return the longest stretch without a gap, at most a week.

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
    stretches = bytes(open_minutes * 2).split(b"\0")  # twice: a stretch may cross the week's end
    return max(len(stretch) for stretch in stretches)


def _minutes(text: str, hour: str, minute: str) -> int:
    if int(hour) > 23 or int(minute) > 59:
        raise InvalidInputError.at(excerpt(text), f"{hour}:{minute} is no time", "times go from 00:00 to 23:59")
    return int(hour) * 60 + int(minute)


@dataclass(frozen=True, slots=True)
class PlanPolicy:
    """Limits; None or an empty list: none.

    max_hours                    of all waves at the plan's throttle
    max_wave_hours               of each wave
    max_move_bytes, max_moves, max_leader_changes
    max_throttle_bytes_per_s     of each broker in each direction
    max_gap                      of the plan's bytes to their lower bound, as a share of the bound
    never_moved                  topic patterns: no replica or leader changes
    never_filled                 brokers that get no copies
    windows                      of the week: each wave fits into one, and execution begins within one
    """

    max_hours: float | None = None
    max_wave_hours: float | None = None
    max_move_bytes: int | None = None
    max_moves: int | None = None
    max_leader_changes: int | None = None
    max_throttle_bytes_per_s: int | None = None
    max_gap: float | None = None
    never_moved: tuple[str, ...] = ()
    never_filled: tuple[int, ...] = ()
    windows: tuple[WeeklyWindow, ...] = ()

    def __post_init__(self) -> None:
        for pattern in self.never_moved:
            try:
                re.compile(pattern)
            except re.error as error:
                raise InvalidInputError.at(f"never_moved: {excerpt(pattern)}", f"is no pattern: {error}") from error

    def forbids(self, topic: str) -> bool:
        return any(re.fullmatch(pattern, topic) for pattern in self.never_moved)


@dataclass(frozen=True, slots=True)
class BrokenRule:
    rule: str
    fact: Fact


def broken_rules(document: Mapping[str, Any], policy: PlanPolicy, now: datetime | None = None) -> list[BrokenRule]:
    """Return the broken rules; with ``now``, also whether execution may begin. A plan without moves keeps all."""
    if not document["moves"]:
        return []
    return [*_costs(document, policy), *_forbidden(document, policy), *_times(document, policy, now)]


def _costs(document: Mapping[str, Any], policy: PlanPolicy) -> Iterator[BrokenRule]:
    cost, waves = document["cost"], document["waves"]
    seconds = [wave["seconds"] for wave in waves]
    longest = None if None in seconds else max(seconds, default=0.0)
    throttles = [wave["throttle_bytes_per_s"] for wave in waves]
    limits = (
        ("max_hours", policy.max_hours, _hours(cost["seconds"])),
        ("max_wave_hours", policy.max_wave_hours, _hours(longest)),
        ("max_move_bytes", policy.max_move_bytes, cost["bytes"]),
        ("max_moves", policy.max_moves, cost["replica_moves"]),
        ("max_leader_changes", policy.max_leader_changes, cost["leader_changes"]),
        ("max_throttle", policy.max_throttle_bytes_per_s, max(throttles, default=0)),
        ("max_gap", policy.max_gap, _gap(document)),
    )
    for rule, most, amount in limits:
        if most is not None and (amount is None or amount > most):
            yield BrokenRule(rule, fact(FactCode.ABOVE_POLICY_LIMIT, rule=rule, seen=amount, most=most))


def _forbidden(document: Mapping[str, Any], policy: PlanPolicy) -> Iterator[BrokenRule]:
    moves = document["moves"]
    if forbidden := [f"{move['topic']}-{move['partition']}" for move in moves if policy.forbids(move["topic"])]:
        yield BrokenRule("never_moved", fact(FactCode.TOUCHES_PROTECTED, partitions=tuple(forbidden)))
    filled = {broker for move in moves for broker in set(move["to"]) - set(move["from"])}
    if wrong := tuple(broker for broker in policy.never_filled if broker in filled):
        yield BrokenRule("never_filled", fact(FactCode.FILLS_PROTECTED_BROKER, brokers=wrong))


def _times(document: Mapping[str, Any], policy: PlanPolicy, now: datetime | None) -> Iterator[BrokenRule]:
    if not policy.windows:
        return
    longest_s = 60 * longest_minutes(policy.windows)
    for number, wave in enumerate(document["waves"], start=1):
        seconds = wave["seconds"]
        if seconds is None:
            yield BrokenRule("windows", fact(FactCode.WAVE_TIME_UNKNOWN, wave=number))
        elif seconds > longest_s:
            longer = fact(FactCode.WAVE_LONGER_THAN_WINDOW, wave=number, seconds=seconds, longest_seconds=longest_s)
            yield BrokenRule("windows", longer)
    if now is not None and not any(window.is_open(now) for window in policy.windows):
        yield BrokenRule("windows", fact(FactCode.OUTSIDE_WINDOWS, weekday=_DAYS[now.weekday()], time=f"{now:%H:%M}"))


def _gap(document: Mapping[str, Any]) -> float | None:
    (bound,) = [bound for bound in document["lower_bound"] if bound["cost"] == "bytes"] or [{"value": None}]
    taken = document["cost"]["bytes"]
    if taken is None or bound["value"] is None:
        return None
    excess = taken - bound["value"]
    if excess <= 0:
        return 0.0
    return float(excess / bound["value"]) if bound["value"] > 0 else float("inf")


def _hours(seconds: float | None) -> float | None:
    return None if seconds is None else seconds / 3600
