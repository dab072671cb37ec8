"""Many clusters advised, or read, at once through the real pipeline: runs an hour, CPU by component, where tasks wait.

    make bench-fleet                         CLUSTERS=50 SLOTS=1 DAG=advise
    python -m tests.benchmarks.bench_fleet [--clusters 50] [--slots 1] [--dag collect] [--parallelism 16] [--size 10k]
                                           [--keep FOLDER]

Each cluster is another one of 10,000 partitions and 200 groups. All ``advise_NAME``, or all ``collect_NAME``, are
triggered at once, after one run that compiles kernels and is not counted; the pool ``advisor_heavy`` with ``--slots``
lets Spark jobs take turns.
Others' work on the machine is told beside: CPU seconds a run mean something whoever else works, the clock does
not.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import psutil

from kafka_rebalance.snapshot.codec import snapshot_to_document
from stack.airflow.client import FINISHED, AirflowClient
from stack.airflow.cluster_entries import write_entry
from stack.machine import Machine
from tests.benchmarks.fleet_waits import TaskTimes, times_of, waits
from tests.benchmarks.pipeline_snapshot import SIZES, pipeline_snapshot
from tests.benchmarks.process_watch import ProcessWatch

KINDS = ("api-server", "scheduler", "dag-processor", "tasks", "jvm", "driver", "workers", "postgres")
_RUN_SECONDS, _LOOK_SECONDS, _STEP_S = 6 * 3_600, 10, 1.0
_FORMS: dict[str, dict[str, str]] = {"advise": {"snapshot": "fresh"}, "collect": {}}
_CPU_FIELDS = ("user", "system", "nice", "irq", "softirq")


@dataclass(frozen=True, slots=True)
class FleetRun:
    """What was seen from the first trigger to the last end; ``busy_cpu_s``: the whole machine's, ours included."""

    from_s: float
    until_s: float
    states: Sequence[str]
    tasks: Sequence[TaskTimes]
    busy_cpu_s: float
    loads: Sequence[float] = field(default_factory=list)

    @property
    def wall_s(self) -> float:
        return self.until_s - self.from_s


def main(argv: Sequence[str] | None = None) -> int:
    """One table; 1 where a run failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clusters", type=int, default=50)
    parser.add_argument("--slots", type=int, default=1, help="of the pool advisor_heavy")
    parser.add_argument("--dag", choices=list(_FORMS), default="advise")
    parser.add_argument("--parallelism", type=int, default=16, help="of Airflow")
    parser.add_argument("--size", choices=[size.name for size in SIZES], default="10k")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="all state of the stack; it stays there")
    arguments = parser.parse_args(argv)
    settings = {
        "ADVISOR_SCHEDULES": "off",
        "ADVISOR_HEAVY_SLOTS": str(arguments.slots),
        "AIRFLOW__CORE__PARALLELISM": str(arguments.parallelism),
    }
    with tempfile.TemporaryDirectory(prefix="advisor-fleet-") as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        machine = Machine(folder, settings=settings)
        names = [_write(machine, arguments.size, number) for number in range(arguments.clusters + 1)]
        try:
            machine.start()
            run, watch = _ran(machine, names, arguments.dag)
        finally:
            machine.stop()
    _say(f"{arguments.clusters} clusters of {arguments.size}, slots: {arguments.slots}, {os.cpu_count()} cores")
    _say(*_told(run, watch))
    return int(any(state != "success" for state in run.states))


def _write(machine: Machine, size_name: str, number: int) -> str:
    """A cluster by its number: another seed, other loads, replicas and groups."""
    name, size = f"fleet-{number:04}", next(size for size in SIZES if size.name == size_name)
    snapshot = pipeline_snapshot(size, datetime(2026, 11, 20, 12, tzinfo=UTC), seed=2 * number)
    file = machine.run / "clusters" / f"{name}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(orjson.dumps(snapshot_to_document(snapshot)))
    write_entry(machine.clusters_file, name, {"file": str(file), "age_limit": "3650d"})
    return name


def _ran(machine: Machine, names: Sequence[str], dag: str) -> tuple[FleetRun, ProcessWatch]:
    """The first one alone, then all others at once."""
    client = machine.airflow.client
    dag_ids = [f"{dag}_{name}" for name in names]
    for dag_id in dag_ids:
        client.wait_for_dag(dag_id)
    _until_ended(client, {dag_ids[0]: client.trigger(dag_ids[0], _FORMS[dag])})
    roots = {program.pid: name for name, program in machine.airflow.programs.items()}
    if machine.server is not None:
        roots[machine.server.pid] = "postgres"
    with ProcessWatch({pid: kind for pid, kind in roots.items() if pid is not None}, _STEP_S) as watch:
        busy, from_s = _busy_cpu_s(), time.time()
        started = {dag_id: client.trigger(dag_id, _FORMS[dag]) for dag_id in dag_ids[1:]}
        loads = _until_ended(client, started)
        until_s, busy = time.time(), _busy_cpu_s() - busy
    tasks = [times_of(task) for dag_id, run_id in started.items() for task in client.task_instances(dag_id, run_id)]
    states = [client.run_state(dag_id, run_id) for dag_id, run_id in started.items()]
    until_s = max((task.ended_s for task in tasks if task.ended_s), default=until_s)
    return FleetRun(from_s, until_s, states, tasks, busy, loads), watch


def _until_ended(client: AirflowClient, started: dict[str, str]) -> list[float]:
    """The machine's load at each look. Raises TimeoutError."""
    left, loads, deadline = dict(started), [], time.monotonic() + _RUN_SECONDS
    while left:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(left)} runs have not ended")
        time.sleep(_LOOK_SECONDS)
        loads.append(os.getloadavg()[0])
        # One list for all would be one request; it would also be as long as the fleet's history.
        left = {dag_id: run_id for dag_id, run_id in left.items() if client.run_state(dag_id, run_id) not in FINISHED}
        _say(f"{datetime.now(UTC):%H:%M:%S} {len(started) - len(left)} of {len(started)} ended, load {loads[-1]:.1f}")
    return loads


def _told(run: FleetRun, watch: ProcessWatch) -> list[str]:
    done, cores = run.states.count("success"), os.cpu_count() or 1
    ours = watch.cpu_s(run.from_s, run.until_s)
    mean_load = sum(run.loads) / max(1, len(run.loads))
    others = max(0.0, run.busy_cpu_s - ours)
    of_others = f"others' {others:,.0f} s; load {mean_load:.1f}"
    lines = [
        f"{done} of {len(run.states)} runs ended well in {run.wall_s:,.0f} s: {3600 * done / run.wall_s:.1f} an hour",
        f"CPU: ours {ours:,.0f} s ({ours / max(1, done):.1f} a run), {of_others}",
        f"all {cores} cores to themselves, at that CPU: {3600 * cores * done / max(1.0, ours):.1f} an hour at most",
        "",
        f"{'component':<16}{'cpu_s':>10}{'a run':>14}{'peak_mib':>10}",
    ]
    for kind in (*KINDS, None):
        spent, peak = watch.cpu_s(run.from_s, run.until_s, kind), watch.peak_bytes(run.from_s, run.until_s, kind)
        lines.append(f"{kind or 'all':<16}{spent:>10,.0f}{spent / max(1, done):>14.1f}{peak / 2**20:>10,.0f}")
    return [*lines, "", *waits(run.tasks)]


def _busy_cpu_s() -> float:
    spent: Any = psutil.cpu_times()
    return sum(getattr(spent, name, 0.0) for name in _CPU_FIELDS)


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
