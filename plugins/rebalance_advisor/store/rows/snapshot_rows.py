from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from kafka_rebalance.snapshot import codec
from kafka_rebalance.snapshot.model import ClusterSnapshot, LoadKind, Member
from rebalance_advisor.store.rows import arrow_columns
from rebalance_advisor.store.rows.copy_rows import (
    Column,
    constant,
    document,
    flag,
    numbers,
    plain,
    raw_bytes,
    text,
    texts,
)

Columns = dict[str, Column]


def headed(table: str, columns: Columns, snapshot_key: int, captured_at: str) -> Columns:
    count = row_count(columns)
    head = {"snapshot_key": constant(snapshot_key, count)}
    return (head if table in _WITHOUT_TIME else head | {"captured_at": constant(captured_at, count)}) | columns


def row_count(columns: Columns) -> int:
    return len(next(iter(columns.values()), ()))


def counts(snapshot: ClusterSnapshot) -> dict[str, int]:
    return {
        "broker_count": len(snapshot.brokers),
        "topic_count": len(snapshot.topics),
        "partition_count": len(snapshot.partitions),
        "replica_count": len(snapshot.partitions.replicas),
        "group_count": len(snapshot.groups),
        "member_count": sum(len(group.members) for group in snapshot.groups),
        "gap_count": len(snapshot.coverage),
    }


def _same(rows: Sequence[Any], write: Callable[[Iterable[Any]], Column], *names: str) -> Columns:
    """Return columns named as the rows' attributes."""
    return {name: write(map(attrgetter(name), rows)) for name in names}


def _brokers(snapshot: ClusterSnapshot) -> Columns:
    rows = snapshot.brokers
    return {
        "position": plain(range(len(rows))),
        "broker": plain(row.id for row in rows),
        "state": plain(row.state.value for row in rows),
        "capacity_disk_bytes": plain(row.capacity.disk_bytes for row in rows),
        "capacity_in_bytes_per_s": plain(row.capacity.in_bytes_per_s for row in rows),
        "capacity_out_bytes_per_s": plain(row.capacity.out_bytes_per_s for row in rows),
        "capacity_cpu_percent": plain(row.capacity.cpu_percent for row in rows),
        "configs": document(dict(row.configs) for row in rows),
        **_same(rows, text, "rack", "host"),
        **_same(rows, plain, "port"),
        **_same(rows, flag, "is_controller"),
    }


def _log_dirs(snapshot: ClusterSnapshot) -> Columns:
    rows = [
        (broker.id, position, log_dir)
        for broker in snapshot.brokers
        for position, log_dir in enumerate(broker.log_dirs)
    ]
    log_dirs = [log_dir for _, _, log_dir in rows]
    return {
        "broker": plain(broker for broker, _, _ in rows),
        "position": plain(position for _, position, _ in rows),
        **_same(log_dirs, text, "path", "error", "largest_stray"),
        **_same(log_dirs, plain, "total_bytes", "usable_bytes", "stray_logs", "stray_bytes"),
        **_same(log_dirs, flag, "is_cordoned"),
    }


def _topics(snapshot: ClusterSnapshot) -> Columns:
    rows = snapshot.topics
    return {
        "position": plain(range(len(rows))),
        "topic": text(row.name for row in rows),
        "partition_count": plain(np.bincount(snapshot.partitions.topic, minlength=len(rows)).tolist()),
        "configs": document(dict(row.configs) for row in rows),
        **_same(rows, text, "topic_id"),
        **_same(rows, flag, "is_internal"),
    }


def _topic_names(snapshot: ClusterSnapshot) -> Column:
    names = text(topic.name for topic in snapshot.topics)
    column: Column = arrow_columns.chosen(names, snapshot.partitions.topic)
    return column


def _partitions(snapshot: ClusterSnapshot) -> Columns:
    table = snapshot.partitions
    rows, offsets = len(table), table.offsets
    isr = constant(None, rows)
    if table.in_sync is not None:
        before = np.concatenate([[0], np.cumsum(table.in_sync, dtype=np.int64)])
        isr = arrow_columns.arrays(table.replicas[table.in_sync], before[offsets])
    log_dirs = constant(None, rows)
    if table.log_dir is not None:
        log_dirs = arrow_columns.arrays(table.log_dir, offsets, has_unknown=True)
    sparse = {
        name: _of_few(numbers, getattr(table, name), rows)
        for name in ("adding", "removing", "offline", "observers", "eligible")
    }
    return {
        "topic": _topic_names(snapshot),
        "partition": arrow_columns.whole(table.partition),
        "replicas": arrow_columns.arrays(table.replicas, offsets),
        "leader": arrow_columns.whole(table.leader, has_unknown=True),
        "isr": isr,
        "log_bytes": arrow_columns.arrays(table.replica_log_bytes, offsets, has_unknown=True),
        "start_offset": arrow_columns.whole(table.start_offset, has_unknown=True),
        "end_offset": arrow_columns.whole(table.end_offset, has_unknown=True),
        "log_dirs": log_dirs,
        "future": _of_few(document, table.future, rows),
        "local_start_offset": _of_few(plain, table.local_start_offset, rows),
        **sparse,
    }


