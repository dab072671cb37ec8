"""The five moments at which something is killed: how to come to each, what to kill, and how it is started again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from stack.machine import Machine
from stack.waiting import wait_for
from tests.stack.kills.stack_processes import (
    command_of,
    component,
    driver_pythons,
    drivers,
    postmaster,
    spark_pythons,
    workers_of,
)
from tests.stack.kills.supervision import PATIENCE_SECONDS, start_again

CLUSTER = "kill-table"


@dataclass
class Moment:
    """One way to die. ``reach`` returns the process ids to kill; ``mend`` starts the killed part again."""

    name: str
    killed: str
    reach: Callable[[Machine, str], list[int]]
    mend: Callable[[Machine], None] = field(default=lambda _: None)
    before: Callable[[Machine], None] = field(default=lambda _: None)


def task_process(machine: Machine, run_id: str, task: str) -> list[int]:
    """The process in which a task instance runs; it carries the instance's id as its name."""
    for instance in machine.airflow.client.task_instances(f"advise_{CLUSTER}", run_id):
        if instance["task_id"] == task and instance["state"] == "running":
            return [
                pid for pid in workers_of(machine) if command_of(pid).startswith(f"airflow worker -- {instance['id']}")
            ]
    return []


# -- the moments ------------------------------------------------------------------------------------------------------


def input_file(machine: Machine) -> Path:
    return machine.run / "cluster.json"


def reach_replaying(machine: Machine, _run_id: str) -> list[int]:
    wait_for("Spark's Python workers", lambda: spark_pythons(machine), seconds=PATIENCE_SECONDS)
    return wait_for("the driver's JVM", lambda: drivers(machine), seconds=PATIENCE_SECONDS)


@dataclass
class HeldTable:
    """Keeps writers, and nobody else, from one table until it is let go: who writes waits, its rows half saved."""

    name: str
    _connection: psycopg.Connection | None = None

    def hold(self, machine: Machine) -> None:
        self._connection = psycopg.connect(machine.dsn("advisor"))
        self._connection.execute(f"LOCK TABLE {self.name} IN SHARE ROW EXCLUSIVE MODE")

    def release(self, _machine: Machine) -> None:
        self._connection.close()

    def hold_new_reading(self, machine: Machine) -> None:
        """A reading that is stored already would not be written again: this one differs in one replica list."""
        document = json.loads(input_file(machine).read_text())
        document["partitions"][0]["replicas"].reverse()
        input_file(machine).write_text(json.dumps(document))
        self.hold(machine)

    def reach_collecting(self, machine: Machine, run_id: str) -> list[int]:
        self._wait_for_a_writer(machine)
        return wait_for("the task", lambda: task_process(machine, run_id, "start_run"), seconds=PATIENCE_SECONDS)

    def reach_loading(self, machine: Machine, _run_id: str) -> list[int]:
        """Held from the start of the Spark driver on, for opening a run touches the table too."""
        wait_for("the driver's JVM", lambda: drivers(machine), seconds=PATIENCE_SECONDS)
        self.hold(machine)
        self._wait_for_a_writer(machine)
        return driver_pythons(machine)

    def _wait_for_a_writer(self, machine: Machine) -> None:
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = %s"
        with psycopg.connect(machine.dsn("advisor"), autocommit=True) as other:
            wait_for(
                "a writer",
                lambda: other.execute(waiting, ("rebalance-advisor",)).fetchone()[0],
                seconds=PATIENCE_SECONDS,
            )


def reach_scheduler(machine: Machine, _run_id: str) -> list[int]:
    wait_for("Spark's Python workers", lambda: spark_pythons(machine), seconds=PATIENCE_SECONDS)
    return component(machine, "scheduler")


def reach_postgres(machine: Machine, _run_id: str) -> list[int]:
    wait_for("the driver's JVM", lambda: drivers(machine), seconds=PATIENCE_SECONDS)
    return postmaster(machine)


def moments() -> list[Moment]:
    readings, results = HeldTable("store.partition"), HeldTable("store.topic_score")
    return [
        Moment(
            "task while collecting", "the task", readings.reach_collecting, readings.release, readings.hold_new_reading
        ),
        Moment("Spark driver while replaying", "the JVM", reach_replaying),
        Moment("task while loading results", "the Spark driver's Python", results.reach_loading, results.release),
        Moment("scheduler", "the scheduler", reach_scheduler, start_again),
        Moment("Postgres", "the postmaster", reach_postgres, start_again),
    ]
