"""What a broker can carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from kafka_rebalance.errors import InvalidSnapshotError
from kafka_rebalance.snapshot.ranges import (
    LARGEST_CAPACITY_BYTES,
    LARGEST_CPU_PERCENT,
    LARGEST_RATE,
    SMALLEST_CAPACITY,
)
from kafka_rebalance.visible_text import excerpt

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
