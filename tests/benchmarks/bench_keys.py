"""``score_keys`` beside Spark's own ``hash()`` of the same column, in turns: ``python -m tests.benchmarks.bench_keys``.

    [--keys 50000000] [--rounds 5] [--folder .run/bench-keys]

The file is made from a seed: keys ``customer-N``, N by Zipf's law (1.2), as one Parquet file of a million rows a group.
Spark reads it with its optimising compiler on (not the quick one of the demo) and throws the hashes away; ours counts
two partition counts of Java's partitioner, heavy and different keys, and is held against counts that numpy made.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kafka_assignors.arrays import Longs
from kafka_assignors.partitioners.hashing import murmur2_partitions
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_rebalance.key_tally.plan import TopicLayout, plan_for
from rebalance_advisor.key_samples.request import SampleColumns
from stack.jvm.spark import environment

ROOT = Path(__file__).parents[2]
GROUP = 1_000_000
SEED, EXPONENT, MOST_KEYS = 7, 1.2, 20_000_000
PARTITIONS, GROWN = 24, 36
GOAL = 2.0


def write_sample(file: Path, keys: int) -> Longs:
    """Make the file; how often each N stands in it."""
    random = np.random.default_rng(SEED)
    counts = np.zeros(MOST_KEYS, np.int64)
    with pq.ParquetWriter(file, pa.schema([("key", pa.string()), ("value_bytes", pa.int32())])) as writer:
        for start in range(0, keys, GROUP):
            count = min(GROUP, keys - start)
            numbers = random.zipf(EXPONENT, count) % MOST_KEYS
            counts += np.bincount(numbers, minlength=MOST_KEYS)
            column = pc.binary_join_element_wise("customer-", pa.array(numbers).cast(pa.string()), "")
            writer.write_table(pa.table({"key": column, "value_bytes": pa.array(numbers % 1000, pa.int32())}))
    return counts


def expected_records(counts: Longs, partitions: int) -> Longs:
    """Records of each partition, from the different keys and how often each stands there."""
    numbers = np.flatnonzero(counts)
    texts = pc.binary_join_element_wise("customer-", pa.array(numbers).cast(pa.string()), "")
    _, offsets, data = texts.buffers()
    keys = KeyColumn.of_arrow_buffers(None, offsets, data, start=0, count=len(texts), is_large=False)
    weights = counts[numbers].astype(np.float64)
    return np.bincount(murmur2_partitions(keys, partitions), weights=weights, minlength=partitions).astype(np.int64)


@dataclass(frozen=True)
class Cost:
    """How long it took, and the processor time of the session and its workers: what others do at the same time shows
    in the first, hardly in the second.
    """

    wall_s: float
    cpu_s: float


def cost_of(work: Callable[[], object]) -> Cost:
    """Do it once."""
    started, used = time.monotonic(), cpu_seconds()
    work()
    return Cost(time.monotonic() - started, cpu_seconds() - used)


def cpu_seconds() -> float:
    """Of this process, Spark's and its Python workers, all of which live on."""
    table = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            table[int(file.parent.name)] = file.read_text().rpartition(")")[2].split()
    ticks, waiting = 0, [os.getpid()]
    while waiting:
        parent = waiting.pop()
        ticks += int(table[parent][11]) + int(table[parent][12])
        waiting += [child for child, row in table.items() if int(row[1]) == parent]
    return ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Make the sample, run both in turns, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=ROOT / ".run" / "bench-keys")
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"keys-{arguments.keys}.parquet"
    counts = write_sample(file, arguments.keys)
    os.environ.update(environment(folder))
    os.environ["PYTHONPATH"] = f"{ROOT / 'plugins'}{os.pathsep}{ROOT}"
    os.environ.pop("SPARK_LAUNCHER_OPTS", None)
    from pyspark.sql import SparkSession, functions

    from spark_jobs.score_keys import tally_parquet

    optimising = {"spark.driver.extraJavaOptions": "-XX:+UseSerialGC"}
    spark = SparkSession.builder.master("local[2]").config(map=optimising).getOrCreate()
    plan = plan_for(TopicLayout(PARTITIONS), grown_to=(GROWN,))
    columns = SampleColumns()

    def hash_column() -> None:
        hashes = spark.read.parquet(str(file)).select(functions.hash("key"))
        hashes.write.format("noop").mode("overwrite").save()

    def tally_column() -> None:
        tally = tally_parquet(spark, file, columns, plan)
        result = np.split(tally.counts.records, [PARTITIONS])
        for partitions, records in zip((PARTITIONS, GROWN), result, strict=True):
            if not np.array_equal(records, expected[partitions]):
                raise AssertionError(f"counts of {partitions} partitions are not exact")

    expected = {partitions: expected_records(counts, partitions) for partitions in (PARTITIONS, GROWN)}
    hash_column()
    tally_column()
    theirs: list[Cost] = []
    ours: list[Cost] = []
    for _ in range(arguments.rounds):
        theirs.append(cost_of(hash_column))
        ours.append(cost_of(tally_column))
        print(f"round: hash() {theirs[-1]}, score_keys {ours[-1]}", flush=True)
    spark.stop()
    print_table(arguments.keys, int(np.count_nonzero(counts)), theirs, ours)


def print_table(keys: int, different: int, theirs: list[Cost], ours: list[Cost]) -> None:
    """Medians over the rounds."""
    print(f"{keys:,} keys, {different:,} different, medians of {len(ours)} rounds\n")
    print("| | Spark reads and hash() s | score_keys s | ratio | goal |\n|---|---|---|---|---|")
    for name, goal in (("wall_s", f"≤ {GOAL:g}"), ("cpu_s", "")):
        first, other = (statistics.median(getattr(cost, name) for cost in costs) for costs in (theirs, ours))
        print(f"| {name} | {first:.2f} | {other:.2f} | {other / first:.2f} | {goal} |")


if __name__ == "__main__":
    main()
