from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from psycopg.rows import dict_row

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.snapshot import codec
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.group import Tasks
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    Capacity,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    GroupType,
    LogDir,
    Member,
    Topic,
    TopicPartitions,
)
from kafka_rebalance.snapshot.partition_table import FutureReplica, LoadColumn, PartitionLoads, PartitionTable
from kafka_rebalance.snapshot.times import parse_time
from rebalance_advisor.store.schema.connection import Connection, StoreError, named

Row = dict[str, Any]
_SPARSE = ("adding", "removing", "offline", "observers", "eligible")


def load_snapshot(connection: Connection, snapshot_id: str) -> ClusterSnapshot:
    """Raises StoreError, also for a snapshot pruned meanwhile."""
    with connection.transaction():
        head = _head(connection, snapshot_id)
        try:
            snapshot = _snapshot(connection, head)
        except (AdvisorError, ValueError, IndexError):
            _head(connection, snapshot_id)
            raise
        # Retention marks before it removes: an unmarked snapshot was complete.
        _head(connection, snapshot_id)
        return snapshot


def _head(connection: Connection, snapshot_id: str) -> Row:
    head = rows_of(connection, "snapshot_head", {"snapshot_id": snapshot_id})
    if not head:
        raise StoreError(f"no snapshot {snapshot_id} is stored")
    if head[0]["is_pruned"]:
        raise StoreError(f"the rows of snapshot {snapshot_id} were removed by retention; take a new one")
    return head[0]


def _snapshot(connection: Connection, head: Row) -> ClusterSnapshot:
    key = {"snapshot_key": head["snapshot_key"], "captured_at": head["captured_at"]}
    topics = rows_of(connection, "snapshot_topics", key)
    return ClusterSnapshot(
        cluster=head["cluster"],
        brokers=_brokers(connection, key),
        topics=tuple(
            Topic(topic["topic"], topic["topic_id"], topic["is_internal"], topic["configs"]) for topic in topics
        ),
        partitions=_partitions(connection, key, len(topics)),
        groups=_groups(connection, key),
        loads=_loads(connection, key),
        cluster_id=head["cluster_id"],
        captured_at=_time(head["captured_at_text"]),
        source=head["source"],
        kafka_version=head["kafka_version"],
        coverage=tuple(
            codec.read_gap(row, "store.coverage_gap") for row in rows_of(connection, "snapshot_coverage", key)
        ),
        features=head["features"] or {},
        quotas=tuple(codec.read_quota(quota, "store.snapshot.quotas") for quota in head["quotas"] or ()),
    )


def _time(text: str | None) -> datetime | None:
    return None if text is None else parse_time(text, "store.snapshot.captured_at_text")


def rows_of(connection: Connection, query: str, parameters: Row) -> list[Row]:
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
    blocks = rows_of(connection, "snapshot_partitions", key)
    counts = _numbers(blocks, "replica_count", np.int64)
    topic = _numbers(blocks, "topic", np.int32)
    if len(topic) and topic.max() >= topic_count:
        raise StoreError("a partition's topic is not among the topics of its snapshot")
    sparse: dict[str, dict[int, tuple[int, ...]]] = {
        name: {row: tuple(map(int, value.split())) for row, value in _rows_with(blocks, name) if value}
        for name in _SPARSE
    }
    flags = _numbers(blocks, "in_sync", np.int8)
    return PartitionTable(
        topic=topic,
        partition=_numbers(blocks, "partition", np.int32),
        offsets=np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts))),
        replicas=_numbers(blocks, "replicas", np.int32),
        leader=_numbers(blocks, "leader", np.int32),
        replica_log_bytes=_numbers(blocks, "log_bytes", np.int64),
        start_offset=_numbers(blocks, "start_offset", np.int64),
        end_offset=_numbers(blocks, "end_offset", np.int64),
        in_sync=flags.astype(np.bool_) if len(flags) else None,
        log_dir=_numbers(blocks, "log_dirs", np.int32) if any(block["log_dirs"] for block in blocks) else None,
        future={
            row: tuple(FutureReplica(*copy) for copy in json.loads(value))
            for row, value in _rows_with(blocks, "future")
        },
        local_start_offset={row: int(value) for row, value in _rows_with(blocks, "local_start_offset")},
        **sparse,
    )


def _numbers(blocks: list[Row], name: str, dtype: Any) -> npt.NDArray[Any]:
    return np.array(" ".join(block[name] or "" for block in blocks).split(), dtype=dtype)


def _rows_with(blocks: list[Row], name: str) -> Iterator[tuple[int, str]]:
    for block in blocks:
        for line in (block[name] or "").splitlines():
            row, _, value = line.partition(" ")
            yield int(row), value


def _loads(connection: Connection, key: Row) -> PartitionLoads:
    sources = rows_of(connection, "snapshot_load_sources", key)
    blocks = rows_of(connection, "snapshot_loads", key) if sources else []
    return PartitionLoads(
        {
            LoadKind(source["kind"]): LoadColumn(
                _numbers(blocks, source["kind"], np.float64), LoadSource(source["source"]), source["window_s"]
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
            client=row["client"],
            client_version=row["client_version"],
            member_count=row["stated_member_count"],
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
                "partition_count",
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
        task_offsets=codec.read_task_offsets(row["task_offsets"], "store.member.task_offsets"),
        task_end_offsets=codec.read_task_offsets(row["task_end_offsets"], "store.member.task_end_offsets"),
        worker=None if row["worker"] is None else codec.read_worker(row["worker"], "store.member.worker"),
    )


def _tasks(value: Any) -> Tasks | None:
    return None if value is None else codec.read_tasks(value, "store.member.tasks")


def _runs(value: list[Any] | None) -> TopicPartitions | None:
    return None if value is None else tuple((topic, tuple(partitions)) for topic, partitions in value)
