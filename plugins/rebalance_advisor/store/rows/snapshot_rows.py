"""A snapshot as columns of the tables, ready for COPY."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

import numpy as np

from kafka_rebalance.snapshot.model import ClusterSnapshot, CommittedOffset, LoadKind, TopicPartitions
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


def tables(snapshot: ClusterSnapshot, snapshot_key: int, time: str) -> Iterator[tuple[str, Columns]]:
    """Each table's name and columns, in the order of writing; empty tables are left out."""
    makers: dict[str, Callable[[ClusterSnapshot], tuple[int, Columns]]] = {
        "broker": _brokers, "log_dir": _log_dirs, "topic": _topics, "partition": _partitions, "load": _loads,
        "consumer_group": _groups, "member": _members, "committed_offset": _committed,
    }  # fmt: skip
    for name, maker in makers.items():
        count, columns = maker(snapshot)
        if count:
            yield name, {"snapshot_key": constant(snapshot_key, count), "time": constant(time, count)} | columns
    for name, maker in {"load_source": _load_sources, "coverage_gap": _gaps}.items():
        count, columns = maker(snapshot)
        if count:
            yield name, {"snapshot_key": constant(snapshot_key, count)} | columns


def counts(snapshot: ClusterSnapshot) -> dict[str, int]:
    """The counts that the snapshot's own row shows."""
    return {
        "broker_count": len(snapshot.brokers),
        "topic_count": len(snapshot.topics),
        "partition_count": len(snapshot.partitions),
        "replica_count": len(snapshot.partitions.replicas),
        "group_count": len(snapshot.groups),
        "member_count": sum(len(group.members) for group in snapshot.groups),
        "gap_count": len(snapshot.coverage),
    }


def _brokers(snapshot: ClusterSnapshot) -> tuple[int, Columns]:
    rows = snapshot.brokers
    return len(rows), {
        "position": plain(range(len(rows))),
        "broker": plain(each.id for each in rows),
        "rack": text(each.rack for each in rows),
        "host": text(each.host for each in rows),
        "port": plain(each.port for each in rows),
        "state": plain(each.state.value for each in rows),
        "is_controller": flag(each.is_controller for each in rows),
        "capacity_disk_bytes": plain(each.capacity.disk_bytes for each in rows),
        "capacity_in_bytes_per_s": plain(each.capacity.in_bytes_per_s for each in rows),
        "capacity_out_bytes_per_s": plain(each.capacity.out_bytes_per_s for each in rows),
        "capacity_cpu_percent": plain(each.capacity.cpu_percent for each in rows),
        "configs": document(dict(each.configs) for each in rows),
    }


def _log_dirs(snapshot: ClusterSnapshot) -> tuple[int, Columns]:
    rows = [(broker.id, place, each) for broker in snapshot.brokers for place, each in enumerate(broker.log_dirs)]
    return len(rows), {
        "broker": plain(broker for broker, _, _ in rows),
        "position": plain(place for _, place, _ in rows),
        "path": text(each.path for _, _, each in rows),
        "total_bytes": plain(each.total_bytes for _, _, each in rows),
        "usable_bytes": plain(each.usable_bytes for _, _, each in rows),
        "error": text(each.error for _, _, each in rows),
        "is_cordoned": flag(each.is_cordoned for _, _, each in rows),
    }


def _topics(snapshot: ClusterSnapshot) -> tuple[int, Columns]:
    rows = snapshot.topics
    return len(rows), {
        "position": plain(range(len(rows))),
        "topic": text(each.name for each in rows),
        "topic_id": text(each.topic_id for each in rows),
        "is_internal": flag(each.is_internal for each in rows),
        "partition_count": plain(np.bincount(snapshot.partitions.topic, minlength=len(rows)).tolist()),
        "configs": document(dict(each.configs) for each in rows),
    }


def _topic_names(snapshot: ClusterSnapshot) -> Column:
    names = list(text(each.name for each in snapshot.topics))
    return [names[index] for index in snapshot.partitions.topic.tolist()]


