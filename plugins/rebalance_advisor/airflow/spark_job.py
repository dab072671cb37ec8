"""One of our Spark jobs for one run: spark-submit, with the store's address in the environment, in no argument.

The connection ``spark_default`` decides where it runs (``local[*]``, ``spark://``, ``k8s://``, ``yarn``); the provider
hands the environment on to drivers on Kubernetes and YARN as configuration. Our code travels with the job. In the
connection's extra, besides what the provider reads: ``executor-python``, where the workers' Python lies, if it is not
the one that they find themselves, and ``conf``, Spark's own settings by name (docs/spark.md).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

from kafka_rebalance.errors import UsageError
from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.policy import HEAVY_POOL

JOBS_SETTING = "ADVISOR_SPARK_JOBS"
DSN_VARIABLE = "ADVISOR_POSTGRES_DSN"
# A run that has replayed is finished before another one begins to: else all clusters' advisories come at the very end.
_PRIORITY = {"replay": 10, "search_plan": 20}


class AdvisorSparkJob(SparkSubmitOperator):
    """``spark_jobs/JOB.py --run-id RUN``. A retry replaces what the try before half-wrote."""

    def __init__(self, *, job: str, run_id: Any, **kwargs: Any) -> None:
        super().__init__(
            task_id=job,
            application=str(jobs_folder() / f"{job}.py"),
            name=f"advisor-{job}",
            application_args=["--run-id", run_id],
            durable=False,
            pool=HEAVY_POOL,  # drivers side by side on one machine share its cores
            priority_weight=_PRIORITY[job],
            weight_rule="absolute",
            **kwargs,
        )

    def execute(self, context: Any) -> None:
        """Submit and wait; a job that ends badly fails the task."""
        self.env_vars = {DSN_VARIABLE: store_dsn()}
        self.conf = {**(self.conf or {}), **spark_settings(self._conn_id or SparkSubmitHook.default_conn_name)}
        super().execute(context)


def spark_settings(connection_id: str) -> dict[str, str]:
    """Settings of Spark that stand in the connection's extra. Raises UsageError for what is none."""
    extra = SparkSubmitHook.get_connection(connection_id).extra_dejson
    conf, python = extra.get("conf", {}), extra.get("executor-python")
    if not isinstance(conf, Mapping):
        raise UsageError.at(
            f"connection {connection_id}, extra, conf", f"{conf!r}", "it is an object: setting to value"
        )
    settings = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in conf.items()}
    if python is None:
        return settings
    if not isinstance(python, str) or not python:
        place = f"connection {connection_id}, extra, executor-python"
        raise UsageError.at(place, f"{python!r}", "it is the path of a Python on the workers")
    # Spark would start the driver with the workers' Python, too.
    return settings | {"spark.pyspark.python": python, "spark.pyspark.driver.python": sys.executable}


def jobs_folder() -> Path:
    """Where the jobs lie: where the setting says, else beside ``plugins/`` of this checkout."""
    told = os.environ.get(JOBS_SETTING)
    return Path(told) if told else Path(__file__).resolve().parents[3] / "spark_jobs"
