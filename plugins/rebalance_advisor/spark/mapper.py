"""``map`` on Spark's executors: tasks packed by their costs, the dearest first; answers in the order of the tasks.

    mapper = SparkMapper(spark)
    advise(snapshot, request, mapper=mapper, width=mapper.width)

The step goes to each Python worker once, as a broadcast; tasks and answers travel pickled, in Arrow's columns. A step
that raises ends the whole job at once, with that error.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import TYPE_CHECKING, Any

from rebalance_advisor.spark.packing import pack_by_cost

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

Around = Callable[[], AbstractContextManager[None]]
_PLACE, _BIN, _PICKLED = "place", "bin", "pickled"
_ANSWERS = f"{_PLACE} int, {_PICKLED} binary"


class SparkMapper:
    """A mapper of ``plans.searches``. Tasks have a ``cost_s``, and say by ``what`` how the log counts them.

    Each worker enters ``around()`` once for all tasks of a bin: there own strategies are registered.
    """

    def __init__(self, spark: SparkSession, around: Around = nullcontext) -> None:
        self._spark, self._around = spark, around

    @property
    def width(self) -> int:
        """Bins of a job: several a core, so that the log can tell how far they are and none holds the others up."""
        return 4 * max(1, int(self._spark.sparkContext.defaultParallelism))

    def __call__(self, step: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        """Return the answer to each task. Raises ExecutorError where executors lack something."""
        import pyarrow as pa

        from rebalance_advisor.spark.on_executors import on_executors
        from rebalance_advisor.spark.progress import progress

        if not tasks:
            return []
        shared, around = self._spark.sparkContext.broadcast(_Step(step)), self._around

        def answers(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:

            from rebalance_advisor.compiling.first_compile import tell_of_first_compile

            tell_of_first_compile(what="step")  # in the worker's log
            with around():
                for batch in batches:
                    for packed in batch.column(_PICKLED).to_pylist():
                        for place, task in pickle.loads(packed):  # noqa: S301 from our own driver
                            answer = pickle.dumps(shared.value(task), pickle.HIGHEST_PROTOCOL)
                            counters[task.what].add(1)
                            columns = {_PLACE: pa.array([place], pa.int32()), _PICKLED: pa.array([answer], pa.binary())}
                            yield pa.RecordBatch.from_pydict(columns)

        rows = _packed(tasks, self.width)
        with ExitStack() as watched:
            totals = Counter(task.what for task in tasks)
            counters = {what: watched.enter_context(progress(self._spark, what, totals[what])) for what in totals}
            frame = self._spark.createDataFrame(rows).repartitionByRange(rows.num_rows, _BIN)
            found = frame.mapInArrow(on_executors(self._spark, answers), _ANSWERS).toArrow()
        shared.destroy()
        answered = dict(zip(found.column(_PLACE).to_pylist(), found.column(_PICKLED).to_pylist(), strict=True))
        return [pickle.loads(answered[place]) for place in range(len(tasks))]  # noqa: S301 from our own workers


class _Step:
    """A step that is unpickled as itself: a broadcast alone could not take a lambda."""

    def __init__(self, step: Callable[[Any], Any]) -> None:
        self._step = step

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        from pyspark import cloudpickle

        return pickle.loads, (cloudpickle.dumps(self._step),)


def _packed(tasks: Sequence[Any], width: int) -> pa.Table:
    """One row a bin, the dearest first: its tasks, each with its place, as one pickle."""
    import pyarrow as pa

    bins: dict[int, list[tuple[int, Any]]] = {}
    numbers = pack_by_cost([task.cost_s for task in tasks], min(width, len(tasks)))
    for place, (number, task) in enumerate(zip(numbers, tasks, strict=True)):
        bins.setdefault(number, []).append((place, task))
    packed = [pickle.dumps(bins[number], pickle.HIGHEST_PROTOCOL) for number in sorted(bins)]
    return pa.table({_BIN: pa.array(sorted(bins), pa.int32()), _PICKLED: pa.array(packed, pa.binary())})
