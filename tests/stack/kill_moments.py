"""The five moments at which something is killed: how to come to each, what to kill, and how it is started again."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from stack.airflow.server import AirflowError
from stack.machine import Machine
from stack.processes import session_members

CLUSTER = "kill-table"
_PATIENCE_SECONDS = 420
# Longer than most components need to notice that their Postgres is gone.
_SETTLED_SECONDS = 20


def wait_for(what: str, condition: Callable[[], Any]) -> Any:
    """What ``condition`` returns once it is true."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for: {what}"
        time.sleep(0.1)
    return found


@dataclass
class Moment:
    """One way to die. ``reach`` returns the process ids to kill; ``mend`` starts the killed part again."""

    name: str
    killed: str
    reach: Callable[[Machine, str], list[int]]
    mend: Callable[[Machine], None] = field(default=lambda _: None)
    before: Callable[[Machine], None] = field(default=lambda _: None)


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def workers_of(machine: Machine) -> list[int]:
    """All processes that the scheduler started, and what these started."""
    scheduler = machine.airflow.programs["scheduler"].session
    return session_members(scheduler) if scheduler else []


def find(machine: Machine, *words: str) -> list[int]:
    return [pid for pid in workers_of(machine) if all(word in command_of(pid) for word in words)]


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
    wait_for("Spark's Python workers", lambda: find(machine, "pyspark.daemon"))
    return wait_for(
        "the driver's JVM", lambda: find(machine, "org.apache.spark.deploy.SparkSubmit", "replay_and_plan.py")
    )


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
        return wait_for("the task", lambda: task_process(machine, run_id, "start_run"))

    def reach_loading(self, machine: Machine, _run_id: str) -> list[int]:
        """Held from the start of the Spark driver on, for opening a run touches the table too."""
        wait_for("the driver's JVM", lambda: find(machine, "org.apache.spark.deploy.SparkSubmit", "replay_and_plan.py"))
        self.hold(machine)
        self._wait_for_a_writer(machine)
        return [pid for pid in find(machine, "python", "replay_and_plan.py") if pid not in find(machine, "SparkSubmit")]

    def _wait_for_a_writer(self, machine: Machine) -> None:
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = %s"
        with psycopg.connect(machine.dsn("advisor"), autocommit=True) as other:
            wait_for("a writer", lambda: other.execute(waiting, ("rebalance-advisor",)).fetchone()[0])


def reach_scheduler(machine: Machine, _run_id: str) -> list[int]:
    wait_for("Spark's Python workers", lambda: find(machine, "pyspark.daemon"))
    return [machine.airflow.programs["scheduler"].pid]


def reach_postgres(machine: Machine, _run_id: str) -> list[int]:
    wait_for("the driver's JVM", lambda: find(machine, "org.apache.spark.deploy.SparkSubmit", "replay_and_plan.py"))
    return [int((machine.server.data / "postmaster.pid").read_text().split()[0])]


def start_again(machine: Machine) -> None:
    """Start whatever does not run, until all has run for a while."""
    deadline, well_since = time.monotonic() + _PATIENCE_SECONDS, None
    while well_since is None or time.monotonic() - well_since < _SETTLED_SECONDS:
        assert time.monotonic() < deadline, f"never all at once: {machine.airflow.status}"
        if not _all_run(machine):
            well_since = None
            with contextlib.suppress(AirflowError):
                machine.start()
        else:
            well_since = well_since or time.monotonic()
            time.sleep(0.5)


@contextlib.contextmanager
def supervised(machine: Machine) -> Iterator[None]:
    """What systemd, or ``restart`` in a compose file, does: while the block runs, whatever ends is started again.

    A scheduler that lost Postgres looks alive until its tasks have ended, a minute later on a busy machine.
    """
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(1):
            if not _all_run(machine):
                with contextlib.suppress(AirflowError):
                    machine.start()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join(_PATIENCE_SECONDS)


def _all_run(machine: Machine) -> bool:
    return machine.server.is_running and machine.is_running


def moments() -> list[Moment]:
    held = HeldTable("store.partition")
    return [
        Moment("task while collecting", "the task", held.reach_collecting, held.release, held.hold_new_reading),
        Moment("Spark driver while replaying", "the JVM", reach_replaying),
        while_loading(),
        Moment("scheduler", "the scheduler", reach_scheduler, start_again),
        Moment("Postgres", "the postmaster", reach_postgres, start_again),
    ]


def while_loading() -> Moment:
    held = HeldTable("store.topic_score")
    return Moment("task while loading results", "the Spark driver's Python", held.reach_loading, held.release)


def kill(pids: list[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
