"""What all our DAGs have in common: an owner, retries, a time after which a task is given up, and when they run."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

from airflow.timetables.trigger import CronTriggerTimetable  # airflow.sdk has it from 3.2 on alone

from rebalance_advisor.airflow.clusters import OFF, DagSettings

# Spark jobs take turns: the pool's slots are how many of them run at once, whatever cluster they are of.
HEAVY_POOL = "advisor_heavy"
HEAVY_SLOTS = "ADVISOR_HEAVY_SLOTS"  # of the pool where the scheduler has to make it; 1 where nobody says
# "off": nothing runs but what somebody starts by hand (or by an asset, or from another DAG).
SCHEDULES = "ADVISOR_SCHEDULES"
_DEFAULTS = DagSettings()


def task_defaults(*, owner: str = _DEFAULTS.owner, retries: int = _DEFAULTS.retries) -> dict[str, Any]:
    """What every task of a DAG has, but for its owner and how often it is tried again."""
    return {
        "owner": owner,
        "retries": retries,
        "retry_delay": timedelta(seconds=20),
        "retry_exponential_backoff": True,
        "max_retry_delay": timedelta(minutes=5),
        "execution_timeout": timedelta(minutes=30),
    }


def heavy_slots() -> int:
    """How many slots the pool gets where it is missing. Raises ValueError for what is no number from 1."""
    told = os.environ.get(HEAVY_SLOTS) or "1"
    if not told.isascii() or not told.isdecimal() or int(told) < 1:
        raise ValueError(f"{HEAVY_SLOTS}: {told!r} is no number from 1")
    return int(told)


def cron_schedule(cron: str) -> CronTriggerTimetable | None:
    """A schedule in UTC that begins with its next moment: switching a DAG on starts nothing by itself.

    None where the schedule, or the environment for all of them (``ADVISOR_SCHEDULES``), says "off".
    """
    if OFF in (cron, os.environ.get(SCHEDULES)):
        return None
    return CronTriggerTimetable(cron, timezone="UTC", run_immediately=timedelta(0))
