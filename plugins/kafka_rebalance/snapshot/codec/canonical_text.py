"""The canonical text of a snapshot, from which its id is made: the document's JSON with sorted keys and no blanks.

Partitions are written straight from their columns, in a tenth of the time that objects for them take: numbers need no
escapes and the table lies topic by topic, so that a topic's rows are one template that is filled in at once. The text
comes in pieces, for whoever hashes it: a million replicas are 70 MB of it, which nobody holds.
``"".join(canonical_pieces(…))`` equals ``json.dumps(snapshot_to_document(snapshot), sort_keys=True,
separators=(",", ":"), ensure_ascii=False)`` for every snapshot: by test, with random ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.snapshot.codec.partition_rows import SPARSE
from kafka_rebalance.snapshot.model import Topic
from kafka_rebalance.snapshot.partition_table import (
    NO_LEADER,
    UNKNOWN_BYTES,
    UNKNOWN_DIR,
    UNKNOWN_OFFSET,
    PartitionTable,
)

_TOPICS = "topics"  # the last of the document's keys
_EMPTY = '"topics":[]}'
_SINGLE = ("end_offset", "leader", "partition", "start_offset")
_json = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def canonical_pieces(document: dict[str, Any], topics: tuple[Topic, ...], table: PartitionTable) -> Iterator[str]:
    """``document``: the snapshot's, with whatever under ``topics``; they are written here. O(replicas)."""
    head = _json(document | {_TOPICS: []})
    assert head.endswith(_EMPTY)
    yield head[: -len("]}")]
    comma = ""
    for topic, rows in zip(topics, _rows_by_topic(table, len(topics)), strict=True):
        yield (
            f'{comma}{{"configs":{_json(dict(topic.configs))},"is_internal":{_json(topic.is_internal)},'
            f'"name":{_json(topic.name)},"partitions":[{rows}],"topic_id":{_json(topic.topic_id)}}}'
        )
        comma = ","
    yield "]}"


def _rows_by_topic(table: PartitionTable, topics: int) -> Iterator[str]:
    """Each topic's rows with commas between them.

    A template has a place for each number of a row; what fills them lies row by row, in the order of the fields.
    """
    in_sync = np.zeros_like(table.replicas, dtype=np.bool_) if table.in_sync is None else table.in_sync
    before = np.concatenate([[0], np.cumsum(in_sync, dtype=np.int64)])
    isr_counts = np.diff(before[table.offsets])
    lists = 2 if table.log_dir is None else 3  # along the replicas
    begins = np.concatenate([[0], np.cumsum(len(_SINGLE) + lists * table.replica_counts + isr_counts)])
    filling, ends = _filling(table, in_sync, isr_counts, begins), begins.tolist()
    templates = _templates(table, isr_counts)
    bounds = np.searchsorted(table.topic, np.arange(topics + 1)).tolist()
    for first, last in pairwise(bounds):
        yield ",".join(templates[first:last]) % tuple(filling[ends[first] : ends[last]])


def _filling(table: PartitionTable, in_sync: Flags, isr_counts: Longs, begins: Longs) -> list[Any]:
    """end, isr, leader, sizes, log dirs, partition, replicas, start of each row; row i's begin at ``begins[i]``."""
    counts, row = table.replica_counts, table.row_of_replica
    within = np.arange(len(row)) - table.offsets[:-1][row]
    within_isr = np.cumsum(in_sync) - in_sync - (np.cumsum(isr_counts) - isr_counts)[row]
    end, start = begins[:-1], begins[1:] - 1
    leader = end + 1 + isr_counts
    partition = start - counts - 1
    fields: list[tuple[Longs, Ints | Longs, int | None]] = [
        (end, table.end_offset, UNKNOWN_OFFSET), ((end[row] + 1 + within_isr)[in_sync], table.replicas[in_sync], None),
        (leader, table.leader, NO_LEADER), (leader[row] + 1 + within, table.replica_log_bytes, UNKNOWN_BYTES),
        (partition, table.partition, None), (partition[row] + 1 + within, table.replicas, None),
        (start, table.start_offset, UNKNOWN_OFFSET),
    ]  # fmt: skip
    if table.log_dir is not None:
        fields.append(((partition - counts)[row] + within, table.log_dir, UNKNOWN_DIR))
    numbers, is_unknown = np.empty(begins[-1], dtype=np.int64), np.zeros(begins[-1], dtype=np.bool_)
    for place, values, unknown in fields:
        numbers[place] = values
        if unknown is not None:
            is_unknown[place] = values == unknown
    filling: list[Any] = numbers.tolist()
    for index in np.flatnonzero(is_unknown).tolist():
        filling[index] = "null"
    return filling


def _templates(table: PartitionTable, isr_counts: Longs) -> list[str]:
    """Each row's object, its keys sorted, with a place for each number that all rows have."""
    kinds = list(zip(table.replica_counts.tolist(), isr_counts.tolist(), strict=True))
    template_of = {kind: _template(table, *kind, {}) for kind in set(kinds)}
    templates = [template_of[kind] for kind in kinds]
    for row, odd in _odd_rows(table).items():
        templates[row] = _template(table, *kinds[row], odd)
    return templates


def _template(table: PartitionTable, replicas: int, in_sync: int, odd: dict[str, str]) -> str:
    """Of a row with so many replicas, so many of them in sync, and the fields ``odd``, already text, besides."""
    along = f"[{','.join(['%s'] * replicas)}]"
    fields = {"log_bytes": along, "replicas": along} | dict.fromkeys(_SINGLE, "%s")
    fields |= {name: text.replace("%", "%%") for name, text in odd.items()}
    if table.in_sync is not None:
        fields["isr"] = f"[{','.join(['%s'] * in_sync)}]"
    if table.log_dir is not None:
        fields["log_dirs"] = along
    return "{" + ",".join(f'"{name}":{fields[name]}' for name in sorted(fields)) + "}"


def _odd_rows(table: PartitionTable) -> dict[int, dict[str, str]]:
    """What few rows have, by row: the fields' texts."""
    odd: dict[int, dict[str, str]] = {}
    for name in SPARSE:
        for row, value in getattr(table, name).items():
            odd.setdefault(row, {})[name] = _json(list(value))
    for row, copies in table.future.items():
        odd.setdefault(row, {})["future"] = _json([list(copy) for copy in copies])
    for row, offset in table.local_start_offset.items():
        odd.setdefault(row, {})["local_start_offset"] = str(offset)
    return odd
