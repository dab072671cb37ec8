"""Partitions under their topics, straight from and into columns: no object per partition."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import (
    NO_LEADER,
    UNKNOWN_BYTES,
    UNKNOWN_DIR,
    UNKNOWN_OFFSET,
    FutureReplica,
    PartitionTable,
)
from kafka_rebalance.snapshot.ranges import LARGEST_BYTES, LARGEST_INT32, LARGEST_INT64
from kafka_rebalance.visible_text import excerpt

SPARSE = ("adding", "removing", "offline", "observers", "eligible")
_OFFSETS = (("start_offset", LARGEST_INT64), ("end_offset", LARGEST_INT64), ("local_start_offset", LARGEST_INT64))
_ALONG = ("log_bytes", "log_dirs")  # lists along the replicas, null where unknown
_KNOWN = frozenset(
    ("partition", "replicas", "leader", "isr", "future", *_ALONG, *(name for name, _ in _OFFSETS), *SPARSE)
)


def partition_documents(snapshot: ClusterSnapshot) -> list[list[dict[str, Any]]]:
    """For each topic, in order, its partition rows."""
    table = snapshot.partitions
    result: list[list[dict[str, Any]]] = [[] for _ in snapshot.topics]
    offsets, replicas, sizes = table.offsets.tolist(), table.replicas.tolist(), table.replica_log_bytes.tolist()
    in_sync = None if table.in_sync is None else table.in_sync.tolist()
    places = None if table.log_dir is None else table.log_dir.tolist()
    columns = (table.topic, table.partition, table.leader, table.start_offset, table.end_offset)
    for row, (topic, partition, leader, start, end) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        span = slice(offsets[row], offsets[row + 1])
        mine = replicas[span]
        document: dict[str, Any] = {
            "partition": partition,
            "replicas": mine,
            "leader": None if leader == NO_LEADER else leader,
            "log_bytes": [None if size == UNKNOWN_BYTES else size for size in sizes[span]],
            "start_offset": None if start == UNKNOWN_OFFSET else start,
            "end_offset": None if end == UNKNOWN_OFFSET else end,
        }
        if in_sync is not None:
            document["isr"] = [broker for broker, is_in in zip(mine, in_sync[span], strict=True) if is_in]
        if places is not None:
            document["log_dirs"] = [None if place == UNKNOWN_DIR else place for place in places[span]]
        for name in SPARSE:
            if row in getattr(table, name):
                document[name] = list(getattr(table, name)[row])
        if row in table.future:
            document["future"] = [list(copy) for copy in table.future[row]]
        if row in table.local_start_offset:
            document["local_start_offset"] = table.local_start_offset[row]
        result[topic].append(document)
    return result


def read_partitions(rows_of_topic: list[Any], names: list[str], place: str) -> PartitionTable:
    """Columns of all rows. Raises InvalidInputError naming the first row that is wrong."""
    rows: list[dict[str, Any]] = []
    topic: list[int] = []
    for index, mine in enumerate(rows_of_topic):
        path = f"{place}.topics[{index}].partitions"
        if not isinstance(mine, list) or not all(isinstance(row, dict) for row in mine):
            raise InvalidInputError.at(path, "expected a list of objects")
        try:
            rows.extend(sorted(mine, key=_partition_number))
        except (KeyError, TypeError) as error:
            wrong = next(number for number, row in enumerate(mine) if type(row.get("partition")) is not int)
            raise InvalidInputError.at(f"{path}[{wrong}]", "'partition' is missing or no whole number") from error
        topic.extend([index] * len(mine))
    try:
        return _columns(rows, topic)
    except (TypeError, ValueError, OverflowError, KeyError) as error:
        for row, index in zip(rows, topic, strict=True):
            _refuse_row(row, f"{place}.topics[{index}], {names[index]}-{row['partition']}")
        raise InvalidInputError.at(place, "a partition row is wrong") from error


def _partition_number(row: dict[str, Any]) -> int:
    number = row["partition"]
    if type(number) is not int:
        raise TypeError("no whole number")
    return number


def _columns(rows: list[dict[str, Any]], topic: list[int]) -> PartitionTable:
    replicas = [row["replicas"] for row in rows]
    counts = np.fromiter(map(len, replicas), dtype=np.int64, count=len(rows))
    cells = int(counts.sum())
    sizes, places = (
        [row.get(name) or [None] * len(mine) for row, mine in zip(rows, replicas, strict=True)] for name in _ALONG
    )
    if any(
        len(size) != len(mine) or len(place) != len(mine) or len(row.keys() - _KNOWN)
        for row, size, place, mine in zip(rows, sizes, places, replicas, strict=True)
    ):
        raise ValueError("a row's fields do not fit each other")
    has_isr = any("isr" in row for row in rows)
    return PartitionTable(
        topic=np.array(topic, dtype=np.int32),
        partition=_integers([row["partition"] for row in rows], NO_LEADER, np.int32, len(rows), may_lack=False),
        offsets=np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64))),
        replicas=_integers(list(chain.from_iterable(replicas)), NO_LEADER, np.int32, cells, may_lack=False),
        leader=_integers([row.get("leader") for row in rows], NO_LEADER, np.int32, len(rows)),
        replica_log_bytes=_integers(list(chain.from_iterable(sizes)), UNKNOWN_BYTES, np.int64, cells),
        start_offset=_integers([row.get("start_offset") for row in rows], UNKNOWN_OFFSET, np.int64, len(rows)),
        end_offset=_integers([row.get("end_offset") for row in rows], UNKNOWN_OFFSET, np.int64, len(rows)),
        in_sync=_in_sync(rows, cells) if has_isr else None,
        log_dir=_integers(list(chain.from_iterable(places)), UNKNOWN_DIR, np.int32, cells)
        if any(row.get("log_dirs") for row in rows)
        else None,
        future=_future(rows),
        local_start_offset=_local_starts(rows),
        **{name: _sparse(rows, name) for name in SPARSE},
    )


def _integers(values: list[Any], unknown: int, dtype: Any, count: int, *, may_lack: bool = True) -> npt.NDArray[Any]:
    plain = [unknown if value is None else value for value in values]
    if not all(type(value) is int for value in plain):
        raise TypeError("not a whole number")
    column = np.fromiter(plain, dtype=dtype, count=count)
    if int((column < 0).sum()) != (values.count(None) if may_lack else 0):
        raise ValueError("a negative number: unknown is null")
    return column


def _in_sync(rows: list[dict[str, Any]], cells: int) -> npt.NDArray[np.bool_]:
    lists = [row.get("isr") or [] for row in rows]
    flags = (broker in isr for isr, row in zip(lists, rows, strict=True) for broker in row["replicas"])
    in_sync = np.fromiter(flags, dtype=np.bool_, count=cells)
    if set(map(type, lists)) - {list} or int(in_sync.sum()) != sum(map(len, lists)):
        raise ValueError("the ISR names what is no replica")
    return in_sync


def _sparse(rows: list[dict[str, Any]], name: str) -> dict[int, tuple[int, ...]]:
    """What few rows have, by row."""
    found = {number: row[name] for number, row in enumerate(rows) if row.get(name)}
    for brokers in found.values():
        if type(brokers) is not list or not all(type(broker) is int and broker >= 0 for broker in brokers):
            raise TypeError("no list of brokers")
    return {number: tuple(brokers) for number, brokers in found.items()}


def _future(rows: list[dict[str, Any]]) -> dict[int, tuple[FutureReplica, ...]]:
    """Rows of [broker, log dir, bytes]."""
    found = {number: row["future"] for number, row in enumerate(rows) if row.get("future")}
    for copies in found.values():
        if type(copies) is not list or not all(_is_future(copy) for copy in copies):
            raise TypeError("no list of [broker, log dir, bytes]")
    return {number: tuple(FutureReplica(*copy) for copy in copies) for number, copies in found.items()}


def _is_future(copy: Any) -> bool:
    limits = (LARGEST_INT32, LARGEST_INT32, LARGEST_BYTES)
    return (
        type(copy) is list
        and len(copy) == len(limits)
        and all(type(value) is int and 0 <= value <= high for value, high in zip(copy, limits, strict=True))
    )


def _local_starts(rows: list[dict[str, Any]]) -> dict[int, int]:
    found = {number: row.get("local_start_offset") for number, row in enumerate(rows)}
    told = {number: offset for number, offset in found.items() if offset is not None}
    if not all(type(offset) is int and 0 <= offset <= LARGEST_INT64 for offset in told.values()):
        raise TypeError("no offset")
    return told


def _refuse_row(row: dict[str, Any], name: str) -> None:
    """Look at one row closely; raises if it is the wrong one."""
    unknown = sorted(row.keys() - _KNOWN)
    if unknown:
        raise InvalidInputError.at(name, f"unknown field {excerpt(unknown[0])}", f"known: {', '.join(sorted(_KNOWN))}")
    for field in ("replicas", "isr", *_ALONG, *SPARSE):
        _refuse_list(row.get(field, [] if field != "replicas" else None), field, name)
    for field, noun in zip(_ALONG, ("sizes", "log dirs"), strict=True):
        if row.get(field) and len(row[field]) != len(row["replicas"]):
            raise InvalidInputError.at(name, f"{len(row[field])} {noun} for {len(row['replicas'])} replicas")
    copies = row.get("future") or []
    if not isinstance(copies, list) or not all(_is_future(copy) for copy in copies):
        raise InvalidInputError.at(
            name, f"'future' must be a list of [broker, log dir, bytes], found {excerpt(copies)}"
        )
    for field, high in (("partition", LARGEST_INT32), ("leader", LARGEST_INT32), *_OFFSETS):
        value = row.get(field)
        if value is not None and (type(value) is not int or not 0 <= value <= high):
            raise InvalidInputError.at(
                name, f"{field!r} must be a whole number from 0 to {high} or null, found {excerpt(value)}"
            )
    if twice := [broker for broker in row["replicas"] if row["replicas"].count(broker) > 1]:
        raise InvalidInputError.at(name, f"broker {twice[0]} stands twice in its replicas")
    isr = row.get("isr") or []
    if strangers := [replica for replica in isr if isr.count(replica) > 1 or replica not in row["replicas"]]:
        raise InvalidInputError.at(name, f"'isr' names broker {strangers[0]} twice or outside its replicas")


def _refuse_list(values: Any, field: str, name: str) -> None:
    """Raises if ``values`` of ``field`` is no list of numbers that can be."""
    if values is None and field != "replicas":
        return
    if not isinstance(values, list):
        raise InvalidInputError.at(name, f"{field!r} must be a list of whole numbers, found {excerpt(values)}")
    high = LARGEST_BYTES if field == "log_bytes" else LARGEST_INT32
    for value in values:
        if value is None and field in _ALONG:
            continue
        if type(value) is not int or not 0 <= value <= high:
            raise InvalidInputError.at(
                name, f"{field!r} must be a list of whole numbers from 0 to {high}, found {excerpt(value)}"
            )
