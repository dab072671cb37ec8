"""What dashboards see of a cluster's newest advisory, asked as their role."""

from __future__ import annotations

import threading
import time
from typing import Any

import psycopg

from stack.machine import Machine

Seen = list[tuple[Any, ...]]
# Everything that a reader can see of the newest advisory, as one line.
_SEEN = """
SELECT run.run_id, run.plan_id, md5(plan.document::text),
       (SELECT count(*) FROM advisor.move_latest AS move WHERE move.cluster = run.cluster),
       (SELECT count(*) FROM advisor.finding_latest AS finding WHERE finding.cluster = run.cluster),
       (SELECT count(*) FROM advisor.topic_score_latest AS score WHERE score.cluster = run.cluster),
       (SELECT count(*) FROM advisor.broker_score_latest AS score WHERE score.cluster = run.cluster)
FROM advisor.run_latest AS run JOIN advisor.plan_latest AS plan ON plan.run_id = run.run_id
WHERE run.cluster = %s
"""


class Reader(threading.Thread):
    """A dashboard: asks again and again, as the reader role, and keeps every different answer, in order."""

    def __init__(self, machine: Machine, cluster: str) -> None:
        super().__init__(daemon=True)
        self._machine, self._cluster = machine, cluster
        self.answers: list[Seen] = []
        self.refused: list[str] = []  # only while Postgres itself is down
        self.is_over = threading.Event()

    def run(self) -> None:
        """Until it is over, and one last look then."""
        while not self._look_until_over():
            time.sleep(0.2)

    def _look_until_over(self) -> bool:
        try:
            with _as_reader(self._machine) as connection:
                is_last = False
                while not is_last:
                    is_last = self.is_over.wait(0.1)
                    self._note(connection.execute(_SEEN, [self._cluster]).fetchall())
        except psycopg.Error as error:
            self.refused.append(str(error))
            return False
        return True

    def _note(self, answer: Seen) -> None:
        if not self.answers or self.answers[-1] != answer:
            self.answers.append(answer)


def seen_now(machine: Machine, cluster: str) -> Seen:
    """One look."""
    with _as_reader(machine) as connection:
        return connection.execute(_SEEN, [cluster]).fetchall()


def _as_reader(machine: Machine) -> psycopg.Connection:
    connection = psycopg.connect(machine.dsn("advisor"), autocommit=True, connect_timeout=5)
    connection.execute("SET ROLE advisor_reader")
    return connection
