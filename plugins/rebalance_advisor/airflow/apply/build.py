"""The DAG ``apply_NAME`` of one cluster: the tasks and the two questions between them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from airflow.sdk import Param, dag

from rebalance_advisor.airflow.apply.questions import (
    ANSWER_WITHIN,
    CARRIED_OUT_WITHIN,
    HasBeenCarriedOut,
    MayBeCarriedOut,
)
from rebalance_advisor.airflow.apply.tasks import check_again, outcome, show_commands, show_plan, verify


def apply_form() -> dict[str, Param]:
    """The fields of a run by hand."""
    waits: dict[str, Any] = {"type": "number", "exclusiveMinimum": 0}
    return {
        "advisory": Param(
            None, type=["null", "string"], title="Advisory", description="Its run; empty: the newest published one",
        ),
        ANSWER_WITHIN: Param(1440, **waits, maximum=43_200, title="Minutes to wait for approval"),
        CARRIED_OUT_WITHIN: Param(
            168, **waits, maximum=720, title="Hours to wait until it is carried out",
            description="Afterwards the cluster is read all the same",
        ),
    }  # fmt: skip


def build_apply_dag(cluster: str, arguments: Mapping[str, Any]) -> Any:
    """The DAG; ``arguments`` are what the DAGs of a cluster have in common: id, owner, tags, policy, doc."""

    @dag(
        **arguments,
        schedule=None,  # by hand only
        dagrun_timeout=timedelta(days=61),
        params=apply_form(),
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
        )
        verified: Any = verify(shown, carried_out.output)
        approve >> checked
        verified >> outcome()

    return apply_cluster()
