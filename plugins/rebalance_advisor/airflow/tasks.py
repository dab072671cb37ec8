from __future__ import annotations

from typing import Any

from airflow.sdk import task

from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.running import fail_without_retry, still_working
from rebalance_advisor.airflow.task_log import task_log

_log = task_log(__name__)

Run = dict[str, Any]  # run_id, cluster, snapshot_id, partition_count


@task
@fail_without_retry
def check_request(cluster: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """Turn the form or REST call into one checked request."""
    from rebalance_advisor import store
    from rebalance_advisor.airflow.publishing import require_publish_target
    from rebalance_advisor.airflow.requested_runs import requested_run

    with store.connect(store_dsn()) as connection:
        request = requested_run(connection, cluster, dict(params or {}))
        require_publish_target(cluster)
    _log.info("%s: the request can be kept", cluster)
    return request


@task
@fail_without_retry
def start_run(request: dict[str, Any], dag_run: Any = None) -> Run:
    """Choose or collect the snapshot and start a run on it. Retries have the same run id."""
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
    """Run the input gate on the snapshot."""
    check_snapshot_or_refuse(store_dsn(), run["snapshot_id"])


@task
@fail_without_retry
def check_results(run: Run) -> None:
    """Run the result gate: scores, findings and plan must agree with each other and with the snapshot."""
    check_run_or_refuse(store_dsn(), run["run_id"])


@task
@fail_without_retry
def publish(run: Run) -> dict[str, Any]:
    """Write the files, then publish the run in one short transaction."""
    from rebalance_advisor.airflow.publishing import publish_run, publish_target

    with still_working(_log, f"run {run['run_id']}: writing files"):
        target = publish_target(run["cluster"], run["run_id"])
        summary, address = publish_run(store_dsn(), run_id=run["run_id"], cluster=run["cluster"], target=target)
    return {"run_id": run["run_id"], "folder": address, "describe_ending": summary}


@task
@fail_without_retry
def collect(cluster: str, params: dict[str, Any] | None = None) -> str:
    """Read the cluster and save the snapshot; returns its id."""
    from rebalance_advisor import store
    from rebalance_advisor.airflow.collecting import collect as collect_now
    from rebalance_advisor.airflow.requested_runs import of_cluster
    from rebalance_advisor.request.run_request import require_known

    require_known(of_cluster(cluster, params or {}), ["cluster"])
    with store.connect(store_dsn()) as connection:
        return collect_now(connection, cluster)


@task
@fail_without_retry
def compare(cluster: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """Compare the cluster today and after the form's what-if; returns the answer and stores none of it."""
    from rebalance_advisor import store
    from rebalance_advisor.airflow.collecting import collect as collect_now
    from rebalance_advisor.airflow.requested_runs import answer_what_if, read_what_if

    request = read_what_if(cluster, params or {})
    with store.connect(store_dsn()) as connection:
        snapshot_id = store.latest_snapshot_id(connection, cluster)
        if snapshot_id is None:
            snapshot_id = collect_now(connection, cluster)
            check_snapshot_or_refuse(store_dsn(), snapshot_id)
        snapshot = store.load_snapshot(connection, snapshot_id)
    answer, lines = answer_what_if(request, snapshot)
    for line in lines:
        _log.info("%s", line)
    return answer | {"snapshot_id": snapshot_id}


@task
@fail_without_retry
def check_snapshot(snapshot_id: str) -> None:
    """Run the input gate on the snapshot."""
    check_snapshot_or_refuse(store_dsn(), snapshot_id)


def check_snapshot_or_refuse(dsn: str, snapshot_id: str) -> None:
    from rebalance_advisor import gates

    subject = f"snapshot {snapshot_id}"
    with still_working(_log, f"the input gate asks its rules about {subject}"):
        result = gates.check_input(dsn, snapshot_id)
    _refuse_blocked(subject, result)


def check_run_or_refuse(dsn: str, run_id: str) -> None:
    from rebalance_advisor import gates

    with still_working(_log, f"the result gate asks its rules about run {run_id}"):
        result = gates.check_results(dsn, run_id)
    _refuse_blocked(f"run {run_id}", result)


def _refuse_blocked(subject: str, result: Any) -> None:
    from airflow.providers.common.compat.sdk import AirflowFailException

    from rebalance_advisor import gates

    for check in result.checks:
        if not check.is_passed:
            _log.warning("%s: %s", subject, gates.check_text(check))
    _log.info("%d of %d rules passed", sum(check.is_passed for check in result.checks), len(result.checks))
    if result.is_blocked:
        raise AirflowFailException(f"the gate blocks {subject}: {result}")


@task
@fail_without_retry
def prune(params: dict[str, Any] | None = None) -> dict[str, int]:
    """Remove rows older than the form says, and their published files; returns the counts."""
    from dataclasses import asdict
    from datetime import UTC, datetime, timedelta

    from rebalance_advisor import store
    from rebalance_advisor.airflow.cluster_dags import prune_form
    from rebalance_advisor.airflow.publishing import prune_published
    from rebalance_advisor.request.run_request import require_known

    form = dict(params or {})
    require_known(form, prune_form())  # a misspelt field would remove rows
    with store.connect(store_dsn()) as connection:
        now = store.agreed_now(connection, datetime.now(UTC))
        pruned = store.prune(
            connection,
            keep_snapshots_days=form["keep_snapshots_days"],
            keep_runs_days=form["keep_runs_days"],
            keep_whole_days=form["keep_whole_days"],
            now=now,
        )
        folders = prune_published(connection, now - timedelta(days=form["keep_runs_days"]))
    _log.info("%s, %d published folders", pruned, len(folders))
    return asdict(pruned) | {"folders": len(folders)}
