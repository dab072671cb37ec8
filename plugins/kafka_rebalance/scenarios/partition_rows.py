"""Partition tables with rows taken away, added or put into another order; their loads go with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.snapshot.load import LoadColumn, LoadKind, PartitionLoads
from kafka_rebalance.snapshot.model import ClusterSnapshot, Partition, Topic, partition_table
from kafka_rebalance.snapshot.partition_table import UNKNOWN_DIR, PartitionTable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NewPartitions:
    """Rows to add. ``loads``: what each of them carries by kind, all the same; a kind that is left out is unknown."""

    rows: list[Partition]
    loads: Mapping[LoadKind, float]


def with_partitions(snapshot: ClusterSnapshot, topics: tuple[Topic, ...], new: NewPartitions) -> ClusterSnapshot:
    """The snapshot with more partitions. ``topics``: those that it has, in their order, and new ones behind them."""
    index = {topic.name: number for number, topic in enumerate(topics)}
    table = _joined(snapshot.partitions, partition_table(new.rows, index))
    order = np.lexsort((table.partition, table.topic)).astype(np.int64)
    columns = {}
    for kind, column in snapshot.loads.columns.items():
        added = np.full(len(new.rows), new.loads.get(kind, np.nan))
        columns[kind] = LoadColumn(np.concatenate((column.values, added))[order], column.source, column.window_s)
    return replace(snapshot, topics=topics, partitions=_taken(table, order), loads=PartitionLoads(columns))


def without_topics(snapshot: ClusterSnapshot, gone: frozenset[str]) -> ClusterSnapshot:
    """The snapshot without some topics and their partitions."""
    stays = np.array([topic.name not in gone for topic in snapshot.topics], dtype=np.bool_)
    number = (np.cumsum(stays) - 1).astype(np.int32)
    rows = np.flatnonzero(stays[snapshot.partitions.topic]).astype(np.int64)
    table = _taken(snapshot.partitions, rows)
    columns = {
        kind: LoadColumn(column.values[rows], column.source, column.window_s)
        for kind, column in snapshot.loads.columns.items()
    }
    return replace(
        snapshot,
        topics=tuple(topic for topic in snapshot.topics if topic.name not in gone),
        partitions=replace(table, topic=number[table.topic]),
        loads=PartitionLoads(columns),
    )


def _taken(table: PartitionTable, rows: Longs) -> PartitionTable:
    counts = table.replica_counts[rows]
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)))
    cells = np.arange(int(offsets[-1])) - np.repeat(offsets[:-1], counts) + np.repeat(table.offsets[:-1][rows], counts)
    place = {row: at for at, row in enumerate(rows.tolist())} if _has_few(table) else {}

    def moved(by_row: Mapping[int, T]) -> dict[int, T]:
        return dict(sorted((place[row], value) for row, value in by_row.items() if row in place))

    return PartitionTable(
        topic=table.topic[rows],
        partition=table.partition[rows],
        offsets=offsets,
        replicas=table.replicas[cells],
        leader=table.leader[rows],
        replica_log_bytes=table.replica_log_bytes[cells],
        start_offset=table.start_offset[rows],
        end_offset=table.end_offset[rows],
        in_sync=None if table.in_sync is None else table.in_sync[cells],
        adding=moved(table.adding),
        removing=moved(table.removing),
        offline=moved(table.offline),
        observers=moved(table.observers),
        eligible=moved(table.eligible),
        log_dir=None if table.log_dir is None else table.log_dir[cells],
        future=moved(table.future),
        local_start_offset=moved(table.local_start_offset),
    )


def _has_few(table: PartitionTable) -> bool:
    by_row = (table.adding, table.removing, table.offline, table.observers, table.eligible, table.future)
    return any(by_row) or bool(table.local_start_offset)


def _joined(table: PartitionTable, new: PartitionTable) -> PartitionTable:
    """New rows have nothing that is kept by row; they are in sync where that is known of the others."""
    return replace(
        table,
        topic=np.concatenate((table.topic, new.topic)),
        partition=np.concatenate((table.partition, new.partition)),
        offsets=np.concatenate((table.offsets, table.offsets[-1] + new.offsets[1:])),
        replicas=np.concatenate((table.replicas, new.replicas)),
        leader=np.concatenate((table.leader, new.leader)),
        replica_log_bytes=np.concatenate((table.replica_log_bytes, new.replica_log_bytes)),
        start_offset=np.concatenate((table.start_offset, new.start_offset)),
        end_offset=np.concatenate((table.end_offset, new.end_offset)),
        in_sync=_in_sync(table, new),
        log_dir=_log_dirs(table, new),
    )


def _in_sync(table: PartitionTable, new: PartitionTable) -> Flags | None:
    if table.in_sync is None and len(table):
        return None
    there = np.zeros(0, dtype=np.bool_) if table.in_sync is None else table.in_sync
    return np.concatenate((there, np.ones(len(new.replicas), dtype=np.bool_)))


def _log_dirs(table: PartitionTable, new: PartitionTable) -> Ints | None:
    if table.log_dir is None:
        return None
    return np.concatenate((table.log_dir, np.full(len(new.replicas), UNKNOWN_DIR, dtype=np.int32)))
