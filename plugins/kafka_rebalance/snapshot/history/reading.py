"""What one reading measured of each partition, over the time before it: small enough that weeks of them are kept.

Rates are rounded to float32, so that readings that were kept in a database and readings that lie in files give the same
figures, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from kafka_rebalance.errors import InvalidSnapshotError
from kafka_rebalance.snapshot.load import LoadColumn
from kafka_rebalance.snapshot.load_kind import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.rates import NamedPartitions, measure_rates, named_partitions

Rates = npt.NDArray[np.float32]
HOUR_S = 3600.0
# Of a window of history: sizes are as the newest reading has them.
HISTORY_KINDS: tuple[LoadKind, ...] = tuple(kind for kind in LoadKind if kind is not LoadKind.LOG_BYTES)
# Between two readings: less says too little, more than a day and a late start too little of any hour.
SHORTEST_WINDOW_S, LONGEST_WINDOW_S = 30.0, 26 * HOUR_S
_NOT_MEASURED = (LoadSource.ESTIMATED, LoadSource.UNKNOWN, *(source for source in LoadSource if source.is_of_history))


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredRates:
    """One kind: ``values`` float32[P] (nan: unknown), measured over ``window_s`` until the reading."""

    values: Rates
    window_s: float

    def __post_init__(self) -> None:
        if not 0 < self.window_s <= LONGEST_WINDOW_S:
            raise InvalidSnapshotError.at("history", f"{self.window_s} s is no time over which an hour was measured")


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredReading:
    """The rates of one reading. Each column runs along ``partitions``."""

    until: datetime
    partitions: NamedPartitions
    columns: Mapping[LoadKind, MeasuredRates]


def measured_reading(snapshot: ClusterSnapshot) -> MeasuredReading | None:
    """What a snapshot's own load columns say; None where it has no time, or nobody measured a rate.

    A figure that was given without the time over which it was measured counts for the hour before the reading.
    """
    if snapshot.captured_at is None:
        return None
    columns = {
        kind: MeasuredRates(column.values.astype(np.float32), HOUR_S if column.window_s is None else column.window_s)
        for kind in HISTORY_KINDS
        if (column := snapshot.loads.column(kind)) is not None and _is_measured(column)
    }
    return MeasuredReading(snapshot.captured_at, named_partitions(snapshot), columns) if columns else None


def has_rates(snapshot: ClusterSnapshot) -> bool:
    """Somebody measured what is written."""
    return snapshot.loads.column(LoadKind.IN_BYTES_PER_S) is not None


def readings_of(snapshots: Iterable[ClusterSnapshot]) -> Iterator[MeasuredReading]:
    """What a series of snapshots of one cluster measured, oldest first: of each its own rates, else those since the one
    before. Two at a time are held.

    Raises InvalidInputError where they are of two clusters.
    """
    before: ClusterSnapshot | None = None
    for snapshot in snapshots:
        known = snapshot
        if before is not None and not has_rates(snapshot) and _follows(before, snapshot):
            known = measure_rates(before, snapshot)
        reading = measured_reading(known)
        if reading is not None:
            yield reading
        before = snapshot


def _follows(before: ClusterSnapshot, newer: ClusterSnapshot) -> bool:
    """The time between the two says something of an hour."""
    if before.captured_at is None or newer.captured_at is None:
        return False
    passed_s = (newer.captured_at - before.captured_at).total_seconds()
    return SHORTEST_WINDOW_S <= passed_s <= LONGEST_WINDOW_S


def _is_measured(column: LoadColumn) -> bool:
    return column.source not in _NOT_MEASURED and (column.window_s is None or 0 < column.window_s <= LONGEST_WINDOW_S)
