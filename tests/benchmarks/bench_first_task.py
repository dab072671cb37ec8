"""How soon an on-demand run's first task runs while all other clusters' runs are under way, in a real Airflow.

    python -m tests.benchmarks.bench_first_task [--clusters 12] [--runs 3]

All clusters but one are started at once; then the last one by hand, a few times at a distance, and what is measured is
from the REST call to the start of ``check_request``. Prints a table; asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.times import time_text
from stack.airflow.client import AirflowClient
from stack.airflow.cluster_entries import write_entry
from stack.demo.pipeline import BY_HAND
from stack.installed_code import CHECKOUT
from stack.machine import Machine
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

RUNS_SECONDS = 3600
DISTANCE_SECONDS = 20


def main() -> int:
    """Start a stack of its own, measure, remove it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, default=12)
    parser.add_argument("--runs", type=int, default=3, help="on-demand runs that are measured")
    arguments = parser.parse_args()
    machine = Machine(CHECKOUT / ".run" / "bench-first-task", settings=BY_HAND)
    remove(machine)
    names = [f"cluster-{number:02}" for number in range(arguments.clusters)]
    for name in names:
        write_entry(machine.clusters_file, name, {"file": str(write_cluster(machine.run, name))})
    try:
        machine.start(print)
        measure(machine.airflow.client, names, arguments.runs)
    finally:
        remove(machine)
    return 0


def remove(machine: Machine) -> None:
    """Stop whatever runs of it, and leave nothing behind."""
    server = machine.server
    assert server is not None, "it measures a machine of its own"
    if server.is_running:
        machine.stop()
        server.remove()
    shutil.rmtree(machine.run, ignore_errors=True)


def measure(client: AirflowClient, names: list[str], runs: int) -> None:
    """The table, row by row."""
    *others, last = (f"advise_{name}" for name in names)
    for dag_id in (*others, last):
        client.wait_for_dag(dag_id)
    started = {dag_id: client.trigger(dag_id, {"snapshot": "fresh"}) for dag_id in others}
    wait_for_first_tasks(client, started)
    print("run  first task after  the others then")
    for number in range(1, runs + 1):
        asked = datetime.now(UTC)
        run_id = client.trigger(last, {"snapshot": "fresh"})
        task = first_task(client, last, run_id)
        waited = (datetime.fromisoformat(task["start_date"]) - asked).total_seconds()
        states = Counter(state_of(client, dag_id, run_id_) for dag_id, run_id_ in started.items())
        print(f"{number:>3}  {waited:>10.1f} s     " + ", ".join(f"{n} {state}" for state, n in sorted(states.items())))
        client.finish(last, run_id)
        time.sleep(DISTANCE_SECONDS)


def wait_for_first_tasks(client: AirflowClient, started: dict[str, str]) -> None:
    """Until the first of the others is at its heavy work: all of them are under way then."""
    deadline = time.monotonic() + RUNS_SECONDS
    while not any(state_of(client, dag_id, run_id) == "replay running" for dag_id, run_id in started.items()):
        if time.monotonic() > deadline:
            raise TimeoutError("no run came to its replay")
        time.sleep(1)


def first_task(client: AirflowClient, dag_id: str, run_id: str) -> dict[str, Any]:
    """``check_request`` once it has started."""
    deadline = time.monotonic() + RUNS_SECONDS
    while time.monotonic() < deadline:
        for task in client.task_instances(dag_id, run_id):
            if task["task_id"] == "check_request" and task["start_date"]:
                return task
        time.sleep(0.2)
    raise TimeoutError(f"{dag_id} never began")


def state_of(client: AirflowClient, dag_id: str, run_id: str) -> str:
    """The task that runs or waits, with its state."""
    tasks = client.task_instances(dag_id, run_id)
    under_way = [task for task in tasks if task["state"] not in (None, "success")]
    return f"{under_way[0]['task_id']} {under_way[0]['state']}" if under_way else client.run_state(dag_id, run_id)


def write_cluster(folder: Path, name: str) -> Path:
    """Three hundred partitions of a gigabyte on six brokers, half of them full."""
    rows = [row("t", p, (p % 3, (p + 1) % 3), GB) for p in range(300)]
    snapshot = cluster(rows, brokers(6, racks=3), captured_at=time_text(datetime.now(UTC)))
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.json"
    file.write_text(json.dumps(snapshot_to_document(snapshot)))
    return file


if __name__ == "__main__":
    raise SystemExit(main())
