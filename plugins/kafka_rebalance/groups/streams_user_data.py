"""User data of classic Kafka Streams groups: process id, tasks, offset sums, client tags.

Versions 1 to 11 of SubscriptionInfo and AssignmentInfo. A task of a named topology (version 10 on) has the subtopology
``TOPOLOGY__NUMBER``. The rest of an assignment is not read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from kafka_rebalance.groups.subscriptions import OddBytesError, ProtocolReader
from kafka_rebalance.snapshot.group import TaskIds, TaskOffsets, Tasks

_NEWEST = 11
_LATEST_OFFSET = -2  # a running active task: it has all of its state


@dataclass(frozen=True, slots=True)
class StreamsSubscription:
    """``had``: active tasks of the thread, and others whose state its instance has."""

    version: int
    process_id: str
    had: Tasks
    offset_sums: TaskOffsets | None
    tags: Mapping[str, str] = field(default_factory=dict)


def decode_streams_subscription(data: bytes) -> StreamsSubscription:
    reader = ProtocolReader(data)
    version = _version(reader)
    if version >= 3:
        reader.int32()  # the newest version of the client
    process_id = str(UUID(bytes=reader.take(16)))
    if version < 7:
        active, standby = _tasks(reader, version), _tasks(reader, version)
        return StreamsSubscription(version, process_id, Tasks(_task_ids(active), _task_ids(standby)), None)
    reader.nullable_bytes()  # user end point
    sums = _offset_sums(reader, version)
    if version >= 8:
        reader.take(1)  # a field that differs at each rejoin
    if version >= 9:
        reader.int32()  # error code
    tags = {_text(reader): _text(reader) for _ in range(reader.count() if version >= 11 else 0)}
    totals: dict[str, dict[int, int]] = defaultdict(dict)
    for (subtopology, partition), total in sums.items():
        if total >= 0:
            totals[subtopology][partition] = total
    had = Tasks(
        _task_ids(task for task, total in sums.items() if total == _LATEST_OFFSET),
        _task_ids(task for task, total in sums.items() if total != _LATEST_OFFSET),
    )
    offset_sums = tuple((name, tuple(sorted(totals[name].items()))) for name in sorted(totals))
    return StreamsSubscription(version, process_id, had, offset_sums, tags)


def decode_streams_assignment(data: bytes) -> Tasks:
    """AssignmentInfo lists an active task once for each of its partitions. Raises OddBytesError."""
    reader = ProtocolReader(data)
    version = _version(reader)
    if version >= 3:
        reader.int32()  # the newest common version
    active = _tasks(reader, version)
    standby = []
    for _ in range(reader.count()):
        standby.append(_task(reader, version))
        for _ in range(reader.count()):
            reader.string()
            reader.int32()
    return Tasks(_task_ids(active), _task_ids(standby))


def _version(reader: ProtocolReader) -> int:
    version = reader.int32()
    if not 1 <= version <= _NEWEST:
        raise OddBytesError(f"version {version}, known are 1 to {_NEWEST}")
    return version


def _text(reader: ProtocolReader) -> str:
    return reader.take(reader.count()).decode("utf-8", "replace")


def _tasks(reader: ProtocolReader, version: int) -> list[tuple[str, int]]:
    return [_task(reader, version) for _ in range(reader.count())]


def _task(reader: ProtocolReader, version: int) -> tuple[str, int]:
    subtopology, partition = reader.int32(), reader.int32()
    characters = reader.count() if version >= 10 else 0
    return _check_task(subtopology, partition, reader.take(2 * characters).decode("utf-16-be", "replace"))


def _check_task(subtopology: int, partition: int, topology: str | None = None) -> tuple[str, int]:
    if subtopology < 0 or partition < 0:
        raise OddBytesError(f"task {subtopology}_{partition}")
    return f"{topology}__{subtopology}" if topology else str(subtopology), partition


def _offset_sums(reader: ProtocolReader, version: int) -> dict[tuple[str, int], int]:
    sums: dict[tuple[str, int], int] = {}
    for _ in range(reader.count()):
        subtopology = reader.int32()
        if version >= 10:
            partition, total = reader.int32(), reader.int64()
            sums[_check_task(subtopology, partition, reader.nullable_string())] = total
            continue
        for _ in range(reader.count()):
            partition = reader.int32()
            sums[_check_task(subtopology, partition)] = reader.int64()
    return sums


def _task_ids(tasks: Iterable[tuple[str, int]]) -> TaskIds:
    partitions_of: dict[str, set[int]] = defaultdict(set)
    for subtopology, partition in tasks:
        partitions_of[subtopology].add(partition)
    return tuple((name, tuple(sorted(partitions_of[name]))) for name in sorted(partitions_of))
