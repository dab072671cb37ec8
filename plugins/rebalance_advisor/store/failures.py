"""Failed tasks, for views of missing advisories."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from kafka_assignors.visible_text import visible
from rebalance_advisor.store.schema.connection import Connection, named

_LONGEST = 2_000  # characters


@dataclass(frozen=True, slots=True)
class TaskFailure:
    cluster: str
    dag: str
    task: str
    dag_run: str
    message: str


def record_failure(connection: Connection, failure: TaskFailure) -> None:
    message = visible(failure.message)[:_LONGEST]
    connection.execute(named("insert_failure"), asdict(failure) | {"message": message})


def running_attempts(connection: Connection) -> list[tuple[str, str]]:
    return [(str(cluster), str(run_id)) for cluster, run_id in connection.execute(named("running_attempts")).fetchall()]
