"""``map`` on Spark's executors: tasks packed by cost, the most expensive first; answers in task order.

    mapper = SparkMapper(spark)
    advise(snapshot, request, mapper=mapper, width=mapper.width)

Longest processing time first: units by falling cost, each into the least loaded bin. O(n log n). Properties:

1. The fullest bin holds at most 4/3 - 1/(3 bins) times the optimum.
2. A unit that costs more than all others together is alone in its bin (from two bins on).
3. Bins are sorted by falling load, because Spark starts tasks in partition order.
4. Same costs, same bins; ties by position.

Costs 3, 3, 2, 2, 2 in two bins: loads 7 and 5, where 6 and 6 is possible. Graham, "Bounds on multiprocessing timing
anomalies", SIAM J. Appl. Math. 17 (1969). A repeated task counts twice in the progress, so the count stops at the
total.
"""

from __future__ import annotations

import math
import pickle
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from heapq import heapify, heapreplace
from typing import TYPE_CHECKING, Any, TextIO

from kafka_rebalance.errors import UsageError
from rebalance_advisor.terminal import write_lines


def pack_by_cost(costs: Sequence[float], bins: int) -> list[int]:
    if bins < 1:
        raise UsageError.at("bins", f"{bins} of them", "there must be at least one")
    for unit, cost in enumerate(costs):
        if not (math.isfinite(cost) and cost >= 0):
            raise UsageError.at(f"costs[{unit}]", f"{cost}", "a cost is a finite number from 0")
    loads = [(0.0, 0, number) for number in range(bins)]
    heapify(loads)
    packed = [0] * len(costs)
    for unit in sorted(range(len(costs)), key=lambda unit: -costs[unit]):
        load, count, number = loads[0]  # the count spreads units without cost
        packed[unit] = number
        heapreplace(loads, (load + costs[unit], count + 1, number))
    by_load = sorted(loads, key=lambda entry: (-entry[0], -entry[1], entry[2]))
    rank = {number: rank for rank, (_, _, number) in enumerate(by_load)}
    return [rank[number] for number in packed]


if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

Around = Callable[[], AbstractContextManager[None]]
_PLACE, _BIN, _PICKLED = "place", "bin", "pickled"
_ANSWERS = f"{_PLACE} int, {_PICKLED} binary"


class SparkMapper:
    """Tasks have ``cost_s``, and ``what`` for the log; ``around()`` wraps each bin."""

    def __init__(self, spark: SparkSession, around: Around = nullcontext) -> None:
        self._spark, self._around = spark, around

    @property
    def width(self) -> int:
        """Several bins a core, for progress and balance."""
        return 4 * max(1, int(self._spark.sparkContext.defaultParallelism))

    def __call__(self, step: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        import pyarrow as pa

        from rebalance_advisor.spark.on_executors import on_executors

        if not tasks:
            return []
        shared, around = self._spark.sparkContext.broadcast(_Step(step)), self._around

        def answers(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:

            from rebalance_advisor.compiling.first_compile import tell_of_first_compile

            tell_of_first_compile(what="step")  # in the worker's log
            with around():
                for batch in batches:
                    for packed in batch.column(_PICKLED).to_pylist():
                        for index, task in pickle.loads(packed):  # noqa: S301 from our own driver
                            answer = pickle.dumps(shared.value(task), pickle.HIGHEST_PROTOCOL)
                            counters[task.what].add(1)
                            columns = {_PLACE: pa.array([index], pa.int32()), _PICKLED: pa.array([answer], pa.binary())}
                            yield pa.RecordBatch.from_pydict(columns)

        rows = _packed(tasks, self.width)
        with ExitStack() as watched:
            totals = Counter(task.what for task in tasks)
            counters = {what: watched.enter_context(progress(self._spark, what, totals[what])) for what in totals}
            frame = self._spark.createDataFrame(rows).repartitionByRange(rows.num_rows, _BIN)
            table = frame.mapInArrow(on_executors(self._spark, answers), _ANSWERS).toArrow()
        shared.destroy()
        answered = dict(zip(table.column(_PLACE).to_pylist(), table.column(_PICKLED).to_pylist(), strict=True))
        return [pickle.loads(answered[index]) for index in range(len(tasks))]  # noqa: S301 from our own workers


class _Step:
    """A plain broadcast cannot hold a lambda; cloudpickle can."""

    def __init__(self, step: Callable[[Any], Any]) -> None:
        self._step = step

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        from pyspark import cloudpickle

        return pickle.loads, (cloudpickle.dumps(self._step),)


def _packed(tasks: Sequence[Any], width: int) -> pa.Table:
    """One row a bin, by falling cost: pickled (place, task) pairs."""
    import pyarrow as pa

    bins: dict[int, list[tuple[int, Any]]] = {}
    numbers = pack_by_cost([task.cost_s for task in tasks], min(width, len(tasks)))
    for index, (number, task) in enumerate(zip(numbers, tasks, strict=True)):
        bins.setdefault(number, []).append((index, task))
    packed = [pickle.dumps(bins[number], pickle.HIGHEST_PROTOCOL) for number in sorted(bins)]
    return pa.table({_BIN: pa.array(sorted(bins), pa.int32()), _PICKLED: pa.array(packed, pa.binary())})


if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EVERY_S = 20.0


@contextmanager
def progress(
    spark: SparkSession, what: str, total: int, *, every_s: float = _EVERY_S, stream: TextIO | None = None
) -> Iterator[Any]:
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
    outcome = "given up"
    try:
        yield counter
        outcome = "done"
    finally:
        ended.set()
        watcher.join()
        say(outcome)


def progress_line(what: str, done: int, total: int, passed_s: float, under_way: str) -> str:
    done = min(done, total)
    share = f" ({100 * done // total} %)" if total else ""
    return f"{what}: {done:,} of {total:,}{share} after {passed_s:.0f} s; {under_way}"


def tasks_under_way(context: Any) -> str:
    tracker = context.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    active = sum(stage.numActiveTasks for stage in stages if stage is not None)
    if active == 0 and stages and not _has_executor(context):
        return "no executor has come: has the cluster free cores and memory?"
    return f"{active} {'task' if active == 1 else 'tasks'} under way"


def _has_executor(context: Any) -> bool:
    """Spark lists the driver, which computes only in local mode."""
    return len(context.statusTracker().getExecutorInfos()) > (0 if context.master.startswith("local") else 1)
