"""How far apart two readings of a cluster lie by its schedule, and from when on one is too old."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rebalance_advisor.airflow.clusters.dag_settings import COLLECT_SCHEDULE, OFF, DagSettings
from rebalance_advisor.airflow.clusters.own_moment import own_moment

# Twice: one collection may fail, or start late.
INTERVALS_PER_LIMIT = 2
_BEGIN = datetime(2026, 1, 5, tzinfo=UTC)  # any Monday
_LOOKED_AT = timedelta(days=15)
_MOST_TIMES = 10_000


def age_limit_s(settings: DagSettings) -> int:
    """Seconds after which a reading is too old where the cluster's table does not say: two intervals of collecting."""
    return INTERVALS_PER_LIMIT * int(longest_interval(settings.collect_schedule).total_seconds())


def longest_interval(schedule: str) -> timedelta:
    """The longest time between two collections within a fortnight, or between the next three.

    By hand alone ("off"): the default schedule's.
    """
    from croniter import croniter

    times = croniter(own_moment(COLLECT_SCHEDULE if schedule == OFF else schedule, ""), _BEGIN)
    last, longest = times.get_next(datetime), timedelta()
    for number in range(_MOST_TIMES):
        following = times.get_next(datetime)
        longest, last = max(longest, following - last), following
        if last - _BEGIN > _LOOKED_AT and number >= INTERVALS_PER_LIMIT:
            break
    return longest
