"""The ranges of a cluster's figures, decided once: Kafka's own integer types, and amounts that no cluster reaches.

Amounts are limited so that sums, products and quotients of them stay finite and sums of bytes fit an int64. A load
that is smaller than SMALLEST_LOAD is zero: decaying averages (JMX's rates) end in 1e-310, which divides to infinity.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

from kafka_assignors.visible_text import excerpt
from kafka_rebalance.errors import InvalidSnapshotError

LARGEST_INT16 = 2**15 - 1  # versions of messages
LARGEST_INT32 = 2**31 - 1  # broker ids, partition numbers, generations
LARGEST_INT64 = 2**63 - 1  # offsets, bytes of a volume
LARGEST_PORT = 65_535

# Exact as a float, and eight petabytes: sizes of one replica.
LARGEST_BYTES = 2**53
# All replicas of a cluster together: an int64 holds them.
LARGEST_TOTAL_BYTES = 2**62
LARGEST_RATE = 1e15  # bytes/s or messages/s of one partition or broker
LARGEST_CPU_PERCENT = 1e6  # ten thousand cores at 100 percent each
LARGEST_CAPACITY_BYTES = 2.0**63
SMALLEST_CAPACITY = 1e-3  # bytes, bytes/s or percent
SMALLEST_LOAD = 1e-9
LARGEST_QUOTA = 1.7976931348623157e308  # Kafka keeps any double: what nobody limits is often the largest long
LONGEST_WINDOW_S = 1e10  # three hundred years

# A reading is of Kafka's age; an expiry some years later still has four digits of a year.
FIRST_YEAR, LAST_YEAR = 2000, 2199


# Which names a Kafka topic can have: Kafka's own rule (``org.apache.kafka.common.internals.Topic``).


LONGEST_NAME = 249
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


def topic_name_fault(name: str) -> str:
    """Why no topic can be called so, or an empty text."""
    if _LEGAL.fullmatch(name) is None:
        return "a topic's name is letters, digits, '.', '_' and '-' of ASCII" if name else "a topic has a name"
    if len(name) > LONGEST_NAME:
        return f"a topic's name has at most {LONGEST_NAME} characters, this one {len(name)}"
    return "no topic can be called '.' or '..'" if name in (".", "..") else ""


# What a broker can carry.


CAPACITY_LIMITS: Mapping[str, float] = {
    "disk_bytes": LARGEST_CAPACITY_BYTES,
    "in_bytes_per_s": LARGEST_RATE,
    "out_bytes_per_s": LARGEST_RATE,
    "cpu_percent": LARGEST_CPU_PERCENT,
}


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a broker can carry; ``None``: not known."""

    disk_bytes: float | None = None
    in_bytes_per_s: float | None = None
    out_bytes_per_s: float | None = None
    cpu_percent: float | None = None

    def __post_init__(self) -> None:
        for attribute in fields(self):  # 100 and 100.0 are one capacity: the snapshot's id must not differ
            value = getattr(self, attribute.name)
            if value is None:
                continue
            if not SMALLEST_CAPACITY <= value <= CAPACITY_LIMITS[attribute.name]:
                raise InvalidSnapshotError.at(
                    f"capacity {attribute.name}", f"{excerpt(value)} is no capacity",
                    f"from {SMALLEST_CAPACITY} to {CAPACITY_LIMITS[attribute.name]:.4g}; an unknown one is left out",
                )  # fmt: skip
            object.__setattr__(self, attribute.name, float(value))
