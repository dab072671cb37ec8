"""# Collect a snapshot

**Purpose.** One consistent reading of each cluster, hourly and on demand; rates are measured between two of them.

**Inputs.** `clusters.toml`: an Airflow connection of type kafka, a folder of dumps, or a file, for each cluster.

**Outputs.** A snapshot in the store, checked by the input gate; the asset `cluster_snapshot`.

**Triage.** *collect* fails: the cluster cannot be reached or the dumps cannot be read; the log names the stage
(address, TLS, login) or file and line. What could not be read although the cluster answered is no failure: it is the
snapshot's coverage. *check_snapshot* fails: the reading contradicts itself; the log names rule and rows; advice goes on
with the snapshot before.
"""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import dag, task_group

from rebalance_advisor.airflow.form import collect_form
from rebalance_advisor.airflow.policy import TASK_DEFAULTS, cron_schedule
from rebalance_advisor.airflow.snapshot_tasks import check_snapshot, choose_clusters, collect


@dag(
    schedule=cron_schedule("0 * * * *"),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=timedelta(minutes=50),
    default_args=TASK_DEFAULTS,
    params=collect_form(),
    tags=["tier/2", "kafka"],
    doc_md=__doc__,
)
def collect_snapshot() -> None:
    collect_cluster.expand(cluster=choose_clusters())


@task_group
def collect_cluster(cluster: str) -> None:
    check_snapshot(collect(cluster))


collect_snapshot()
