"""Where the tasks of many runs waited: for their predecessor, for the scheduler, for a slot, for a process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

_ORDER = ("check_request", "start_run", "check_input", "replay_and_plan", "check_results", "publish")
_WIDTHS = (14, 10, 13, 8)


@dataclass(frozen=True, slots=True)
class TaskTimes:
    """One task instance, in seconds of the clock; None: it did not come to that. ``run`` is its DAG and run."""

    run: str
    task_id: str
    scheduled_s: float | None
    queued_s: float | None
    started_s: float | None
    ended_s: float | None


def times_of(task: Mapping[str, Any]) -> TaskTimes:
    """From Airflow's answer."""
    moments = [task[key] for key in ("scheduled_when", "queued_when", "start_date", "end_date")]
    run = f"{task['dag_id']}/{task['dag_run_id']}"
    return TaskTimes(run, task["task_id"], *(None if moment is None else _seconds(moment) for moment in moments))


def waits(tasks: Sequence[TaskTimes]) -> list[str]:
    """A line a task: mean seconds until it was scheduled after the one before it, got a slot, began, and was done.

    ``for_scheduler`` is from the end of the task before to ``scheduled``, ``for_slot`` from there to ``queued`` (its
    pool or Airflow's parallelism is full), ``for_process`` from there to the start of its process.
    """
    before = _ends_before(tasks)
    of_task: defaultdict[str, list[tuple[float, ...]]] = defaultdict(list)
    for task in tasks:
        moments = (task.scheduled_s, task.queued_s, task.started_s, task.ended_s)
        if None in moments:
            continue
        scheduled_s, queued_s, started_s, ended_s = (moment or 0.0 for moment in moments)
        waited_s = scheduled_s - before.get((task.run, task.task_id), scheduled_s)
        of_task[task.task_id].append((waited_s, queued_s - scheduled_s, started_s - queued_s, ended_s - started_s))
    lines = [f"{'task, mean s':<18}{'for_scheduler':>14}{'for_slot':>10}{'for_process':>13}{'runs':>8}{'tasks':>7}"]
    for task_id in sorted(of_task, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER)):
        seen = of_task[task_id]
        means = [sum(column) / len(seen) for column in zip(*seen, strict=True)]
        figures = "".join(f"{mean:>{width}.1f}" for mean, width in zip(means, _WIDTHS, strict=True))
        lines.append(f"{task_id:<18}{figures}{len(seen):>7}")
    return lines


def _ends_before(tasks: Sequence[TaskTimes]) -> dict[tuple[str, str], float]:
    """Of each task the end of the one before it in its run: they run one after another."""
    of_run: defaultdict[str, list[TaskTimes]] = defaultdict(list)
    for task in tasks:
        if task.started_s is not None and task.ended_s is not None:
            of_run[task.run].append(task)
    ends = {}
    for run, ran in of_run.items():
        ran.sort(key=lambda task: task.started_s or 0.0)
        for earlier, later in pairwise(ran):
            ends[run, later.task_id] = earlier.ended_s or 0.0
    return ends


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
