"""Loads of partitions. An unknown load is ``nan`` with source ``unknown``, never zero."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kafka_assignors.arrays import Floats
from kafka_rebalance.errors import InvalidSnapshotError
from kafka_rebalance.snapshot.figures import (
    LARGEST_BYTES,
    LARGEST_RATE,
    LARGEST_TOTAL_BYTES,
    LONGEST_WINDOW_S,
    SMALLEST_LOAD,
    LoadKind,
    LoadSource,
)


@dataclass(frozen=True, slots=True, eq=False)
class LoadColumn:
    """One kind of load, ``values`` float64[P]. ``window_s`` of a rate; ``None`` for sizes and given figures."""

    values: Floats
    source: LoadSource
    window_s: float | None = None

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(self.values, dtype=np.float64)
        if values.ndim != 1:
            raise InvalidSnapshotError.at(
                "load", f"a load column has {values.ndim} dimensions", "give one per partition"
            )
        wrong = np.flatnonzero((values < 0) | (values > max(LARGEST_RATE, LARGEST_BYTES)))
        if len(wrong):
            raise InvalidSnapshotError.at(
                f"load of partition row {wrong[0]}",
                f"{values[wrong[0]]} is no load",
                "loads are finite and never negative",
            )
        if self.window_s is not None and not 0 <= self.window_s <= LONGEST_WINDOW_S:
            raise InvalidSnapshotError.at("load", f"{self.window_s} s is no time over which a rate was measured")
        if ((values > 0) & (values < SMALLEST_LOAD)).any():
            values = np.where(values < SMALLEST_LOAD, 0.0, values)
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @property
    def is_known(self) -> bool:
        return self.source is not LoadSource.UNKNOWN and not bool(np.isnan(self.values).all())

    @property
    def known_share(self) -> float:
        return float(1 - np.isnan(self.values).mean()) if len(self.values) else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class PartitionLoads:
    columns: dict[LoadKind, LoadColumn] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind, column in self.columns.items():
            row = first_too_large(kind, column.values)
            if row is not None:
                raise InvalidSnapshotError.at(
                    f"{kind} of partition row {row}", f"{column.values[row]} is no load", f"at most {kind.largest:.4g}"
                )
            if kind is LoadKind.LOG_BYTES and float(np.nansum(column.values)) > LARGEST_TOTAL_BYTES:
                raise InvalidSnapshotError.at(f"{kind}", "all partitions together hold more bytes than a cluster can")

    def column(self, kind: LoadKind) -> LoadColumn | None:
        column = self.columns.get(kind)
        return column if column is not None and column.is_known else None

    def values(self, kind: LoadKind, partition_count: int) -> Floats:
        column = self.columns.get(kind)
        return np.full(partition_count, np.nan) if column is None else column.values


def first_too_large(kind: LoadKind, values: Floats) -> int | None:
    wrong = np.flatnonzero(values > kind.largest)
    return int(wrong[0]) if len(wrong) else None
