from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

from airflow.timetables.trigger import CronTriggerTimetable  # in airflow.sdk from 3.2

from rebalance_advisor.airflow.clusters import OFF, DagSettings

# Limits Spark jobs of all clusters.
HEAVY_POOL = "advisor_heavy"
HEAVY_SLOTS = "ADVISOR_HEAVY_SLOTS"  # of a new pool
# "off": no schedules.
SCHEDULES = "ADVISOR_SCHEDULES"
_DEFAULTS = DagSettings()


def task_defaults(*, owner: str = _DEFAULTS.owner, retries: int = _DEFAULTS.retries) -> dict[str, Any]:
    return {
        "owner": owner,
        "retries": retries,
        "retry_delay": timedelta(seconds=20),
        "retry_exponential_backoff": True,
        "max_retry_delay": timedelta(minutes=5),
        "execution_timeout": timedelta(minutes=30),
    }


def heavy_slots() -> int:
    slots = os.environ.get(HEAVY_SLOTS) or "1"
    if not slots.isascii() or not slots.isdecimal() or int(slots) < 1:
        raise ValueError(f"{HEAVY_SLOTS}: {slots!r} is no number from 1")
    return int(slots)


def cron_schedule(cron: str) -> CronTriggerTimetable | None:
    """Starts at the next moment, so enabling a DAG runs nothing; None for "off"."""
    if OFF in (cron, os.environ.get(SCHEDULES)):
        return None
    return CronTriggerTimetable(cron, timezone="UTC", run_immediately=timedelta(0))
