"""# Advise

**Purpose.** One advisory for each cluster: what is uneven, which plan mends it, what it costs and the proven lower
bound. Daily on the newest snapshot; by hand with the form, on a fresh one if wanted.

**Inputs.** `clusters.toml` (which clusters); the store's snapshots, or the clusters themselves; the form.

**Outputs.** Rows in the store, seen by readers once the run is published; the folder with `plan.json`, waves, rollback,
`report.html`, `digest.md`; the asset `advisory`.

**Triage.** *check_request* fails: an option is unknown, cannot be, or contradicts another one or the cluster; the log
says which. *start_run* fails: the cluster or its dumps cannot be read; the log names the stage (address, TLS, login) or
file and line. *check_input* fails: the snapshot contradicts itself; the log names rule and rows, which stay in the
store. *replay* or *search_plan* fails: read the driver's last lines; clear the task, a retry replaces what was half
written. *derive_findings*, *check_results* or *publish* fails: a fault of ours; nothing was published, the advisory
before it still stands.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import dag, task_group

from rebalance_advisor.airflow.advisory_tasks import (
    check_input,
    check_request,
    check_results,
    derive_findings,
    publish,
    start_run,
)
from rebalance_advisor.airflow.form import advise_form
from rebalance_advisor.airflow.policy import TASK_DEFAULTS, cron_schedule
from rebalance_advisor.airflow.spark_job import AdvisorSparkJob


@dag(
    schedule=cron_schedule("0 5 * * *"),
    catchup=False,
    max_active_runs=1,  # two runs of one cluster are never under way at once
    dagrun_timeout=timedelta(hours=6),
    default_args=TASK_DEFAULTS,
    params=advise_form(),
    tags=["tier/2", "kafka"],
    doc_md=__doc__,
)
def advise() -> None:
    advise_cluster.expand(request=check_request())


@task_group
def advise_cluster(request: dict[str, Any]) -> None:
    run = start_run(request)
    replay = AdvisorSparkJob(job="replay", run_id=run["run_id"])
    search_plan = AdvisorSparkJob(job="search_plan", run_id=run["run_id"])
    check_input(run) >> replay >> search_plan >> derive_findings(run) >> check_results(run) >> publish(run)


advise()
