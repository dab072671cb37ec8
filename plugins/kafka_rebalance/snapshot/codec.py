"""Snapshots as JSON objects and back. ``format_version`` 1; bytes and bytes/s; ``null`` is unknown, never zero."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import chain, compress, groupby, islice, pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Floats, Ints, Longs
from kafka_assignors.connect_work import ConnectTask, Work
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.snapshot.coverage import REASONS, WHAT, read_fact
from kafka_rebalance.snapshot.figures import (
    CAPACITY_LIMITS,
    LARGEST_BYTES,
    LARGEST_INT16,
    LARGEST_INT32,
    LARGEST_INT64,
    LARGEST_PORT,
    LARGEST_QUOTA,
    LARGEST_RATE,
    LONGEST_WINDOW_S,
    SMALLEST_CAPACITY,
    LoadKind,
    LoadSource,
    topic_name_fault,
)
from kafka_rebalance.snapshot.group import ConnectWorker, Subtopology, TaskOffsets, Tasks
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    Capacity,
    ClusterSnapshot,
    CommittedOffset,
    CoverageGap,
    Group,
    GroupType,
    LogDir,
    Member,
    Quota,
    Topic,
    TopicPartitions,
)
from kafka_rebalance.snapshot.partition_table import (
    NO_LEADER,
    UNKNOWN_BYTES,
    UNKNOWN_DIR,
    UNKNOWN_OFFSET,
    FutureReplica,
    LoadColumn,
    PartitionLoads,
    PartitionTable,
)
from kafka_rebalance.snapshot.times import optional_time_text, parse_time

SPARSE = ("adding", "removing", "offline", "observers", "eligible")
_OFFSETS = (("start_offset", LARGEST_INT64), ("end_offset", LARGEST_INT64), ("local_start_offset", LARGEST_INT64))
_ALONG = ("log_bytes", "log_dirs")  # along the replicas, null where unknown
_KNOWN = frozenset(
    ("partition", "replicas", "leader", "isr", "future", *_ALONG, *(name for name, _ in _OFFSETS), *SPARSE)
)


def partition_documents(table: PartitionTable, topic_count: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of each topic."""
    spans = [slice(*span) for span in pairwise(table.offsets.tolist())]
    replicas = table.replicas.tolist()
    sizes = _nullable(table.replica_log_bytes, UNKNOWN_BYTES)
    columns: dict[str, list[Any]] = {
        "partition": table.partition.tolist(),
        "replicas": [replicas[span] for span in spans],
        "leader": _nullable(table.leader, NO_LEADER),
        "log_bytes": [sizes[span] for span in spans],
        "start_offset": _nullable(table.start_offset, UNKNOWN_OFFSET),
        "end_offset": _nullable(table.end_offset, UNKNOWN_OFFSET),
    }
    if table.in_sync is not None:
        in_sync = table.in_sync.tolist()
        columns["isr"] = [list(compress(replicas[span], in_sync[span])) for span in spans]
    if table.log_dir is not None:
        places = _nullable(table.log_dir, UNKNOWN_DIR)
        columns["log_dirs"] = [places[span] for span in spans]
    rare: dict[str, Mapping[int, Any]] = {
        **{name: {row: list(brokers) for row, brokers in getattr(table, name).items()} for name in SPARSE},
        "future": {row: [list(copy) for copy in copies] for row, copies in table.future.items()},
        "local_start_offset": table.local_start_offset,
    }
    rows = enumerate(zip(*columns.values(), strict=True))
    for count in np.bincount(table.topic, minlength=topic_count).tolist():
        documents = []
        for number, row in islice(rows, count):
            documents.append(dict(zip(columns, row, strict=True)))
            documents[-1].update((name, values[number]) for name, values in rare.items() if number in values)
        yield documents


def _nullable(column: Ints | Longs, unknown: int) -> list[int | None]:
    return [None if value == unknown else value for value in column.tolist()]


