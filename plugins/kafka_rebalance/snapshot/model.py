"""Consistent snapshot of one Kafka cluster, frozen and checked when built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Longs
from kafka_assignors.releases import seen_release
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.errors import InvalidSnapshotError
from kafka_rebalance.snapshot.coverage import CoverageGap
from kafka_rebalance.snapshot.figures import (
    FIRST_YEAR,
    LARGEST_BYTES,
    LARGEST_INT32,
    LARGEST_INT64,
    LARGEST_PORT,
    LARGEST_TOTAL_BYTES,
    LAST_YEAR,
    Capacity,
    LoadKind,
    topic_name_fault,
)
from kafka_rebalance.snapshot.group import CommittedOffset, Group, GroupType, Member, TopicPartitions
from kafka_rebalance.snapshot.partition_table import (
    NO_LEADER,
    UNKNOWN_BYTES,
    UNKNOWN_OFFSET,
    FutureReplica,
    Partition,
    PartitionLoads,
    PartitionTable,
    partition_table,
)

__all__ = [
    "Broker", "BrokerState", "Capacity", "ClusterSnapshot", "CommittedOffset", "CoverageGap", "FutureReplica",
    "Group", "GroupType", "LoadKind", "LogDir", "Member", "Partition", "PartitionLoads", "PartitionTable", "Quota",
    "Topic", "TopicPartitions", "partition_table",
]  # fmt: skip


class BrokerState(StrEnum):
    ALIVE = "alive"
    NEW = "new"  # just added
    DRAINING = "draining"  # all replicas must leave
    DEMOTED = "demoted"  # keeps replicas, must not lead
    REFUSED = "refused"  # registered; port closed or name unknown
    SILENT = "silent"  # registered; no answer in time
    DISCONNECTED = "disconnected"  # closed the connection: stopping or killed
    UNRESPONSIVE = "unresponsive"  # listed, but leads nothing, is in no live ISR, reported no log dirs
    FENCED = "fenced"  # registered, serves no clients
    DEAD = "dead"  # in replica lists, not registered

    @property
    def stays(self) -> bool:
        """Whether it stays in the cluster; an unresponsive one may return."""
        return not self.is_gone and self is not BrokerState.DRAINING

    @property
    def is_gone(self) -> bool:
        """Whether its replicas must be placed elsewhere."""
        return self in (BrokerState.FENCED, BrokerState.DEAD)

    @property
    def is_unresponsive(self) -> bool:
        """Whether it is registered but unresponsive: it keeps its replicas and gets none."""
        return self in (
            BrokerState.REFUSED,
            BrokerState.SILENT,
            BrokerState.DISCONNECTED,
            BrokerState.UNRESPONSIVE,
        )

    @property
    def is_responsive(self) -> bool:
        return not self.is_gone and not self.is_unresponsive


@dataclass(frozen=True, slots=True)
class LogDir:
    """Log directory; totals are those of its volume. Stray logs are in no replica list (after a move, or of a deleted
    topic).
    """

    path: str
    total_bytes: int | None = None
    usable_bytes: int | None = None
    error: str | None = None
    is_cordoned: bool = False
    stray_logs: int = 0
    stray_bytes: int = 0
    largest_stray: str | None = None

    def __post_init__(self) -> None:
        for name in ("total_bytes", "usable_bytes", "stray_logs", "stray_bytes"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= LARGEST_INT64:
                raise InvalidSnapshotError.at(f"log dir {self.path}", f"{name} {excerpt(value)} is no size")


@dataclass(frozen=True, slots=True)
class Broker:
    """Broker; ``rack`` is ``None`` for none or an empty string."""

    id: int
    rack: str | None = None
    host: str | None = None
    port: int | None = None
    state: BrokerState = BrokerState.ALIVE
    is_controller: bool = False
    log_dirs: tuple[LogDir, ...] = ()
    capacity: Capacity = Capacity()  # noqa: RUF009 (frozen)
    configs: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.id <= LARGEST_INT32:
            raise InvalidSnapshotError.at(f"broker {excerpt(self.id)}", f"a broker id is 0 to {LARGEST_INT32:,}")
        if self.port is not None and not 0 <= self.port <= LARGEST_PORT:
            raise InvalidSnapshotError.at(f"broker {self.id}", f"{excerpt(self.port)} is no port")
        if self.rack == "":
            object.__setattr__(self, "rack", None)

    @property
    def is_cordoned(self) -> bool:
        """KIP-1066: no new replicas, because all working log dirs are cordoned."""
        working = [log_dir for log_dir in self.log_dirs if log_dir.error is None]
        return bool(working) and all(log_dir.is_cordoned for log_dir in working)


@dataclass(frozen=True, slots=True)
class Topic:
    """Topic. Raises for a name that Kafka forbids."""

    name: str
    topic_id: str | None = None
    is_internal: bool = False
    configs: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if fault := topic_name_fault(self.name):
            raise InvalidSnapshotError.at(f"topic {excerpt(self.name)}", fault)


@dataclass(frozen=True, slots=True)
class Quota:
    """Client limits: ``entity`` holds (type, name) pairs (user, client-id, ip; name None: the default)."""

    entity: tuple[tuple[str, str | None], ...]
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class ClusterSnapshot:
    """Snapshot of one cluster. ``captured_at`` has a zone; ``None`` for input without a time.

    ``features``: finalized levels (``metadata.version``, …).

    Raises InvalidSnapshotError for contradictions, such as a duplicate or a leader outside its replicas.
    """

    cluster: str
    brokers: tuple[Broker, ...]
    topics: tuple[Topic, ...]
    partitions: PartitionTable
    groups: tuple[Group, ...] = ()
    loads: PartitionLoads = field(default_factory=PartitionLoads)
    cluster_id: str | None = None
    captured_at: datetime | None = None
    source: str = "unknown"
    kafka_version: str | None = None
    coverage: tuple[CoverageGap, ...] = ()
    features: Mapping[str, int] = field(default_factory=dict)
    quotas: tuple[Quota, ...] = ()

    def __post_init__(self) -> None:
        _refuse_twice("broker", [broker.id for broker in self.brokers])
        _refuse_twice("topic", [topic.name for topic in self.topics])
        _refuse_twice("group", [group.id for group in self.groups])
        _check_time(self.captured_at)
        _check_partitions(self)
        for kind, column in self.loads.columns.items():
            if len(column.values) != len(self.partitions):
                raise InvalidSnapshotError.at(
                    f"load {kind}", f"{len(column.values)} values for {len(self.partitions)} partitions"
                )

    def name_of(self, row: int) -> str:
        return f"{self.topics[self.partitions.topic[row]].name}-{self.partitions.partition[row]}"

    def partition(self, row: int) -> Partition:
        table = self.partitions
        span = slice(int(table.offsets[row]), int(table.offsets[row + 1]))
        replicas = tuple(table.replicas[span].tolist())
        sizes = tuple(None if size < 0 else size for size in table.replica_log_bytes[span].tolist())
        flags = None if table.in_sync is None else table.in_sync[span].tolist()
        leader, start, end = int(table.leader[row]), int(table.start_offset[row]), int(table.end_offset[row])
        return Partition(
            topic=self.topics[table.topic[row]].name,
            partition=int(table.partition[row]),
            replicas=replicas,
            leader=None if leader < 0 else leader,
            isr=None if flags is None else tuple(b for b, is_in in zip(replicas, flags, strict=True) if is_in),
            log_bytes=sizes,
            start_offset=None if start < 0 else start,
            end_offset=None if end < 0 else end,
            adding=table.adding.get(row, ()),
            removing=table.removing.get(row, ()),
            offline=table.offline.get(row, ()),
            observers=table.observers.get(row, ()),
            eligible=table.eligible.get(row, ()),
            log_dirs=() if table.log_dir is None else tuple(
                None if log_dir < 0 else log_dir for log_dir in table.log_dir[span].tolist()
            ),
            future=table.future.get(row, ()),
            local_start_offset=table.local_start_offset.get(row),
        )  # fmt: skip

    def each_partition(self) -> Iterator[Partition]:
        return (self.partition(row) for row in range(len(self.partitions)))

    @property
    def row_of(self) -> dict[tuple[str, int], int]:
        """Return (topic, partition) → row. Built at each call: keep it."""
        names = [topic.name for topic in self.topics]
        table = self.partitions
        return {
            (names[t], p): row
            for row, (t, p) in enumerate(zip(table.topic.tolist(), table.partition.tolist(), strict=True))
        }

    def with_capacities(self, given: Mapping[int, Capacity]) -> ClusterSnapshot:
        """Return the snapshot with the capacities that an option gives."""
        brokers = (
            replace(broker, capacity=broker.capacity.overridden(given.get(broker.id))) for broker in self.brokers
        )
        return replace(self, brokers=tuple(brokers)) if given else self

    @property
    def unplaced_bytes(self) -> dict[int, int]:
        """Return broker → bytes beside its replicas: stray logs, and copies between its log dirs."""
        unplaced = {broker.id: sum(log_dir.stray_bytes for log_dir in broker.log_dirs) for broker in self.brokers}
        for copies in self.partitions.future.values():
            for copy in copies:
                unplaced[copy.broker] = unplaced.get(copy.broker, 0) + copy.log_bytes
        return {broker: size for broker, size in unplaced.items() if size}

    def held_bytes(self, broker: Broker) -> dict[str, int] | None:
        """Return bytes in each log dir, with copies in progress and stray logs; None where some are unknown.

        Offline replicas and replicas being added may have none.
        """
        table, paths = self.partitions, [log_dir.path for log_dir in broker.log_dirs]
        held = {log_dir.path: log_dir.stray_bytes for log_dir in broker.log_dirs}
        cells = np.flatnonzero(table.replicas == broker.id)
        dirs = np.zeros(len(cells), dtype=np.int32) if table.log_dir is None else table.log_dir[cells]
        rows, sizes = table.row_of_replica[cells].tolist(), table.replica_log_bytes[cells].tolist()
        for row, number, size in zip(rows, dirs.tolist(), sizes, strict=True):
            if size >= 0 and 0 <= number < len(paths):
                held[paths[number]] += size
            elif broker.id not in (*table.offline.get(row, ()), *table.adding.get(row, ())):
                return None
        for copies in table.future.values():
            for copy in copies:
                if copy.broker == broker.id and copy.log_dir < len(paths):
                    held[paths[copy.log_dir]] += copy.log_bytes
        return held

    def load(self, kind: LoadKind) -> npt.NDArray[np.float64]:
        """Return float64[P], ``nan`` where unknown; ``log_bytes`` falls back to the leader replica's size."""
        values = self.loads.values(kind, len(self.partitions))
        if kind is LoadKind.LOG_BYTES:
            return np.where(np.isnan(values), self.partitions.leader_log_bytes, values)
        return values


