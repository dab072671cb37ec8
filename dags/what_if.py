"""# What if

**Purpose.** One DAG a cluster, by hand only: compares the cluster today with the cluster after a lost rack or broker,
or after growth. Nothing is published, nothing is changed.

**Inputs.** The form; the cluster's newest snapshot in the store, or the cluster itself where none is stored.

**Outputs.** The answer in the run's tab *Advisor*, in the log of *compare* and as its return value. No advisory, no
finding, no message.

**Triage.** *compare* fails: the form names a rack, broker or topic that the snapshot does not have, or a growth that
is out of range; the log says which. Or no snapshot is stored and the cluster cannot be read.
"""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import dag

from rebalance_advisor.airflow.cluster_dags import clusters_for, dag_arguments, what_if_form, with_form
from rebalance_advisor.airflow.clusters import ClusterEntry
from rebalance_advisor.airflow.tasks import compare


def what_if(entry: ClusterEntry) -> None:
    """``what_if_NAME``."""

    @dag(**dag_arguments("what_if", entry, __doc__), schedule=None, dagrun_timeout=timedelta(hours=1))
    def what_if_cluster() -> None:
        compare(entry.name)

    with_form(what_if_cluster(), what_if_form(entry))


for entry in clusters_for("what_if"):
    what_if(entry)
