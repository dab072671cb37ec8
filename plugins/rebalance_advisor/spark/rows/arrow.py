"""A snapshot for Spark: Arrow tables with one subject a row, each row holding all that its replay needs.

Packed first, a fan-out over ten thousand groups costs seconds instead of minutes (ENVIRONMENT §4). Lists along
partitions or replicas are laid one after another; the columns say how long each part is.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.snapshot.codec import group_document
from kafka_rebalance.snapshot.load import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.store.schema.connection import Connection
from rebalance_advisor.store.snapshot_load import load_snapshot


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
    """One row a group, in the snapshot's order: ``group_inputs`` field by field, as the shell has it.

    ``group_id`` string; ``group`` string, the group as JSON (``codec.group_rows``); ``topics`` list<string>; along them
    ``partition_count`` list<int32> (-1: not in the snapshot) and ``topic_ids`` list<string> (empty: not all known).
    Along all partitions of these topics ``in_bytes_per_s``, ``in_messages_per_s``, ``lag_messages``,
    ``read_messages_per_s`` list<float64> (NaN: unknown). Racks of their replicas, null where no member has one:
    ``rack_offsets`` list<int64>, ``racks`` list<string>, and of their leaders ``leader_racks`` list<string>.
    ``kafka_version`` string.
    """
    inputs = list(group_inputs(snapshot))
    numbers, texts = pa.list_(pa.float64()), pa.list_(pa.string())
    return pa.table(
        {
            "group_id": pa.array([one.group.id for one in inputs], pa.string()),
            "group": pa.array([_json(group_document(one.group)) for one in inputs], pa.string()),
            "topics": pa.array([list(one.topics) for one in inputs], texts),
            "partition_count": pa.array([one.partition_counts for one in inputs], pa.list_(pa.int32())),
            "topic_ids": pa.array([list(one.topic_ids) for one in inputs], texts),
            "in_bytes_per_s": pa.array([one.rates.in_bytes_per_s for one in inputs], numbers),
            "in_messages_per_s": pa.array([one.rates.in_messages_per_s for one in inputs], numbers),
            "lag_messages": pa.array([one.rates.lag_messages for one in inputs], numbers),
            "read_messages_per_s": pa.array([one.rates.read_messages_per_s for one in inputs], numbers),
            "rack_offsets": pa.array([one.rack_offsets for one in inputs], pa.list_(pa.int64())),
            "racks": pa.array([list(one.racks) for one in inputs], texts),
            "leader_racks": pa.array([list(one.leader_racks) for one in inputs], texts),
            "kafka_version": pa.array([one.kafka_version for one in inputs], pa.string()),
        }
    )


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False)


def _bounds(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """int64[N+1]: where each of N parts begins, and the end."""
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)))


def _lists(bounds: npt.NDArray[np.int64], values: npt.NDArray[np.generic], kind: pa.DataType) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), pa.array(values, kind))
