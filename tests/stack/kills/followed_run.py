"""A run of the small cluster as Airflow's own database knows it, which answers while the api-server is away."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg

from stack.airflow.client import FINISHED, AirflowApiError, AirflowClient
from stack.machine import Machine
from stack.waiting import WaitError, wait_for
from tests.stack.kills.small_cluster import DAG
from tests.stack.kills.supervision import PATIENCE_SECONDS, all_run

_LAST_LINES = 15
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
        run, asked = cls(machine, run_id), {"snapshot": "fresh", "balance_within": 0.3, "seed": seed}
        wait_for("a whole stack", lambda: all_run(machine), seconds=PATIENCE_SECONDS)
        run._until_it_answers(lambda client: client.wait_for_dag(DAG))
        run._until_it_answers(lambda client: run.state or client.trigger(DAG, asked, run_id=run_id))
        return run

    @property
    def state(self) -> str:
        """Empty where there is none of that id, or Postgres does not answer."""
        return str(next(iter(self._rows(_STATE)), ("",))[0])

    @property
    def is_over(self) -> bool:
        """It has succeeded or failed."""
        return self.state in FINISHED

    def end(self) -> str:
        """Wait for it; the state, ``running`` or so where it does not end within all patience."""
        try:
            wait_for(f"run {self.run_id}", lambda: self.is_over, seconds=PATIENCE_SECONDS, every_s=0.3)
        except WaitError as error:
            print(error, flush=True)
        return self.state

    def clear(self) -> None:
        """As a person does in the morning."""
        self._until_it_answers(lambda client: client.clear(DAG, self.run_id))

    def log_tail(self) -> str:
        """What the tasks that failed wrote last: the stack, and with it the logs, is removed at the end."""
        client, lines = self.machine.airflow.client, []
        with contextlib.suppress(AirflowApiError, OSError):
            for task in client.task_instances(DAG, self.run_id):
                if task["state"] == "failed":
                    lines += [task["task_id"], *client.log(DAG, self.run_id, task).splitlines()[-_LAST_LINES:]]
        return "\n".join(lines)

    def under_way(self) -> str:
        """The tasks that run now and for how long, in words."""
        now = datetime.now(UTC)
        running = [(task, began) for task, state, _, began in self._rows(_TASKS) if state == "running" and began]
        return "; ".join(f"{task}, {(now - began).total_seconds():.1f} s" for task, began in running) or "between tasks"

    def tried_again(self) -> str:
        """The tasks that needed more than one try."""
        return ", ".join(f"{task} {tries}" for task, _, tries, _ in self._rows(_TASKS) if tries > 1)

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        """None where Postgres does not answer."""
        try:
            with psycopg.connect(self.machine.dsn("airflow"), connect_timeout=5) as connection:
                return connection.execute(query, (DAG, self.run_id)).fetchall()
        except psycopg.Error:
            return []

    def _until_it_answers(self, ask: Callable[[AirflowClient], object]) -> None:
        """An api-server that is started again refuses for a while."""

        def is_done() -> bool:
            client = self.machine.airflow.client
            if not client.is_healthy(*self.machine.airflow.status):
                return False
            with contextlib.suppress(AirflowApiError, OSError):
                ask(client)
                return True
            return False

        wait_for("the api-server", is_done, seconds=PATIENCE_SECONDS)
