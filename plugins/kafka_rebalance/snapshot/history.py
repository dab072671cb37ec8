"""Loads over time: kept snapshots by hour, and the mean, peak or highest load of a window."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Floats
from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.errors import InvalidSnapshotError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource, LoadStatistic
from kafka_rebalance.snapshot.model import ClusterSnapshot, CoverageGap
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from kafka_rebalance.snapshot.rates import NamedPartitions, measure_rates, named_partitions, rows_of_same
from kafka_rebalance.snapshot.times import time_text

Rates = npt.NDArray[np.float32]
HOUR_S = 3600.0
# Sizes come from the newest snapshot, not from history.
HISTORY_KINDS: tuple[LoadKind, ...] = tuple(kind for kind in LoadKind if kind is not LoadKind.LOG_BYTES)
SHORTEST_WINDOW_S, LONGEST_WINDOW_S = 30.0, 26 * HOUR_S
_NOT_MEASURED = (LoadSource.ESTIMATED, LoadSource.UNKNOWN, *(source for source in LoadSource if source.is_of_history))


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredRates:
    """``values`` float32[P] over ``window_s`` before the snapshot."""

    values: Rates
    window_s: float

    def __post_init__(self) -> None:
        if not 0 < self.window_s <= LONGEST_WINDOW_S:
            raise InvalidSnapshotError.at("history", f"{self.window_s} s is no time over which an hour was measured")


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredReading:
    until: datetime
    partitions: NamedPartitions
    columns: Mapping[LoadKind, MeasuredRates]


def measured_reading(snapshot: ClusterSnapshot) -> MeasuredReading | None:
    """Return the snapshot's own rates, without a window for the hour before; None without a time or any rate."""
    if snapshot.captured_at is None:
        return None
    columns = {
        kind: MeasuredRates(column.values.astype(np.float32), HOUR_S if column.window_s is None else column.window_s)
        for kind in HISTORY_KINDS
        if (column := snapshot.loads.column(kind)) is not None and _is_measured(column)
    }
    return MeasuredReading(snapshot.captured_at, named_partitions(snapshot), columns) if columns else None


def has_rates(snapshot: ClusterSnapshot) -> bool:
    return snapshot.loads.column(LoadKind.IN_BYTES_PER_S) is not None


def readings_of(snapshots: Iterable[ClusterSnapshot]) -> Iterator[MeasuredReading]:
    """Yield each snapshot's own rates, oldest first, else those since the previous one. Holds two snapshots. Raises
    InvalidInputError for two clusters.
    """
    before: ClusterSnapshot | None = None
    for snapshot in snapshots:
        with_rates = snapshot
        if before is not None and not has_rates(snapshot) and _follows(before, snapshot):
            with_rates = measure_rates(before, snapshot)
        reading = measured_reading(with_rates)
        if reading is not None:
            yield reading
        before = snapshot


def _follows(before: ClusterSnapshot, newer: ClusterSnapshot) -> bool:
    if before.captured_at is None or newer.captured_at is None:
        return False
    passed_s = (newer.captured_at - before.captured_at).total_seconds()
    return SHORTEST_WINDOW_S <= passed_s <= LONGEST_WINDOW_S


def _is_measured(column: LoadColumn) -> bool:
    return column.source not in _NOT_MEASURED and (column.window_s is None or 0 < column.window_s <= LONGEST_WINDOW_S)


# A shorter time says too little of an hour.
LEAST_SEEN_S = HOUR_S / 2
# Longer windows hide peaks of single hours.
FLATTENED_S = 2 * HOUR_S


@dataclass(frozen=True, slots=True, eq=False)
class HourlyLoads:
    """Loads by hour, float32[H, P] of each kind. Hour 0 ends at ``until``. ``flattened`` bool[H]: over windows of more
    than two hours.
    """

    until: datetime
    hours: int
    values: Mapping[LoadKind, Rates]
    flattened: npt.NDArray[np.bool_]

    @property
    def measured(self) -> npt.NDArray[np.bool_]:
        measured = np.zeros(self.hours, dtype=np.bool_)
        for values in self.values.values():
            measured |= ~np.isnan(values).all(axis=1)
        return measured


def hourly_loads(snapshot: ClusterSnapshot, readings: Iterable[MeasuredReading], hours: int) -> HourlyLoads:
    """Return the hours before ``snapshot``. ``readings`` oldest first; later ones are ignored, and of two at one moment
    the second. Raises InvalidInputError without a time or order.
    """
    until = snapshot.captured_at
    if until is None:
        raise InvalidInputError.at("history", "the newest reading has no time", "say when it was taken (captured_at)")
    sums: dict[LoadKind, Rates] = {}
    seconds: dict[LoadKind, Rates] = {}
    flattened = np.zeros(hours, dtype=np.bool_)
    last: datetime | None = None
    for reading in readings:
        if last is not None and reading.until < last:
            problem = f"{time_text(reading.until)} comes after {time_text(last)}"
            raise InvalidInputError.at("history", problem, "give the oldest reading first")
        if reading.until == last or reading.until > until:
            continue
        last = reading.until
        row_before = rows_of_same(reading.partitions, snapshot)
        for kind in HISTORY_KINDS:
            if kind in reading.columns:
                shape = (hours, len(snapshot.partitions))
                into = sums.setdefault(kind, np.zeros(shape, np.float32))
                seen_s = seconds.setdefault(kind, np.zeros(shape, np.float32))
                age_s = (until - reading.until).total_seconds()
                _lay_over(reading.columns[kind], row_before, age_s, into, seen_s, flattened)
    values = {kind: _hours_of(sums[kind], seconds[kind]) for kind in sums}
    return HourlyLoads(until, hours, values, flattened)


