"""Loading a snapshot: what ``save_snapshot`` saved, equal in everything."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from psycopg import sql
from psycopg.rows import dict_row

from kafka_rebalance.snapshot import codec
from kafka_rebalance.snapshot.load import LoadColumn, LoadKind, LoadSource, PartitionLoads
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    Capacity,
    ClusterSnapshot,
    CommittedOffset,
    CoverageGap,
    Group,
    GroupType,
    LogDir,
    Member,
    Topic,
    TopicPartitions,
)
from kafka_rebalance.snapshot.partition_table import FutureReplica, PartitionTable
from kafka_rebalance.snapshot.streams import Tasks
from kafka_rebalance.snapshot.times import parse_time
from rebalance_advisor.store.schema.connection import Connection, StoreError, named

Row = dict[str, Any]
_SPARSE = ("adding", "removing", "offline", "observers", "eligible")


def load_snapshot(connection: Connection, snapshot_id: str) -> ClusterSnapshot:
    """The snapshot of that id. Raises StoreError where it is not stored or was pruned."""
    with connection.transaction():
        head = rows_of(connection, "snapshot_head", {"snapshot_id": snapshot_id})
        if not head:
            raise StoreError(f"no snapshot {snapshot_id} is stored")
        if head[0]["is_pruned"]:
            raise StoreError(f"the rows of snapshot {snapshot_id} were removed by retention; take a new one")
        key = {"snapshot_key": head[0]["snapshot_key"], "time": head[0]["time"]}
        topics = rows_of(connection, "snapshot_topics", key)
        return ClusterSnapshot(
            cluster=head[0]["cluster"],
            brokers=_brokers(connection, key),
            topics=tuple(
                Topic(topic["topic"], topic["topic_id"], topic["is_internal"], topic["configs"]) for topic in topics
            ),
            partitions=_partitions(connection, key, len(topics)),
            groups=_groups(connection, key),
            loads=_loads(connection, key),
            cluster_id=head[0]["cluster_id"],
            captured_at=_time(head[0]["captured_at"]),
            source=head[0]["source"],
            kafka_version=head[0]["kafka_version"],
            coverage=tuple(CoverageGap(**row) for row in rows_of(connection, "snapshot_coverage", key)),
            features=head[0]["features"] or {},
            quotas=tuple(codec.read_quota(quota, "store.snapshot.quotas") for quota in head[0]["quotas"] or ()),
        )


def _time(text: str | None) -> datetime | None:
    return None if text is None else parse_time(text, "store.snapshot.captured_at")


def rows_of(connection: Connection, query: str, parameters: Row) -> list[Row]:
    """What a named query finds, each row by its columns' names."""
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(named(query), parameters).fetchall()


def _brokers(connection: Connection, key: Row) -> tuple[Broker, ...]:
    log_dirs: dict[int, list[LogDir]] = defaultdict(list)
    for row in rows_of(connection, "snapshot_log_dirs", key):
        log_dirs[row.pop("broker")].append(LogDir(**row))
    return tuple(
        Broker(
            id=row["broker"],
            rack=row["rack"],
            host=row["host"],
            port=row["port"],
            state=BrokerState(row["state"]),
            is_controller=row["is_controller"],
            log_dirs=tuple(log_dirs[row["broker"]]),
            capacity=Capacity(*(row[f"capacity_{name}"] for name in Capacity.__dataclass_fields__)),
            configs=row["configs"],
        )
        for row in rows_of(connection, "snapshot_brokers", key)
    )


def _partitions(connection: Connection, key: Row, topic_count: int) -> PartitionTable:
    """Read as text by COPY and turned into columns whole: arrays come as numbers with blanks between."""
    columns = _copied(connection, "snapshot_partitions", key)
    counts = _integers(columns["replica_count"], np.int64)
    topic = _integers(columns["topic"], np.int32)
    if len(topic) and topic.max() >= topic_count:
        raise StoreError("a partition's topic is not among the topics of its snapshot")
    sparse: dict[str, dict[int, tuple[int, ...]]] = {
        name: {row: tuple(map(int, value.split())) for row, value in enumerate(columns[name]) if value}
        for name in _SPARSE
    }
    flags = _integers([value for value in columns["in_sync"] if value], np.int8)
    return PartitionTable(
        topic=topic,
        partition=_integers(columns["partition"], np.int32),
        offsets=np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts))),
        replicas=_integers(columns["replicas"], np.int32),
        leader=_integers(columns["leader"], np.int32),
        replica_log_bytes=_integers(columns["log_bytes"], np.int64),
        start_offset=_integers(columns["start_offset"], np.int64),
        end_offset=_integers(columns["end_offset"], np.int64),
        in_sync=flags.astype(np.bool_) if len(flags) else None,
        log_dir=_integers(columns["log_dirs"], np.int32) if any(columns["log_dirs"]) else None,
        future={
            row: tuple(FutureReplica(*copy) for copy in json.loads(value))
            for row, value in enumerate(columns["future"])
            if value
        },
        local_start_offset={row: int(value) for row, value in enumerate(columns["local_start_offset"]) if value},
        **sparse,
    )