def read_partitions(rows_of_topic: list[Any], names: list[str], root: str) -> PartitionTable:
    """Raises InvalidInputError naming the first wrong row."""
    rows: list[dict[str, Any]] = []
    topic: list[int] = []
    for index, mine in enumerate(rows_of_topic):
        path = f"{root}.topics[{index}].partitions"
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
            _refuse_row(row, f"{root}.topics[{index}], {names[index]}-{row['partition']}")
        raise InvalidInputError.at(root, "a partition row is wrong") from error


def _partition_number(row: dict[str, Any]) -> int:
    number = row["partition"]
    if type(number) is not int:
        raise TypeError("no whole number")
    return number


def _columns(rows: list[dict[str, Any]], topic: list[int]) -> PartitionTable:
    replicas = [row["replicas"] for row in rows]
    counts = np.fromiter(map(len, replicas), dtype=np.int64, count=len(rows))
    cells = int(counts.sum())
    sizes, dir_lists = (
        [row.get(name) or [None] * len(mine) for row, mine in zip(rows, replicas, strict=True)] for name in _ALONG
    )
    if any(
        len(size) != len(mine) or len(dirs) != len(mine) or len(row.keys() - _KNOWN)
        for row, size, dirs, mine in zip(rows, sizes, dir_lists, replicas, strict=True)
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
        log_dir=_integers(list(chain.from_iterable(dir_lists)), UNKNOWN_DIR, np.int32, cells)
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
    by_row = {number: row[name] for number, row in enumerate(rows) if row.get(name)}
    for brokers in by_row.values():
        if type(brokers) is not list or not all(type(broker) is int and broker >= 0 for broker in brokers):
            raise TypeError("no list of brokers")
    return {number: tuple(brokers) for number, brokers in by_row.items()}


def _future(rows: list[dict[str, Any]]) -> dict[int, tuple[FutureReplica, ...]]:
    by_row = {number: row["future"] for number, row in enumerate(rows) if row.get("future")}
    for copies in by_row.values():
        if type(copies) is not list or not all(_is_future(copy) for copy in copies):
            raise TypeError("no list of [broker, log dir, bytes]")
    return {number: tuple(FutureReplica(*copy) for copy in copies) for number, copies in by_row.items()}


def _is_future(copy: Any) -> bool:
    limits = (LARGEST_INT32, LARGEST_INT32, LARGEST_BYTES)
    return (
        type(copy) is list
        and len(copy) == len(limits)
        and all(type(value) is int and 0 <= value <= high for value, high in zip(copy, limits, strict=True))
    )


def _local_starts(rows: list[dict[str, Any]]) -> dict[int, int]:
    by_row = {number: row.get("local_start_offset") for number, row in enumerate(rows)}
    offsets = {number: offset for number, offset in by_row.items() if offset is not None}
    if not all(type(offset) is int and 0 <= offset <= LARGEST_INT64 for offset in offsets.values()):
        raise TypeError("no offset")
    return offsets


def _refuse_row(row: dict[str, Any], name: str) -> None:
    unknown = sorted(row.keys() - _KNOWN)
    if unknown:
        raise InvalidInputError.at(name, f"unknown field {excerpt(unknown[0])}", f"known: {', '.join(sorted(_KNOWN))}")
    for field in ("replicas", "isr", *_ALONG, *SPARSE):
        _refuse_list(row.get(field, [] if field != "replicas" else None), field, name)
    for field, noun in zip(_ALONG, ("sizes", "log dirs"), strict=True):
        if row.get(field) and len(row[field]) != len(row["replicas"]):
            raise InvalidInputError.at(name, f"{len(row[field])} {noun} for {len(row['replicas'])} replicas")
    _refuse_numbers(row, name)
    replicas, isr = row["replicas"], row.get("isr") or []
    if twice := [broker for broker in replicas if replicas.count(broker) > 1]:
        raise InvalidInputError.at(name, f"broker {twice[0]} stands twice in its replicas")
    if strangers := [replica for replica in isr if isr.count(replica) > 1 or replica not in replicas]:
        raise InvalidInputError.at(name, f"'isr' names broker {strangers[0]} twice or outside its replicas")


def _refuse_numbers(row: dict[str, Any], name: str) -> None:
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


def _refuse_list(values: Any, field: str, name: str) -> None:
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


T = TypeVar("T")
_REQUIRED = object()
_WORDS = {int: "a whole number", float: "a number", str: "a string", bool: "true or false", list: "a list"}


class Fields:
    """One JSON object at ``path``; ``done()`` refuses unknown fields."""

    __slots__ = ("_data", "_seen", "path")

    def __init__(self, data: Any, path: str) -> None:
        if not isinstance(data, Mapping):
            raise InvalidInputError.at(path, f"expected an object, found {type(data).__name__}")
        self._data = data
        self._seen: set[str] = set()
        self.path = path

    def _value(self, key: str, default: Any) -> Any:
        self._seen.add(key)
        value = self._data.get(key)
        if value is None and default is _REQUIRED:
            raise InvalidInputError.at(self.path, f"{key!r} is missing or null")
        return default if value is None else value

    def require_format(self, name: str, version: int) -> None:
        if self.get("format", str) != name:
            raise InvalidInputError.at(f"{self.path}.format", f"{excerpt(self._data['format'])} is not {name!r}")
        actual = self.get("format_version", int)
        if actual != version:
            raise InvalidInputError.at(
                f"{self.path}.format_version", f"{actual} is unknown", f"this advisor reads {version}"
            )

    def get(self, key: str, kind: type[T], default: Any = _REQUIRED) -> Any:
        """Return the value, of exactly ``kind`` (an int passes for a float; bool only for bool)."""
        value = self._value(key, default)
        if value is default:
            return value
        accepted = (int, float) if kind is float else kind
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
            raise InvalidInputError.at(f"{self.path}.{key}", f"expected {_WORDS[kind]}, found {excerpt(value)}")
        return float(value) if isinstance(value, (int, float)) and kind is float else value

    def whole(self, key: str, low: int, high: int, default: Any = _REQUIRED) -> Any:
        value = self.get(key, int, default)
        if value is not default and not low <= value <= high:
            raise InvalidInputError.at(f"{self.path}.{key}", f"{excerpt(value)} is not from {low} to {high}")
        return value

    def real(self, key: str, low: float, high: float, default: Any = _REQUIRED) -> Any:
        value = self._value(key, default)
        if value is default:
            return value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InvalidInputError.at(f"{self.path}.{key}", f"expected a number, found {excerpt(value)}")
        if not low <= value <= high:
            raise InvalidInputError.at(f"{self.path}.{key}", f"{excerpt(value)} is not from {low:.6g} to {high:.6g}")
        return float(value)

    def each(self, key: str, build: Callable[[Any, str], T]) -> tuple[T, ...]:
        items = self._value(key, [])
        if not isinstance(items, list):
            raise InvalidInputError.at(f"{self.path}.{key}", f"expected a list, found {type(items).__name__}")
        return tuple(build(item, f"{self.path}.{key}[{index}]") for index, item in enumerate(items))

    def ints(self, key: str) -> tuple[int, ...]:
        return self.each(key, whole) if self._data.get(key) is not None else self._skip(key, ())

    def strings(self, key: str) -> dict[str, str]:
        value = self._value(key, {})
        if not isinstance(value, Mapping) or not all(isinstance(element, str) for element in value.values()):
            raise InvalidInputError.at(f"{self.path}.{key}", "expected an object of strings")
        return dict(value)

    def raw(self, key: str, default: Any = _REQUIRED) -> Any:
        return self._value(key, default)

    def _skip(self, key: str, default: Any) -> Any:
        self._seen.add(key)
        return default

    def done(self) -> None:
        unknown = sorted(set(self._data) - self._seen)
        if unknown:
            raise InvalidInputError.at(
                self.path, f"unknown field {excerpt(unknown[0])}", f"known: {', '.join(sorted(self._seen))}"
            )


def whole(value: Any, path: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInputError.at(path, f"expected a whole number, found {excerpt(value)}")
    return value


def whole_up_to(high: int) -> Callable[[Any, str], int]:
    def read(value: Any, path: str) -> int:
        number = whole(value, path)
        if not 0 <= number <= high:
            raise InvalidInputError.at(path, f"{excerpt(number)} is not from 0 to {high}")
        return number

    return read


def real_up_to(high: float) -> Callable[[Any, str], float]:
    def read(value: Any, path: str) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InvalidInputError.at(path, f"expected a number, found {excerpt(value)}")
        if not 0 <= value <= high:
            raise InvalidInputError.at(path, f"{excerpt(value)} is not from 0 to {high:.6g}")
        return float(value)

    return read


def text(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise InvalidInputError.at(path, f"expected a string, found {excerpt(value)}")
    return value


def broker_document(broker: Broker) -> dict[str, Any]:
    capacity = {name: value for name in CAPACITY_LIMITS if (value := getattr(broker.capacity, name)) is not None}
    document: dict[str, Any] = {"id": broker.id, "rack": broker.rack, "host": broker.host, "port": broker.port}
    document |= {"state": broker.state.value, "is_controller": broker.is_controller}
    document |= {"log_dirs": [_log_dir_document(log_dir) for log_dir in broker.log_dirs]} if broker.log_dirs else {}
    document |= {"capacity": capacity} if capacity else {}
    document |= {"configs": dict(broker.configs)} if broker.configs else {}
    return document


def read_broker(item: Any, path: str) -> Broker:
    fields = Fields(item, path)
    state = fields.get("state", str, BrokerState.ALIVE.value)
    if state not in set(BrokerState):
        raise InvalidInputError.at(f"{path}.state", f"{excerpt(state)} is unknown", f"known: {', '.join(BrokerState)}")
    capacity = Fields(fields.raw("capacity", {}), f"{path}.capacity")
    broker = Broker(
        id=fields.whole("id", 0, LARGEST_INT32),
        rack=fields.get("rack", str, None),
        host=fields.get("host", str, None),
        port=fields.whole("port", 0, LARGEST_PORT, None),
        state=BrokerState(state),
        is_controller=fields.get("is_controller", bool, False),
        log_dirs=fields.each("log_dirs", _read_log_dir),
        capacity=Capacity(
            **{name: capacity.real(name, SMALLEST_CAPACITY, high, None) for name, high in CAPACITY_LIMITS.items()}
        ),
        configs=fields.strings("configs"),
    )
    capacity.done()
    fields.done()
    return broker


def gap_document(gap: CoverageGap) -> dict[str, Any]:
    return {
        "subject_type": gap.subject_type,
        "subject": gap.subject,
        "what": gap.what.document(),
        "reason": gap.reason.document(),
    }


def read_gap(item: Any, path: str) -> CoverageGap:
    fields = Fields(item, path)
    gap = CoverageGap(
        fields.get("subject_type", str),
        fields.get("subject", str),
        read_fact(fields.raw("what"), WHAT, f"{path}.what"),
        read_fact(fields.raw("reason"), REASONS, f"{path}.reason"),
    )
    fields.done()
    return gap


def quota_document(quota: Quota) -> dict[str, Any]:
    """The entity is [type, name] rows, null for the default."""
    return {"entity": [list(part) for part in quota.entity], "values": dict(quota.values)}


def read_quota(item: Any, path: str) -> Quota:
    fields = Fields(item, path)
    values = Fields(fields.raw("values"), f"{path}.values")
    names = sorted(fields.raw("values"))
    quota = Quota(
        fields.each("entity", _read_entity), {name: values.real(name, 0, LARGEST_QUOTA) for name in names}
    )  # fmt: skip
    values.done()
    fields.done()
    return quota


def _read_entity(item: Any, path: str) -> tuple[str, str | None]:
    if not isinstance(item, list) or len(item) != 2 or not isinstance(item[1], (str, type(None))):
        raise InvalidInputError.at(path, f"expected [type, name or null], found {excerpt(item)}")
    return text(item[0], path), item[1]


def read_features(item: Any, path: str) -> dict[str, int]:
    fields = Fields(item, path)
    return {name: fields.whole(name, 0, LARGEST_INT32) for name in sorted(item)}


def _log_dir_document(log_dir: LogDir) -> dict[str, Any]:
    document: dict[str, Any] = {"path": log_dir.path, "total_bytes": log_dir.total_bytes}
    document |= {"usable_bytes": log_dir.usable_bytes, "is_cordoned": log_dir.is_cordoned}
    document |= {"error": log_dir.error} if log_dir.error else {}
    strays = {"stray_logs": log_dir.stray_logs, "stray_bytes": log_dir.stray_bytes}
    return document | (strays | {"largest_stray": log_dir.largest_stray} if log_dir.stray_logs else {})


def _read_log_dir(item: Any, path: str) -> LogDir:
    fields = Fields(item, path)
    log_dir = LogDir(
        path=fields.get("path", str),
        total_bytes=fields.whole("total_bytes", 0, LARGEST_INT64, None),
        usable_bytes=fields.whole("usable_bytes", 0, LARGEST_INT64, None),
        error=fields.get("error", str, None),
        is_cordoned=fields.get("is_cordoned", bool, False),
        stray_logs=fields.whole("stray_logs", 0, LARGEST_INT64, 0),
        stray_bytes=fields.whole("stray_bytes", 0, LARGEST_INT64, 0),
        largest_stray=fields.get("largest_stray", str, None),
    )
    fields.done()
    return log_dir


# User data is base64. Fields of newer releases are left out where empty.


_MEMBER_TEXTS = ("instance_id", "client_id", "host", "rack", "subscribed_regex", "decode_error", "process_id")
_LEFT_FOR_NOW = -2  # KIP-848: epoch of a static member that will return; -1 is one that left
_number, _offset = whole_up_to(LARGEST_INT32), whole_up_to(LARGEST_INT64)
_rate = real_up_to(LARGEST_RATE)
_MEMBER_LISTS = ("owned", "assigned", "target")
_MEMBER_TASKS = ("tasks", "target_tasks")
_MEMBER_TASK_OFFSETS = ("task_offsets", "task_end_offsets")
_WORKER_TEXTS, _WORKER_WORK = ("url", "leader", "leader_url"), ("joined_with", "assigned", "revoked")
_WORKER_OFFSETS = ("config_offset", "assigned_offset")
_GROUP_CLIENT = ("client", "client_version")
_TASKS = ("active", "standby", "warmup")
_SUBTOPOLOGY_TOPICS = ("source_topics", "repartition_topics", "changelog_topics")


def group_document(group: Group) -> dict[str, Any]:
    """Commits are ``[topic, partition, offset]``, then the reported lag (null: unknown), then the read rate."""
    document: dict[str, Any] = {
        "id": group.id,
        "type": group.type.value,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "state": group.state,
        "generation": group.generation,
        "coordinator": group.coordinator,
        "members": [_member_document(member) for member in group.members],
        "committed": [_committed_row(commit) for commit in group.committed],
    }
    document |= {} if group.assignment_epoch is None else {"assignment_epoch": group.assignment_epoch}
    if group.subtopologies:
        document["subtopologies"] = subtopology_documents(group.subtopologies)
    document |= {} if group.member_count is None else {"member_count": group.member_count}
    document |= {name: value for name in _GROUP_CLIENT if (value := getattr(group, name)) is not None}
    return document | ({"configs": dict(group.configs)} if group.configs else {})


def _committed_row(commit: CommittedOffset) -> list[Any]:
    row = [commit.topic, commit.partition, commit.offset]
    if commit.read_messages_per_s is not None:
        return [*row, commit.lag, commit.read_messages_per_s]
    return row if commit.lag is None else [*row, commit.lag]


def subtopology_documents(subtopologies: tuple[Subtopology, ...]) -> list[dict[str, Any]]:
    return [
        {"id": subtopology.id}
        | {name: list(topics) for name in _SUBTOPOLOGY_TOPICS if (topics := getattr(subtopology, name))}
        for subtopology in subtopologies
    ]


def tasks_document(tasks: Tasks) -> dict[str, Any]:
    """``{"active": [[subtopology, [partitions]], …], …}``"""
    return {
        name: [[subtopology, list(numbers)] for subtopology, numbers in runs]
        for name in _TASKS
        if (runs := getattr(tasks, name))
    }


def worker_document(worker: ConnectWorker) -> dict[str, Any]:
    """``joined_with``, ``assigned`` and ``revoked``: ``{"connectors": […], "tasks": [[connector, [numbers]], …]}``."""
    document: dict[str, Any] = {"version": worker.version}
    document |= {name: value for name in _WORKER_TEXTS if (value := getattr(worker, name)) is not None}
    document |= {name: value for name in _WORKER_OFFSETS if (value := getattr(worker, name)) is not None}
    document |= {name: value for name in ("delay_ms", "error") if (value := getattr(worker, name))}
    for name in _WORKER_WORK:
        work = getattr(worker, name)
        if work is not None and (work or name != "revoked"):
            runs = groupby(work.tasks, key=lambda task: task.connector)
            tasks = [[connector, [task.number for task in run]] for connector, run in runs]
            document[name] = {"connectors": list(work.connectors), "tasks": tasks}
    return document


def read_worker(item: Any, path: str) -> ConnectWorker:
    fields = Fields(item, path)
    work = {name: _read_work(fields.raw(name, None), f"{path}.{name}") for name in _WORKER_WORK}
    worker = ConnectWorker(
        version=fields.whole("version", 0, LARGEST_INT16),
        **{name: fields.get(name, str, None) for name in _WORKER_TEXTS},
        **{name: fields.whole(name, -1, LARGEST_INT64, None) for name in _WORKER_OFFSETS},
        joined_with=work["joined_with"],
        assigned=work["assigned"],
        revoked=work["revoked"] or Work(),
        delay_ms=fields.whole("delay_ms", 0, LARGEST_INT32, 0),
        error=fields.whole("error", -LARGEST_INT16, LARGEST_INT16, 0),
    )
    fields.done()
    return worker


def _read_work(item: Any, path: str) -> Work | None:
    if item is None:
        return None
    fields = Fields(item, path)
    runs = _read_runs(fields.raw("tasks", []), f"{path}.tasks") or ()
    work = Work(
        tuple(fields.each("connectors", text)),
        tuple(ConnectTask(connector, number) for connector, numbers in runs for number in numbers),
    )
    fields.done()
    return work


def read_group(item: Any, path: str) -> Group:
    fields = Fields(item, path)
    kind = fields.get("type", str, GroupType.UNKNOWN.value)
    if kind not in set(GroupType):
        raise InvalidInputError.at(f"{path}.type", f"{excerpt(kind)} is unknown", f"known: {', '.join(GroupType)}")
    group = Group(
        id=fields.get("id", str),
        type=GroupType(kind),
        protocol_type=fields.get("protocol_type", str, ""),
        protocol=fields.get("protocol", str, None),
        state=fields.get("state", str, None),
        generation=fields.whole("generation", _LEFT_FOR_NOW, LARGEST_INT32, None),
        coordinator=fields.whole("coordinator", -1, LARGEST_INT32, None),
        members=fields.each("members", _read_member),
        committed=fields.each("committed", _read_committed),
        assignment_epoch=fields.whole("assignment_epoch", -1, LARGEST_INT32, None),
        subtopologies=fields.each("subtopologies", read_subtopology),
        configs=fields.strings("configs"),
        member_count=fields.whole("member_count", 0, LARGEST_INT32, None),
        **{name: fields.get(name, str, None) for name in _GROUP_CLIENT},
    )
    fields.done()
    return group


def _member_document(member: Member) -> dict[str, Any]:
    document: dict[str, Any] = {"id": member.id}
    for name in (*_MEMBER_TEXTS, "is_classic", "generation", "subscription_version", "partition_count"):
        if (value := getattr(member, name)) is not None:
            document[name] = value
    if member.subscription is not None:
        document["subscription"] = list(member.subscription)
    for name in _MEMBER_LISTS:
        if (runs := getattr(member, name)) is not None:
            document[name] = [[topic, list(partitions)] for topic, partitions in runs]
    if member.user_data is not None:
        document["user_data"] = base64.b64encode(member.user_data).decode()
    return document | _member_tasks_document(member)


def _member_tasks_document(member: Member) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for name in _MEMBER_TASKS:
        if (tasks := getattr(member, name)) is not None:
            document[name] = tasks_document(tasks)
    for name in _MEMBER_TASK_OFFSETS:
        if (assigned := getattr(member, name)) is not None:
            document[name] = [[subtopology, [list(pair) for pair in pairs]] for subtopology, pairs in assigned]
    if member.worker is not None:
        document["worker"] = worker_document(member.worker)
    return document


def _read_member(item: Any, path: str) -> Member:
    fields = Fields(item, path)
    subscription = fields.raw("subscription", None)
    lists = {name: _read_runs(fields.raw(name, None), f"{path}.{name}") for name in _MEMBER_LISTS}
    offsets = [read_task_offsets(fields.raw(name, None), f"{path}.{name}") for name in _MEMBER_TASK_OFFSETS]
    member = Member(
        id=fields.get("id", str),
        **{name: fields.get(name, str, None) for name in _MEMBER_TEXTS},
        subscription=None if subscription is None else tuple(fields.each("subscription", text)),
        owned=lists["owned"],
        assigned=lists["assigned"] or (),
        target=lists["target"],
        generation=fields.whole("generation", _LEFT_FOR_NOW, LARGEST_INT32, None),
        user_data=_read_bytes(fields.get("user_data", str, None), f"{path}.user_data"),
        subscription_version=fields.whole("subscription_version", 0, LARGEST_INT16, None),
        partition_count=fields.whole("partition_count", 0, LARGEST_INT32, None),
        is_classic=fields.get("is_classic", bool, None),
        tasks=_read_tasks(fields.raw("tasks", None), f"{path}.tasks"),
        target_tasks=_read_tasks(fields.raw("target_tasks", None), f"{path}.target_tasks"),
        task_offsets=offsets[0],
        task_end_offsets=offsets[1],
        worker=None if (worker := fields.raw("worker", None)) is None else read_worker(worker, f"{path}.worker"),
    )
    fields.done()
    return member


def read_subtopology(item: Any, path: str) -> Subtopology:
    fields = Fields(item, path)
    topics = {name: tuple(fields.each(name, text)) for name in _SUBTOPOLOGY_TOPICS}
    subtopology = Subtopology(fields.get("id", str), **topics)
    fields.done()
    return subtopology


def _read_tasks(item: Any, path: str) -> Tasks | None:
    return None if item is None else read_tasks(item, path)


def read_tasks(item: Any, path: str) -> Tasks:
    fields = Fields(item, path)
    tasks = Tasks(**{name: _read_runs(fields.raw(name, []), f"{path}.{name}") or () for name in _TASKS})
    fields.done()
    return tasks


def read_task_offsets(item: Any, path: str) -> TaskOffsets | None:
    """Read ``[[subtopology, [[partition, sum], …]], …]``. Raises InvalidInputError naming the wrong place."""
    if item is None:
        return None
    is_list = isinstance(item, list) and all(isinstance(run, list) and len(run) == 2 for run in item)
    if not is_list or not all(isinstance(run[1], list) for run in item):
        raise InvalidInputError.at(path, f"expected rows of [subtopology, [[partition, sum]]], found {excerpt(item)}")
    return tuple((text(name, path), tuple(_read_sum(pair, path) for pair in pairs)) for name, pairs in item)


def _read_sum(pair: Any, path: str) -> tuple[int, int]:
    if not isinstance(pair, list) or len(pair) != 2:
        raise InvalidInputError.at(path, f"expected [partition, sum], found {excerpt(pair)}")
    return _number(pair[0], path), _offset(pair[1], path)


def _read_runs(runs: Any, path: str) -> TopicPartitions | None:
    if runs is None:
        return None
    if not isinstance(runs, list):
        raise InvalidInputError.at(path, "expected rows of [topic, [partitions]]")
    return tuple(_read_run(run, f"{path}[{index}]") for index, run in enumerate(runs))


def _read_run(run: Any, path: str) -> tuple[str, tuple[int, ...]]:
    if not isinstance(run, list) or len(run) != 2 or not isinstance(run[1], list):
        raise InvalidInputError.at(path, f"expected [topic, [partitions]], found {excerpt(run)}")
    return text(run[0], path), tuple(_number(partition, path) for partition in run[1])


def _read_bytes(value: str | None, path: str) -> bytes | None:
    try:
        return None if value is None else base64.b64decode(value, validate=True)
    except ValueError as error:  # binascii.Error, or a character outside ASCII
        raise InvalidInputError.at(path, f"is not base64 ({error})") from error


def _read_committed(item: Any, path: str) -> CommittedOffset:
    if not isinstance(item, list) or len(item) not in (3, 4, 5):
        raise InvalidInputError.at(path, f"expected [topic, partition, offset], found {excerpt(item)}")
    has_lag = len(item) == 4 or (len(item) == 5 and item[3] is not None)
    lag = _offset(item[3], path) if has_lag else None
    rate = _rate(item[4], path) if len(item) == 5 else None
    return CommittedOffset(text(item[0], path), _number(item[1], path), _offset(item[2], path), lag, rate)


# Loads are columns in table order (topics as listed, partitions ascending). ``None`` and empty values are left out.


FORMAT = "kafka-rebalance-snapshot"
FORMAT_VERSION = 1


def snapshot_to_document(snapshot: ClusterSnapshot) -> dict[str, Any]:
    rows = partition_documents(snapshot.partitions, len(snapshot.topics))
    topics = [_topic_head(topic) | {"partitions": mine} for topic, mine in zip(snapshot.topics, rows, strict=True)]
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


def snapshot_from_document(document: Any, root: str = "snapshot") -> ClusterSnapshot:
    """Return a checked snapshot. Raises InvalidInputError naming the wrong JSON path under ``root``."""
    fields = Fields(document, root)
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
    partitions = read_partitions(rows, [known_topic.name for known_topic in topics], root)
    loads = _read_loads(fields.raw("loads", {}), f"{root}.loads", len(partitions))
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
        features=read_features(fields.raw("features", {}), f"{root}.features"),
        quotas=fields.each("quotas", read_quota),
    )
    fields.done()
    return snapshot


def _topic_head(topic: Topic) -> dict[str, Any]:
    return {
        "name": topic.name,
        "topic_id": topic.topic_id,
        "is_internal": topic.is_internal,
        "configs": dict(topic.configs),
    }


def snapshot_id(snapshot: ClusterSnapshot) -> str:
    digest = hashlib.sha256()
    for piece in canonical_pieces(snapshot):
        digest.update(piece.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def canonical_pieces(snapshot: ClusterSnapshot) -> Iterator[str]:
    """Yield the document's JSON with sorted keys and no spaces, a topic at a time."""
    encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode
    yield encode(_around_topics(snapshot, [])).removesuffix("]}")
    rows = partition_documents(snapshot.partitions, len(snapshot.topics))
    for number, (topic, mine) in enumerate(zip(snapshot.topics, rows, strict=True)):
        yield ("," if number else "") + encode(_topic_head(topic) | {"partitions": mine})
    yield "]}"


def _time(fields: Fields) -> datetime | None:
    """A time without a zone is UTC."""
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
