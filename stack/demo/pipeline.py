"""The whole pipeline on a demo cluster, in a real Airflow: ``python -m stack.demo.pipeline``; ends with a verdict.

``--bootstrap host:port`` advises a running cluster instead, ``--input PATH`` a folder of dumps or a file. It stops
what it started; a stack that ``make up`` started is used and left running.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from kafka_assignors.errors import AdvisorError
from stack.airflow.client import AirflowClient
from stack.airflow.cluster_entries import write_entry
from stack.demo.run_progress import RunProgress
from stack.demo.warm_kernels import kernel_warmer, start_warming
from stack.installed_code import CHECKOUT, installed_code
from stack.machine import Machine
from stack.postgres import server as postgres
from stack.processes import Program, stop
from stack.waiting import wait_for

DEMO = "demo"
LIVE_CONNECTION = "kafka_live"
# A due daily run would block the demo: two runs never advise at once.
BY_HAND = {"ADVISOR_SCHEDULES": "off"}
_ANY_AGE = "3650d"
_RUN_SECONDS = 3600
_PATIENCE_SECONDS = 5.0
_PROBE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class TimedLog:
    """Prints lines with the seconds since it was made."""

    began: float

    def __call__(self, message: str) -> None:
        print(f"{time.monotonic() - self.began:4.0f} s  {message}", flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _arguments(argv)
    try:
        require_connection(arguments)
    except (OSError, AdvisorError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    say, machine = TimedLog(time.monotonic()), Machine(settings=BY_HAND)
    was_running = machine.is_running
    try:
        cluster = _name_cluster(machine, arguments, say)
        _warm(machine)
        machine.start(say, partial(_start_history, machine) if cluster == DEMO else lambda: None)
        if arguments.bootstrap:
            machine.airflow.client.set_connection(LIVE_CONNECTION, "kafka", _client_properties(arguments))
        published = advise(machine.airflow.client, cluster, say)
        if cluster == DEMO:
            _wait_for_history(machine, say)
    except (RuntimeError, OSError, AdvisorError) as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        stop([kernel_warmer(machine), _history(machine)], _PATIENCE_SECONDS)
        if not was_running:
            say("stopping")
            machine.stop()
    say("done; " + ("the stack goes on running" if was_running else "nothing is left running"))
    print("\n".join(closing_lines(published)))
    return 0


def advise(client: AirflowClient, cluster: str, say: Callable[[str], None], **form: Any) -> dict[str, Any]:
    """Run the cluster's DAG and follow it. Return the last task's record of what was published.

    Raises RuntimeError with the message of the failed task.
    """
    dag_id = f"advise_{cluster}"
    client.wait_for_dag(dag_id)
    run_id = client.trigger(dag_id, {"snapshot": "fresh", **form})
    say(f"{dag_id}: started")
    failed: dict[str, Any] | None = None
    progress = RunProgress(say, lambda task: client.log(dag_id, run_id, task))
    for task in client.follow(dag_id, run_id, _RUN_SECONDS, progress.look):
        progress.changed(task)
        failed = task if task["state"] == "failed" else failed
    if client.run_state(dag_id, run_id) != "success":
        problem = f"{failed['task_id']}: {client.failure(dag_id, run_id, failed)}" if failed else "no task ran"
        raise RuntimeError(f"{dag_id}: {problem}")
    return dict(client.returned(dag_id, run_id, "publish"))


def closing_lines(published: Mapping[str, Any]) -> list[str]:
    from rebalance_advisor.publish.digest import closing_paths  # heavy: a connection that fails should not wait for it

    folder = Path(published["folder"])
    folder = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    return [*published["describe_ending"], *closing_paths(folder)]


def require_connection(arguments: argparse.Namespace) -> None:
    """Return if a broker of ``--bootstrap`` accepts the connection, or if no live cluster is requested.

    Raises ConnectionFailedError or InvalidInputError with the messages of ``rebalance-advisor snapshot``.
    """
    if arguments.bootstrap:
        from rebalance_advisor.kafka.connection.probe import find_server
        from rebalance_advisor.kafka.connection.properties import connection_settings

        properties = _client_properties(arguments)
        find_server(connection_settings(properties, bootstrap=arguments.bootstrap), seconds=_PROBE_SECONDS)


def _name_cluster(machine: Machine, arguments: argparse.Namespace, say: Callable[[str], None]) -> str:
    """Add the cluster to clusters.toml; writes the demo's dumps if needed."""
    if arguments.bootstrap:
        write_entry(machine.clusters_file, "live", {"connection": LIVE_CONNECTION})
        return "live"
    if arguments.input:
        kind = "folder" if arguments.input.is_dir() else "file"
        entry = {kind: str(arguments.input.resolve()), "age_limit": _ANY_AGE}  # the user of a file knows its age
        write_entry(machine.clusters_file, "input", entry)
        return "input"
    write_demo(machine)
    write_small_clusters(machine)
    say("demo cluster written: 12 brokers, two snapshots an hour apart; two small clusters beside it")
    return DEMO


def write_demo(machine: Machine) -> None:
    from stack.demo.cluster import write_demo_cluster

    write_demo_cluster(machine.run / "demo", captured_at=datetime.now(UTC).replace(microsecond=0).isoformat())
    # A demo has no new dumps: it stays usable for a while.
    write_entry(machine.clusters_file, DEMO, {"folder": str(machine.run / "demo"), "age_limit": "30d"})


def write_small_clusters(machine: Machine) -> None:
    """Entries of the clusters whose snapshots ``stack.demo.history`` makes."""
    from stack.demo.small_clusters import BLIND, HEALTHY, snapshot_file

    for cluster in (HEALTHY, BLIND):
        file = str(snapshot_file(machine.run / "demo", cluster))
        write_entry(machine.clusters_file, cluster, {"file": file, "age_limit": "30d"})


def _history(machine: Machine) -> Program:
    return Program("history", machine.run / "history.json", machine.run / "history.log")


def _start_history(machine: Machine) -> None:
    """Fill the store while Airflow starts and advises."""
    paths = os.pathsep.join((str(installed_code().plugins), str(CHECKOUT)))
    command = [sys.executable, "-m", "stack.demo.history", str(machine.run / "demo")]
    _history(machine).start(command, {**os.environ, "PYTHONPATH": paths, postgres.SETTING: machine.dsn("advisor")})


def _wait_for_history(machine: Machine, say: Callable[[str], None]) -> None:
    program = _history(machine)
    wait_for("the history", lambda: not program.is_running, seconds=_RUN_SECONDS)
    say(program.log_tail(1))


def _warm(machine: Machine) -> None:
    """Kernels are compiled on the demo cluster, whichever is advised."""
    from stack.demo.cluster import write_demo_cluster

    dumps = machine.run / "demo"
    if not dumps.exists():
        write_demo_cluster(dumps, captured_at=datetime.now(UTC).replace(microsecond=0).isoformat())
    start_warming(machine, dumps)


def _client_properties(arguments: argparse.Namespace) -> dict[str, str]:
    from rebalance_advisor.kafka.connection.java_properties import read_properties

    given = read_properties(arguments.command_config).values if arguments.command_config else {}
    return {**given, "bootstrap.servers": arguments.bootstrap}


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--bootstrap", metavar="HOST:PORT", help="a running cluster")
    what.add_argument("--input", type=Path, help="a folder of dumps, or a file")
    parser.add_argument("--command-config", type=Path, metavar="FILE", help="client properties for --bootstrap")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
