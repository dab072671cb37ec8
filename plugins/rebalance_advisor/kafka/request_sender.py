"""Send requests in rounds of 5 s under one deadline.

- ``send``: answers of one broker only. Pass each exception to ``Coverage.add_unanswered``.
- ``send_to_any``: answers of any broker.
- ``share_out``: divides similar requests among brokers, for one ``send``.

Answers are checked: nulls by Kafka's schema, no negative ids or sizes, no duplicate, contradicting or unrequested rows.
A faulty answer also fails the others of its connection, so these and closed connections are tried again after 1 s. A
broker that misses a round is probed; if it responds, its requests are sent once more, else it gets no more. Requests
must not grow with the cluster.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from typing import Any, Protocol, TypeVar

from kafka.errors import IncompatibleBrokerVersion, KafkaProtocolError
from kafka.protocol.admin import DescribeConfigsRequest, DescribeGroupsRequest, DescribeQuorumRequest
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.consumer import FetchRequest, ListOffsetsRequest, OffsetFetchRequest
from kafka.protocol.metadata import ApiVersionsRequest, FindCoordinatorRequest, MetadataRequest

from kafka_assignors.visible_text import excerpt
from kafka_rebalance.amounts import counted
from kafka_rebalance.snapshot.figures import LARGEST_BYTES, LARGEST_INT32, LARGEST_INT64, LARGEST_PORT, topic_name_fault
from kafka_rebalance.snapshot.model import BrokerState
from rebalance_advisor.kafka.connection.client import AddressedRequest, said_by
from rebalance_advisor.kafka.messages import (
    ConsumerGroupDescribeRequest,
    DescribeShareGroupOffsetsRequest,
    ShareGroupDescribeRequest,
    StreamsGroupDescribeRequest,
)
from rebalance_advisor.kafka.unresponsive import (
    DeadlinePassedError,
    UnresponsiveBroker,
    UnresponsiveBrokerError,
    is_timeout,
    silence,
    unresponsive_by,
)

# Lowest and highest value in a row without an error.
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
# Identify a row within its list.
_IDENTITY = (
    "group_id", "member_id", "name", "topic_name", "topic", "partition_index", "partition", "is_future_key", "node_id",
    "broker_id", "log_dir", "resource_type", "resource_name", "source", "subtopology_id", "key", "api_key",
    "entity_type",
)  # fmt: skip
_SIMPLE = ("bool", "int8", "int16", "int32", "int64", "uint16", "uint32", "float64", "uuid", "bitfield")


class MangledAnswerError(KafkaProtocolError):
    """An answer breaks a rule; the message says which."""


def checked(request: Any, answer: Any) -> Any:
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
    never_null: tuple[str, ...]
    bounds: tuple[tuple[str, int, int], ...]
    ids: tuple[str, ...]  # lists of ids
    names: tuple[str, ...]
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
    identity = [name for name in _IDENTITY if name in names]
    lists = _inner_rows([field for field in fields if field.is_struct_array()], version)
    return _Rows(
        never_null=tuple(sorted(field.name for field in fields if _is_never_null(field, version))),
        bounds=tuple((name, *_BOUNDS[name]) for name in sorted(names & _BOUNDS.keys())),
        ids=tuple(field.name for field in fields if field.type_str == "[]int32"),
        names=tuple(field.name for field in fields if field.type_str == "[]string"),
        has_error="error_code" in names,
        is_topic="partitions" in dict(lists) and bool(names & {"name", "topic_name"}),
        is_placement={"leader_id", "replica_nodes"} <= names,
        identity=attrgetter(*identity) if identity else None,
        lists=lists,
        parts=_inner_rows([field for field in fields if field.is_struct()], version),
    )


def _inner_rows(fields: Sequence[Any], version: int) -> tuple[tuple[str, _Rows], ...]:
    return tuple((field.name, _rows(field.fields.values(), version)) for field in fields)


def _is_never_null(field: Any, version: int) -> bool:
    """Whether null is a fault. An absent tagged field has its default, which may be null."""
    is_simple = not field.is_array() and field.type_str in _SIMPLE
    may_be_absent = field.tagged_field_q(version) and field.default is None
    return not (is_simple or may_be_absent or field.nullable_for_version_q(version))


def _check(row: Any, rows: _Rows) -> None:
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
    code: int = getattr(answer, "error_code", 0)
    if code or type(request) not in _ASKED:
        return
    names_asked, names_told = _ASKED[type(request)]
    expected, answered = names_asked(request), names_told(answer)
    if expected is None:
        return
    if strange := answered - expected:
        raise MangledAnswerError(f"it tells of {excerpt(min(strange, key=str))}, which it was not asked for")
    if missing := expected - answered:
        raise MangledAnswerError(f"it does not tell of {excerpt(min(missing, key=str))}, which it was asked for")


def _groups(message: Any) -> set[Any]:
    return {group.group_id for group in message.groups or ()}


def _partitions(message: Any) -> set[Any]:
    return {(topic.name, row.partition_index) for topic in message.topics for row in topic.partitions}


def _quorums(message: Any) -> set[Any]:
    return {(topic.topic_name, row.partition_index) for topic in message.topics for row in topic.partitions}


def _topics(message: Any) -> set[Any] | None:
    return None if message.topics is None else {topic.name for topic in message.topics}


# Request → (requested ids, answered ids); None: all.
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


@dataclass(frozen=True, slots=True)
class RequestCounts:
    """Without ApiVersions and logins. ``for_cluster``: any broker could answer."""

    for_cluster: Counter[str] = field(default_factory=Counter)
    to_broker: dict[int, Counter[str]] = field(default_factory=dict)

    def add(self, request: object, broker: int | None = None) -> None:
        counts = self.for_cluster if broker is None else self.to_broker.setdefault(broker, Counter())
        counts[type(request).__name__.removesuffix("Request")] += 1

    @property
    def most_to_a_broker(self) -> int:
        return max((counts.total() for counts in self.to_broker.values()), default=0)

    @property
    def total(self) -> int:
        return self.for_cluster.total() + sum(counts.total() for counts in self.to_broker.values())

    def lines(self) -> tuple[str, ...]:
        rows = [("for the cluster", self.for_cluster)]
        rows += [(f"to broker {broker}", self.to_broker[broker]) for broker in sorted(self.to_broker)]
        return tuple(
            f"{counted(counts.total(), 'request')} {whose}: "
            + ", ".join(f"{name} {n}" for name, n in sorted(counts.items()))
            for whose, counts in rows
        )


Key = TypeVar("Key")
Name = TypeVar("Name")
SIGN_OF_LIFE_S = 1.0
_RETRY_AFTER_S = 1.0


class Client(Protocol):
    def send(self, requests: Mapping[Key, AddressedRequest], seconds: float) -> dict[Key, Any]:
        """Return a response or an exception for each."""

    def version_of(self, request: type[Any]) -> int:
        """Return the highest common version, or -1."""


@dataclass(frozen=True, slots=True)
class RequestSender:
    """``unresponsive``: brokers that get no more requests; ``mangled``: those whose faulty answer another replaced."""

    client: Client
    all_brokers: tuple[int, ...]
    deadline: float
    round_s: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    unresponsive: dict[int, UnresponsiveBroker] = field(default_factory=dict)
    mangled: dict[int, KafkaProtocolError] = field(default_factory=dict)
    counts: RequestCounts = field(default_factory=RequestCounts)

    @property
    def brokers(self) -> tuple[int, ...]:
        return tuple(broker for broker in self.all_brokers if broker not in self.unresponsive)

    def send(
        self, requests: Mapping[Key, AddressedRequest], is_passing: Callable[[Any], bool] = lambda _: False
    ) -> dict[Key, Any]:
        """A failure that ``is_passing`` accepts is sent again after 1 s."""
        return self._send(requests, is_passing, is_for_cluster=False)

    def send_to_any(self, request: Any, first: int | None = None) -> Any:
        """Return the first response, else the last failure."""
        answer: Any = DeadlinePassedError()
        for broker in sorted(self.brokers, key=lambda broker: broker != first):
            answer = self._send({0: (broker, request)}, lambda _: False, is_for_cluster=True)[0]
            if not isinstance(answer, Exception):
                break
            if isinstance(answer, KafkaProtocolError):
                self.mangled[broker] = answer
        return answer

    def share_out(self, names: Iterable[Name], without: Container[int] = ()) -> dict[int, list[Name]]:
        """Return {} without brokers."""
        brokers = [broker for broker in self.brokers if broker not in without]
        shares: dict[int, list[Name]] = defaultdict(list)
        for i, name in enumerate(names if brokers else ()):
            shares[brokers[i % len(brokers)]].append(name)
        return dict(shares)

    def _send(
        self, requests: Mapping[Key, AddressedRequest], is_passing: Callable[[Any], bool], *, is_for_cluster: bool
    ) -> dict[Key, Any]:
        answers = self._round(requests, is_for_cluster=is_for_cluster)
        self._look_for_life({requests[key][0]: answer for key, answer in answers.items() if is_timeout(answer)})
        slow, ended = set(), set()
        for key, answer in answers.items():
            if is_timeout(answer):
                slow.add(key)
            elif isinstance(answer, Exception):
                if isinstance(answer, KafkaProtocolError) or _unresponsive_by(answer, self.round_s) is not None:
                    ended.add(key)
            elif is_passing(answer):
                ended.add(key)
        if ended and self.deadline - self.clock() > _RETRY_AFTER_S:
            self.sleep(_RETRY_AFTER_S)
            slow |= ended
        again = {key: requests[key] for key in requests if key in slow and requests[key][0] not in self.unresponsive}
        answers |= self._round(again, is_for_cluster=is_for_cluster)
        for key, answer in answers.items():
            broker = requests[key][0]
            if (unresponsive := _unresponsive_by(answer, self.round_s)) is not None:
                answers[key] = UnresponsiveBrokerError(self.unresponsive.setdefault(broker, unresponsive))
        return answers

    def _round(self, requests: Mapping[Key, AddressedRequest], *, is_for_cluster: bool) -> dict[Key, Any]:
        answers: dict[Key, Any] = {}
        addressed: dict[Key, AddressedRequest] = {}
        for key, (broker, request) in requests.items():
            if broker in self.unresponsive:
                answers[key] = UnresponsiveBrokerError(self.unresponsive[broker])
            else:
                addressed[key] = (broker, request)
        if not addressed:
            return answers
        seconds = min(self.round_s, self.deadline - self.clock())
        if seconds <= 0:
            return answers | dict.fromkeys(addressed, DeadlinePassedError())
        replies = self.client.send(addressed, seconds)
        for key, (broker, request) in addressed.items():
            if not isinstance(replies[key], IncompatibleBrokerVersion):  # never sent
                self.counts.add(request, None if is_for_cluster else broker)
            answers[key] = checked(request, replies[key])
        return answers

    def _look_for_life(self, brokers: Mapping[int, object]) -> None:
        """``brokers``: id → how it timed out."""
        seconds = min(SIGN_OF_LIFE_S, self.deadline - self.clock())
        requests = {broker: (broker, ApiVersionsRequest(max_version=0)) for broker in sorted(brokers)}
        signs = self.client.send(requests, seconds) if requests and seconds > 0 else {}
        for broker, request in requests.items():
            if broker in signs:
                self.counts.add(request[1], broker)
            if isinstance(signs.get(broker, TimeoutError()), Exception):
                self.unresponsive[broker] = UnresponsiveBroker(
                    BrokerState.SILENT, silence(brokers[broker], self.round_s)
                )


def _unresponsive_by(answer: object, seconds: float) -> UnresponsiveBroker | None:
    if isinstance(answer, Exception):
        return unresponsive_by(answer, silence(answer, seconds) if is_timeout(answer) else said_by(answer))
    return None
