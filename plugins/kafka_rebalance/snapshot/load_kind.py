"""Kinds of loads and their sources, without numpy."""

from __future__ import annotations

from enum import StrEnum

from kafka_rebalance.snapshot.ranges import LARGEST_BYTES, LARGEST_CPU_PERCENT, LARGEST_RATE


class LoadSource(StrEnum):
    """Source of a load, best first."""

    LOG_DIRS = "log_dirs"
    LOG_DIR_GROWTH = "log_dir_growth"  # growth between two snapshots: a lower bound
    OFFSETS_TIMES_MESSAGE_SIZE = "offsets_times_message_size"
    PROMETHEUS = "prometheus"
    GIVEN = "given"
    HOURLY_MEAN = "hourly_mean"  # over the known hours of a window
    HOURLY_P95 = "hourly_p95"
    BUSIEST_HOURS = "busiest_hours"  # of the whole cluster
    ESTIMATED = "estimated"
    UNKNOWN = "unknown"

    @property
    def is_of_history(self) -> bool:
        return self in (LoadSource.HOURLY_MEAN, LoadSource.HOURLY_P95, LoadSource.BUSIEST_HOURS)


class LoadStatistic(StrEnum):
    MEAN = "mean"
    P95 = "p95"
    PEAK = "peak"

    @property
    def source(self) -> LoadSource:
        return {
            LoadStatistic.MEAN: LoadSource.HOURLY_MEAN,
            LoadStatistic.P95: LoadSource.HOURLY_P95,
            LoadStatistic.PEAK: LoadSource.BUSIEST_HOURS,
        }[self]


class LoadKind(StrEnum):
    """The loads of a partition: bytes and rates of the leader's replica, without replication."""

    LOG_BYTES = "log_bytes"
    IN_BYTES_PER_S = "in_bytes_per_s"
    OUT_BYTES_PER_S = "out_bytes_per_s"  # fetched by consumers
    CPU_PERCENT = "cpu_percent"
    IN_MESSAGES_PER_S = "in_messages_per_s"

    @property
    def largest(self) -> float:
        return {LoadKind.LOG_BYTES: LARGEST_BYTES, LoadKind.CPU_PERCENT: LARGEST_CPU_PERCENT}.get(self, LARGEST_RATE)
