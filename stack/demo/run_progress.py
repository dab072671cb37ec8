"""A DAG run on a terminal: each task as it ends, and every 20 s what is under way and what it waits for."""

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
    """Says lines by ``say``; ``log_of`` reads a task's log, of which one thing is told: that it compiles kernels."""

    say: Callable[[str], None]
    log_of: Callable[[Task], str]
    clock: Callable[[], float] = time.monotonic
    _said_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._said_at = self.clock()

    def changed(self, task: Task) -> None:
        """A task is in another state than before: what has ended is told."""
        if task["state"] in _ENDED:
            self._say(f"{_name(task):<16} {task['state']} ({task['duration'] or 0:.1f} s)")

    def look(self, tasks: Iterable[Task]) -> None:
        """All tasks of the run as they are now; says something only where nothing was said for ``SILENCE_S``."""
        if self.clock() - self._said_at < SILENCE_S:
            return
        running = [task for task in tasks if task["state"] == "running"]
        for task in running:
            self._say(f"{_name(task):<16} under way{_since(task)}{self._waits_for(task)}")
        if not running:
            self._say("waiting for Airflow to start the next task")

    def _say(self, words: str) -> None:
        self._said_at = self.clock()
        self.say(words)

    def _waits_for(self, task: Task) -> str:
        """In its log a worker says so once; after that it may be at its work already."""
        try:
            said = self.log_of(task)
        except (OSError, RuntimeError):  # a log that cannot be read yet is no reason to stop
            return ""
        return f"; {COMPILING}" if COMPILING in said else ""


def _name(task: Task) -> str:
    return str(task["task_id"]).rpartition(".")[2]


def _since(task: Task) -> str:
    started = task.get("start_date")
    if not started:
        return ""
    seconds = (datetime.now(UTC) - datetime.fromisoformat(str(started))).total_seconds()
    return f" for {seconds:.0f} s"
