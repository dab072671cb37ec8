"""Partitions of a snapshot and their loads as columns, for up to a million replicas.

An unknown load is ``nan`` with source ``unknown``, never zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Floats, Ints, Longs
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

UNKNOWN_BYTES = -1
NO_LEADER = -1
UNKNOWN_OFFSET = -1
UNKNOWN_DIR = -1


class FutureReplica(NamedTuple):
    broker: int
    log_dir: int  # index into the broker's log dirs
    log_bytes: int


@dataclass(frozen=True, slots=True)
class Partition:
    """Row of the table; ``replicas`` in Kafka's order.

    ``log_bytes`` and ``log_dirs`` run along ``replicas``: ``log_dirs`` is empty where all brokers have one. During a
    reassignment ``replicas`` is Kafka's union, ``adding`` and ``removing`` parts of it. ``observers`` (Confluent's)
    take disk, never lead and need no ISR. ``eligible`` (eligible leader replicas, KIP-966) may lead outside the ISR.
    ``local_start_offset``: first offset on disk of a tiered topic.
    """

    topic: str
    partition: int
    replicas: tuple[int, ...]
    leader: int | None
    isr: tuple[int, ...] | None = None
    log_bytes: tuple[int | None, ...] = ()
    start_offset: int | None = None
    end_offset: int | None = None
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    offline: tuple[int, ...] = ()
    observers: tuple[int, ...] = ()
    eligible: tuple[int, ...] = ()
    log_dirs: tuple[int | None, ...] = ()
    future: tuple[FutureReplica, ...] = ()
    local_start_offset: int | None = None

    @property
    def target_replicas(self) -> tuple[int, ...]:
        return tuple(replica for replica in self.replicas if replica not in self.removing)


@dataclass(frozen=True, slots=True, eq=False)
class PartitionTable:
    """Columns for P partitions, by topic index, then partition, and R replicas:
    - ``topic`` int32[P], an index into the snapshot's topics; ``partition`` int32[P]
    - ``offsets`` int64[P+1]: row p's replicas are ``replicas[offsets[p]:offsets[p+1]]``
    - ``replicas`` int32[R]; ``replica_log_bytes`` int64[R], -1: unknown
    - ``leader`` int32[P], -1: none; ``start_offset``, ``end_offset`` int64[P], -1: unknown
    - ``in_sync`` bool[R], ``None`` where the ISR is unknown
    - ``log_dir`` int32[R], an index into the broker's log dirs, -1: unknown; ``None`` where no broker has several
    - rare values by row: ``adding``, ``removing``, ``offline``, ``observers``, ``eligible``, ``future``,
      ``local_start_offset``
    """

    topic: Ints
    partition: Ints
    offsets: Longs
    replicas: Ints
    leader: Ints
    replica_log_bytes: Longs
    start_offset: Longs
    end_offset: Longs
    in_sync: npt.NDArray[np.bool_] | None = None
    adding: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    removing: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    offline: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    observers: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    eligible: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    log_dir: Ints | None = None
    future: Mapping[int, tuple[FutureReplica, ...]] = field(default_factory=dict)
    local_start_offset: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rows, cells = len(self.topic), len(self.replicas)
        shapes: dict[str, tuple[npt.NDArray[np.signedinteger[Any]], int]] = {
            "partition": (self.partition, rows), "offsets": (self.offsets, rows + 1), "leader": (self.leader, rows),
            "replica_log_bytes": (self.replica_log_bytes, cells), "start_offset": (self.start_offset, rows),
            "end_offset": (self.end_offset, rows),
            **({} if self.log_dir is None else {"log_dir": (self.log_dir, cells)}),
        }  # fmt: skip
        for name, (column, expected) in shapes.items():
            if len(column) != expected:
                raise InvalidSnapshotError.at(f"partition table, {name}", f"{len(column)} values, expected {expected}")
        for column in (self.topic, self.replicas, *(array for array, _ in shapes.values())):
            column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.topic)

    @property
    def replica_counts(self) -> Longs:
        return np.diff(self.offsets)

    @property
    def row_of_replica(self) -> Longs:
        return np.repeat(np.arange(len(self), dtype=np.int64), self.replica_counts)

    @property
    def leader_log_bytes(self) -> npt.NDArray[np.float64]:
        """Size of the leader's replica, else the largest known one, else ``nan``."""
        sizes = np.where(self.replica_log_bytes < 0, np.nan, self.replica_log_bytes.astype(np.float64))
        owner = self.row_of_replica
        largest = np.full(len(self), -1.0)
        is_known = ~np.isnan(sizes)
        np.maximum.at(largest, owner[is_known], sizes[is_known])
        result = np.where(largest < 0, np.nan, largest)
        leads = (self.replicas == self.leader[owner]) & is_known
        result[owner[leads]] = sizes[leads]
        return result

    @property
    def first_on_disk(self) -> Longs:
        result = self.start_offset.copy()
        for row, offset in self.local_start_offset.items():
            result[row] = offset
        return result

    @property
    def idle_observers(self) -> Longs:
        """Observers outside the ISR; a promoted one is in it."""
        result = np.zeros(len(self), dtype=np.int64)
        for row, brokers in self.observers.items():
            cells = slice(int(self.offsets[row]), int(self.offsets[row + 1]))
            is_idle = np.isin(self.replicas[cells], brokers)
            if self.in_sync is not None:
                is_idle &= ~self.in_sync[cells]
            result[row] = int(is_idle.sum())
        return result

    def replicas_of(self, row: int) -> tuple[int, ...]:
        return tuple(self.replicas[self.offsets[row] : self.offsets[row + 1]].tolist())

    def is_in_flight(self, row: int) -> bool:
        return row in self.adding or row in self.removing


