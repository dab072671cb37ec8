"""One of our Spark jobs for one run: spark-submit, with the store's address in the environment, in no argument.

The connection ``spark_default`` decides where it runs (``local[*]``, ``spark://``, ``k8s://``, ``yarn``); the provider
hands the environment on to drivers on Kubernetes and YARN as configuration.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

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
        super().execute(context)


def jobs_folder() -> Path:
    """Where the jobs lie: where the setting says, else beside ``plugins/`` of this checkout."""
    told = os.environ.get(JOBS_SETTING)
    return Path(told) if told else Path(__file__).resolve().parents[3] / "spark_jobs"
