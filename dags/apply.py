"""# Apply a plan

**Purpose.** One DAG a cluster, by hand only: shows a plan, asks for approval, checks the plan on a fresh snapshot,
shows the exact commands, and verifies the result after you confirm that you ran them. It never writes to Kafka and
needs no more rights than collecting: a person runs the commands.

**Inputs.** The newest published advisory of the cluster, or the one in the form; two answers (under *Required
actions* of the run, or by REST). Hours or days may pass between them: a waiting question occupies no worker.

**Outputs.** A row in `advisor.plan_application`; `outcome.json` and `outcome.md` beside the plan's files.

**Triage.** *show_plan* fails: there is no published plan that moves something, or its files are gone; run the
advisory. *approve* fails: no answer in time, nothing was run. *check_again* fails: the plan is no longer valid, the
log says why; make a new one. *verify* fails: the cluster cannot be read; clear the task once it can. *outcome* fails:
its message says how it ended (timed out, refused, partly applied, not applied, moved by others) and what to do; clear
*verify* to check again after fixing it.
"""

from __future__ import annotations

from rebalance_advisor.airflow.apply import build_apply_dag
from rebalance_advisor.airflow.cluster_dags import clusters_for, dag_arguments

for entry in clusters_for("apply"):
    build_apply_dag(entry.name, dag_arguments("apply", entry, __doc__))