def partition_table(rows: list[Partition], topic_index: Mapping[str, int]) -> PartitionTable:
    """Return sorted columns. Raises InvalidSnapshotError for a duplicate or a topic outside ``topic_index``."""
    for row in rows:
        if row.topic not in topic_index:
            raise InvalidSnapshotError.at(f"{row.topic}-{row.partition}", "its topic is not among the topics")
    rows = sorted(rows, key=lambda row: (topic_index[row.topic], row.partition))
    counts = np.array([len(row.replicas) for row in rows], dtype=np.int64)
    has_isr, has_log_dirs = any(row.isr is not None for row in rows), any(row.log_dirs for row in rows)
    in_sync = np.array([replica in (row.isr or ()) for row in rows for replica in row.replicas], dtype=np.bool_)
    return PartitionTable(
        topic=np.array([topic_index[row.topic] for row in rows], dtype=np.int32),
        partition=np.array([row.partition for row in rows], dtype=np.int32),
        offsets=np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64))),
        replicas=np.array([replica for row in rows for replica in row.replicas], dtype=np.int32),
        leader=_with_unknown((row.leader for row in rows), NO_LEADER).astype(np.int32),
        replica_log_bytes=_with_unknown(_along_replicas(rows, "log_bytes"), UNKNOWN_BYTES),
        start_offset=_with_unknown((row.start_offset for row in rows), UNKNOWN_OFFSET),
        end_offset=_with_unknown((row.end_offset for row in rows), UNKNOWN_OFFSET),
        in_sync=in_sync if has_isr else None,
        log_dir=_with_unknown(_along_replicas(rows, "log_dirs"), UNKNOWN_DIR).astype(np.int32)
        if has_log_dirs
        else None,
        **{name: _rare(rows, name) for name in _RARE},
    )


_RARE = ("adding", "removing", "offline", "observers", "eligible", "future", "local_start_offset")


def _with_unknown(values: Iterable[int | None], unknown: int) -> Longs:
    return np.array([unknown if value is None else value for value in values], dtype=np.int64)


def _along_replicas(rows: list[Partition], name: str) -> Iterator[int | None]:
    """Yield a value for each replica; ``None`` for all of a partition whose tuple is empty."""
    for row in rows:
        yield from getattr(row, name) or (None,) * len(row.replicas)


def _rare(rows: list[Partition], name: str) -> dict[int, Any]:
    return {i: value for i, row in enumerate(rows) if (value := getattr(row, name)) not in (None, ())}


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
