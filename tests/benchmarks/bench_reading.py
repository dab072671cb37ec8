"""A cluster of 1,000,000 replicas from its files: CPU seconds of reading alone, as a snapshot and as a cluster model.

    python -m tests.benchmarks.bench_reading FOLDER [--runs 5] [--write]

``--write`` makes the files (plain and .gz); without it they are read, so that two versions of this project can be timed
on the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.load import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.dumps import read_input
from tests.benchmarks.bench_scale import SIZES, skewed_snapshot

FILES = ("snapshot.json", "snapshot.json.gz", "model.json")
_MIB, _KIB = 2**20, 2**10


def main(argv: Sequence[str] | None = None) -> int:
    """Print the median of some readings of each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", choices=FILES)
    arguments = parser.parse_args(argv)
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
