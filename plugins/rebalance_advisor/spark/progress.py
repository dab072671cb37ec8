"""How far a job is, for the log of the task that waits for it: a line every 20 seconds, and one at its end.

    with progress(spark, "groups", len(groups)) as counter:
        …  # a task says counter.add(1) after each; Spark brings it to the driver when the task has ended

A task that is done twice counts twice, so the count stops at the total.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from rebalance_advisor.terminal import write_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EVERY_S = 20.0


@contextmanager
def progress(
    spark: SparkSession, what: str, total: int, *, every_s: float = _EVERY_S, stream: TextIO | None = None
) -> Iterator[Any]:
    """An accumulator to count with, ``add(n)``; inside, the driver says every so often how far it is."""
    from pyspark.util import InheritableThread

    context, started = spark.sparkContext, time.monotonic()
    counter = context.accumulator(0)
    ended = threading.Event()
    output = sys.stderr if stream is None else stream

    def say(under_way: str) -> None:
        write_lines(output, progress_line(what, counter.value, total, time.monotonic() - started, under_way))
        output.flush()

    def watch() -> None:
        while not ended.wait(every_s):
            say(tasks_under_way(context))

    watcher = InheritableThread(target=watch, daemon=True)
    watcher.start()
    words = "given up"
    try:
        yield counter
        words = "done"
    finally:
        ended.set()
        watcher.join()
        say(words)


def progress_line(what: str, done: int, total: int, passed_s: float, under_way: str) -> str:
    """``groups: 1,200 of 2,000 (60 %) after 40 s; 4 tasks under way``."""
    done = min(done, total)
    share = f" ({100 * done // total} %)" if total else ""
    return f"{what}: {done:,} of {total:,}{share} after {passed_s:.0f} s; {under_way}"


def tasks_under_way(context: Any) -> str:
    """How many tasks are computed now; where none is, whether any executor has come at all."""
    tracker = context.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    active = sum(stage.numActiveTasks for stage in stages if stage is not None)
    if active == 0 and stages and not _has_executor(context):
        return "no executor has come: has the cluster free cores and memory?"
    return f"{active} {'task' if active == 1 else 'tasks'} under way"


def _has_executor(context: Any) -> bool:
    """The driver is one of them; in local mode it computes itself."""
    return len(context.statusTracker().getExecutorInfos()) > (0 if context.master.startswith("local") else 1)
