"""Replay and frontier on a standalone Spark of one worker of one core, and of two: by how much two are faster.

    python -m tests.benchmarks.bench_workers [--groups 400] [--size 10k]

Executors have a Python without a checkout, as docs/scale.md says. One worker runs beside one busy core, so that both
runs have as much of the machine. Measured is the executors' own time of all tasks: a phase is as long as the busiest
worker's, whatever the driver and the starting of processes take. The answers of both must be equal; kernels are warm.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kafka_rebalance.advisory.advise import group_tasks, topic_tasks
from kafka_rebalance.groups.group_replay import ReplayOptions
from kafka_rebalance.groups.scenarios import SCENARIOS
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.placement.topic_replay import placement_brokers, placement_ground, replay_topic
from kafka_rebalance.plans.searches import PlanQuestion, planned
from kafka_rebalance.snapshot.model import ClusterSnapshot
from tests.benchmarks.bench_groups import STRATEGIES, made_groups, replayed
from tests.benchmarks.pipeline_snapshot import SIZES, pipeline_snapshot
from tests.spark.standalone.cluster import NEEDED, StandaloneCluster, make_python

_GOAL = 1.6


@dataclass(frozen=True, slots=True)
class Measured:
    """A phase's executor seconds by worker, and what it answered."""

    by_worker_s: tuple[float, ...]
    answers: Any


def main(argv: Sequence[str] | None = None) -> int:
    """A line a phase; 1 where answers differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, default=400)
    parser.add_argument("--size", choices=[size.name for size in SIZES], default="10k")
    asked = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="advisor-workers-") as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)
        python = make_python(folder / "python", NEEDED)
        results = {}
        for workers, other in ((1, _busy_core()), (2, nullcontext())):
            with other, _session(folder / str(workers), workers, python) as spark:
                results[workers] = {name: _measured(spark, work) for name, work in _phases(asked, spark).items()}
    for name, item in results[1].items():
        two = results[2][name]
        is_equal = "equal" if item.answers == two.answers else "DIFFERENT"
        times = " and ".join(f"{seconds:.1f}" for seconds in two.by_worker_s)
        faster = sum(item.by_worker_s) / max(two.by_worker_s)
        alone = f"one worker {sum(item.by_worker_s):.1f} s, two {times} s"
        print(f"{name}: {alone}: {faster:.2f} × (goal {_GOAL}), {is_equal}")
    return int(any(row.answers != results[2][name].answers for name, row in results[1].items()))


def _phases(asked: argparse.Namespace, spark: Any) -> dict[str, Callable[[], Any]]:
    from rebalance_advisor.spark.mapper import SparkMapper

    options = ReplayOptions(scenarios=SCENARIOS, strategies=STRATEGIES)
    size = next(size for size in SIZES if size.name == asked.size)
    cluster = pipeline_snapshot(size, datetime(2026, 11, 20, 12, tzinfo=UTC))
    few = pipeline_snapshot(SIZES[0], datetime(2026, 11, 20, 12, tzinfo=UTC), seed=1)
    mapper, groups = SparkMapper(spark), made_groups([(10, 100)] * asked.groups)

    def replay(snapshot: ClusterSnapshot) -> list[str]:
        return list(map(str, mapper(replayed, tuple(group_tasks(snapshot, options, width=mapper.width)))))

    def place_topics(snapshot: ClusterSnapshot) -> list[str]:
        ground = placement_ground(placement_brokers(snapshot))
        return list(map(str, mapper(lambda task: replay_topic(task.today, ground), tuple(topic_tasks(snapshot)))))

    def plan(snapshot: ClusterSnapshot) -> dict[str, Any]:
        return planned(PlanQuestion(snapshot, PlanOptions()), mapper=mapper).plan.document

    replay(made_groups([(3, 12)] * 8)), place_topics(few), plan(few)
    return {
        "groups": lambda: replay(groups),
        "topics": lambda: place_topics(cluster),
        "plan and frontier": lambda: plan(cluster),
    }


def _measured(spark: Any, work: Callable[[], Any]) -> Measured:
    before = _task_s(spark)
    answers = work()
    after = _task_s(spark)
    return Measured(tuple(after[worker] - before.get(worker, 0.0) for worker in sorted(after)), answers)


def _task_s(spark: Any) -> dict[str, float]:
    """Seconds in which each executor ran tasks so far."""
    store = spark.sparkContext._jsc.sc().statusStore()
    executors = store.executorList(False)
    rows = [executors.apply(number) for number in range(executors.size())]
    return {row.id(): row.totalDuration() / 1000 for row in rows if row.id() != "driver"}


@contextmanager
def _session(folder: Path, workers: int, python: Path) -> Iterator[Any]:
    cluster = StandaloneCluster(folder, workers)
    try:
        address = cluster.start()
        os.environ.update(cluster.driver_environment())
        from pyspark.sql import SparkSession

        settings = {"spark.pyspark.python": str(python), "spark.pyspark.driver.python": sys.executable}
        builder = SparkSession.builder.master(address).appName("workers")
        spark = builder.config(map={**settings, "spark.executor.memory": "512m"}).getOrCreate()
        try:
            yield spark
        finally:
            spark.stop()
    finally:
        cluster.stop()


@contextmanager
def _busy_core() -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            yield
        finally:
            busy.kill()


if __name__ == "__main__":
    sys.exit(main())
