"""# Prune the history

**Purpose.** Keep the store as long as it is useful, and no longer: readings and advisories older than their time go,
weekly partitions as a whole. What the newest advisory of each cluster rests on stays, however old it is.

**Inputs.** The store; the form says for how many days.

**Outputs.** Fewer rows, fewer weekly partitions. Published folders are files: remove them as you remove other files.

**Triage.** *prune* fails: nothing was removed (one transaction); the log names the statement. It can wait a day.
"""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import dag

from rebalance_advisor.airflow.form import prune_form
from rebalance_advisor.airflow.policy import cron_schedule, task_defaults
from rebalance_advisor.airflow.prune_task import prune


@dag(
    schedule=cron_schedule("30 2 * * 1"),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=timedelta(hours=2),
    default_args=task_defaults(),
    params=prune_form(),
    tags=["tier/3", "kafka"],
    doc_md=__doc__,
)
def prune_history() -> None:
    prune()


prune_history()
