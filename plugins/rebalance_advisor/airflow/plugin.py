from __future__ import annotations

from contextlib import suppress
from typing import Any

from airflow.configuration import conf
from airflow.listeners import hookimpl
from airflow.plugins_manager import AirflowPlugin

from rebalance_advisor.airflow.health import FailureRecorder
from rebalance_advisor.airflow.page import external_views, fastapi_apps, root_middlewares


class PoolMaker:
    """Airflow never runs tasks of a missing pool."""

    @hookimpl
    def on_starting(self, component: Any) -> None:
        """Services may read the metadata database, tasks may not."""
        if type(component).__module__ == "airflow.jobs.job":
            make_heavy_pool()


def make_heavy_pool() -> None:
    """An existing pool's slots belong to the operator."""
    from airflow.models.pool import Pool
    from sqlalchemy.exc import IntegrityError

    from rebalance_advisor.airflow.policy import HEAVY_POOL, heavy_slots

    if Pool.get_pool(HEAVY_POOL) is None:
        description = "Spark jobs of the rebalance advisor that run at once"
        with suppress(IntegrityError):  # another service was quicker
            Pool.create_or_update_pool(HEAVY_POOL, heavy_slots(), description, include_deferred=False)


class AdvisorPlugin(AirflowPlugin):
    """Kafka Rebalance Advisor."""

    name = "rebalance_advisor"
    # Airflow needs lists.
    listeners = [PoolMaker(), FailureRecorder()]  # noqa: RUF012
    fastapi_apps = fastapi_apps()
    fastapi_root_middlewares = root_middlewares()
    external_views = external_views(conf.get("api", "base_url", fallback="/"))
