"""When disks fill up, from the growth of their last days."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from kafka_rebalance.facts import Fact, FactCode, fact

LEAST_DAYS = 3  # of history
_HORIZON_DAYS = 90
_NAMED = 3
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class DiskForecast:
    """Straight line through a broker's last days. ``full_at``: volumes reach 85 %; ``None`` without growth."""

    broker: int
    used_ratio: float
    days_of_history: int
    full_at: datetime | None
    full_at_with_plan: datetime | None
    growth_bytes_per_day: float | None


def known_growth(forecasts: Iterable[DiskForecast]) -> dict[int, int]:
    """Return the bytes a day of each disk that grows, where at least ``LEAST_DAYS`` are known."""
    growths = (
        (forecast.broker, forecast.growth_bytes_per_day or 0.0)
        for forecast in forecasts
        if forecast.days_of_history >= LEAST_DAYS
    )
    return {broker: math.ceil(growth) for broker, growth in growths if growth > 0}


def disk_outlook(forecasts: Sequence[DiskForecast], captured_at: datetime) -> tuple[Fact, ...]:
    """Return the first three brokers that reach 85 %, or that none does; empty if unknown.

    Example: broker 7 reaches 85 % of its disk in 11 days, with the plan in 40 days.
    """
    known = [forecast for forecast in forecasts if forecast.days_of_history >= LEAST_DAYS]
    if not known or len(known) < len(forecasts):
        return ()
    filling = []
    for forecast in known:
        days = _days(forecast.full_at, captured_at)
        if days is not None and days <= _HORIZON_DAYS:
            filling.append((days, forecast))
    filling.sort(key=lambda pair: (pair[0], pair[1].broker))
    if not filling:
        return (fact(FactCode.NO_DISK_FILLS, horizon_days=_HORIZON_DAYS),)
    first = tuple(
        fact(
            FactCode.DISK_FILLS,
            broker=forecast.broker,
            used_ratio=forecast.used_ratio,
            days=days,
            days_with_plan=_days(forecast.full_at_with_plan, captured_at),
        )
        for days, forecast in filling[:_NAMED]
    )
    more = len(filling) - _NAMED
    return (*first, fact(FactCode.MORE_DISKS_FILL, brokers=more, horizon_days=_HORIZON_DAYS)) if more > 0 else first


def _days(moment: datetime | None, captured_at: datetime) -> float | None:
    return None if moment is None else (moment - captured_at).total_seconds() / _DAY_S
