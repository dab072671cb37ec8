"""The task of ``report_health``, and a listener that stores why a task failed for good.

Not ``on_failure_callback``: Airflow ships it to the dag-processor with the run's conf, where a number that msgpack
cannot hold ends the dag-processor.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow.listeners import hookimpl
from airflow.sdk import task

from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.running import fail_without_retry
from rebalance_advisor.airflow.task_log import task_log

if TYPE_CHECKING:
    from rebalance_advisor.store import Connection

FILE = "advisor.prom"
_log = task_log(__name__)


@task
@fail_without_retry
def write_health(ti: Any = None) -> str:
    """Replace the health file atomically. Fails the runs of removed clusters."""
    from datetime import UTC, datetime

    from rebalance_advisor import store
    from rebalance_advisor.airflow.publishing import publish_root
    from rebalance_advisor.health import open_metrics
    from rebalance_advisor.publish.folders import replace_file
    from rebalance_advisor.store.health import load_health

    with store.connect(store_dsn()) as connection:
        fail_runs_of_removed_clusters(connection, ti)
        clusters = load_health(connection)
    file = publish_root() / FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, open_metrics(clusters, datetime.now(UTC)).encode())
    _log.info("%s: %d clusters", file, len(clusters))
    return str(file)


def fail_runs_of_removed_clusters(connection: Connection, ti: Any) -> None:
    """Airflow calls nothing back for runs whose DAG is gone. ``ti`` limits this to this Airflow's runs."""
    from kafka_assignors.errors import InvalidInputError
    from rebalance_advisor.airflow.clusters import clusters_file, read_clusters
    from rebalance_advisor.store.applications import give_up_application, open_applications
    from rebalance_advisor.store.failures import TaskFailure, record_failure, running_attempts

    try:
        file = clusters_file()
        config = read_clusters(file)
    except InvalidInputError as error:
        _log.warning("not looked for runs of clusters that were removed: %s", error)
        return
    advised = [
        (cluster, f"advise_{cluster}", name, name.removesuffix(f".{cluster}"))
        for cluster, name in running_attempts(connection)
    ]
    applied = [
        (cluster, f"apply_{cluster}", name, name.removeprefix(f"apply_{cluster}."))
        for cluster, name in open_applications(connection)
    ]
    for cluster, dag, name, dag_run in advised + applied:
        if cluster in config.entries or cluster in config.refused or not ti.get_dr_count(dag, run_ids=[dag_run]):
            continue
        reason = (
            f"[clusters.{cluster}] was removed from {file} during the run: Airflow runs none of its tasks any more; "
            f"put the table back, or end the run with: airflow dags delete {dag}"
        )
        if dag.startswith("apply_") and not give_up_application(connection, name, reason):
            continue
        record_failure(connection, TaskFailure(cluster, dag, "report_health", dag_run, reason))
        _log.warning("%s: %s", name, reason)


_FAILED = "failed"  # not "up_for_retry"
_LEAST, _MOST = -(2**63), 2**64 - 1  # msgpack's range, in which Airflow sends a conf


@dataclass(frozen=True, slots=True)
class _Failed:
    dag_id: str
    task_id: str
    run_id: str
    message: str


class FailureRecorder:
    """Runs in the task's process, or in the scheduler if that was killed."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[_Failed] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None

    @hookimpl
    def on_task_instance_failed(self, previous_state: Any, task_instance: Any, error: Any) -> None:
        """Recorded in a thread: the scheduler must not wait for the store.

        A task that a person marked as failed has no previous state and is skipped.
        """
        if task_instance.state != _FAILED or previous_state is None:
            return
        message = (
            f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else str(error or "no last words")
        )
        is_in_scheduler = type(task_instance).__module__.startswith("airflow.models")
        if is_in_scheduler:
            message = _unfit_conf(task_instance) or message
        failed = _Failed(task_instance.dag_id, task_instance.task_id, task_instance.run_id, message)
        if not is_in_scheduler:
            _record(failed)
            return
        self._waiting.put(failed)
        if self._writer is None or not self._writer.is_alive():
            self._writer = threading.Thread(target=self._write, name="advisor-failures", daemon=True)
            self._writer.start()

    def _write(self) -> None:
        while True:
            _record(self._waiting.get())


def _record(failed: _Failed) -> None:
    from rebalance_advisor import store
    from rebalance_advisor.airflow.cluster_dags import recorded_cluster
    from rebalance_advisor.airflow.connections import store_dsn

    try:
        cluster = recorded_cluster(failed.dag_id)
        if cluster is None:
            return
        with store.connect(store_dsn()) as connection:
            failure = store.TaskFailure(cluster, failed.dag_id, failed.task_id, failed.run_id, failed.message)
            store.record_failure(connection, failure)
    except Exception as reason:  # noqa: BLE001 (the next failure follows)
        _log.warning("%s, %s: the failure is not in the store: %s", failed.dag_id, failed.task_id, reason)


def _unfit_conf(task_instance: Any) -> str | None:
    from kafka_assignors.visible_text import excerpt

    for number in _whole_numbers(task_instance.dag_run.conf):
        if not _LEAST <= number <= _MOST:
            return (
                f"Airflow could not start {task_instance.task_id}: the run's conf holds {excerpt(number)}, a whole "
                "number that does not fit into 64 bits. Trigger the DAG again without it"
            )
    return None


def _whole_numbers(value: Any) -> Iterator[int]:
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, int):
            yield part
        elif isinstance(part, dict):
            pending.extend(part.values())
        elif isinstance(part, list):
            pending.extend(part)
