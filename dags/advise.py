"""# Advise

**Purpose.** One advisory for one cluster: what is uneven, the recommended plan, its cost and the proven lower bound.
Daily on the newest snapshot; by hand with the form, on a fresh one if wanted. A snapshot that is older than the
cluster's age limit gives no plan: the verdict is `cannot_tell`.

**Inputs.** The cluster's table in `clusters.toml`; its snapshots in the store, or the cluster itself; the form.

**Outputs.** Rows in the store, visible once the run is published; the folder with `plan.json`, waves, rollback,
`report.html`, `digest.md`; the asset `advisory/CLUSTER`.

**Triage.** *check_request* fails: an option is unknown, impossible, or contradicts another one or the cluster; the
log says which. *start_run* fails: the cluster or its dumps cannot be read; the log names the stage (address, TLS,
login) or file and line. *check_input* fails: the snapshot contradicts itself; the log names rule and rows, which stay
in the store. *replay_and_plan* fails: read the driver's last lines and clear the task; a failed try leaves nothing
behind. *replay_and_plan* stays `scheduled`: other clusters use all slots of the pool `advisor_heavy` (Admin, Pools:
enlarge it), or the pool was removed (`airflow pools set advisor_heavy 1 "Spark jobs"`; the scheduler makes it when it
starts). *check_results* or *publish* fails: an error of the advisor; nothing was published, the previous advisory is
unchanged.
"""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import dag

from rebalance_advisor.airflow.cluster_dags import advise_form, advisory, clusters_for, dag_arguments, with_form
from rebalance_advisor.airflow.clusters import ClusterEntry
from rebalance_advisor.airflow.policy import cron_schedule
from rebalance_advisor.airflow.spark import AdvisorSparkJob
from rebalance_advisor.airflow.tasks import check_input, check_request, check_results, publish, start_run


def advise(entry: ClusterEntry) -> None:
    """``advise_NAME``."""

    @dag(
        **dag_arguments("advise", entry, __doc__),
        schedule=cron_schedule(entry.settings.schedule),
        dagrun_timeout=timedelta(hours=6),
    )
    def advise_cluster() -> None:
        run = start_run(check_request(entry.name))
        replay_and_plan = AdvisorSparkJob(
            job="replay_and_plan", run_id=run["run_id"], partition_count=run["partition_count"]
        )
        published = publish.override(outlets=[advisory(entry.name)])(run)
        check_input(run) >> replay_and_plan >> check_results(run) >> published

    with_form(advise_cluster(), advise_form(entry))


for entry in clusters_for("advise"):
    advise(entry)
