from __future__ import annotations

import hashlib
import json
from dataclasses import fields, replace

import numpy as np

from kafka_rebalance.snapshot.codec import (
    canonical_pieces,
    partition_documents,
    read_partitions,
    snapshot_id,
    snapshot_to_document,
)
from kafka_rebalance.snapshot.model import ClusterSnapshot, Topic
from kafka_rebalance.snapshot.partition_table import FutureReplica, PartitionTable, partition_table
from tests.properties.any_cluster import any_case
from tests.sample import for_each
from tests.unit.snapshot.codec.test_snapshot_document import whole_snapshot


def sorted_text(snapshot: ClusterSnapshot) -> str:
    return json.dumps(snapshot_to_document(snapshot), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def with_odd_rows(table: PartitionTable, seed: int) -> PartitionTable:
    """Some rows with what few have, some columns with what is unknown."""
    draw = np.random.default_rng(seed)

    def some(value):
        return {row: value for row in range(len(table)) if draw.random() < 0.2}

    unknown, cells = np.full(len(table), -1, dtype=np.int64), len(table.replicas)
    columns = {
        "adding": some((3,)), "observers": some((5, 6)), "eligible": some((4,)), "local_start_offset": some(17),
        "future": some((FutureReplica(1, 2, 3),)), "removing": some((1,)), "offline": some((2,)),
        "end_offset": unknown if draw.random() < 0.3 else table.end_offset,
        "in_sync": None if draw.random() < 0.3 or not cells else draw.random(cells) < 0.8,
        "log_dir": None if draw.random() < 0.5 or not cells else draw.integers(-1, 3, cells).astype(np.int32),
    }  # fmt: skip
    return replace(table, **columns)


@for_each("seed", range(150))
def test_the_text_is_the_documents_whatever_the_cluster(seed: int) -> None:
    snapshot = any_case(seed).snapshot
    topics = tuple(replace(topic, configs={'k"': "\\ü\u2028"}) for topic in snapshot.topics)
    for given in (snapshot, replace(snapshot, topics=topics)):
        expected = sorted_text(given)
        assert "".join(canonical_pieces(given)) == expected
        assert snapshot_id(given) == hashlib.sha256(expected.encode()).hexdigest()


@for_each("seed", range(150))
def test_rows_with_what_few_have_are_read_back_from_their_documents(seed: int) -> None:
    """Any ISR or none known, unknown leaders, sizes, dirs and offsets, rows with more than others, and none of it."""
    snapshot, draw = any_case(seed).snapshot, np.random.default_rng(seed)
    table = with_odd_rows(snapshot.partitions, seed) if seed % 3 else snapshot.partitions
    unknown = {
        name: np.where(draw.random(len(values)) < 0.3, -1, values).astype(values.dtype)
        for name in ("leader", "replica_log_bytes", "start_offset", "end_offset")
        for values in [getattr(table, name)]
    }
    table = replace(table, **unknown)
    rows = list(partition_documents(table, len(snapshot.topics)))
    again = read_partitions(json.loads(json.dumps(rows)), [topic.name for topic in snapshot.topics], "s")
    for field in fields(table):
        given, read = getattr(table, field.name), getattr(again, field.name)
        assert np.array_equal(given, read) if isinstance(given, np.ndarray) else given == read, field.name


def test_everything_that_a_snapshot_can_hold_is_written() -> None:
    snapshot = whole_snapshot()
    assert snapshot_id(snapshot) == hashlib.sha256(sorted_text(snapshot).encode()).hexdigest()


def test_no_topics_and_topics_without_partitions() -> None:
    snapshot = whole_snapshot()
    for topics in ((), (*snapshot.topics, Topic("empty"))):
        table = snapshot.partitions if topics else partition_table([], {})
        given = replace(snapshot, topics=topics, partitions=table, groups=(), loads=type(snapshot.loads)({}))
        assert "".join(canonical_pieces(given)) == sorted_text(given)
