"""The DAG ``apply_NAME`` of one cluster: the tasks and the two questions between them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from airflow.sdk import dag

from rebalance_advisor.airflow.apply.form import apply_form, seconds_field
from rebalance_advisor.airflow.apply.questions import HasBeenCarriedOut, MayBeCarriedOut
from rebalance_advisor.airflow.apply.tasks import check_again, outcome, show_commands, show_plan, verify
from rebalance_advisor.airflow.form import with_form


def build_apply_dag(cluster: str, arguments: Mapping[str, Any]) -> Any:
    """The DAG; ``arguments`` are what the DAGs of a cluster have in common: id, owner, tags, policy, doc."""

    @dag(
        **arguments,
        schedule=None,  # by hand only
        dagrun_timeout=timedelta(days=61),
    )
    def apply_cluster() -> None:
        shown: Any = show_plan(cluster)
        approve = MayBeCarriedOut(
            task_id="approve",
            subject=f"Carry out a plan for cluster {cluster}?",
            body=shown["words"],
            application_id=shown["application_id"],
        )
        checked: Any = check_again(shown)
        commands: Any = show_commands(shown, checked)
        carried_out: Any = HasBeenCarriedOut(
            task_id="carried_out",
            subject=f"Run these commands for cluster {cluster}, then answer",
            body=commands,
            params=seconds_field(),
        )
        verified: Any = verify(shown, carried_out.output)
        approve >> checked
        verified >> outcome()

    return with_form(apply_cluster(), apply_form())
