"""The tasks of an advisory, in the order in which they run; between them go ids, everything else lies in the store."""

from __future__ import annotations

from typing import Any

from airflow.sdk import task

from rebalance_advisor.airflow.assets import ADVISORY
from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.fail_without_retry import no_retry

Run = dict[str, str]  # run_id, cluster, snapshot_id


@task
def open_run(cluster: str, params: dict[str, Any] | None = None, dag_run: Any = None) -> Run:
    """Choose the snapshot, or read a fresh one, and open a run over it. The run's id is the same in every retry."""
    from rebalance_advisor import store
    from rebalance_advisor.airflow.collecting import collect
    from rebalance_advisor.run_parameters import plan_options
    from rebalance_advisor.version import advisor_version

    form, run_id = dict(params or {}), f"{dag_run.run_id}.{cluster}"
    with no_retry(), store.connect(store_dsn()) as connection:
        plan_options(form)  # a wish that cannot be is told now
        stored = store.latest_snapshot_id(connection, cluster) if form["snapshot"] == "latest" else None
        snapshot_id = stored or collect(connection, cluster)
        store.start_run(
            connection, run_id=run_id, cluster=cluster, snapshot_id=snapshot_id, parameters=form, seed=form["seed"],
            advisor_version=advisor_version(),
        )  # fmt: skip
    return {"run_id": run_id, "cluster": cluster, "snapshot_id": snapshot_id}


@task
def check_input(run: Run) -> None:
    """The input gate: a snapshot that contradicts itself goes no further."""
    from rebalance_advisor.airflow.gate_tasks import check_snapshot_or_refuse

    check_snapshot_or_refuse(store_dsn(), run["snapshot_id"])


@task
def judge(run: Run) -> int:
    """From scores, replays and plan to findings; returns how many there are."""
    from rebalance_advisor import store
    from rebalance_advisor.store.stored_advice import advice_of_run

    with store.connect(store_dsn()) as connection:
        findings = advice_of_run(connection, run["run_id"]).findings
        store.save_findings(connection, run["run_id"], findings)
    return len(findings)


@task
def check_results(run: Run) -> None:
    """The result gate: scores, findings and plan agree with each other and with the snapshot."""
    from rebalance_advisor.airflow.gate_tasks import check_run_or_refuse

    check_run_or_refuse(store_dsn(), run["run_id"])


@task(outlets=[ADVISORY])
def publish(run: Run) -> dict[str, Any]:
    """Verify, write the files, then let readers see it: one short transaction, the last thing that happens."""
    from rebalance_advisor.airflow.publishing import publish_folder, publish_run

    folder = publish_folder(run["cluster"], run["run_id"])
    words, folder = publish_run(store_dsn(), run_id=run["run_id"], cluster=run["cluster"], folder=folder)
    return {"run_id": run["run_id"], "folder": str(folder), "closing_words": words}
