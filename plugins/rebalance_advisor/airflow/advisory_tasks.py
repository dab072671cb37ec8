"""The tasks of an advisory, in the order in which they run; between them go ids, everything else lies in the store."""

from __future__ import annotations

from typing import Any

from airflow.sdk import task

from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.fail_without_retry import fail_without_retry
from rebalance_advisor.airflow.still_working import still_working
from rebalance_advisor.airflow.task_log import task_log

_log = task_log(__name__)

Run = dict[str, Any]  # run_id, cluster, snapshot_id, partition_count


@task
@fail_without_retry
def check_request(cluster: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """The form, or the REST call, as one request; what cannot be is refused here, in words."""
    from rebalance_advisor import store
    from rebalance_advisor.airflow.publishing.places import require_place
    from rebalance_advisor.airflow.requested_runs import requested_run

    with store.connect(store_dsn()) as connection:
        request = requested_run(connection, cluster, dict(params or {}))
        require_place(cluster)
    _log.info("%s: the request can be kept", cluster)
    return request


@task
@fail_without_retry
def start_run(request: dict[str, Any], dag_run: Any = None) -> Run:
    """Choose the snapshot, or read a fresh one, and open a run over it. The run's id is the same in every retry."""
    from rebalance_advisor import store
    from rebalance_advisor.airflow.requested_runs import start_requested_run

    cluster, run_id = str(request["cluster"]), f"{dag_run.run_id}.{request['cluster']}"
    with store.connect(store_dsn()) as connection:
        snapshot_id = start_requested_run(connection, request, run_id)
        partition_count = store.load_run(connection, run_id).partition_count
    _log.info("run %s advises %s over snapshot %s", run_id, request["cluster"], snapshot_id)
    return {"run_id": run_id, "cluster": cluster, "snapshot_id": snapshot_id, "partition_count": partition_count}


@task
@fail_without_retry
def check_input(run: Run) -> None:
    """The input gate: a snapshot that contradicts itself goes no further."""
    from rebalance_advisor.airflow.gate_tasks import check_snapshot_or_refuse

    check_snapshot_or_refuse(store_dsn(), run["snapshot_id"])


@task
@fail_without_retry
def check_results(run: Run) -> None:
    """The result gate: scores, findings and plan agree with each other and with the snapshot."""
    from rebalance_advisor.airflow.gate_tasks import check_run_or_refuse

    check_run_or_refuse(store_dsn(), run["run_id"])


@task
@fail_without_retry
def publish(run: Run) -> dict[str, Any]:
    """Write the files, then let readers see the run: one short transaction, the last thing that happens."""
    from rebalance_advisor.airflow.publishing.places import place_of
    from rebalance_advisor.airflow.publishing.publish_run import publish_run

    with still_working(_log, f"run {run['run_id']}: writing files"):
        place = place_of(run["cluster"], run["run_id"])
        words, address = publish_run(store_dsn(), run_id=run["run_id"], cluster=run["cluster"], place=place)
    return {"run_id": run["run_id"], "folder": address, "closing_words": words}