def _refuse_twice(kind: str, keys: list[int] | list[str]) -> None:
    earlier: set[int | str] = set()
    for key in keys:
        if key in earlier:
            raise InvalidSnapshotError.at(f"{kind} {key}", "is listed twice", f"each {kind} stands once in a snapshot")
        earlier.add(key)


def _check_time(captured_at: datetime | None) -> None:
    if captured_at is None:
        return
    if not isinstance(captured_at, datetime) or captured_at.utcoffset() is None:
        raise InvalidSnapshotError.at("captured_at", f"{excerpt(captured_at)} is no time with a zone")
    if not FIRST_YEAR <= captured_at.year <= LAST_YEAR:
        raise InvalidSnapshotError.at("captured_at", f"no cluster was read in the year {captured_at.year}")


def _check_partitions(snapshot: ClusterSnapshot) -> None:
    table = snapshot.partitions
    if len(table) == 0:
        return
    if table.topic.min() < 0 or table.topic.max() >= len(snapshot.topics):
        raise InvalidSnapshotError.at("partition table", "a topic index is out of range")
    key = table.topic.astype(np.int64) << 32 | table.partition
    order = np.flatnonzero(np.diff(key) <= 0)
    if len(order):
        raise InvalidSnapshotError.at(snapshot.name_of(int(order[0]) + 1), "is listed twice or out of order")
    counts = table.replica_counts
    if counts.min() < 1 and (snapshot.brokers or counts.max() > 0):
        raise InvalidSnapshotError.at(snapshot.name_of(int(counts.argmin())), "has no replicas")
    owner = table.row_of_replica
    pairs = np.sort(owner << 32 | table.replicas)
    twice = np.flatnonzero(np.diff(pairs) == 0)
    if len(twice):
        row, broker = int(pairs[twice[0]] >> 32), int(pairs[twice[0]] & 0xFFFFFFFF)
        raise InvalidSnapshotError.at(snapshot.name_of(row), f"broker {broker} stands twice in its replicas")
    led = np.zeros(len(table), dtype=np.bool_)
    led[owner[table.replicas == table.leader[owner]]] = True
    wrong = np.flatnonzero(~led & (table.leader >= 0))
    if len(wrong):
        row = int(wrong[0])
        raise InvalidSnapshotError.at(
            snapshot.name_of(row), f"leader {table.leader[row]} is not among replicas {table.replicas_of(row)}"
        )
    _check_columns(snapshot)
    broker_ids = np.array(sorted(broker.id for broker in snapshot.brokers), dtype=np.int32)
    missing = np.flatnonzero(~np.isin(table.replicas, broker_ids))
    if len(missing):
        cell = int(missing[0])
        raise InvalidSnapshotError.at(
            snapshot.name_of(int(owner[cell])),
            f"replica on broker {table.replicas[cell]}, which is not among the brokers",
            "readers add a broker that nobody has seen with state 'dead'",
        )


