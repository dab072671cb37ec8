"""Record in the store why a task failed for good: a listener of our plugin.

This is no ``on_failure_callback``: Airflow ships callbacks to the dag-processor together with the run's conf, and one
number in a conf that msgpack cannot hold ends the dag-processor.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from airflow.listeners import hookimpl

from rebalance_advisor.airflow.task_log import task_log

_FAILED = "failed"  # not "up_for_retry"
_LEAST, _MOST = -(2**63), 2**64 - 1  # of msgpack, by which Airflow hands a conf to a task

_log = task_log(__name__)


@dataclass(frozen=True, slots=True)
class _Failed:
    dag_id: str
    task_id: str
    run_id: str
    words: str


class FailureRecorder:
    """Airflow calls it in the task's own process, or in the scheduler where that process never began or was killed."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[_Failed] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None

    @hookimpl
    def on_task_instance_failed(self, previous_state: Any, task_instance: Any, error: Any) -> None:
        """Record a task that no retry follows; a person who marks a task as failed (no previous state) needs no record.

        The scheduler never waits for the store: a thread of its own writes.
        """
        if task_instance.state != _FAILED or previous_state is None:
            return
        words = (
            f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else str(error or "no last words")
        )
        is_in_scheduler = type(task_instance).__module__.startswith("airflow.models")
        if is_in_scheduler:
            words = _unfit_conf(task_instance) or words
        failed = _Failed(task_instance.dag_id, task_instance.task_id, task_instance.run_id, words)
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
    """Write a failure of one of our DAGs. A store that is away must not hide it: then only the log tells of both."""
    from rebalance_advisor import store
    from rebalance_advisor.airflow.cluster_dags import cluster_of
    from rebalance_advisor.airflow.connections import store_dsn

    try:
        cluster = cluster_of(failed.dag_id)
        if cluster is None:
            return
        with store.connect(store_dsn()) as connection:
            failure = store.TaskFailure(cluster, failed.dag_id, failed.task_id, failed.run_id, failed.words)
            store.record_failure(connection, failure)
    except Exception as reason:  # noqa: BLE001 (the thread goes on with the next failure)
        _log.warning("%s, %s: the failure is not in the store: %s", failed.dag_id, failed.task_id, reason)


def _unfit_conf(task_instance: Any) -> str | None:
    """Say which number of the run's conf kept Airflow from starting the task."""
    from kafka_rebalance.visible_text import excerpt

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
