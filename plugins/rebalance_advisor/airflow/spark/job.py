"""One of our Spark jobs for one run: spark-submit, with the store's address in the environment, in no argument.

The connection ``spark_default`` decides where it runs (docs/spark.md). Our code travels with the job.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from airflow.sdk import BaseOperator

from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.fail_without_retry import fail_without_retry
from rebalance_advisor.airflow.policy import HEAVY_POOL
from rebalance_advisor.airflow.spark.connection import spark_connection
from rebalance_advisor.airflow.spark.driver_memory import driver_memory
from rebalance_advisor.airflow.spark.submission import Submission
from rebalance_advisor.airflow.task_log import task_log

JOBS_SETTING = "ADVISOR_SPARK_JOBS"
DSN_VARIABLE = "ADVISOR_POSTGRES_DSN"
CONNECTION = "spark_default"


class AdvisorSparkJob(BaseOperator):
    """``spark_jobs/JOB.py --run-id RUN``. A retry replaces what the try before half-wrote.

    ``partition_count`` of the run's snapshot, if somebody tells it, says how much memory its driver gets.
    """

    template_fields = ("run_id", "partition_count")

    def __init__(self, *, job: str, run_id: Any, partition_count: Any, **kwargs: Any) -> None:
        super().__init__(
            task_id=job,
            pool=HEAVY_POOL,  # drivers side by side on one machine share its cores
            **kwargs,
        )
        self.job, self.run_id, self.partition_count = job, run_id, partition_count
        self._submission = Submission()

    @fail_without_retry
    def execute(self, context: Any) -> None:  # noqa: ARG002
        """Submit and wait. A job that ends badly fails the task, for good unless time can mend it."""
        dsn, log = store_dsn(), task_log(__name__)
        connection = spark_connection(CONNECTION, DSN_VARIABLE)
        log.info("spark-submit of %s.py for run %s to %s", self.job, self.run_id, connection.master)
        application = (str(jobs_folder() / f"{self.job}.py"), "--run-id", str(self.run_id))
        memory = driver_memory(connection, self.partition_count)
        with connection.all_arguments() as given:
            arguments = (*given, *memory, "--name", f"advisor-{self.job}", *application)
            self._submission.run(arguments, {DSN_VARIABLE: dsn}, lambda line: log.info("%s", line))

    def on_kill(self) -> None:
        """The task is ended from outside: so is its job."""
        self._submission.end()


def jobs_folder() -> Path:
    """Where the jobs lie: where the setting says, in the wheel, or beside ``plugins/`` of a checkout."""
    if told := os.environ.get(JOBS_SETTING):
        return Path(told)
    here = Path(__file__).resolve()
    in_wheel = here.parent / "jobs"
    return in_wheel if in_wheel.is_dir() else here.parents[4] / "spark_jobs"
