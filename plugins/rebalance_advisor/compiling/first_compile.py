"""Announce a first compilation once, on stderr.

Numba compiles one function at a time in a process, so a second process compiles the planner while ``advise`` compiles
group replays. Kernels are cached on disk.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from typing import Any

from numba.core import event

from kafka_assignors.kernels import has_folder
from rebalance_advisor.terminal import write_lines

# Each command and DAG step has its own kernels.
_NOTICE = "       kernels of this {what} are compiled, once: its first run takes half a minute longer"
_NOTICE_NO_FOLDER = (
    "       kernels of this {what} are compiled at each run, which takes half a minute: "
    "set NUMBA_CACHE_DIR to a writable folder"
)
_listening: list[_FirstCompile] = []


class _FirstCompile(event.Listener):
    def __init__(self, what: str, *, has_helper: bool) -> None:
        self._is_announced = False
        self._what, self._has_helper = what, has_helper

    def on_start(self, _event: Any) -> None:
        if not self._is_announced:
            self._is_announced = True
            write_lines(sys.stderr, (_NOTICE if has_folder() else _NOTICE_NO_FOLDER).format(what=self._what))
            sys.stderr.flush()
            if self._has_helper and _processors() > 1 and has_folder():
                _start_helper()

    def on_end(self, _event: Any) -> None:
        """Nothing."""


def tell_of_first_compile(*, what: str = "command", has_helper: bool = False) -> None:
    """``what``: "command" or "step"; ``has_helper``: start a second process."""
    if not _listening:  # once a process
        _listening.append(_FirstCompile(what, has_helper=has_helper))
        event.register("numba:compile", _listening[0])


def compile_planner() -> None:
    """Four brokers, of which two hold too much and lead everything."""
    from datetime import UTC, datetime

    import numpy as np

    from kafka_rebalance.options.plan_options import PlanOptions
    from kafka_rebalance.plans.pipeline import make_plan
    from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
    from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, Topic
    from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads, PartitionTable

    row = np.arange(24)
    replicas = np.column_stack([row % 2, 1 - row % 2 + 2 * (row % 4 == 0)]).astype(np.int32)
    table = PartitionTable(
        topic=np.zeros(len(row), dtype=np.int32),
        partition=row.astype(np.int32),
        offsets=np.arange(len(row) + 1, dtype=np.int64) * 2,
        replicas=replicas.ravel().copy(),
        leader=replicas[:, 0].copy(),
        replica_log_bytes=np.repeat((row + 1) * 1_000_000, 2),
        start_offset=np.full(len(row), -1, dtype=np.int64),
        end_offset=np.full(len(row), -1, dtype=np.int64),
        in_sync=np.ones(2 * len(row), dtype=np.bool_),
    )
    rate = LoadColumn(np.arange(1.0, len(row) + 1) * 1000.0, LoadSource.GIVEN)
    snapshot = ClusterSnapshot(
        cluster="four-brokers",
        captured_at=datetime(2026, 1, 1, tzinfo=UTC),
        brokers=tuple(Broker(b, rack=f"rack-{b % 2}") for b in range(4)),
        topics=(Topic("orders"),),
        partitions=table,
        loads=PartitionLoads({LoadKind.IN_BYTES_PER_S: rate, LoadKind.OUT_BYTES_PER_S: rate}),
        source="generated",
    )
    make_plan(snapshot, PlanOptions(within=0.05, with_frontier=False))


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start_helper() -> None:
    """On failure this process compiles everything."""
    line = [sys.executable, "-P", "-m", "rebalance_advisor.compiling.first_compile"]  # -P: not from the current folder
    nowhere = subprocess.DEVNULL
    try:
        process = subprocess.Popen(line, stdin=nowhere, stdout=nowhere, stderr=nowhere)
    except OSError:
        return
    atexit.register(_stop, process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


if __name__ == "__main__":
    compile_planner()
