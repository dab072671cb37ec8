"""A task that is given up leaves its last words in the store: ``on_failure_callback`` of every cluster's DAGs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.task_log import task_log

_log = task_log(__name__)


def failure_recorder(cluster: str) -> Callable[[Mapping[str, Any]], None]:
    """What Airflow calls, in the task's own process, once no retry is left."""

    def record(context: Mapping[str, Any]) -> None:
        """Keep it; a store that is away must not hide the failure itself, so that is only logged."""
        import psycopg

        from kafka_rebalance.errors import AdvisorError
        from rebalance_advisor import store
        from rebalance_advisor.store.failures import TaskFailure, record_failure

        instance, error = context["ti"], context.get("exception")
        words = f"{type(error).__name__}: {error}" if error else "ended without a word"
        failure = TaskFailure(cluster, instance.dag_id, instance.task_id, instance.run_id, words)
        try:
            with store.connect(store_dsn()) as connection:
                record_failure(connection, failure)
        except (AdvisorError, psycopg.Error) as reason:
            _log.warning("%s: the failure is not in the store: %s", cluster, reason)

    return record
