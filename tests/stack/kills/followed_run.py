"""A run of the small cluster as Airflow's own database knows it, which answers while the api-server is away."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import psycopg

from stack.airflow.client import FINISHED
from stack.machine import Machine
from tests.stack.kills.small_cluster import DAG
from tests.stack.kills.supervision import PATIENCE_SECONDS, all_run, wait_for

_STATE = "SELECT state FROM dag_run WHERE dag_id = %s AND run_id = %s"
_TASKS = "SELECT task_id, state, try_number, start_date FROM task_instance WHERE dag_id = %s AND run_id = %s"


@dataclass(frozen=True, slots=True)
class FollowedRun:
    """One run."""

    machine: Machine
    run_id: str

    @classmethod
    def start(cls, machine: Machine, run_id: str, seed: int) -> FollowedRun:
        """Once the whole stack is well."""
        wait_for(
            "a whole stack", lambda: all_run(machine) and machine.airflow.client.is_healthy(*machine.airflow.status)
        )
        client = machine.airflow.client
        client.wait_for_dag(DAG)
        client.trigger(DAG, {"snapshot": "fresh", "balance_within": 0.3, "seed": seed}, run_id=run_id)
        return cls(machine, run_id)

    @property
    def state(self) -> str:
        """Empty where Postgres does not answer."""
        with self._asking() as connection:
            return str(connection.execute(_STATE, (DAG, self.run_id)).fetchone()[0])
        return ""

    @property
    def is_over(self) -> bool:
        """It has succeeded or failed."""
        return self.state in FINISHED

    def end(self) -> str:
        """Wait for it; the state, ``running`` or so where it does not end within all patience."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self.is_over and time.monotonic() < deadline:
            time.sleep(0.3)
        return self.state

    def clear(self) -> None:
        """As a person does in the morning."""
        wait_for("the api-server", lambda: self.machine.airflow.client.is_healthy("scheduler"))
        self.machine.airflow.client.clear(DAG, self.run_id)

    def under_way(self) -> str:
        """The tasks that run now and for how long, in words."""
        now = datetime.now(UTC)
        with self._asking() as connection:
            rows = connection.execute(_TASKS, (DAG, self.run_id)).fetchall()
            running = [
                f"{task}, {(now - began).total_seconds():.1f} s"
                for task, state, _, began in rows
                if state == "running" and began
            ]
            return "; ".join(running) or "between tasks"
        return "?"

    def tried_again(self) -> str:
        """The tasks that needed more than one try."""
        with self._asking() as connection:
            rows = connection.execute(_TASKS, (DAG, self.run_id)).fetchall()
            return ", ".join(f"{task} {tries}" for task, _, tries, _ in rows if tries > 1)
        return "?"

    @contextlib.contextmanager
    def _asking(self) -> Iterator[psycopg.Connection]:
        with (
            contextlib.suppress(psycopg.OperationalError),
            psycopg.connect(self.machine.dsn("airflow"), connect_timeout=5) as connection,
        ):
            yield connection
