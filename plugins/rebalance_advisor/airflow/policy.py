"""What all our DAGs have in common: an owner, retries, a time after which a task is given up, and when they run."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

from airflow.sdk import CronTriggerTimetable

TASK_DEFAULTS: dict[str, Any] = {
    "owner": "kafka-platform",
    "retries": 2,
    "retry_delay": timedelta(seconds=20),
    "retry_exponential_backoff": True,
    "max_retry_delay": timedelta(minutes=5),
    "execution_timeout": timedelta(minutes=30),
}


# "off": nothing runs but what somebody starts by hand (or by an asset, or from another DAG).
SCHEDULES = "ADVISOR_SCHEDULES"


def cron_schedule(cron: str) -> CronTriggerTimetable | None:
    """A schedule in UTC that begins with its next moment: switching a DAG on starts nothing by itself.

    None where the environment says ``ADVISOR_SCHEDULES=off``.
    """
    if os.environ.get(SCHEDULES) == "off":
        return None
    return CronTriggerTimetable(cron, timezone="UTC", run_immediately=timedelta(0))
