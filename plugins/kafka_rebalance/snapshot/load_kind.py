"""The kinds of measured loads and their sources; without numpy, for modules that need only the names."""

from __future__ import annotations

from enum import StrEnum

from kafka_rebalance.snapshot.ranges import LARGEST_BYTES, LARGEST_CPU_PERCENT, LARGEST_RATE


class LoadSource(StrEnum):
    """Where a figure comes from, best first."""

    LOG_DIRS = "log_dirs"  # the size that a broker reports for its replica
    LOG_DIR_GROWTH = "log_dir_growth"  # bytes between two snapshots over the time between them: a lower bound
    OFFSETS_TIMES_MESSAGE_SIZE = "offsets_times_message_size"
    PROMETHEUS = "prometheus"
    GIVEN = "given"  # stands in the file that was read
    HOURLY_MEAN = "hourly_mean"  # over the hours of a window of history that were seen
    HOURLY_P95 = "hourly_p95"
    BUSIEST_HOURS = "busiest_hours"  # of the whole cluster
    ESTIMATED = "estimated"
    UNKNOWN = "unknown"

    @property
    def is_of_history(self) -> bool:
        """A figure of many hours: none of them is told."""
        return self in (LoadSource.HOURLY_MEAN, LoadSource.HOURLY_P95, LoadSource.BUSIEST_HOURS)


class LoadStatistic(StrEnum):
    """Which figure of a partition's hours stands for all of them."""

    MEAN = "mean"
    P95 = "p95"
    PEAK = "peak"

    @property
    def source(self) -> LoadSource:
        """What a load column of such figures says of itself."""
        return {
            LoadStatistic.MEAN: LoadSource.HOURLY_MEAN,
            LoadStatistic.P95: LoadSource.HOURLY_P95,
            LoadStatistic.PEAK: LoadSource.BUSIEST_HOURS,
        }[self]


class LoadKind(StrEnum):
    """The five figures of a partition. Bytes and rates are those of the leader's replica, without replication."""

    LOG_BYTES = "log_bytes"
    IN_BYTES_PER_S = "in_bytes_per_s"
    OUT_BYTES_PER_S = "out_bytes_per_s"  # what consumers fetch from the leader
    CPU_PERCENT = "cpu_percent"  # of the leader
    IN_MESSAGES_PER_S = "in_messages_per_s"

    @property
    def largest(self) -> float:
        """The largest figure that a partition can have."""
        return {LoadKind.LOG_BYTES: LARGEST_BYTES, LoadKind.CPU_PERCENT: LARGEST_CPU_PERCENT}.get(self, LARGEST_RATE)
