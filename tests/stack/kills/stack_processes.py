"""Which process of the stack is which: by its command line, its parent, or the record of who started it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from stack.machine import Machine
from stack.processes import session_members

SUBMIT = "org.apache.spark.deploy.SparkSubmit"
JOB = "replay_and_plan.py"
_TASK = "airflow worker -- "
_EXECUTOR = "airflow worker -- LocalExecutor: "
_IDLE = "<idle>"


def command_of(pid: int) -> str:
    """Its command line; empty for one that is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def parent_of(pid: int) -> int | None:
    """``None`` for one that is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    except OSError:
        return None


def workers_of(machine: Machine) -> list[int]:
    """All processes that the scheduler started, and what these started."""
    scheduler = machine.airflow.programs["scheduler"].session
    return session_members(scheduler) if scheduler else []


def find(machine: Machine, *arguments: str) -> list[int]:
    """Of those, the ones whose command line holds all words."""
    return [pid for pid in workers_of(machine) if all(word in command_of(pid) for word in arguments)]


def component(machine: Machine, name: str) -> list[int]:
    """The first process of a component of Airflow."""
    pid = machine.airflow.programs[name].pid
    return [] if pid is None else [pid]


def postmaster(machine: Machine) -> list[int]:
    """Postgres' first process."""
    return [machine.server.pid] if machine.server.is_running else []


def backends(machine: Machine) -> list[int]:
    """Postgres' processes that answer a connection."""
    server = machine.server.pid
    return [pid for pid in _all_pids() if parent_of(pid) == server and "127.0.0.1" in command_of(pid)]


def executors(machine: Machine) -> list[int]:
    """The executor's processes that watch over a task; others wait for one."""
    scheduler = machine.airflow.programs["scheduler"].pid
    return [
        pid for pid in find(machine, _EXECUTOR) if parent_of(pid) == scheduler and not command_of(pid).endswith(_IDLE)
    ]


def tasks(machine: Machine) -> list[int]:
    """The processes in which our tasks run; each carries its instance's id as its name."""
    return [pid for pid in find(machine, _TASK) if not command_of(pid).startswith(_EXECUTOR.strip())]


def drivers(machine: Machine) -> list[int]:
    """The JVM of spark-submit."""
    return [pid for pid in find(machine, SUBMIT, JOB) if command_of(pid).partition(" ")[0].endswith("java")]


def driver_pythons(machine: Machine) -> list[int]:
    """The Python that the JVM starts: our job."""
    return [pid for pid in find(machine, "python", JOB) if SUBMIT not in command_of(pid)]


def spark_pythons(machine: Machine) -> list[int]:
    """Spark's Python workers, and the process that forks them."""
    return find(machine, "pyspark.daemon")


def kill(pids: list[int]) -> None:
    """SIGKILL."""
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def _all_pids() -> list[int]:
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]
