"""A whole snapshot as one JSON object.

Partitions stand under their topic; loads are columns over all partitions in table order (topics as listed, partitions
ascending), so that a million replicas stay readable and quick. What is ``None`` or empty is left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.snapshot.codec.canonical_text import canonical_pieces
from kafka_rebalance.snapshot.codec.cluster_rows import (
    broker_document,
    gap_document,
    quota_document,
    read_broker,
    read_features,
    read_gap,
    read_quota,
)
from kafka_rebalance.snapshot.codec.fields import Fields
from kafka_rebalance.snapshot.codec.group_rows import group_document, read_group
from kafka_rebalance.snapshot.codec.partition_rows import partition_documents, read_partitions
from kafka_rebalance.snapshot.load import LoadColumn, LoadKind, LoadSource, PartitionLoads
from kafka_rebalance.snapshot.model import ClusterSnapshot, Topic
from kafka_rebalance.snapshot.ranges import LONGEST_WINDOW_S
from kafka_rebalance.snapshot.times import optional_time_text, parse_time
from kafka_rebalance.snapshot.topic_names import topic_name_fault
from kafka_rebalance.visible_text import excerpt

FORMAT = "kafka-rebalance-snapshot"
FORMAT_VERSION = 1


def snapshot_to_document(snapshot: ClusterSnapshot) -> dict[str, Any]:
    """The JSON object of ``snapshot``; reading it back gives an equal one."""
    rows = partition_documents(snapshot)
    topics = [
        {
            "name": topic.name,
            "topic_id": topic.topic_id,
            "is_internal": topic.is_internal,
            "configs": dict(topic.configs),
            "partitions": rows[index],
        }
        for index, topic in enumerate(snapshot.topics)
    ]
    return _around_topics(snapshot, topics)


def _around_topics(snapshot: ClusterSnapshot, topics: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "cluster": snapshot.cluster,
        "cluster_id": snapshot.cluster_id,
        "captured_at": optional_time_text(snapshot.captured_at),
        "source": snapshot.source,
        "kafka_version": snapshot.kafka_version,
        "brokers": [broker_document(broker) for broker in snapshot.brokers],
        "topics": topics,
        "loads": {kind.value: _load_document(column) for kind, column in sorted(snapshot.loads.columns.items())},
        "groups": [group_document(group) for group in snapshot.groups],
        "coverage": [gap_document(gap) for gap in snapshot.coverage],
        **({"features": dict(snapshot.features)} if snapshot.features else {}),
        **({"quotas": [quota_document(quota) for quota in snapshot.quotas]} if snapshot.quotas else {}),
    }


def snapshot_from_document(document: Any, place: str = "snapshot") -> ClusterSnapshot:
    """A checked snapshot. Raises InvalidInputError naming the JSON path under ``place`` that is wrong."""
    fields = Fields(document, place)
    fields.require_format(FORMAT, FORMAT_VERSION)
    rows: list[Any] = []

    def topic(item: Any, path: str) -> Topic:
        field = Fields(item, path)
        rows.append(field.raw("partitions", []))
        name = field.get("name", str)
        if fault := topic_name_fault(name):
            raise InvalidInputError.at(f"{path}.name", excerpt(name), fault)
        result = Topic(
            name=name,
            topic_id=field.get("topic_id", str, None),
            is_internal=field.get("is_internal", bool, False),
            configs=field.strings("configs"),
        )
        field.done()
        return result

    brokers = fields.each("brokers", read_broker)
    topics = fields.each("topics", topic)
    partitions = read_partitions(rows, [known_topic.name for known_topic in topics], place)
    loads = _read_loads(fields.raw("loads", {}), f"{place}.loads", len(partitions))
    snapshot = ClusterSnapshot(
        cluster=fields.get("cluster", str),
        brokers=brokers,
        topics=topics,
        partitions=partitions,
        groups=fields.each("groups", read_group),
        loads=loads,
        cluster_id=fields.get("cluster_id", str, None),
        captured_at=_time(fields),
        source=fields.get("source", str, "unknown"),
        kafka_version=fields.get("kafka_version", str, None),
        coverage=fields.each("coverage", read_gap),
        features=read_features(fields.raw("features", {}), f"{place}.features"),
        quotas=fields.each("quotas", read_quota),
    )
    fields.done()
    return snapshot


def snapshot_id(snapshot: ClusterSnapshot) -> str:
    """Return the sha256 of the canonical document: equal snapshots have the same id."""
    document = _around_topics(snapshot, [])
    digest = hashlib.sha256()
    for piece in canonical_pieces(document, snapshot.topics, snapshot.partitions):
        digest.update(piece.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _time(fields: Fields) -> datetime | None:
    """Documents of people may leave the zone out: then it is UTC."""
    text = fields.get("captured_at", str, None)
    return None if text is None else parse_time(text, f"{fields.path}.captured_at")


def _load_document(column: LoadColumn) -> dict[str, Any]:
    values = column.values.tolist()
    for index in np.flatnonzero(np.isnan(column.values)).tolist():
        values[index] = None  # NaN is not JSON: unknown is null
    return {"source": column.source.value, "window_s": column.window_s, "values": values}


def _read_loads(document: Any, path: str, partition_count: int) -> PartitionLoads:
    if not isinstance(document, Mapping):
        raise InvalidInputError.at(path, "expected an object of load columns")
    columns: dict[LoadKind, LoadColumn] = {}
    for name, item in document.items():
        here = f"{path}.{name}"
        if name not in set(LoadKind):
            raise InvalidInputError.at(here, "is no kind of load", f"known: {', '.join(LoadKind)}")
        fields = Fields(item, here)
        source, values = fields.get("source", str), fields.get("values", list)
        if source not in set(LoadSource):
            raise InvalidInputError.at(
                f"{here}.source", f"{excerpt(source)} is unknown", f"known: {', '.join(LoadSource)}"
            )
        if len(values) != partition_count:
            raise InvalidInputError.at(f"{here}.values", f"{len(values)} values for {partition_count} partitions")
        array = _load_values(values, LoadKind(name), f"{here}.values")
        window_s = fields.real("window_s", 0, LONGEST_WINDOW_S, None)
        columns[LoadKind(name)] = LoadColumn(array, LoadSource(source), window_s)
        fields.done()
    return PartitionLoads(columns)


def _load_values(values: list[Any], kind: LoadKind, path: str) -> Floats:
    """float64[P]; raises at the first value that is no load."""
    if not set(map(type, values)) - {int, float, type(None)}:
        array = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        if not ((array < 0) | (array > kind.largest)).any():
            return array
    for index, value in enumerate(values):
        is_number = type(value) in (int, float)
        if value is not None and not (is_number and 0 <= value <= kind.largest):
            raise InvalidInputError.at(
                f"{path}[{index}]", f"{excerpt(value)} is no load", f"a number from 0 to {kind.largest:.4g}, or null"
            )
    raise InvalidInputError.at(path, "holds something that is no load")
