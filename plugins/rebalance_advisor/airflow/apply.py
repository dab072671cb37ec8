"""The DAG ``apply_NAME`` with two questions to a person: may this plan be carried out, and has it been?

Waiting occupies no worker. Tasks pass ids; the rest is in the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from airflow.providers.standard.operators.hitl import ApprovalOperator, HITLOperator
from airflow.sdk import Param, TriggerRule, dag, task

from rebalance_advisor.airflow.cluster_dags import with_form
from rebalance_advisor.airflow.connections import kafka_properties, store_dsn
from rebalance_advisor.airflow.running import fail_without_retry
from rebalance_advisor.airflow.task_log import task_log

ADVISORY = "advisory"
ANSWER_WITHIN, CARRIED_OUT_WITHIN, TOOK_SECONDS = "answer_within_minutes", "carried_out_within_hours", "took_seconds"
_MOST_MINUTES, _MOST_HOURS = 43_200, 720  # 30 days
_MOST_SECONDS = 61 * 86_400  # the longest run
_LONGEST_RUN = 400


def apply_form() -> dict[str, Param]:
    waits: dict[str, Any] = {"type": "number", "exclusiveMinimum": 0}
    return {
        ADVISORY: Param(
            None,
            type=["null", "string"],
            maxLength=_LONGEST_RUN,
            title="Advisory",
            description="Its run; empty: the newest published one",
        ),
        ANSWER_WITHIN: Param(1440, **waits, maximum=_MOST_MINUTES, title="Minutes to wait for approval"),
        CARRIED_OUT_WITHIN: Param(
            168,
            **waits,
            maximum=_MOST_HOURS,
            title="Hours to wait until it is carried out",
            description="Afterwards the cluster is read all the same",
        ),
    }


def seconds_field() -> dict[str, Param]:
    title = "Seconds the waves took, if you measured them"
    return {TOOK_SECONDS: Param(None, type=["null", "number"], minimum=0, maximum=_MOST_SECONDS, title=title)}


if TYPE_CHECKING:  # numpy: DAG files are parsed often
    from kafka_rebalance.plans.apply_state import ApplyState

CARRIED_OUT, STOPPED = "Carried out", "Stopped"
_APPLICATION = "application_id"
# A script can answer before the operator's process ends; a busy scheduler then fails this harmless try.
_ASKED_AGAIN: dict[str, Any] = {
    "retries": 8,
    "retry_delay": timedelta(seconds=10),
    "retry_exponential_backoff": False,
}


class MayBeCarriedOut(ApprovalOperator):
    """A rejection skips the rest; without an answer the task fails for good."""

    template_fields = (*ApprovalOperator.template_fields, _APPLICATION)

    def __init__(self, *, application_id: Any, **kwargs: Any) -> None:
        super().__init__(response_timeout=timedelta(days=1), **(_ASKED_AGAIN | kwargs))
        self.application_id = application_id

    def execute(self, context: Any) -> Any:
        self.response_timeout = timedelta(minutes=float(context["params"][ANSWER_WITHIN]))
        return super().execute(context)

    def execute_complete(self, context: Any, event: dict[str, Any]) -> Any:
        from kafka_rebalance.plans.apply_state import ApplyState

        if "error" in event:
            self._remember(ApplyState.TIMED_OUT, {})
            from airflow.providers.common.compat.sdk import AirflowFailException

            from kafka_rebalance.render.checks import APPLY_STATES

            raise AirflowFailException(APPLY_STATES[ApplyState.TIMED_OUT])
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
    """The cluster is read afterwards in any case."""

    def __init__(self, **kwargs: Any) -> None:
        arguments = _ASKED_AGAIN | kwargs
        super().__init__(
            options=[CARRIED_OUT, STOPPED], defaults=STOPPED, response_timeout=timedelta(days=7), **arguments
        )

    def execute(self, context: Any) -> Any:
        self.response_timeout = timedelta(hours=float(context["params"][CARRIED_OUT_WITHIN]))
        return super().execute(context)


def answered_by(event: Mapping[str, Any]) -> str | None:
    user = event.get("responded_by_user")
    name = None if user is None else user.get("name") or user.get("id")
    return None if name is None else str(name)


Proposal = dict[str, Any]  # application_id, cluster, run_id, plan_id, files (sha-256 by name), folder, words

_log = task_log(__name__)


@task
@fail_without_retry
def show_plan(cluster: str, params: dict[str, Any] | None = None, dag_run: Any = None) -> Proposal:
    """Find the plan (by default the cluster's newest) and describe it."""
    from rebalance_advisor import store
    from rebalance_advisor.airflow.apply_snapshots import pinned_files, plan_in_short, published_plan
    from rebalance_advisor.request.run_request import require_known

    form = dict(params or {})
    application_id = f"{dag_run.dag_id}.{dag_run.run_id}"
    with store.connect(store_dsn()) as connection:
        require_known(form, apply_form())
        published = published_plan(connection, cluster, form[ADVISORY])
        pinned = pinned_files(published)
        store.ask_application(connection, application_id, published.run_id)
    summary = plan_in_short(published.plan, published.files.address)
    for line in summary.splitlines():
        _log.info("%s", line)
    return {
        "application_id": application_id, "cluster": cluster, "run_id": published.run_id,
        "plan_id": published.plan.plan_id, "files": pinned, "folder": published.files.address, "words": summary,
    }  # fmt: skip


@task
@fail_without_retry
def check_again(proposal: Proposal) -> list[str]:
    """Read the cluster and check the approved plan on it. Returns harmless changes."""
    from airflow.providers.common.compat.sdk import AirflowFailException

    from kafka_rebalance.plans.check import PlanStatus
    from kafka_rebalance.render import render_all
    from rebalance_advisor import store
    from rebalance_advisor.airflow.apply_snapshots import STATUS_TEXTS, approved_plan, check_on_fresh_reading

    with store.connect(store_dsn()) as connection:
        published = approved_plan(connection, proposal)
        result = check_on_fresh_reading(connection, store_dsn(), published, proposal["application_id"])
    if result.status is not PlanStatus.VALID:
        why = "; ".join(text for reason in result.because for text in render_all(reason.facts))
        raise AirflowFailException(f"the plan is {STATUS_TEXTS[result.status]} by now: {why}")
    return [text for reason in result.warnings for text in render_all(reason.facts)]


@task
@fail_without_retry
def show_commands(proposal: Proposal, warnings: list[str]) -> str:
    """Show the exact commands and files. This DAG only reads; the person who runs the commands needs the rights."""
    from rebalance_advisor import store
    from rebalance_advisor.airflow.apply_snapshots import approved_plan, commands_in_full

    with store.connect(store_dsn()) as connection:
        published = approved_plan(connection, proposal)
    text = commands_in_full(
        published.plan, published.files, proposal["files"], _bootstrap(proposal["cluster"]), warnings
    )
    for line in text.splitlines():
        _log.info("%s", line)
    return text


@task
@fail_without_retry
def verify(proposal: Proposal, answer: dict[str, Any]) -> dict[str, Any]:
    """Read the cluster, compare it with the plan, and store the result."""
    from kafka_rebalance.render.checks import APPLY_STATES
    from rebalance_advisor import store
    from rebalance_advisor.airflow.apply_snapshots import approved_plan, verify_on_fresh_reading

    answered = {"took_seconds": (answer["params_input"] or {}).get(TOOK_SECONDS), "answered_by": answered_by(answer)}
    with store.connect(store_dsn()) as connection:
        published = approved_plan(connection, proposal)
        applied = verify_on_fresh_reading(connection, store_dsn(), published, proposal["application_id"], answered)
    counts = {state.value: count for state, count in applied.counts.items() if count}
    _log.info("%s: %s; %s", applied.state.value, APPLY_STATES[applied.state], counts)
    return {"state": applied.state.value, "moves": counts, "folder": proposal["folder"]}


@task(trigger_rule=TriggerRule.ALL_DONE)
@fail_without_retry
def outcome(dag_run: Any = None) -> str:
    """Return how the run ended; fails the run unless it ended as a person decided."""
    from airflow.providers.common.compat.sdk import AirflowFailException

    from kafka_rebalance.plans.apply_state import ApplyState
    from kafka_rebalance.render.checks import APPLY_STATES
    from rebalance_advisor import store

    application_id = f"{dag_run.dag_id}.{dag_run.run_id}"
    try:
        with store.connect(store_dsn()) as connection:
            application = store.load_application(connection, application_id)
    except store.StoreError as error:
        raise AirflowFailException(f"nobody was asked: show_plan failed ({error})") from error
    state_text = APPLY_STATES[application.state]
    if application.failure or application.state is ApplyState.REFUSED:
        state_text = f"{state_text}: {application.failure or application.check_status}"
    if not application.state.is_end:
        raise AirflowFailException(f"stopped before its end, look at the task that failed; so far {state_text}")
    if not application.state.is_as_decided:
        raise AirflowFailException(f"{application.state.value}: {state_text}")
    _log.info("%s: %s", application.state.value, state_text)
    return application.state.value


def _bootstrap(cluster: str) -> str | None:
    from rebalance_advisor.airflow.clusters import clusters_file, read_clusters

    connection = read_clusters(clusters_file()).entry(cluster).connection
    servers = None if connection is None else kafka_properties(connection).get("bootstrap.servers")
    return None if servers is None else str(servers)


def build_apply_dag(cluster: str, arguments: Mapping[str, Any]) -> Any:
    @dag(
        **arguments,
        schedule=None,  # manual only
        dagrun_timeout=timedelta(days=61),
    )
    def apply_cluster() -> None:
        proposal: Any = show_plan(cluster)
        approve = MayBeCarriedOut(
            task_id="approve",
            subject=f"Carry out a plan for cluster {cluster}?",
            body=proposal["words"],
            application_id=proposal["application_id"],
        )
        checked: Any = check_again(proposal)
        commands: Any = show_commands(proposal, checked)
        carried_out: Any = HasBeenCarriedOut(
            task_id="carried_out",
            subject=f"Run these commands for cluster {cluster}, then answer",
            body=commands,
            params=seconds_field(),
        )
        verified: Any = verify(proposal, carried_out.output)
        approve >> checked
        verified >> outcome()

    return with_form(apply_cluster(), apply_form())
