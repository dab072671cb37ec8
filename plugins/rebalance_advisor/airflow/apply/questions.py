"""The two questions of ``apply_NAME``: may this plan be carried out, and has it been. Each answer goes to the store.

A task that waits for an answer occupies no worker: hours or days between the two cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from airflow.providers.standard.operators.hitl import ApprovalOperator, HITLOperator

from rebalance_advisor.airflow.apply.form import ANSWER_WITHIN, CARRIED_OUT_WITHIN
from rebalance_advisor.airflow.connections import store_dsn

if TYPE_CHECKING:  # numpy comes with it, and DAG files are read all the time
    from kafka_rebalance.plans.applied import ApplyState

CARRIED_OUT, STOPPED = "Carried out", "Stopped"
_APPLICATION = "application_id"
# An answer within moments of the question (a script's) can reach a busy scheduler before the end of the process that
# asked: it then takes the task for lost, by mistake, and fails this try. Asking again is harmless: nothing was read.
_ASKED_AGAIN: dict[str, Any] = {
    "retries": 8,
    "retry_delay": timedelta(seconds=10),
    "retry_exponential_backoff": False,
}


class MayBeCarriedOut(ApprovalOperator):
    """Approve or reject. A rejected one skips the rest; where nobody answers in time, the task fails for good."""

    template_fields = (*ApprovalOperator.template_fields, _APPLICATION)

    def __init__(self, *, application_id: Any, **kwargs: Any) -> None:
        super().__init__(response_timeout=timedelta(days=1), **(_ASKED_AGAIN | kwargs))
        self.application_id = application_id

    def execute(self, context: Any) -> Any:
        """Ask; the form says for how long."""
        self.response_timeout = timedelta(minutes=float(context["params"][ANSWER_WITHIN]))
        return super().execute(context)

    def execute_complete(self, context: Any, event: dict[str, Any]) -> Any:
        """Remember the answer, then go on as ``ApprovalOperator`` does."""
        from kafka_rebalance.plans.applied import ApplyState

        if "error" in event:
            self._remember(ApplyState.TIMED_OUT, {})
            from airflow.providers.common.compat.sdk import AirflowFailException

            raise AirflowFailException(ApplyState.TIMED_OUT.words)
        is_approved = list(event["chosen_options"]) == [self.APPROVE]
        self._remember(ApplyState.APPROVED if is_approved else ApplyState.REJECTED, event)
        return super().execute_complete(context, event)

    def _remember(self, state: ApplyState, event: Mapping[str, Any]) -> None:
        from rebalance_advisor import store

        answered_at: datetime | None = event.get("responded_at")
        with store.connect(store_dsn()) as connection:
            store.answer_application(
                connection, str(self.application_id), state,
                answered_by=answered_by(event), answered_at=answered_at,
            )  # fmt: skip


class HasBeenCarriedOut(HITLOperator):
    """Carried out or stopped: either way the cluster is read afterwards, also where nobody answers in time."""

    def __init__(self, **kwargs: Any) -> None:
        asked = _ASKED_AGAIN | kwargs
        super().__init__(options=[CARRIED_OUT, STOPPED], defaults=STOPPED, response_timeout=timedelta(days=7), **asked)

    def execute(self, context: Any) -> Any:
        """Ask; the form says for how long."""
        self.response_timeout = timedelta(hours=float(context["params"][CARRIED_OUT_WITHIN]))
        return super().execute(context)


def answered_by(event: Mapping[str, Any]) -> str | None:
    """The name of whoever answered, as Airflow knows them."""
    user = event.get("responded_by_user")
    name = None if user is None else user.get("name") or user.get("id")
    return None if name is None else str(name)