def _check_columns(snapshot: ClusterSnapshot) -> None:
    table = snapshot.partitions
    for name, column, lowest in (
        ("partition", table.partition, 0),
        ("leader", table.leader, NO_LEADER),
        ("start_offset", table.start_offset, UNKNOWN_OFFSET),
        ("end_offset", table.end_offset, UNKNOWN_OFFSET),
    ):
        if column.min() < lowest:
            row = int(column.argmin())
            raise InvalidSnapshotError.at(snapshot.name_of(row), f"{name} {column[row]} is negative")
    sizes = table.replica_log_bytes
    if len(sizes) and (sizes.min() < UNKNOWN_BYTES or sizes.max() > LARGEST_BYTES):
        cell = int(sizes.argmin() if sizes.min() < UNKNOWN_BYTES else sizes.argmax())
        partition_name = snapshot.name_of(int(table.row_of_replica[cell]))
        raise InvalidSnapshotError.at(partition_name, f"{sizes[cell]} bytes are no size", f"0 to {LARGEST_BYTES:,}")
    if float(sizes.clip(0).sum(dtype=np.float64)) > LARGEST_TOTAL_BYTES:
        raise InvalidSnapshotError.at("log_bytes", "all replicas together hold more bytes than a cluster can")
    for name in ("adding", "removing", "offline", "eligible"):
        lists: Mapping[int, tuple[int, ...]] = getattr(table, name)
        for row, brokers in lists.items():
            if strangers := set(brokers) - set(table.replicas_of(row)):
                raise InvalidSnapshotError.at(
                    snapshot.name_of(row), f"{name} names broker {min(strangers)}, which is not among its replicas"
                )


# Replicas that must be in sync for writes.
_LEAST_IN_SYNC = "min.insync.replicas"
# From 3.7 on brokers use the replica count where min.insync.replicas is larger (KAFKA-15583).
_BOUNDED_SINCE = (3, 7)


def least_in_sync(snapshot: ClusterSnapshot) -> Longs:
    """Return int64[P]: the topic's value, else its leader broker's, else 1."""
    table = snapshot.partitions
    of_topic = [_number(topic.configs.get(_LEAST_IN_SYNC)) for topic in snapshot.topics]
    by_topic = np.array([0 if number is None else number for number in of_topic], dtype=np.int64)
    is_set = np.array([number is not None for number in of_topic], dtype=np.bool_)
    least = np.ones(len(table), dtype=np.int64)
    for broker in snapshot.brokers:
        if (number := _number(broker.configs.get(_LEAST_IN_SYNC))) is not None:
            least[table.leader == broker.id] = number
    return np.where(is_set[table.topic], by_topic[table.topic], least)


def is_bounded_by_replicas(snapshot: ClusterSnapshot) -> bool:
    return seen_release(snapshot.kafka_version)[:2] >= _BOUNDED_SINCE


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 9 else None