def _lay_over(
    rates: MeasuredRates, row_before: npt.NDArray[np.int64], age_s: float, into: Rates, seen_s: Rates,
    flattened: npt.NDArray[np.bool_],
) -> None:  # fmt: skip
    """Add the rates, by seconds shared with each hour, to ``into`` and ``seen_s``."""
    rate = rates.values[row_before] if len(rates.values) else np.full(len(row_before), np.nan, np.float32)
    rate = np.where(row_before >= 0, rate, np.float32(np.nan))
    there = np.flatnonzero(~np.isnan(rate))
    newest, oldest = age_s, age_s + rates.window_s
    for hour in range(int(newest // HOUR_S), min(int(np.ceil(oldest / HOUR_S)), len(into))):
        shared_s = np.float32(min(oldest, (hour + 1) * HOUR_S) - max(newest, hour * HOUR_S))
        into[hour, there] += rate[there] * shared_s
        seen_s[hour, there] += shared_s
        flattened[hour] |= rates.window_s > FLATTENED_S


def _hours_of(sums: Rates, seen_s: Rates) -> Rates:
    result = np.full(sums.shape, np.nan, dtype=np.float32)
    np.divide(sums, seen_s, out=result, where=seen_s >= LEAST_SEEN_S)
    return result


_P95 = 0.95
_BUSY_SHARE = 0.05


def over_window(
    snapshot: ClusterSnapshot, readings: Iterable[MeasuredReading], statistic: LoadStatistic, hours: int
) -> tuple[ClusterSnapshot, HourlyLoads]:
    """Return ``snapshot`` with loads of the ``hours`` before it, and these hours. Raises InvalidInputError without a
    time or a known hour.
    """
    hourly = hourly_loads(snapshot, readings, hours)
    return with_window_loads(snapshot, hourly, statistic), hourly


def with_window_loads(snapshot: ClusterSnapshot, hourly: HourlyLoads, statistic: LoadStatistic) -> ClusterSnapshot:
    if not hourly.measured.any():
        problem = f"none of the last {hourly.hours} hours of cluster {snapshot.cluster} was measured"
        raise InvalidInputError.at("history", problem, "give readings that are at most a day apart, or ask for no load")
    columns = dict(snapshot.loads.columns)
    unseen = 0
    for kind, values in hourly.values.items():
        figures = statistic_of(values, statistic)
        if np.isnan(figures).all():
            continue
        latest = snapshot.loads.values(kind, len(figures))
        unseen = max(unseen, int((np.isnan(figures) & ~np.isnan(latest)).sum()))
        figures = np.where(np.isnan(figures), latest, figures)
        columns[kind] = LoadColumn(figures, statistic.source, hourly.hours * HOUR_S)
    gaps = _gaps(snapshot, hourly, unseen)
    return replace(snapshot, loads=PartitionLoads(columns), coverage=(*snapshot.coverage, *gaps))


def statistic_of(values: Rates, statistic: LoadStatistic) -> Floats:
    ordered = np.sort(values.astype(np.float64), axis=0)  # nan last
    hour_counts = (~np.isnan(values)).sum(axis=0)
    column = np.arange(values.shape[1])
    result = np.full(values.shape[1], np.nan)
    there = hour_counts > 0
    if statistic is not LoadStatistic.P95:
        np.divide(np.nansum(ordered, axis=0), hour_counts, out=result, where=there)
        return result if statistic is LoadStatistic.MEAN else _of_busiest_hours(values, result)
    # Linear between the two nearest hours.
    rank = (hour_counts[there] - 1) * _P95
    below = np.floor(rank).astype(np.int64)
    above = np.minimum(below + 1, hour_counts[there] - 1)
    low, high = ordered[below, column[there]], ordered[above, column[there]]
    result[there] = low + (high - low) * (rank - below)
    return result


def _of_busiest_hours(values: Rates, usual: Floats) -> Floats:
    """Return the mean over the cluster's busiest hours. An unknown value counts as usual, so that a gap is no quiet
    hour.
    """
    hours = values.astype(np.float64)
    is_seen = ~np.isnan(hours).all(axis=1)
    total = np.where(is_seen, np.nansum(np.where(np.isnan(hours), usual, hours), axis=1), -np.inf)
    count = max(1, math.ceil(_BUSY_SHARE * int(is_seen.sum())))
    busy = hours[np.argsort(-total, kind="stable")[:count]]
    hour_counts = (~np.isnan(busy)).sum(axis=0)
    result = usual.copy()
    np.divide(np.nansum(busy, axis=0), hour_counts, out=result, where=hour_counts > 0)
    return result


def _gaps(snapshot: ClusterSnapshot, hourly: HourlyLoads, unseen: int) -> list[CoverageGap]:
    measured, flattened = int(hourly.measured.sum()), int(hourly.flattened.sum())
    if measured >= hourly.hours and not flattened and not unseen:
        return []
    reason = fact(
        FactCode.HOURS_NOT_MEASURED, seen=measured, hours=hourly.hours, flattened=flattened, unseen_partitions=unseen
    )
    return [CoverageGap("cluster", snapshot.cluster, fact(FactCode.LACKS_HOURS), reason)]
