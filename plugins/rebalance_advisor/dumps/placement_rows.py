"""JSON rows ``{"topic", "partition", "replicas": [leader first]}`` to columns.

Rows (up to 300,000) are checked one by one only when a column is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.snapshot.partition_table import UNKNOWN_BYTES, UNKNOWN_OFFSET, PartitionTable
from kafka_rebalance.snapshot.ranges import topic_name_fault

_LARGEST_ID = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False)
class PlacementRows:
    """``topics`` sorted; ``order`` int64[P] = input row of each table row."""

    topics: tuple[str, ...]
    table: PartitionTable
    order: npt.NDArray[np.int64]


def read_placement_rows(rows: Any, path: str, allowed_fields: frozenset[str]) -> PlacementRows:
    """Raises InvalidInputError for the first wrong row."""
    if not isinstance(rows, list):
        raise InvalidInputError.at(path, f"expected a list of partitions, found {type(rows).__name__}")
    if not rows:
        raise InvalidInputError.at(path, "holds no partitions")
    try:
        return _columns(rows, allowed_fields)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        _name_wrong_row(rows, path, allowed_fields)
        raise InvalidInputError.at(path, f"a row is wrong ({error})") from error


def _columns(rows: list[Any], allowed_fields: frozenset[str]) -> PlacementRows:
    if any(row.keys() - allowed_fields for row in rows):
        raise ValueError("unknown field")
    names = [row["topic"] for row in rows]
    replicas = [row["replicas"] for row in rows]
    _require_all(str, names)
    _require_all(list, replicas)
    topics = tuple(sorted(set(names)))
    if any(map(topic_name_fault, topics)):
        raise ValueError("no name of a topic")
    index = {name: number for number, name in enumerate(topics)}
    topic = np.fromiter((index[name] for name in names), dtype=np.int32, count=len(rows))
    partition = _whole([row["partition"] for row in rows])
    counts = np.fromiter(map(len, replicas), dtype=np.int64, count=len(rows))
    if counts.min() < 1:
        raise ValueError("empty replica list")
    brokers = _whole(list(chain.from_iterable(replicas)))
    order = np.lexsort((partition, topic))
    key = (topic.astype(np.int64) << 32 | partition)[order]
    if (np.diff(key) == 0).any():
        raise ValueError("partition twice")
    offsets, brokers = _reorder(counts, brokers, order)
    _require_distinct(offsets, brokers)
    unknown = np.full(len(rows), UNKNOWN_OFFSET, dtype=np.int64)
    table = PartitionTable(
        topic=topic[order],
        partition=partition[order],
        offsets=offsets,
        replicas=brokers,
        leader=brokers[offsets[:-1]],
        replica_log_bytes=np.full(len(brokers), UNKNOWN_BYTES, dtype=np.int64),
        start_offset=unknown,
        end_offset=unknown.copy(),
    )
    return PlacementRows(topics, table, order)


def _require_all(kind: type, values: list[Any]) -> None:
    if set(map(type, values)) - {kind}:
        raise TypeError(f"expected {kind.__name__}")


def _whole(values: list[Any]) -> npt.NDArray[np.int32]:
    _require_all(int, values)
    if min(values) < 0 or max(values) > _LARGEST_ID:
        raise ValueError("number out of range")
    return np.fromiter(values, dtype=np.int32, count=len(values))


def _reorder(
    counts: npt.NDArray[np.int64], brokers: npt.NDArray[np.int32], order: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    begins = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))[:-1]
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts[order])))
    cell = np.arange(len(brokers), dtype=np.int64)
    source = np.repeat(begins[order] - offsets[:-1], counts[order]) + cell
    return offsets, brokers[source]


def _require_distinct(offsets: npt.NDArray[np.int64], brokers: npt.NDArray[np.int32]) -> None:
    row = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    pairs = np.sort(row << 32 | brokers)
    if (np.diff(pairs) == 0).any():
        raise ValueError("broker twice")


def _name_wrong_row(rows: list[Any], path: str, allowed_fields: frozenset[str]) -> None:
    seen: dict[tuple[str, int], int] = {}
    for number, row in enumerate(rows):
        here = f"{path}[{number}]"
        _check_row(row, here, allowed_fields)
        key = (row["topic"], row["partition"])
        if key in seen:
            raise InvalidInputError.at(here, f"{key[0]}-{key[1]} is already listed in {path}[{seen[key]}]")
        seen[key] = number


def _check_row(row: Any, here: str, allowed_fields: frozenset[str]) -> None:
    if not isinstance(row, dict):
        raise InvalidInputError.at(here, f"expected an object, found {excerpt(row)}")
    unknown = sorted(row.keys() - allowed_fields)
    if unknown:
        raise InvalidInputError.at(
            here, f"unknown field {excerpt(unknown[0])}", f"known: {', '.join(sorted(allowed_fields))}"
        )
    for name in ("topic", "partition", "replicas"):
        if name not in row:
            raise InvalidInputError.at(here, f"{name!r} is missing")
    fault = topic_name_fault(row["topic"]) if isinstance(row["topic"], str) else "a topic's name is a text"
    if fault:
        raise InvalidInputError.at(f"{here}.topic", f"expected a topic's name, found {excerpt(row['topic'])}", fault)
    _check_id(row["partition"], f"{here}.partition", "a partition number")
    replicas = row["replicas"]
    if not isinstance(replicas, list) or not replicas:
        raise InvalidInputError.at(f"{here}.replicas", f"expected a list of broker ids, found {excerpt(replicas)}")
    for number, broker in enumerate(replicas):
        _check_id(broker, f"{here}.replicas[{number}]", "a broker id")
    if len(set(replicas)) != len(replicas):
        twice = next(replica for replica in replicas if replicas.count(replica) > 1)
        raise InvalidInputError.at(f"{here}.replicas", f"broker {twice} stands twice in {replicas}")


def _check_id(value: Any, here: str, what: str) -> None:
    if type(value) is not int or not 0 <= value <= _LARGEST_ID:
        raise InvalidInputError.at(here, f"expected {what}, found {excerpt(value)}")
