"""# Tell people

**Purpose.** The owners concerned hear of findings that are new or worse, of advisories that failed or are late, and
once a week that nothing is new. Who: `[clusters.NAME.notify]` in clusters.toml (docs/operate-and-secure.md).

**Inputs.** The newest advisory of each cluster in the store; Airflow connections of type smtp and slackwebhook.

**Outputs.** Mails and Slack messages; a row each in the store, so that nothing is sent twice.

**Triage.** *send_messages* fails: the log names recipients and their server's answer; all others got theirs. The next
run tries again.
"""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import dag

from rebalance_advisor.airflow.notify_task import send_messages
from rebalance_advisor.airflow.policy import cron_schedule, task_defaults


@dag(
    schedule=cron_schedule("15 * * * *"),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=timedelta(minutes=50),
    default_args=task_defaults(),
    tags=["tier/3", "kafka"],
    doc_md=__doc__,
)
def send_notifications() -> None:
    send_messages()


send_notifications()
