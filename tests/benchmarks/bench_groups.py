"""Groups × strategies × scenarios through the replay job into a real Postgres.

    python -m tests.benchmarks.bench_groups [--groups 2000] [--partitions 100] [--members 10] [--cores 2] [--giant]

Each group reads one topic of its own. Twelve strategies of the registry are asked about today and in all scenarios.
Printed are seconds of wall clock of the replay and of saving its rows, the executors' time by Spark's own stages, and
the peak memory of all processes together (``--giant`` adds a group of 10,000 members × 1,000,000 partitions).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from kafka_rebalance.advisory.advise import GroupTask, group_tasks
from kafka_rebalance.groups.group_replay import GroupReplay, ReplayOptions
from kafka_rebalance.groups.scenarios import SCENARIOS
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, Group, Member, Topic
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads, PartitionTable
from rebalance_advisor import store
from stack.jvm.spark import environment
from stack.postgres.server import THROW_AWAY, EmbeddedPostgres
from tests.benchmarks.process_watch import SERVICES, ProcessWatch

STRATEGIES = (
    "range", "roundrobin", "sticky", "cooperative-sticky", "weighted", "consumer/uniform", "consumer/range",
    "range@2.4", "sticky@3.0", "cooperative-sticky@3.0", "range@librdkafka", "roundrobin@librdkafka",
)  # fmt: skip
_BROKERS = 12
_PROTOCOLS = ("range", "range", "roundrobin", "sticky", "cooperative-sticky")
_GIANT = (10_000, 1_000_000)


def made_groups(sizes: Sequence[tuple[int, int]], seed: int = 7) -> ClusterSnapshot:
    """A cluster with one topic and one group for each (members, partitions); rates are known."""
    counts = np.array([partitions for _, partitions in sizes])
    total, rng = int(counts.sum()), np.random.default_rng(seed)
    topic = np.repeat(np.arange(len(sizes), dtype=np.int32), counts)
    number = (np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)).astype(np.int32)
    leader = (np.arange(total) % _BROKERS).astype(np.int32)
    ends = rng.integers(10**6, 10**7, total)
    table = PartitionTable(
        topic=topic, partition=number, offsets=np.arange(total + 1, dtype=np.int64), replicas=leader.copy(),
        leader=leader, replica_log_bytes=np.full(total, 10**9, dtype=np.int64), start_offset=np.zeros(total, np.int64),
        end_offset=ends, in_sync=np.ones(total, dtype=np.bool_),
    )  # fmt: skip
    rates = rng.lognormal(10, 0.5, total)
    loads = {LoadKind.IN_BYTES_PER_S: rates, LoadKind.IN_MESSAGES_PER_S: rates / 500}
    return ClusterSnapshot(
        cluster="groups",
        captured_at=datetime(2026, 1, 1, tzinfo=UTC),
        brokers=tuple(Broker(broker, rack=f"rack-{broker % 3}") for broker in range(_BROKERS)),
        topics=tuple(Topic(f"topic-{index:05d}") for index in range(len(sizes))),
        partitions=table,
        loads=PartitionLoads({kind: LoadColumn(values, LoadSource.GIVEN) for kind, values in loads.items()}),
        groups=tuple(_group(index, members, partitions) for index, (members, partitions) in enumerate(sizes)),
        source="generated",
    )


def _group(index: int, members: int, partitions: int) -> Group:
    name, topic = f"group-{index:05d}", f"topic-{index:05d}"
    bounds = np.linspace(0, partitions, members + 1).astype(int).tolist()
    return Group(
        name,
        protocol=_PROTOCOLS[index % len(_PROTOCOLS)],
        state="Stable",
        members=tuple(
            Member(
                f"consumer-{name}-1-{number:08d}-0000-4000-8000-000000000000",
                client_id=f"consumer-{name}-1",
                subscription=(topic,),
                assigned=((topic, tuple(range(bounds[number], bounds[number + 1]))),),
            )
            for number in range(members)
        ),
    )


def executor_s(spark: Any) -> float:
    """Executors' run time of all stages so far, as Spark counts it."""
    status = spark.sparkContext._jsc.sc().statusStore()
    stages = status.stageList(None, False, False, spark.sparkContext._gateway.new_array(spark._jvm.double, 0), None)
    return sum(stages.apply(number).executorRunTime() for number in range(stages.size())) / 1000


def replayed(task: GroupTask) -> GroupReplay:
    """Return the task's group under each strategy."""
    return task.replay_options.replay(task.group_input)


def main(argv: Sequence[str] | None = None) -> int:
    """One run; two warm-up groups first, so that kernels are there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, default=2_000)
    parser.add_argument("--partitions", type=int, default=100)
    parser.add_argument("--members", type=int, default=10)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--giant", action="store_true")
    asked = parser.parse_args(argv)
    folder = Path(tempfile.mkdtemp(prefix="advisor-bench-"))
    folder.chmod(0o755)
    os.environ.update(environment(folder))
    from pyspark.sql import SparkSession

    from rebalance_advisor.run_advice import save_groups
    from rebalance_advisor.spark.mapper import SparkMapper

    sizes = [(asked.members, asked.partitions)] * asked.groups + ([_GIANT] if asked.giant else [])
    snapshot = made_groups(sizes)
    options = ReplayOptions(scenarios=SCENARIOS, strategies=STRATEGIES)
    (folder / "postgres").mkdir(mode=0o755)
    server = EmbeddedPostgres(folder / "postgres", THROW_AWAY)
    server.start()
    spark = SparkSession.builder.master(f"local[{asked.cores}]").appName("groups").getOrCreate()
    try:
        with store.connect(server.dsn("advisor")) as connection:
            store.migrate(connection)
            snapshot_id = store.save_snapshot(connection, snapshot)
            store.mark_snapshot(connection, snapshot_id, is_blocked=False)
            store.start_run(connection, run_id="r", cluster="groups", snapshot_id=snapshot_id, parameters={}, seed=0)
            mapper = SparkMapper(spark)
            mapper(replayed, tuple(group_tasks(made_groups([(3, 12)] * 4), options)))
            before, started = executor_s(spark), time.perf_counter()
            with ProcessWatch({os.getpid(): SERVICES}) as watch:
                replays = mapper(replayed, tuple(group_tasks(snapshot, options, width=mapper.width)))
                answered = time.perf_counter()
                save_groups(connection, "r", replays)
                connection.commit()
                saved = time.perf_counter()
            rows = sum(len(replay.scores) + len(replay.scenarios) for replay in replays)
            print(
                f"{len(sizes):,} groups, {len(snapshot.partitions):,} partitions, {len(STRATEGIES)} strategies × "
                f"{len(SCENARIOS)} scenarios on {asked.cores} cores: {saved - started:.1f} s "
                f"(replay {answered - started:.1f}, save {saved - answered:.1f}); {rows:,} rows; executors "
                f"{executor_s(spark) - before:.1f} s; peak {watch.peak_bytes() / 2**30:.2f} GiB"
            )
    finally:
        spark.stop()
        server.remove()
    return 0


if __name__ == "__main__":
    sys.exit(main())