def _partitions(snapshot: ClusterSnapshot) -> tuple[int, Columns]:
    table = snapshot.partitions
    rows, bounds = len(table), table.offsets.tolist()
    replicas = table.replicas.tolist()
    sizes = [None if size < 0 else size for size in table.replica_log_bytes.tolist()]
    spans = [slice(bounds[row], bounds[row + 1]) for row in range(rows)]
    in_sync = None if table.in_sync is None else table.in_sync.tolist()
    isr = (
        constant(None, rows)
        if in_sync is None
        else numbers(
            [broker for broker, is_in in zip(replicas[span], in_sync[span], strict=True) if is_in] for span in spans
        )
    )
    sparse = {
        name: numbers(getattr(table, name).get(row) for row in range(rows))
        for name in ("adding", "removing", "offline", "observers")
    }
    return rows, {
        "topic": _topic_names(snapshot),
        "partition": plain(table.partition.tolist()),
        "replicas": numbers(replicas[span] for span in spans),
        "leader": _known(table.leader.tolist()),
        "isr": isr,
        "log_bytes": numbers(sizes[span] for span in spans),
        "start_offset": _known(table.start_offset.tolist()),
        "end_offset": _known(table.end_offset.tolist()),
        **sparse,
    }


def _known(values: list[int]) -> Column:
    """The table's -1 stands for unknown."""
    return plain(None if value < 0 else value for value in values)


def _loads(snapshot: ClusterSnapshot) -> tuple[int, Columns]:
    columns = snapshot.loads.columns
    rows = len(snapshot.partitions) if columns else 0
    if rows == 0:
        return 0, {}
    return rows, {
        "topic": _topic_names(snapshot),
        "partition": plain(snapshot.partitions.partition.tolist()),
        **{
            kind.value: plain(None if value != value else value for value in column.values.tolist())  # noqa: PLR0124
            for kind, column in columns.items()
        },
    }


def _load_sources(snapshot: ClusterSnapshot) -> tuple[int, Columns]:
    columns = snapshot.loads.columns
    kinds: list[LoadKind] = sorted(columns)
    return len(kinds), {
        "kind": plain(kind.value for kind in kinds),
        "source": plain(columns[kind].source.value for kind in kinds),
        "window_s": plain(columns[kind].window_s for kind in kinds),
        "known_share": plain(columns[kind].known_share for kind in kinds),
    }


def _groups(snapshot: ClusterSnapshot) -> tuple[int, Columns]:
    rows = snapshot.groups
    return len(rows), {
        "position": plain(range(len(rows))),
        "group_id": text(each.id for each in rows),
        "type": plain(each.type.value for each in rows),
        "protocol_type": text(each.protocol_type for each in rows),
        "protocol": text(each.protocol for each in rows),
        "state": text(each.state for each in rows),
        "generation": plain(each.generation for each in rows),
        "coordinator": plain(each.coordinator for each in rows),
        "member_count": plain(len(each.members) for each in rows),
    }


def _members(snapshot: ClusterSnapshot) -> tuple[int, Columns]:
    rows = [(group.id, place, each) for group in snapshot.groups for place, each in enumerate(group.members)]
    members = [each for _, _, each in rows]
    return len(rows), {
        "group_id": text(group for group, _, _ in rows),
        "position": plain(place for _, place, _ in rows),
        "member_id": text(each.id for each in members),
        **{
            name: text(getattr(each, name) for each in members)
            for name in ("instance_id", "client_id", "host", "rack", "subscribed_regex", "decode_error")
        },
        "subscription": texts(each.subscription for each in members),
        "owned": document(each.owned for each in members),
        "assigned": document(each.assigned for each in members),
        "assigned_count": plain(_partition_total(each.assigned) for each in members),
        "target": document(each.target for each in members),
        "generation": plain(each.generation for each in members),
        "user_data": raw_bytes(each.user_data for each in members),
    }


def _partition_total(assigned: TopicPartitions) -> int:
    return sum(len(partitions) for _, partitions in assigned)


def _committed(snapshot: ClusterSnapshot) -> tuple[int, Columns]:
    """One row for each run of offsets of one topic, so that their order is kept."""
    rows = [
        (group.id, place, topic, run)
        for group in snapshot.groups
        for place, (topic, run) in enumerate(_runs(group.committed))
    ]
    return len(rows), {
        "group_id": text(group for group, _, _, _ in rows),
        "position": plain(place for _, place, _, _ in rows),
        "topic": text(topic for _, _, topic, _ in rows),
        "partitions": numbers([each.partition for each in run] for _, _, _, run in rows),
        "offsets": numbers([each.offset for each in run] for _, _, _, run in rows),
    }


def _runs(committed: Iterable[CommittedOffset]) -> Iterator[tuple[str, list[CommittedOffset]]]:
    return ((topic, list(run)) for topic, run in groupby(committed, key=lambda each: each.topic))


def _gaps(snapshot: ClusterSnapshot) -> tuple[int, Columns]:
    rows = snapshot.coverage
    return len(rows), {
        "position": plain(range(len(rows))),
        **{name: text(getattr(each, name) for each in rows) for name in ("subject_type", "subject", "what", "reason")},
    }
