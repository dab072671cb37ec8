"""Hourly loads of accepted snapshots, as arrays by topic, kept for ``KEPT_DAYS``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from psycopg.rows import class_row

from kafka_assignors.arrays import Longs
from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.advisory.disk_outlook import DiskForecast
from kafka_rebalance.options.values import Window, read_value
from kafka_rebalance.snapshot.figures import LoadStatistic
from kafka_rebalance.snapshot.history import (
    HISTORY_KINDS,
    HourlyLoads,
    MeasuredRates,
    MeasuredReading,
    Rates,
    measured_reading,
    over_window,
)
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.rates import NamedPartitions
from rebalance_advisor.store.rows.arrow_columns import real_arrays
from rebalance_advisor.store.rows.copy_rows import Column, copy_columns, text
from rebalance_advisor.store.rows.snapshot_rows import headed
from rebalance_advisor.store.run import Run
from rebalance_advisor.store.schema.connection import Connection, named
from rebalance_advisor.store.snapshot_load import Row, load_snapshot, rows_of
from rebalance_advisor.store.statistics import analyze_copied

KEPT_DAYS = 35
_TABLE = "load_history"


@dataclass(frozen=True, slots=True)
class ReadingHistory:
    """A row a topic; ``windows``: seconds by kind."""

    until: datetime
    windows: Mapping[str, float | None]
    columns: dict[str, Column]


def reading_history(snapshot: ClusterSnapshot) -> ReadingHistory | None:
    reading = measured_reading(snapshot)
    if reading is None:
        return None
    measured = reading.columns
    windows = {kind.value: measured[kind].window_s if kind in measured else None for kind in HISTORY_KINDS}
    return ReadingHistory(reading.until, windows, _columns(reading))


def save_load_history(connection: Connection, cluster: str, history: ReadingHistory, snapshot_key: int) -> None:
    """Once, in the caller's transaction; the week's partition must exist."""
    row: Row = {**history.windows, "snapshot_key": snapshot_key, "cluster": cluster, "captured_at": history.until}
    if connection.execute(named("insert_load_reading"), row).fetchone() is not None:
        columns = headed(_TABLE, history.columns, snapshot_key, history.until.isoformat())
        analyze_copied(connection, {_TABLE: copy_columns(connection, _TABLE, columns)}, history.until)


def load_readings(connection: Connection, cluster: str, until: datetime, hours: int) -> Iterator[MeasuredReading]:
    after = until - timedelta(hours=hours)
    keys = {"cluster": cluster, "after": after, "until": until}
    for head in rows_of(connection, "load_readings", keys):
        yield _reading(head, rows_of(connection, "load_history", head))


def _reading(head: Row, rows: list[Row]) -> MeasuredReading:
    counts = np.array([row["partition_count"] or 0 for row in rows], dtype=np.int64)
    topic = np.repeat(np.arange(len(rows), dtype=np.int32), counts)
    ends = np.cumsum(counts)
    partitions = NamedPartitions(
        tuple(row["topic"] for row in rows), tuple(row["topic_id"] for row in rows), topic,
        (np.arange(len(topic)) - np.repeat(ends - counts, counts)).astype(np.int32),
    )  # fmt: skip
    columns = {
        kind: MeasuredRates(_values([row[kind.value] for row in rows], counts), head[kind.value])
        for kind in HISTORY_KINDS
        if head[kind.value] is not None
    }
    return MeasuredReading(head["captured_at"], partitions, columns)


def _values(cells: list[str | None], counts: np.ndarray) -> Rates:
    texts = [" ".join(["nan"] * count) if cell is None else cell for cell, count in zip(cells, counts, strict=True)]
    return np.array(" ".join(texts).split(), dtype=np.float32)


def _columns(reading: MeasuredReading) -> dict[str, Column]:
    """Arrays by topic, up to its highest partition number; NULL is unknown or not read."""
    partitions = reading.partitions
    there, row, sizes = np.unique(partitions.topic, return_inverse=True, return_counts=True)
    highest = partitions.partition[np.cumsum(sizes) - 1].astype(np.int64)  # partitions are sorted
    offsets = np.concatenate([[0], np.cumsum(highest + 1)])
    position: Longs = offsets[row] + partitions.partition.astype(np.int64)
    return {
        "topic": text(partitions.names[topic] for topic in there),
        "topic_id": text(partitions.ids[topic] for topic in there),
        **{kind.value: _arrays(rates.values, position, offsets) for kind, rates in reading.columns.items()},
    }


def _arrays(values: Rates, position: Longs, offsets: Longs) -> Column:
    whole = np.full(offsets[-1], np.nan, dtype=np.float32)
    whole[position] = values
    column: Column = real_arrays(whole, offsets)
    return column


def load_disk_forecasts(connection: Connection, run_id: str) -> tuple[DiskForecast, ...]:
    """Return () when a newer snapshot is stored."""
    with connection.cursor(row_factory=class_row(DiskForecast)) as cursor:
        return tuple(cursor.execute(named("disk_forecasts"), {"run_id": run_id}).fetchall())


@dataclass(frozen=True, slots=True, eq=False)
class RunInput:
    snapshot: ClusterSnapshot
    hourly: HourlyLoads | None = None


def load_run_input(connection: Connection, run: Run) -> RunInput:
    return snapshot_over_window(connection, run.snapshot_id, run.parameters.get("load"), run.parameters.get("window"))


def snapshot_over_window(
    connection: Connection, snapshot_id: str, load: str | None, window_text: str | None
) -> RunInput:
    """``window_text``: for example ``7d``. Raises StoreError or InvalidInputError."""
    snapshot = load_snapshot(connection, snapshot_id)
    if load is None or window_text is None:
        return RunInput(snapshot)
    if snapshot.captured_at is None:
        raise InvalidInputError.at("history", "the reading has no time", "advise on one that has (captured_at)")
    hours = read_value(Window, window_text)
    readings = load_readings(connection, snapshot.cluster, snapshot.captured_at, hours)
    return RunInput(*over_window(snapshot, readings, LoadStatistic(load), hours))