def _of_few(written: Callable[[Iterable[Any]], Column], values: Mapping[int, Any], rows: int) -> Column:
    return written(values.get(row) for row in range(rows)) if values else constant(None, rows)


def _loads(snapshot: ClusterSnapshot) -> Columns:
    columns = snapshot.loads.columns
    rows = len(snapshot.partitions) if columns else 0
    if rows == 0:
        return {}
    return {
        "topic": _topic_names(snapshot),
        "partition": arrow_columns.whole(snapshot.partitions.partition),
        **{kind.value: arrow_columns.real(column.values) for kind, column in columns.items()},
    }


def _load_sources(snapshot: ClusterSnapshot) -> Columns:
    columns = snapshot.loads.columns
    kinds: list[LoadKind] = sorted(columns)
    return {
        "kind": plain(kind.value for kind in kinds),
        "source": plain(columns[kind].source.value for kind in kinds),
        "window_s": plain(columns[kind].window_s for kind in kinds),
        "known_share": plain(columns[kind].known_share for kind in kinds),
    }


def _groups(snapshot: ClusterSnapshot) -> Columns:
    rows = snapshot.groups
    return {
        "position": plain(range(len(rows))),
        "group_id": text(row.id for row in rows),
        "type": plain(row.type.value for row in rows),
        "member_count": plain(max(len(row.members), row.member_count or 0) for row in rows),
        "stated_member_count": plain(row.member_count for row in rows),
        **_same(rows, text, "protocol_type", "protocol", "state", "client", "client_version"),
        **_same(rows, plain, "generation", "coordinator", "assignment_epoch"),
        "subtopologies": document(codec.subtopology_documents(row.subtopologies) or None for row in rows),
        "configs": document(dict(row.configs) or None for row in rows),
    }


def _members(snapshot: ClusterSnapshot) -> Columns:
    rows = [(group.id, position, member) for group in snapshot.groups for position, member in enumerate(group.members)]
    members = [member for _, _, member in rows]
    totals = [_partition_total(member) for member in members]
    return {
        "group_id": text(group for group, _, _ in rows),
        "position": plain(position for _, position, _ in rows),
        "member_id": text(member.id for member in members),
        "assigned": document(map(_assigned, members, totals)),
        "assigned_count": plain(totals),
        "tasks": document(_optional(codec.tasks_document, member.tasks) for member in members),
        "target_tasks": document(_optional(codec.tasks_document, member.target_tasks) for member in members),
        "worker": document(_optional(codec.worker_document, member.worker) for member in members),
        "user_data": raw_bytes(member.user_data for member in members),
        **_same(members, text, "instance_id", "client_id", "host", "rack", "subscribed_regex", "decode_error"),
        **_same(members, text, "process_id"),
        **_same(members, texts, "subscription"),
        **_same(members, document, "owned", "target", "task_offsets", "task_end_offsets"),
        **_same(members, plain, "partition_count", "generation", "subscription_version"),
        **_same(members, flag, "is_classic"),
    }


def _assigned(member: Member, total: int) -> object:
    """Return NULL where partitions are counted and not listed."""
    return member.assigned if member.assigned or not total else None


def _optional(written: Callable[[Any], object], value: object) -> object:
    return None if value is None else written(value)


def _partition_total(member: Member) -> int:
    assigned_count = sum(len(partitions) for _, partitions in member.assigned)
    return assigned_count if member.partition_count is None else member.partition_count


def _gaps(snapshot: ClusterSnapshot) -> Columns:
    rows = snapshot.coverage
    return {
        "position": plain(range(len(rows))),
        **_same(rows, text, "subject_type", "subject"),
        "missing_code": plain(row.what.code.value for row in rows),
        "missing_args": document(row.what.document()["args"] for row in rows),
        "reason_code": plain(row.reason.code.value for row in rows),
        "reason_args": document(row.reason.document()["args"] for row in rows),
    }


# Without committed offsets (``committed_rows.py``).
TABLES: dict[str, Callable[[ClusterSnapshot], Columns]] = {
    "broker": _brokers, "log_dir": _log_dirs, "topic": _topics, "partition": _partitions, "load": _loads,
    "consumer_group": _groups, "member": _members, "load_source": _load_sources, "coverage_gap": _gaps,
}  # fmt: skip
_WITHOUT_TIME = ("load_source", "coverage_gap")
