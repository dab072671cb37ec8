"""Progress of a DAG run on a terminal: each ended task, and every 20 s the running ones and what they wait for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

SILENCE_S = 20.0
COMPILING = "kernels of this step are compiled, once"
_ENDED = frozenset({"success", "failed", "up_for_retry", "upstream_failed"})

Task = Mapping[str, Any]


@dataclass(slots=True)
class RunProgress:
    say: Callable[[str], None]
    log_of: Callable[[Task], str]
    clock: Callable[[], float] = time.monotonic
    _said_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._said_at = self.clock()

    def changed(self, task: Task) -> None:
        if task["state"] in _ENDED:
            self._say(f"{_name(task):<16} {task['state']} ({task['duration'] or 0:.1f} s)")

    def look(self, tasks: Iterable[Task]) -> None:
        if self.clock() - self._said_at < SILENCE_S:
            return
        running = [task for task in tasks if task["state"] == "running"]
        for task in running:
            self._say(f"{_name(task):<16} under way{_since(task)}{self._waits_for(task)}")
        if not running:
            self._say("waiting for Airflow to start the next task")

    def _say(self, message: str) -> None:
        self._said_at = self.clock()
        self.say(message)

    def _waits_for(self, task: Task) -> str:
        """A worker logs it once; it may be past it."""
        try:
            log = self.log_of(task)
        except (OSError, RuntimeError):
            return ""
        return f"; {COMPILING}" if COMPILING in log else ""


def _name(task: Task) -> str:
    return str(task["task_id"]).rpartition(".")[2]


def _since(task: Task) -> str:
    started = task.get("start_date")
    if not started:
        return ""
    seconds = (datetime.now(UTC) - datetime.fromisoformat(str(started))).total_seconds()
    return f" for {seconds:.0f} s"
