"""The canonical text of a snapshot, from which its id is made: the document's JSON with sorted keys and no blanks.

Partitions are written straight from their columns, in a third of the time that objects for them take: numbers need no
escapes. ``canonical_text`` equals ``json.dumps(snapshot_to_document(snapshot),
sort_keys=True, separators=(",", ":"), ensure_ascii=False)`` for every snapshot: by test, with random ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import compress
from typing import Any

from kafka_rebalance.arrays import Ints, Longs
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
_json = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def canonical_text(document: dict[str, Any], topics: tuple[Topic, ...], table: PartitionTable) -> str:
    """``document``: the snapshot's, with whatever under ``topics``; they are written here. O(replicas)."""
    head = _json(document | {_TOPICS: []})
    assert head.endswith(_EMPTY)
    rows_of: list[list[str]] = [[] for _ in topics]
    for topic, row in zip(table.topic.tolist(), partition_texts(table), strict=True):
        rows_of[topic].append(row)
    texts = (
        f'{{"configs":{_json(dict(topic.configs))},"is_internal":{_json(topic.is_internal)},"name":{_json(topic.name)},'
        f'"partitions":[{",".join(rows)}],"topic_id":{_json(topic.topic_id)}}}'
        for topic, rows in zip(topics, rows_of, strict=True)
    )
    return f"{head[: -len('[]}')]}[{','.join(texts)}]}}"


def partition_texts(table: PartitionTable) -> Iterator[str]:
    """Each partition's object, its keys sorted."""
    replicas, sizes = list(map(str, table.replicas.tolist())), _texts(table.replica_log_bytes, UNKNOWN_BYTES)
    in_sync = None if table.in_sync is None else table.in_sync.tolist()
    log_dirs = None if table.log_dir is None else _texts(table.log_dir, UNKNOWN_DIR)
    columns = (
        table.offsets[:-1].tolist(), table.offsets[1:].tolist(), list(map(str, table.partition.tolist())),
        _texts(table.leader, NO_LEADER), _texts(table.start_offset, UNKNOWN_OFFSET),
        _texts(table.end_offset, UNKNOWN_OFFSET),
    )  # fmt: skip
    odd = _odd_rows(table)
    for row, (begin, end, partition, leader, first, last) in enumerate(zip(*columns, strict=True)):
        mine, size = replicas[begin:end], ",".join(sizes[begin:end])
        isr = "" if in_sync is None else f'"isr":[{",".join(compress(mine, in_sync[begin:end]))}],'
        brokers = ",".join(mine)
        if row not in odd and log_dirs is None:
            yield (
                f'{{"end_offset":{last},{isr}"leader":{leader},"log_bytes":[{size}],"partition":{partition},'
                f'"replicas":[{brokers}],"start_offset":{first}}}'
            )
            continue
        fields = odd.get(row, {}) | {
            "end_offset": last, "leader": leader, "log_bytes": f"[{size}]", "partition": partition,
            "replicas": f"[{brokers}]", "start_offset": first,
        }  # fmt: skip
        if isr:
            fields["isr"] = isr.removeprefix('"isr":').removesuffix(",")
        if log_dirs is not None:
            fields["log_dirs"] = f"[{','.join(log_dirs[begin:end])}]"
        yield "{" + ",".join(f'"{name}":{fields[name]}' for name in sorted(fields)) + "}"


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


def _texts(values: Ints | Longs, unknown: int) -> list[str]:
    return ["null" if value == unknown else str(value) for value in values.tolist()]
