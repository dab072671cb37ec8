"""# Report the advisor's own health

**Purpose.** Let Prometheus know whether clusters are read and advised: the file `advisor.prom`, OpenMetrics text, for
node_exporter's textfile collector or any web server. What each metric and alert means: docs/operate-and-secure.md.

**Inputs.** The store's view `advisor_health`.

**Outputs.** `ADVISOR_PUBLISH_DIR/advisor.prom`, replaced whole every ten minutes.

**Triage.** *write_health* fails: the store cannot be reached, or the folder cannot be written to; the log says which.
The file then grows old, which raises the alert `AdvisorHealthUnknown`. Advice continues without it.
"""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import dag

from rebalance_advisor.airflow.health import write_health
from rebalance_advisor.airflow.policy import cron_schedule, task_defaults


@dag(
    schedule=cron_schedule("*/10 * * * *"),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=timedelta(minutes=9),
    default_args=task_defaults(),
    tags=["tier/3", "kafka"],
    doc_md=__doc__,
)
def report_health() -> None:
    write_health()


report_health()
