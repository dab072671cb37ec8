"""The tasks of ``apply_NAME``, in the order in which they run; between them go ids, all else lies in the store."""

from __future__ import annotations

from typing import Any

from airflow.sdk import TriggerRule, task

from rebalance_advisor.airflow.connections import kafka_properties, store_dsn
from rebalance_advisor.airflow.fail_without_retry import fail_without_retry
from rebalance_advisor.airflow.task_log import task_log

Shown = dict[str, Any]  # application_id, cluster, run_id, plan_id, files (sha-256 by name), folder, words

_log = task_log(__name__)


@task
@fail_without_retry
def show_plan(cluster: str, params: dict[str, Any] | None = None, dag_run: Any = None) -> Shown:
    """Find the plan, the newest one of the cluster by default, and put it into words for whoever decides."""
    from rebalance_advisor import store
    from rebalance_advisor.airflow.apply.form import ADVISORY, apply_form
    from rebalance_advisor.airflow.apply.readings import pinned_files, published_plan
    from rebalance_advisor.airflow.apply.shown import plan_in_short
    from rebalance_advisor.request.run_request import require_known

    form = dict(params or {})
    application_id = f"{dag_run.dag_id}.{dag_run.run_id}"
    with store.connect(store_dsn()) as connection:
        require_known(form, apply_form())
        published = published_plan(connection, cluster, form[ADVISORY])
        pinned = pinned_files(published)
        store.ask_application(connection, application_id, published.run_id)
    words = plan_in_short(published.plan, published.files.address)
    for line in words.splitlines():
        _log.info("%s", line)
    return {
        "application_id": application_id, "cluster": cluster, "run_id": published.run_id,
        "plan_id": published.plan.plan_id, "files": pinned, "folder": published.files.address, "words": words,
    }  # fmt: skip


@task
@fail_without_retry
def check_again(shown: Shown) -> list[str]:
    """Approved: read the cluster now, and judge the plan on it. Returns what has changed without harming it."""
    from airflow.providers.common.compat.sdk import AirflowFailException

    from kafka_rebalance.plans.check import PlanStatus
    from kafka_rebalance.render import render_all
    from rebalance_advisor import store
    from rebalance_advisor.airflow.apply.readings import STATUS_WORDS, approved_plan, check_on_fresh_reading

    with store.connect(store_dsn()) as connection:
        published = approved_plan(connection, shown)
        result = check_on_fresh_reading(connection, store_dsn(), published, shown["application_id"])
    if result.status is not PlanStatus.VALID:
        why = "; ".join(words for reason in result.because for words in render_all(reason.facts))
        raise AirflowFailException(f"the plan is {STATUS_WORDS[result.status]} by now: {why}")
    return [words for reason in result.warnings for words in render_all(reason.facts)]


@task
@fail_without_retry
def show_commands(shown: Shown, warnings: list[str]) -> str:
    """The exact commands and files; whoever runs them has the rights, this DAG only reads."""
    from rebalance_advisor import store
    from rebalance_advisor.airflow.apply.readings import approved_plan
    from rebalance_advisor.airflow.apply.shown import commands_in_full

    with store.connect(store_dsn()) as connection:
        published = approved_plan(connection, shown)
    text = commands_in_full(published.plan, published.files, shown["files"], _bootstrap(shown["cluster"]), warnings)
    for line in text.splitlines():
        _log.info("%s", line)
    return text


@task
@fail_without_retry
def verify(shown: Shown, answer: dict[str, Any]) -> dict[str, Any]:
    """Somebody carried it out, or stopped: read the cluster, compare it with the plan, remember what came of it."""
    from rebalance_advisor import store
    from rebalance_advisor.airflow.apply.form import TOOK_SECONDS
    from rebalance_advisor.airflow.apply.questions import answered_by
    from rebalance_advisor.airflow.apply.readings import approved_plan, verify_on_fresh_reading

    told = {"took_seconds": (answer["params_input"] or {}).get(TOOK_SECONDS), "answered_by": answered_by(answer)}
    with store.connect(store_dsn()) as connection:
        published = approved_plan(connection, shown)
        applied = verify_on_fresh_reading(connection, store_dsn(), published, shown["application_id"], told)
    counts = {state.value: count for state, count in applied.counts.items() if count}
    _log.info("%s: %s; %s", applied.state.value, applied.state.words, counts)
    return {"state": applied.state.value, "moves": counts, "folder": shown["folder"]}


@task(trigger_rule=TriggerRule.ALL_DONE)
@fail_without_retry
def outcome(dag_run: Any = None) -> str:
    """How it ended, in words: this task fails, and the run with it, unless it ended as somebody decided."""
    from airflow.providers.common.compat.sdk import AirflowFailException

    from rebalance_advisor import store

    application_id = f"{dag_run.dag_id}.{dag_run.run_id}"
    try:
        with store.connect(store_dsn()) as connection:
            application = store.load_application(connection, application_id)
    except store.StoreError as error:
        raise AirflowFailException(f"nobody was asked: show_plan failed ({error})") from error
    if not application.state.is_end:
        raise AirflowFailException(f"stopped before its end, look at the task that failed; so far {application.words}")
    if not application.state.is_as_decided:
        raise AirflowFailException(f"{application.state.value}: {application.words}")
    _log.info("%s: %s", application.state.value, application.words)
    return application.state.value


def _bootstrap(cluster: str) -> str | None:
    """The cluster's own address, where it is read by a connection."""
    from rebalance_advisor.airflow.clusters.cluster_config import clusters_file, read_clusters

    connection = read_clusters(clusters_file()).entry(cluster).connection
    servers = None if connection is None else kafka_properties(connection).get("bootstrap.servers")
    return None if servers is None else str(servers)