def _copied(connection: Connection, query: str, key: Row) -> dict[str, list[str]]:
    """The columns of a query, as text. Only numbers come this way: nothing has to be unescaped."""
    copied = sql.SQL("COPY ({}) TO STDOUT (HEADER)").format(named(query))
    with connection.cursor().copy(copied, key) as copy:
        names, *lines = b"".join(copy).decode("ascii").splitlines()
    columns = list(zip(*(line.split("\t") for line in lines), strict=True)) or [()] * len(names.split("\t"))
    return {name: list(values) for name, values in zip(names.split("\t"), columns, strict=True)}


def _integers(cells: list[str], dtype: Any) -> npt.NDArray[Any]:
    """All numbers of all cells, one after another."""
    return np.array(" ".join(cells).split(), dtype=dtype) if cells else np.zeros(0, dtype=dtype)


def _loads(connection: Connection, key: Row) -> PartitionLoads:
    sources = rows_of(connection, "snapshot_load_sources", key)
    columns = _copied(connection, "snapshot_loads", key) if sources else {}
    return PartitionLoads(
        {
            LoadKind(source["kind"]): LoadColumn(
                np.array(columns[source["kind"]], dtype=np.float64), LoadSource(source["source"]), source["window_s"]
            )
            for source in sources
        }
    )


def _groups(connection: Connection, key: Row) -> tuple[Group, ...]:
    members: dict[str, list[Member]] = defaultdict(list)
    for row in rows_of(connection, "snapshot_members", key):
        members[row["group_id"]].append(_member(row))
    committed: dict[str, list[CommittedOffset]] = defaultdict(list)
    for row in rows_of(connection, "snapshot_committed_offsets", key):
        unknown = [None] * len(row["offsets"])
        columns = (row["partitions"], row["offsets"], row["lags"] or unknown, row["read_messages_per_s"] or unknown)
        committed[row["group_id"]].extend(CommittedOffset(row["topic"], *cells) for cells in zip(*columns, strict=True))
    return tuple(
        Group(
            id=row["group_id"],
            type=GroupType(row["type"]),
            protocol_type=row["protocol_type"],
            protocol=row["protocol"],
            state=row["state"],
            generation=row["generation"],
            coordinator=row["coordinator"],
            members=tuple(members[row["group_id"]]),
            committed=tuple(committed[row["group_id"]]),
            assignment_epoch=row["assignment_epoch"],
            subtopologies=tuple(
                codec.read_subtopology(part, "store.consumer_group.subtopologies")
                for part in row["subtopologies"] or ()
            ),
            configs=row["configs"] or {},
        )
        for row in rows_of(connection, "snapshot_groups", key)
    )


def _member(row: Row) -> Member:
    subscription = row["subscription"]
    return Member(
        id=row["member_id"],
        **{
            name: row[name]
            for name in (
                "instance_id",
                "client_id",
                "host",
                "rack",
                "subscribed_regex",
                "generation",
                "user_data",
                "is_classic",
                "subscription_version",
                "process_id",
            )
        },
        subscription=None if subscription is None else tuple(subscription),
        owned=_runs(row["owned"]),
        assigned=_runs(row["assigned"]) or (),
        target=_runs(row["target"]),
        decode_error=row["decode_error"],
        tasks=_tasks(row["tasks"]),
        target_tasks=_tasks(row["target_tasks"]),
    )


def _tasks(value: Any) -> Tasks | None:
    return None if value is None else codec.read_tasks(value, "store.member.tasks")


def _runs(value: list[Any] | None) -> TopicPartitions | None:
    return None if value is None else tuple((topic, tuple(partitions)) for topic, partitions in value)
