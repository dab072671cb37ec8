"""A snapshot for Spark: Arrow tables with one subject a row, each row holding all that its replay needs.

Packed first, a fan-out over ten thousand groups costs seconds instead of minutes (ENVIRONMENT §4). Lists along
partitions or replicas are laid one after another; the columns say how long each part is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kafka_rebalance.groups.group_input import topics_of
from kafka_rebalance.snapshot.codec.group_rows import group_document
from kafka_rebalance.snapshot.load import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot, Group
from kafka_rebalance.snapshot.partition_table import UNKNOWN_OFFSET
from rebalance_advisor.store.schema.connection import Connection
from rebalance_advisor.store.snapshot_load import load_snapshot

NO_METADATA = -1  # partition count of a topic that a group names and the snapshot does not have
UNKNOWN_LAG = -1


def read_topics_packed(connection: Connection, snapshot_id: str) -> pa.Table:
    """``pack_topics`` of a stored snapshot. Raises StoreError where it is not stored."""
    return pack_topics(load_snapshot(connection, snapshot_id))


def read_groups_packed(connection: Connection, snapshot_id: str) -> pa.Table:
    """``pack_groups`` of a stored snapshot. Raises StoreError where it is not stored."""
    return pack_groups(load_snapshot(connection, snapshot_id))


def pack_topics(snapshot: ClusterSnapshot) -> pa.Table:
    """One row a topic, in the snapshot's order.

    ``topic`` string; along its partitions: ``partition``, ``replica_count``, ``leader`` (-1: none) list<int32>, and
    each kind of load list<float64> (NaN: unknown; ``log_bytes`` falls back to the leader replica's size); along their
    replicas: ``replicas`` list<int32>, ``replica_log_bytes`` list<int64> (-1: unknown).
    """
    table = snapshot.partitions
    bounds = _bounds(np.bincount(table.topic, minlength=len(snapshot.topics)))
    cells = table.offsets[bounds]
    columns = {
        "topic": pa.array([topic.name for topic in snapshot.topics], pa.string()),
        "partition": _lists(bounds, table.partition, pa.int32()),
        "replica_count": _lists(bounds, table.replica_counts, pa.int32()),
        "leader": _lists(bounds, table.leader, pa.int32()),
        "replicas": _lists(cells, table.replicas, pa.int32()),
        "replica_log_bytes": _lists(cells, table.replica_log_bytes, pa.int64()),
    }
    return pa.table(columns | {kind.value: _lists(bounds, snapshot.load(kind), pa.float64()) for kind in LoadKind})


def pack_groups(snapshot: ClusterSnapshot) -> pa.Table:
    """One row a group, in the snapshot's order.

    ``group_id`` string; ``group`` string, the group as JSON without its committed offsets (``codec.group_rows``);
    ``topics`` list<string>, sorted: all that a member subscribes to, owns or is assigned; along them
    ``partition_count`` list<int32> (-1: not in the snapshot) and ``topic_id`` list<string>. Along all partitions of
    these topics: ``in_bytes_per_s``, ``in_messages_per_s`` list<float64> (NaN: unknown), ``lag_messages`` list<int64>
    (-1: unknown), ``leader``, ``replica_count`` list<int32>; along their replicas: ``replicas`` list<int32>.
    """
    table = snapshot.partitions
    names = [list(topics_of(group)) for group in snapshot.groups]
    index = {topic.name: place for place, topic in enumerate(snapshot.topics)}
    first_row = _bounds(np.bincount(table.topic, minlength=len(snapshot.topics)))
    known = [[index[name] for name in mine if name in index] for mine in names]
    rows = [
        _concatenated([np.arange(first_row[subject], first_row[subject + 1]) for subject in mine]) for mine in known
    ]
    counts = np.diff(first_row)
    flat, bounds = _concatenated(rows), _bounds(np.array([len(row) for row in rows], dtype=np.int64))
    replica_counts = table.replica_counts[flat]
    cells = _spans(table.offsets[flat], replica_counts)
    columns = {
        "group_id": pa.array([group.id for group in snapshot.groups], pa.string()),
        "group": pa.array([_group_json(group) for group in snapshot.groups], pa.string()),
        "topics": pa.array(names, pa.list_(pa.string())),
        "partition_count": pa.array(
            [[int(counts[index[name]]) if name in index else NO_METADATA for name in mine] for mine in names],
            pa.list_(pa.int32()),
        ),
        "topic_id": pa.array(
            [[snapshot.topics[index[name]].topic_id if name in index else None for name in mine] for mine in names],
            pa.list_(pa.string()),
        ),
        "lag_messages": _lists(bounds, _lag(snapshot, rows), pa.int64()),
        "leader": _lists(bounds, table.leader[flat], pa.int32()),
        "replica_count": _lists(bounds, replica_counts, pa.int32()),
        "replicas": _lists(_bounds(replica_counts)[bounds], table.replicas[cells], pa.int32()),
    }
    rates = (LoadKind.IN_BYTES_PER_S, LoadKind.IN_MESSAGES_PER_S)
    return pa.table(columns | {kind.value: _lists(bounds, snapshot.load(kind)[flat], pa.float64()) for kind in rates})


def _group_json(group: Group) -> str:
    document = group_document(group) | {"committed": []}
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False)


def _lag(snapshot: ClusterSnapshot, rows: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """int64 along ``rows`` of all groups: end offset less committed offset, at least 0, -1 where one is unknown."""
    row_of, end = snapshot.row_of, snapshot.partitions.end_offset
    committed = np.full(len(snapshot.partitions), UNKNOWN_OFFSET, dtype=np.int64)
    parts = []
    for group, mine in zip(snapshot.groups, rows, strict=True):
        written = [row_of.get((commit.topic, commit.partition)) for commit in group.committed]
        for row, commit in zip(written, group.committed, strict=True):
            if row is not None:
                committed[row] = commit.offset
        here = committed[mine]
        committed[[row for row in written if row is not None]] = UNKNOWN_OFFSET
        is_known = (here >= 0) & (end[mine] >= 0)
        parts.append(np.where(is_known, np.maximum(end[mine] - here, 0), UNKNOWN_LAG))
    return _concatenated(parts)


def _bounds(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """int64[N+1]: where each of N parts begins, and the end."""
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)))


def _spans(starts: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """start, start + 1, … of each part, one after another."""
    bounds = _bounds(counts)
    return np.arange(bounds[-1]) + np.repeat(starts - bounds[:-1], counts)


def _concatenated(parts: Iterable[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    return np.concatenate((np.zeros(0, dtype=np.int64), *parts))


def _lists(bounds: npt.NDArray[np.int64], values: npt.NDArray[np.generic], kind: pa.DataType) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), pa.array(values, kind))
