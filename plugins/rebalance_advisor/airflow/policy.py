"""What all our DAGs have in common: an owner, retries, and a time after which a task is given up."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

TASK_DEFAULTS: dict[str, Any] = {
    "owner": "kafka-platform",
    "retries": 2,
    "retry_delay": timedelta(seconds=20),
    "retry_exponential_backoff": True,
    "max_retry_delay": timedelta(minutes=5),
    "execution_timeout": timedelta(minutes=30),
}
