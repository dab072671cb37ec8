"""When disks fill up if nothing is done, in lines that a person reads; what is not known is not told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

LEAST_DAYS = 3  # of history, before a straight line through them is worth a word
_HORIZON_DAYS = 90
_TOLD = 3
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class DiskForecast:
    """One broker: the straight line through its last days.

    ``full_at``: when 85 % of its volumes are used, ``None`` where they do not grow. ``full_at_with_plan``: the same
    once the plan is carried out.
    """

    broker: int
    used_ratio: float
    days_of_history: int
    full_at: datetime | None
    full_at_with_plan: datetime | None


def disk_outlook(forecasts: Sequence[DiskForecast], captured_at: datetime) -> list[str]:
    """The brokers that reach 85 % first, at most three; one line that none does; nothing where too little is known.

    Example: ``broker 7 reaches 85 % of its disk in 11 days, with the plan in 40 days``.
    """
    known = [forecast for forecast in forecasts if forecast.days_of_history >= LEAST_DAYS]
    if not known or len(known) < len(forecasts):
        return []
    filling = []
    for forecast in known:
        days = _days(forecast.full_at, captured_at)
        if days is not None and days <= _HORIZON_DAYS:
            filling.append((days, forecast))
    filling.sort(key=lambda pair: (pair[0], pair[1].broker))
    if not filling:
        return [f"no disk reaches 85 % within {_HORIZON_DAYS} days at the growth of the last two weeks"]
    lines = [_line(days, forecast, captured_at) for days, forecast in filling[:_TOLD]]
    more = len(filling) - _TOLD
    return [*lines, f"{more} more brokers reach it within {_HORIZON_DAYS} days"] if more > 0 else lines


def _line(days: float, forecast: DiskForecast, captured_at: datetime) -> str:
    if days <= 0:
        return f"broker {forecast.broker}'s disk is {100 * forecast.used_ratio:.0f} % full already"
    words = f"broker {forecast.broker} reaches 85 % of its disk in {_in_days(days)}"
    later = _days(forecast.full_at_with_plan, captured_at)
    if later is None:
        return words
    return words + (f", with the plan in {_in_days(later)}" if later > 0 else ", with the plan at once")


def _in_days(days: float) -> str:
    whole = max(1, round(days))
    return "a day" if whole == 1 else f"{whole:,} days"


def _days(moment: datetime | None, captured_at: datetime) -> float | None:
    return None if moment is None else (moment - captured_at).total_seconds() / _DAY_S
