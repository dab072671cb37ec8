"""Answers of brokers are checked here, in one place, before a reader sees them: what is mangled is a failed answer.

Kafka's schema says which fields are never null; the rest of the rules holds in every answer: ids and sizes are not
negative, no row comes twice, no error-free row contradicts itself, and rows are those that were asked for. Readers
rely on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any

from kafka.errors import KafkaProtocolError
from kafka.protocol.admin import DescribeConfigsRequest, DescribeGroupsRequest, DescribeQuorumRequest
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.consumer import FetchRequest, ListOffsetsRequest, OffsetFetchRequest
from kafka.protocol.metadata import FindCoordinatorRequest, MetadataRequest

from kafka_rebalance.snapshot.ranges import LARGEST_BYTES, LARGEST_INT32, LARGEST_INT64, LARGEST_PORT, topic_name_fault
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.kafka.messages import (
    ConsumerGroupDescribeRequest,
    DescribeShareGroupOffsetsRequest,
    ShareGroupDescribeRequest,
    StreamsGroupDescribeRequest,
)

# Field → lowest and highest value of a row without an error.
_BOUNDS = {
    "broker_id": (0, LARGEST_INT32),
    "node_id": (0, LARGEST_INT32),
    "partition_index": (0, LARGEST_INT32),
    "port": (0, LARGEST_PORT),
    "partition_size": (0, LARGEST_BYTES),
    "total_bytes": (-1, LARGEST_INT64),
    "usable_bytes": (-1, LARGEST_INT64),
    "leader_id": (-1, LARGEST_INT32),
    "controller_id": (-1, LARGEST_INT32),
    "committed_offset": (-1, LARGEST_INT64),
    "start_offset": (-1, LARGEST_INT64),
    "offset": (-1, LARGEST_INT64),
}
# Those of these that a row has tell it from the other rows of its list.
_IDENTITY = (
    "group_id", "member_id", "name", "topic_name", "topic", "partition_index", "is_future_key", "node_id", "broker_id",
    "log_dir", "resource_type", "resource_name", "source", "subtopology_id", "key", "api_key", "entity_type",
)  # fmt: skip
_SIMPLE = ("bool", "int8", "int16", "int32", "int64", "uint16", "uint32", "float64", "uuid", "bitfield")


class MangledAnswerError(KafkaProtocolError):
    """An answer that no broker sends when it is well; its message says what is wrong with it."""


def checked(request: Any, answer: Any) -> Any:
    """The answer to ``request``, or MangledAnswerError in its place; an exception stays what it is."""
    if not isinstance(answer, ApiMessage):
        return answer
    try:
        kind: Any = type(answer)
        _check(answer, _rows_of(kind, answer.API_VERSION))
        _check_asked(request, answer)
    except MangledAnswerError as mangled:
        return mangled
    return answer


@dataclass(frozen=True, slots=True)
class _Rows:
    """What holds for each row of one list of an answer, or for the answer itself."""

    never_null: tuple[str, ...]
    bounds: tuple[tuple[str, int, int], ...]
    ids: tuple[str, ...]  # lists of brokers and partitions
    names: tuple[str, ...]  # lists of them
    has_error: bool
    is_topic: bool
    is_placement: bool
    identity: Callable[[Any], object] | None
    lists: tuple[tuple[str, _Rows], ...]
    parts: tuple[tuple[str, _Rows], ...]


@cache
def _rows_of(message: Any, version: int) -> _Rows:
    return _rows(message.fields.values(), version)


def _rows(schema: Any, version: int) -> _Rows:
    fields = [field for field in schema if field.for_version_q(version)]
    names = {field.name for field in fields}
    nullable = {
        field.name
        for field in fields
        # A tagged field that was not sent has its default, which is null for a part such as Fetch's current leader.
        if field.nullable_for_version_q(version) or (field.tagged_field_q(version) and field.default is None)
    }
    is_simple = {field.name for field in fields if not field.is_array() and field.type_str in _SIMPLE}
    identity = [name for name in _IDENTITY if name in names]
    lists = [field for field in fields if field.is_struct_array()]
    return _Rows(
        never_null=tuple(sorted(names - nullable - is_simple)),
        bounds=tuple((name, *_BOUNDS[name]) for name in sorted(names & _BOUNDS.keys())),
        ids=tuple(field.name for field in fields if field.type_str == "[]int32"),
        names=tuple(field.name for field in fields if field.type_str == "[]string"),
        has_error="error_code" in names,
        is_topic="partitions" in {field.name for field in lists} and bool(names & {"name", "topic_name"}),
        is_placement={"leader_id", "replica_nodes"} <= names,
        identity=attrgetter(*identity) if identity else None,
        lists=tuple((field.name, _rows(field.fields.values(), version)) for field in lists),
        parts=tuple((field.name, _rows(field.fields.values(), version)) for field in fields if field.is_struct()),
    )


def _check(row: Any, rows: _Rows) -> None:
    """Raises MangledAnswerError."""
    _check_nulls_and_ids(row, rows)
    if not (rows.has_error and row.error_code):
        _check_values(row, rows)
    for name, part in rows.parts:
        if (value := getattr(row, name)) is not None:
            _check(value, part)
    for name, inner in rows.lists:
        values = getattr(row, name) or ()
        for value in values:
            _check(value, inner)
        if inner.identity is not None and len(set(map(inner.identity, values))) < len(values):
            raise MangledAnswerError(f"two of its {name} are the same")


def _check_nulls_and_ids(row: Any, rows: _Rows) -> None:
    for name in rows.never_null:
        if getattr(row, name) is None:
            raise MangledAnswerError(f"{name} is null")
    for name in rows.ids:
        ids = getattr(row, name)
        if ids and (min(ids) < 0 or len(set(ids)) < len(ids)):
            raise MangledAnswerError(f"{name} are {excerpt(ids)}")
    for name in rows.names:
        values = getattr(row, name)
        if values and len(set(values)) < len(values):
            raise MangledAnswerError(f"two of its {name} are the same")
    if rows.is_placement:
        replicas = {*row.replica_nodes}
        if not replicas or not {*(row.offline_replicas or ())} <= replicas:
            raise MangledAnswerError(f"partition {row.partition_index} has no replicas, or others are offline")
        if row.leader_id >= 0 and row.leader_id not in replicas:
            raise MangledAnswerError(f"partition {row.partition_index} is led by {row.leader_id}, no replica of it")


def _check_values(row: Any, rows: _Rows) -> None:
    for name, lowest, highest in rows.bounds:
        value = getattr(row, name)
        if not lowest <= value <= highest:
            raise MangledAnswerError(f"{name} is {value:,}")
    if rows.is_topic:
        topic = getattr(row, "name", None) or getattr(row, "topic_name", None)
        if topic is not None and (fault := topic_name_fault(topic)):
            raise MangledAnswerError(f"it names topic {excerpt(topic)}: {fault}")


def _check_asked(request: Any, answer: Any) -> None:
    """Raises MangledAnswerError for rows that nobody asked for, and where rows are missing."""
    code: int = getattr(answer, "error_code", 0)
    if code or type(request) not in _ASKED:
        return
    names_asked, names_told = _ASKED[type(request)]
    asked, told = names_asked(request), names_told(answer)
    if asked is None:
        return
    if strange := told - asked:
        raise MangledAnswerError(f"it tells of {excerpt(min(strange, key=str))}, which it was not asked for")
    if missing := asked - told:
        raise MangledAnswerError(f"it does not tell of {excerpt(min(missing, key=str))}, which it was asked for")


def _groups(message: Any) -> set[Any]:
    return {group.group_id for group in message.groups or ()}


def _partitions(message: Any) -> set[Any]:
    return {(topic.name, row.partition_index) for topic in message.topics for row in topic.partitions}


def _quorums(message: Any) -> set[Any]:
    return {(topic.topic_name, row.partition_index) for topic in message.topics for row in topic.partitions}


def _topics(message: Any) -> set[Any] | None:
    return None if message.topics is None else {topic.name for topic in message.topics}


# Request → what it asks for and what its answer tells; None where it asks for all.
_ASKED: dict[Any, tuple[Callable[[Any], set[Any] | None], Callable[[Any], set[Any]]]] = {
    ListOffsetsRequest: (_partitions, _partitions),
    FetchRequest: (
        lambda request: {(topic.topic, row.partition) for topic in request.topics for row in topic.partitions},
        lambda answer: {(topic.topic, row.partition_index) for topic in answer.responses for row in topic.partitions},
    ),
    OffsetFetchRequest: (_groups, _groups),
    DescribeGroupsRequest: (lambda request: {*request.groups}, _groups),
    ConsumerGroupDescribeRequest: (lambda request: {*request.group_ids}, _groups),
    ShareGroupDescribeRequest: (lambda request: {*request.group_ids}, _groups),
    StreamsGroupDescribeRequest: (lambda request: {*request.group_ids}, _groups),
    DescribeShareGroupOffsetsRequest: (_groups, _groups),
    DescribeConfigsRequest: (
        lambda request: {tuple(resource[:2]) for resource in request.resources},
        lambda answer: {(result.resource_type, result.resource_name) for result in answer.results},
    ),
    FindCoordinatorRequest: (
        lambda request: {*request.coordinator_keys}, lambda answer: {row.key for row in answer.coordinators},
    ),
    DescribeQuorumRequest: (_quorums, _quorums),
    MetadataRequest: (_topics, lambda answer: {topic.name for topic in answer.topics}),
}  # fmt: skip
