"""Figures of a cluster: kinds of loads, their sources, capacities and ranges, without numpy.

The limits keep sums, products and quotients finite, and sums of bytes within int64. A load below SMALLEST_LOAD is zero:
decaying averages (JMX rates) end in 1e-310, and dividing by that gives infinity.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum

from kafka_assignors.visible_text import excerpt
from kafka_rebalance.errors import InvalidSnapshotError

LARGEST_INT16 = 2**15 - 1
LARGEST_INT32 = 2**31 - 1
LARGEST_INT64 = 2**63 - 1
LARGEST_PORT = 65_535

# Size of one replica: exact as a float.
LARGEST_BYTES = 2**53
# All replicas of a cluster, within int64.
LARGEST_TOTAL_BYTES = 2**62
LARGEST_RATE = 1e15  # bytes/s or messages/s of one partition or broker
LARGEST_CPU_PERCENT = 1e6
LARGEST_CAPACITY_BYTES = 2.0**63
SMALLEST_CAPACITY = 1e-3
SMALLEST_LOAD = 1e-9
LARGEST_QUOTA = 1.7976931348623157e308  # Kafka takes any double; unlimited is often the largest long
LONGEST_WINDOW_S = 1e10

# A snapshot is no older than Kafka; an expiry still has four digits of a year.
FIRST_YEAR, LAST_YEAR = 2000, 2199


# Kafka's rule for topic names (``org.apache.kafka.common.internals.Topic``).


LONGEST_NAME = 249
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


def uuid_text(raw: bytes) -> str:
    """Return base64url without padding, as Kafka prints a Uuid."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def topic_name_fault(name: str) -> str:
    if _LEGAL.fullmatch(name) is None:
        return "a topic's name is letters, digits, '.', '_' and '-' of ASCII" if name else "a topic has a name"
    if len(name) > LONGEST_NAME:
        return f"a topic's name has at most {LONGEST_NAME} characters, this one {len(name)}"
    return "no topic can be called '.' or '..'" if name in (".", "..") else ""


CAPACITY_LIMITS: Mapping[str, float] = {
    "disk_bytes": LARGEST_CAPACITY_BYTES,
    "in_bytes_per_s": LARGEST_RATE,
    "out_bytes_per_s": LARGEST_RATE,
    "cpu_percent": LARGEST_CPU_PERCENT,
}


@dataclass(frozen=True, slots=True)
class Capacity:
    """``None``: unknown."""

    disk_bytes: float | None = None
    in_bytes_per_s: float | None = None
    out_bytes_per_s: float | None = None
    cpu_percent: float | None = None

    def __post_init__(self) -> None:
        for attribute in fields(self):  # 100 and 100.0 give the same snapshot id
            value = getattr(self, attribute.name)
            if value is None:
                continue
            if not SMALLEST_CAPACITY <= value <= CAPACITY_LIMITS[attribute.name]:
                raise InvalidSnapshotError.at(
                    f"capacity {attribute.name}", f"{excerpt(value)} is no capacity",
                    f"from {SMALLEST_CAPACITY} to {CAPACITY_LIMITS[attribute.name]:.4g}; an unknown one is left out",
                )  # fmt: skip
            object.__setattr__(self, attribute.name, float(value))

    def overridden(self, given: Capacity | None) -> Capacity:
        """Return what is ``given``, else this."""
        names = [field.name for field in fields(self) if getattr(given, field.name, None) is not None]
        return replace(self, **{name: getattr(given, name) for name in names})


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
