"""What Airflow learns from us by its plugin mechanism: from ``plugins/advisor_plugin.py``, or from the wheel."""

from __future__ import annotations

from typing import Any

from airflow.listeners import hookimpl
from airflow.plugins_manager import AirflowPlugin


class PoolMaker:
    """Makes the pool of the Spark jobs where it is missing, once the scheduler starts: tasks of a pool that does not
    exist are never run, and nothing but the scheduler's log says why.
    """

    @hookimpl
    def on_starting(self, component: Any) -> None:
        """Airflow calls it in each of its processes; the scheduler is the one that may and must."""
        if getattr(component, "job_type", None) == "SchedulerJob":
            make_heavy_pool()


def make_heavy_pool() -> None:
    """One that is there stays as it is: its slots are the operator's business (Admin, Pools)."""
    from airflow.models.pool import Pool

    from rebalance_advisor.airflow.policy import HEAVY_POOL, heavy_slots

    if Pool.get_pool(HEAVY_POOL) is None:
        Pool.create_or_update_pool(
            HEAVY_POOL, heavy_slots(), "Spark jobs of the rebalance advisor that run at once", include_deferred=False
        )


class AdvisorPlugin(AirflowPlugin):
    """Kafka Rebalance Advisor."""

    name = "rebalance_advisor"
    listeners = [PoolMaker()]  # noqa: RUF012 (as Airflow declares it)
