"""The kinds of processes that the stack consists of, each with how its processes are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stack.machine import Machine
from tests.stack.kills import stack_processes as processes

Find = Callable[[Machine], list[int]]


@dataclass(frozen=True, slots=True)
class Kind:
    """``lives_in_job``: it is there only while the Spark job runs, so that its moments are moments of its own life."""

    name: str
    find: Find
    lives_in_job: bool = False


KINDS = {
    kind.name: kind
    for kind in (
        Kind("task", processes.tasks),
        Kind("executor's worker", processes.executors),
        Kind("Spark's JVM", processes.drivers, lives_in_job=True),
        Kind("Spark driver's Python", processes.driver_pythons, lives_in_job=True),
        Kind("Spark's Python workers", processes.spark_pythons, lives_in_job=True),
        Kind("scheduler", lambda machine: processes.component(machine, "scheduler")),
        Kind("dag-processor", lambda machine: processes.component(machine, "dag-processor")),
        Kind("api-server", lambda machine: processes.component(machine, "api-server")),
        Kind("Postgres' postmaster", processes.postmaster),
        Kind("a Postgres backend", processes.backends),
    )
}
