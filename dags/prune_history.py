"""# Prune the history

**Purpose.** Keep the store as long as it is useful, and no longer: of readings older than a week the last of each day
stays, readings and advisories older than their time go. Weekly partitions are dropped, or written anew. What the newest
advisory of each cluster rests on stays, however old it is.

**Inputs.** The store; the form says for how many days.

**Outputs.** Fewer rows, fewer weekly partitions, fewer published folders: those of advisories older than their time,
by the names that each folder's marker lists; what `latest` points to stays. In an object store the same, by manifests.

**Triage.** *prune* fails: whatever it had not done yet, its next try does; views show either state whole. "Weekly
tables were in use": somebody read them for half a minute (a long query, a dump). It can wait a day.
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
