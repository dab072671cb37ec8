"""A cluster of 1,000,000 replicas from its files: CPU seconds of reading alone, as a snapshot and as a cluster model.

    python -m tests.benchmarks.bench_reading FOLDER [--runs 5] [--write | --live [--replicas 1]]

``--write`` makes the files (plain and .gz); without it they are read, so that two versions of this project can be timed
on the same bytes. ``--live`` starts a cluster of three brokers in FOLDER instead, with 10,010 partitions and 155
groups, reads it, and prints requests and seconds; it takes some minutes, most of them to make the partitions.
"""

from __future__ import annotations

import argparse
import gzip
import os
import statistics
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.dumps import read_input
from rebalance_advisor.kafka.connection.properties import connection_settings
from rebalance_advisor.kafka.read_cluster import read_with_settings
from rebalance_advisor.kafka.request_sender import RequestCounts
from stack.kafka.cluster import ClusterSpec, start_cluster
from stack.kafka.many_groups import make_groups
from stack.kafka.setup import create_topics
from tests.benchmarks.bench_scale import SIZES, skewed_snapshot

FILES = ("snapshot.json", "snapshot.json.gz", "model.json")
_MIB, _KIB = 2**20, 2**10
_TOPICS, _PARTITIONS = 91, 110  # 10,010 partitions
_GROUPS, _TOPICS_A_GROUP = 155, 4


def main(argv: Sequence[str] | None = None) -> int:
    """Print the median of some readings of each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", choices=FILES)
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--replicas", type=int, default=1)
    arguments = parser.parse_args(argv)
    if arguments.live:
        read_live(arguments.folder / "cluster", arguments.replicas, arguments.runs)
        return 0
    if arguments.write:
        write_files(arguments.folder)
        return 0
    for name in FILES if arguments.only is None else (arguments.only,):
        taken = []
        for _ in range(arguments.runs):
            started = time.process_time()
            read_input(arguments.folder / name)
            taken.append(time.process_time() - started)
        sys.stdout.write(f"{name:<18} {statistics.median(taken):.3f} s of CPU\n")
    return 0


def read_live(folder: Path, replicas: int, runs: int) -> None:
    """Start the cluster, read it some times, print what each reading took."""
    with start_cluster(ClusterSpec(), folder) as cluster:
        make_topics(cluster.bootstrap, replicas)
        names, numbers = [f"t{i}" for i in range(_TOPICS)], range(_PARTITIONS)
        make_groups(
            cluster.bootstrap,
            {f"g{i}": {names[(i + j) % _TOPICS]: numbers for j in range(_TOPICS_A_GROUP)} for i in range(_GROUPS)},
        )
        settings = connection_settings({"bootstrap.servers": cluster.bootstrap})
        for run in range(runs):
            counts = RequestCounts()
            wall, cpu, of_brokers = time.perf_counter(), time.process_time(), cpu_of_brokers(folder)
            snapshot = read_with_settings(settings, cluster_name="live", now=datetime.now(UTC), counts=counts)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            of_brokers = cpu_of_brokers(folder) - of_brokers
            commits = sum(len(group.committed) for group in snapshot.groups)
            sys.stdout.write(
                f"run {run + 1}: {len(snapshot.partitions):,} partitions, {len(snapshot.groups)} groups, {commits:,} "
                f"committed offsets, {len(snapshot.coverage)} gaps: {counts.total} requests, {wall:.2f} s "
                f"({cpu:.2f} s of our CPU, {of_brokers:.2f} s of the three brokers')\n"
            )
        sys.stdout.write("".join(f"  {line}\n" for line in counts.lines()))


def cpu_of_brokers(folder: Path) -> float:
    """Seconds that the nodes of the cluster have computed so far: their share of a reading's time on idle cores."""
    ticks = 0
    for file in folder.glob("node-*.pid"):
        fields = Path(f"/proc/{file.read_text()}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def make_topics(bootstrap: str, replicas: int) -> None:
    """91 topics of 110 partitions, a few at a time."""
    for first in range(0, _TOPICS, 3):
        placement = {
            f"t{i}": [[1 + (i + p + j) % 3 for j in range(replicas)] for p in range(_PARTITIONS)]
            for i in range(first, min(first + 3, _TOPICS))
        }
        create_topics(bootstrap, placement, {})


def write_files(folder: Path) -> None:
    """The cluster of ``bench_scale``'s row "1M" in both formats."""
    folder.mkdir(parents=True, exist_ok=True)
    size = next(row for row in SIZES if row.name == "1M")
    snapshot = skewed_snapshot(size)
    plain = orjson.dumps(snapshot_to_document(snapshot))
    (folder / "snapshot.json").write_bytes(plain)
    (folder / "snapshot.json.gz").write_bytes(gzip.compress(plain, compresslevel=6, mtime=0))
    (folder / "model.json").write_bytes(orjson.dumps(model_document(snapshot)))


def model_document(snapshot: ClusterSnapshot) -> dict[str, Any]:
    """``snapshot`` as a cluster model: rates and sizes in KiB/s and MiB."""
    table, names = snapshot.partitions, [topic.name for topic in snapshot.topics]
    sizes = (snapshot.load(LoadKind.LOG_BYTES) / _MIB).tolist()
    into = (snapshot.load(LoadKind.IN_BYTES_PER_S) / _KIB).tolist()
    out = (snapshot.load(LoadKind.OUT_BYTES_PER_S) / _KIB).tolist()
    replicas, offsets = table.replicas.tolist(), table.offsets.tolist()
    return {
        "brokers": [{"id": broker.id, "rack": broker.rack, "state": "alive"} for broker in snapshot.brokers],
        "partitions": [
            {
                "topic": names[topic],
                "partition": number,
                "replicas": replicas[offsets[row] : offsets[row + 1]],
                "load": {"disk": sizes[row], "nw_in": into[row], "nw_out": out[row]},
            }
            for row, (topic, number) in enumerate(zip(table.topic.tolist(), table.partition.tolist(), strict=True))
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
