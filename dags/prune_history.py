"""# Prune the history

**Purpose.** Keep the store small: of snapshots older than a week the last of each day stays; snapshots and advisories
older than their time go. Weekly partitions are dropped or rewritten. The basis of the newest advisory of each cluster
always stays.

**Inputs.** The store; the numbers of days in the form.

**Outputs.** Fewer rows, weekly partitions and published folders: those of advisories older than their time, by the
names in each folder's marker; the target of `latest` stays. In an object store the same, by manifests.

**Triage.** *prune* fails: its next try does the rest; views show either state whole. "Weekly tables were in use":
another session read them for half a minute (a long query, a dump). It can wait a day.
"""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import dag

from rebalance_advisor.airflow.cluster_dags import prune_form, with_form
from rebalance_advisor.airflow.policy import cron_schedule, task_defaults
from rebalance_advisor.airflow.tasks import prune


@dag(
    schedule=cron_schedule("30 2 * * 1"),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=timedelta(hours=2),
    default_args=task_defaults(),
    tags=["tier/3", "kafka"],
    doc_md=__doc__,
)
def prune_history() -> None:
    prune()


with_form(prune_history(), prune_form())
