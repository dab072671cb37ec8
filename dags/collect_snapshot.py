"""# Collect a snapshot

**Purpose.** One consistent snapshot of one cluster, hourly and on demand; rates are measured between two of them.

**Inputs.** The cluster's table in `clusters.toml`: an Airflow connection of type kafka, a folder of dumps, or a file.

**Outputs.** A snapshot in the store, checked by the input gate; the brokers in the form of `advise`; the asset
`cluster_snapshot/CLUSTER`.

**Triage.** *collect* fails: the cluster cannot be reached or the dumps cannot be read; the log names the stage
(address, TLS, login) or file and line. Parts that the cluster did not return are no failure: they are the snapshot's
coverage. *check_snapshot* fails: the snapshot contradicts itself; the log names rule and rows; advice continues with
the previous snapshot until it is too old.
"""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import dag

from rebalance_advisor.airflow.cluster_dags import cluster_snapshot, clusters_for, dag_arguments
from rebalance_advisor.airflow.clusters import ClusterEntry
from rebalance_advisor.airflow.policy import cron_schedule
from rebalance_advisor.airflow.tasks import check_snapshot, collect


def collect_snapshot(entry: ClusterEntry) -> None:
    """``collect_NAME``."""

    @dag(
        **dag_arguments("collect", entry, __doc__),
        schedule=cron_schedule(entry.settings.collect_schedule),
        dagrun_timeout=timedelta(minutes=50),
    )
    def collect_cluster() -> None:
        check_snapshot.override(outlets=[cluster_snapshot(entry.name)])(collect(entry.name))

    collect_cluster()


for entry in clusters_for("collect"):
    collect_snapshot(entry)
