"""Disks within a broker: one is nearly full while another has room."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafka_rebalance.amounts import LISTED
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.findings.context import FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Finding, Severity
from kafka_rebalance.planner.log_dirs.placement import LogDirPlacement, place_in_log_dirs
from kafka_rebalance.planner.log_dirs.problem import LogDirProblem
from kafka_rebalance.planner.log_dirs.volumes import BrokerVolumes, broker_volumes
from kafka_rebalance.snapshot.load import LoadKind
from kafka_rebalance.snapshot.model import Broker

CODE = "log_dir_full"


def log_dir_full(context: FindingContext) -> Iterator[Finding]:
    """A broker stops when one of its disks is full, however empty the others are; moves between them mend it.

    Where all are nearly full, ``broker_disk_full`` tells it.
    """
    least = threshold(CODE, "used_ratio")
    for broker in context.snapshot.brokers:
        if not broker.state.stays or len(broker.log_dirs) < 2:
            continue
        volumes = broker_volumes(broker, context.snapshot.partitions)
        if volumes is None:
            continue
        used = volumes.used_bytes / volumes.total_bytes
        if used.max() >= least > used.min():
            yield _finding(context, broker, volumes, least)


def _finding(context: FindingContext, broker: Broker, volumes: BrokerVolumes, least: float) -> Finding:
    used = volumes.used_bytes / volumes.total_bytes
    worst = int(used.argmax())
    ratio, others = float(used[worst]), _used_together(volumes, worst)
    paths = tuple(one.path for one in volumes.dirs[worst])
    problem = volumes.problem(least)
    placement = place_in_log_dirs(problem)
    above = problem.cost(problem.dir_of)[0]
    return finding(
        CODE,
        Severity.CRITICAL if ratio >= threshold(CODE, "critical_used_ratio") else Severity.HIGH,
        broker.id,
        {
            "paths": paths,
            "used_ratio": ratio,
            "others_used_ratio": others,
            "replica_moves_between_dirs": int((placement.dir_of != problem.dir_of).sum()),
            "dir_bytes": placement.moved_bytes,
            "dir_bytes_lower_bound": placement.bound_bytes,
            "above_bytes": above,
            "still_above_bytes": placement.over_bytes,
        },
        Remedy(
            fact(
                FactCode.LOG_DIR_FULL,
                broker=broker.id,
                paths=paths,
                used_ratio=ratio,
                others_used_ratio=others,
                way=_way(context, volumes, problem, placement, least),
            ),
            cost=fact(FactCode.COPIES_BETWEEN_DISKS, copied_bytes=float(placement.moved_bytes)),
            gain=1.0 - placement.over_bytes / above if above else 0.0,
            copied_bytes=placement.moved_bytes,
        ),
        confidence=context.confidence(LoadKind.LOG_BYTES),
    )


def _way(
    context: FindingContext,
    volumes: BrokerVolumes,
    problem: LogDirProblem,
    placement: LogDirPlacement,
    least: float,
) -> Fact:
    """Return what to move where, the largest first, and how much stays above the threshold."""
    moved = np.flatnonzero(placement.dir_of != problem.dir_of)
    if not len(moved):
        return fact(FactCode.NO_REPLICA_FITS_OTHER_DIR)
    table = context.snapshot.partitions
    moved = moved[np.argsort(-problem.size_bytes[moved], kind="stable")]
    rows = np.searchsorted(table.offsets, volumes.cells[moved], side="right") - 1
    return fact(
        FactCode.MOVE_BETWEEN_DIRS,
        replicas=len(moved),
        moved_bytes=float(placement.moved_bytes),
        lower_bound_bytes=float(placement.bound_bytes),
        first_moves=tuple(
            (context.snapshot.name_of(int(row)), volumes.target_path(int(placement.dir_of[replica])))
            for row, replica in zip(rows[:LISTED], moved[:LISTED], strict=True)
        ),
        still_above_bytes=float(placement.over_bytes),
        used_ratio_limit=least,
    )


def _used_together(volumes: BrokerVolumes, but: int) -> float:
    is_other = np.arange(len(volumes.dirs)) != but
    return float(volumes.used_bytes[is_other].sum() / volumes.total_bytes[is_other].sum())
