"""Large clusters through the whole command: CPU seconds (user + system) and memory, from a snapshot file.

    python -m tests.benchmarks.bench_scale [--only NAME …] [--keep FOLDER]

Each row times the search with its bound alone, and runs ``rebalance-advisor plan`` as a process of its own, kernels
cached, without and (but for the largest) with the frontier. The first run of all fills numba's cache and is not told.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import orjson

from kafka_rebalance.cluster_arrays.snapshot_arrays import Brokers, Placement
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.resources import TABLE
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import Broker, BrokerState, Capacity, ClusterSnapshot, Topic
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads, PartitionTable
from tests.benchmarks.generated import generated

CAPTURED_AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
RATES = (LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S, LoadKind.CPU_PERCENT)


@dataclass(frozen=True, slots=True)
class Size:
    """One cluster of ``generated``, three replicas a partition."""

    name: str
    brokers: int
    partitions: int
    racks: int
    has_frontier: bool = True


SIZES = (
    Size("warm-up", 30, 3_000, 3),
    Size("100k", 100, 33_333, 4),
    Size("1M", 1000, 333_333, 6),
    Size("2.8M", 215, 933_333, 5, has_frontier=False),
)


@dataclass(frozen=True, slots=True)
class Run:
    """What one process took."""

    cpu_s: float
    peak_mib: float


def main(argv: Sequence[str] | None = None) -> int:
    """Print one line a size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where snapshot files stay for the next time")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        sys.stdout.write("size     brokers  partitions  search+bound_s  command_s  with_frontier_s  peak_mib\n")
        for size in SIZES:
            if not arguments.only or size.name in (*arguments.only, "warm-up"):
                _line(size, folder, Path(scratch))
    return 0


def skewed_snapshot(size: Size, seed: int = 0) -> ClusterSnapshot:
    """A generated cluster as a snapshot: sizes, rates in and out, no CPU."""
    return snapshot_of(size.name, *generated(size.brokers, size.partitions, size.racks, seed=seed))


def snapshot_of(name: str, flags: Brokers, placement: Placement) -> ClusterSnapshot:
    """Arrays as a snapshot: sizes of all replicas, what is measured, capacities, draining brokers."""
    loads, count = placement.loads, len(placement.replicas)
    assert loads.disk_bytes is not None
    is_there = placement.replicas >= 0
    own = placement.own_disk
    sizes = np.repeat(loads.disk_bytes[:, None], is_there.shape[1], axis=1) if own is None else own
    first = np.flatnonzero(np.diff(placement.topic, prepend=-1))
    number = np.arange(count) - np.repeat(first, np.diff(first, append=count))
    unknown = np.full(count, -1, dtype=np.int64)
    table = PartitionTable(
        topic=placement.topic.copy(),
        partition=number.astype(np.int32),
        offsets=np.concatenate([[0], np.cumsum(is_there.sum(axis=1))]).astype(np.int64),
        replicas=placement.replicas[is_there],
        leader=placement.leader.copy(),
        replica_log_bytes=sizes[is_there].astype(np.int64),
        start_offset=unknown.copy(),
        end_offset=unknown.copy(),
        in_sync=np.ones(int(is_there.sum()), dtype=np.bool_),
    )
    measured = {kind: loads.of(kind) for kind in RATES}
    rates = {kind: LoadColumn(values, LoadSource.GIVEN) for kind, values in measured.items() if values is not None}
    return ClusterSnapshot(
        cluster=name,
        captured_at=CAPTURED_AT,
        brokers=tuple(_broker(flags, at) for at in range(len(flags.ids))),
        topics=tuple(Topic(f"topic-{t:05d}") for t in range(int(placement.topic.max()) + 1)),
        partitions=table,
        loads=PartitionLoads(rates),
        source="generated",
    )


def _broker(flags: Brokers, at: int) -> Broker:
    state = BrokerState.ALIVE if flags.stays[at] else BrokerState.DRAINING
    known = {row.capacity: float(flags.capacity[row.name][at]) for row in TABLE if row.name in flags.capacity}
    capacity = Capacity(**{name: amount for name, amount in known.items() if name is not None})
    return Broker(int(flags.ids[at]), rack=f"rack-{int(flags.rack[at])}", state=state, capacity=capacity)


def command_run(snapshot: Path, out: Path, *options: str) -> Run:
    """``rebalance-advisor plan`` as a process: its CPU seconds with its children's, and its peak memory."""
    line = [sys.executable, "-m", "rebalance_advisor.cli.main", "plan", str(snapshot), "--out", str(out), *options]
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    process = os.posix_spawn(sys.executable, line, os.environ, file_actions=silent)
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{' '.join(line)} ended with {os.waitstatus_to_exitcode(status)}")
    return Run(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def search_seconds(snapshot: ClusterSnapshot) -> float:
    """CPU seconds of search, leaders and bound, kernels warm."""
    options = PlanOptions(within=0.10)
    problem = build_request(snapshot, options).problem(options.band)
    started = time.process_time()
    solve(problem)
    return time.process_time() - started


def _line(size: Size, folder: Path, scratch: Path) -> None:
    snapshot = skewed_snapshot(size)
    file = folder / f"{size.name}.json"
    if not file.exists():
        file.write_bytes(orjson.dumps(snapshot_to_document(snapshot)))
    searched = search_seconds(snapshot)
    plain = command_run(file, scratch / "plain", "--balance-within", "10%", "--no-frontier")
    whole = command_run(file, scratch / "whole", "--balance-within", "10%") if size.has_frontier else None
    if size.name != "warm-up":
        cpu = "-" if whole is None else f"{whole.cpu_s:.1f}"
        peak = max(plain.peak_mib, 0.0 if whole is None else whole.peak_mib)
        sys.stdout.write(
            f"{size.name:<8} {size.brokers:>7} {size.partitions:>11,} {searched:>15.2f} {plain.cpu_s:>10.1f} "
            f"{cpu:>16} {peak:>9.0f}\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
