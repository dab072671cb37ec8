"""Cluster of three brokers that answers a snapshot's requests in bytes; and a client that mangles some.

Answers are dicts by field, encoded by kafka-python's schemas and decoded as in its connections.
"""

from __future__ import annotations

import copy
import random
import struct
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from kafka import errors
from kafka.protocol.admin import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from kafka.protocol.broker_version_data import BrokerVersionData
from kafka.protocol.consumer import ListOffsetsRequest, ListOffsetsResponse, OffsetFetchRequest, OffsetFetchResponse
from kafka.protocol.metadata import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka.protocol.parser import KafkaProtocol

from rebalance_advisor.kafka.connection.whole_answers import LARGEST_ANSWER, AnswerBudget, WholeAnswers
from rebalance_advisor.kafka.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)
from tests.unit.kafka.test_member_metadata import parts, subscription

Fields = dict[str, Any]
BROKERS = (1, 2, 3)
# Topic → replicas of each partition, the leader first; "short" lacks an in-sync replica, "tiered" is remote.
TOPICS = {
    "clicks": [[1, 2], [2, 3], [3, 1], [1, 3]],
    "orders": [[2, 1], [3, 2], [1, 2]],
    "short": [[3, 1], [1, 2]],
    "tiered": [[2, 3]],
}
# Group → (type, coordinator, topic that it reads).
GROUPS = {
    "billing": ("Classic", 1, "orders"),
    "audit": ("Classic", 2, "clicks"),
    "search": ("Consumer", 3, "clicks"),
    "queue": ("Share", 2, "orders"),
    "flow": ("Streams", 1, "clicks"),
}


# This one moved after it was listed.
MOVED = {"audit": 3}
_NOT_COORDINATOR, _NO_SUCH_GROUP = 16, 69


def _coordinator_of(group: str) -> int:
    return MOVED.get(group, GROUPS[group][1])


def _of_group(name: str, broker: int, fields: Callable[[], Fields]) -> Fields:
    """A broker's answer for a group: ``fields`` if it is the coordinator."""
    if name not in GROUPS:
        return {"group_id": name, "error_code": _NO_SUCH_GROUP}
    if broker != _coordinator_of(name):
        return {"group_id": name, "error_code": _NOT_COORDINATOR}
    return {"group_id": name, **fields()}


def _uuid(name: str) -> UUID:
    return UUID(int=1 + list(TOPICS).index(name))


def _metadata(_broker: int, request: Any) -> Fields:
    names = list(TOPICS) if request.topics is None else [topic.name for topic in request.topics]
    return {
        "brokers": [{"node_id": i, "host": f"b{i}", "port": 9092, "rack": f"r{i}"} for i in BROKERS],
        "cluster_id": "canned", "controller_id": 1,
        "topics": [
            {"name": name, "topic_id": _uuid(name), "partitions": [
                {"partition_index": i, "leader_id": replicas[0], "replica_nodes": replicas, "offline_replicas": [],
                 "isr_nodes": replicas[:1] if name == "short" else replicas}
                for i, replicas in enumerate(TOPICS[name])
            ]} if name in TOPICS else {"name": name, "error_code": 3}
            for name in names
        ],
    }  # fmt: skip


def _cluster(_broker: int, _request: Any) -> Fields:
    brokers = [{"broker_id": i, "host": f"b{i}", "port": 9092, "rack": f"r{i}", "is_fenced": False} for i in BROKERS]
    return {"cluster_id": "canned", "controller_id": 1, "brokers": brokers, "authorized_operations": {8, 10}}


def _quorum(_broker: int, _request: Any) -> Fields:
    partition = {"partition_index": 0, "leader_id": 1, "current_voters": [{"replica_id": 1}], "observers": []}
    return {"topics": [{"topic_name": "__cluster_metadata", "partitions": [partition]}]}


def _reassignments(_broker: int, _request: Any) -> Fields:
    row = {"partition_index": 1, "replicas": [2, 3], "adding_replicas": [3], "removing_replicas": []}
    return {"topics": [{"name": "clicks", "partitions": [row]}]}


def _log_dirs(broker: int, _request: Any) -> Fields:
    held: dict[int, dict[str, list[Fields]]] = {0: {}, 1: {}}
    for name, partitions in TOPICS.items():
        for i, replicas in enumerate(partitions):
            if broker in replicas:
                rows = held[i % 2].setdefault(name, [])
                rows.append({"partition_index": i, "partition_size": 1_000 * broker + i, "is_future_key": False})
    return {
        "results": [
            {"log_dir": f"/d{number}", "total_bytes": 10**9, "usable_bytes": 10**8,
             "topics": [{"name": name, "partitions": rows} for name, rows in topics.items()]}
            for number, topics in held.items()
        ]
    }  # fmt: skip


def _configs(_broker: int, request: Any) -> Fields:
    def values(kind: int, name: str) -> list[tuple[str, str]]:
        if kind == 2:
            return [("retention.ms", "60000"), *([("remote.storage.enable", "true")] if name == "tiered" else [])]
        return [("min.insync.replicas", "2")] if kind == 4 else [("consumer.session.timeout.ms", "45000")]

    return {
        "results": [
            {"resource_type": resource.resource_type, "resource_name": resource.resource_name, "configs": [
                {"name": name, "value": value, "config_source": 1, "synonyms": []}
                for name, value in values(resource.resource_type, resource.resource_name)
            ]}
            for resource in request.resources
        ]
    }  # fmt: skip


def _list_groups(broker: int, _request: Any) -> Fields:
    return {
        "groups": [
            {"group_id": name, "protocol_type": "consumer", "group_state": "Stable", "group_type": kind}
            for name, (kind, coordinator, _) in GROUPS.items() if coordinator == broker
        ]
    }  # fmt: skip


def _classic(broker: int, request: Any) -> Fields:
    def member(name: str, topic: str, partition: int) -> Fields:
        return {
            "member_id": name, "client_id": "c", "client_host": "/10.0.0.1", "group_instance_id": None,
            "member_metadata": subscription(1, [topic], None, parts((topic, [partition]))),
            "member_assignment": struct.pack(">h", 0) + parts((topic, [partition])) + struct.pack(">i", -1),
        }  # fmt: skip

    def group(name: str) -> Fields:
        members = [member(f"m{i}", GROUPS[name][2], i) for i in range(2)]
        return {"group_state": "Stable", "protocol_type": "consumer", "protocol_data": "range", "members": members}

    return {"groups": [_of_group(name, broker, lambda name=name: group(name)) for name in request.groups]}


def _assignment(topic: str, *partitions: int) -> Fields:
    return {"topic_partitions": [{"topic_id": _uuid(topic), "topic_name": topic, "partitions": list(partitions)}]}


def _modern(broker: int, request: Any) -> Fields:
    def group(name: str) -> Fields:
        topic = GROUPS[name][2]
        members = [
            {"member_id": f"m{i}", "client_id": "c", "client_host": "/10.0.0.1", "member_epoch": 3,
             "rack_id": f"r{i}", "subscribed_topic_names": [topic], "assignment": _assignment(topic, i),
             "target_assignment": _assignment(topic, i)}
            for i in range(2)
        ]  # fmt: skip
        return {
            "group_state": "Stable", "group_epoch": 3, "assignment_epoch": 3, "assignor_name": "uniform",
            "members": members,
        }  # fmt: skip

    return {"groups": [_of_group(name, broker, lambda name=name: group(name)) for name in request.group_ids]}


def _streams(broker: int, request: Any) -> Fields:
    topic = {"name": "flow-changelog", "partitions": 4, "replication_factor": 2, "topic_configs": []}
    part = {
        "subtopology_id": "0", "source_topics": ["clicks"], "repartition_sink_topics": [],
        "state_changelog_topics": [topic], "repartition_source_topics": [],
    }  # fmt: skip
    tasks = {
        "active_tasks": [{"subtopology_id": "0", "partitions": [0, 1]}], "standby_tasks": [],
        "warmup_tasks": [{"subtopology_id": "0", "partitions": [2]}],
    }  # fmt: skip
    member = {
        "member_id": "m0", "member_epoch": 2, "client_id": "c", "client_host": "/10.0.0.1", "topology_epoch": 1,
        "process_id": "p", "client_tags": [], "task_offsets": [], "task_end_offsets": [], "assignment": tasks,
        "target_assignment": tasks, "is_classic": False, "user_endpoint": None,
    }  # fmt: skip
    group = {
        "group_state": "Stable", "group_epoch": 2, "assignment_epoch": 2,
        "topology": {"epoch": 1, "subtopologies": [part]}, "members": [member],
    }  # fmt: skip
    return {"groups": [_of_group(name, broker, lambda: group) for name in request.group_ids]}


def _commits(broker: int, request: Any) -> Fields:
    def topics(group: str) -> Fields:
        rows = [{"partition_index": i, "committed_offset": 40 + i, "metadata": ""} for i in range(3)]
        return {"topics": [{"name": GROUPS[group][2], "partitions": rows}]}

    names = [group.group_id for group in request.groups]
    return {"groups": [_of_group(name, broker, lambda name=name: topics(name)) for name in names]}


def _share_offsets(broker: int, request: Any) -> Fields:
    rows = [{"partition_index": i, "start_offset": 30 + i, "lag": 5} for i in range(3)]
    topics = {"topics": [{"topic_name": "orders", "topic_id": _uuid("orders"), "partitions": rows}]}
    return {"groups": [_of_group(group.group_id, broker, lambda: topics) for group in request.groups]}


def _offsets(_broker: int, request: Any) -> Fields:
    by_time = {-2: 10, -1: 90, -4: 50}
    return {
        "topics": [
            {"name": topic.name, "partitions": [
                {"partition_index": row.partition_index, "offset": by_time[row.timestamp] + row.partition_index}
                for row in topic.partitions
            ]}
            for topic in request.topics
        ]
    }  # fmt: skip


def _coordinators(_broker: int, request: Any) -> Fields:
    return {
        "coordinators": [
            {"key": name, "node_id": _coordinator_of(name), "host": f"b{_coordinator_of(name)}", "port": 9092}
            if name in GROUPS else {"key": name, "node_id": -1, "port": -1, "error_code": 15}
            for name in request.coordinator_keys
        ]
    }  # fmt: skip


def _quotas(_broker: int, _request: Any) -> Fields:
    entity = [{"entity_type": "user", "entity_name": "app"}]
    return {"entries": [{"entity": entity, "values": [{"key": "producer_byte_rate", "value": 1e6}]}]}


def _topic_partitions(_broker: int, request: Any) -> Fields:
    return {
        "topics": [
            {"name": topic.name, "topic_id": _uuid(topic.name), "partitions": [
                {"partition_index": i, "leader_id": replicas[0], "replica_nodes": replicas, "isr_nodes": replicas[:1],
                 "eligible_leader_replicas": replicas[1:], "offline_replicas": []}
                for i, replicas in enumerate(TOPICS[topic.name])
            ]} if topic.name in TOPICS else {"name": topic.name, "error_code": 3}
            for topic in request.topics
        ],
        "next_cursor": None,
    }  # fmt: skip


def _versions(_broker: int, _request: Any) -> Fields:
    features = [{"name": "metadata.version", "max_version_level": 25, "min_version_level": 25}]
    keys = [{"api_key": kind.API_KEY, "min_version": 0, "max_version": newest} for kind, (newest, _, _) in APIS.items()]
    return {"api_keys": keys, "supported_features": [], "finalized_features": features, "finalized_features_epoch": 1}


APIS: dict[Any, tuple[int, Any, Callable[[int, Any], Fields]]] = {
    ApiVersionsRequest: (4, ApiVersionsResponse, _versions),
    ConsumerGroupDescribeRequest: (1, ConsumerGroupDescribeResponse, _modern),
    DescribeClientQuotasRequest: (1, DescribeClientQuotasResponse, _quotas),
    DescribeClusterRequest: (2, DescribeClusterResponse, _cluster),
    DescribeConfigsRequest: (4, DescribeConfigsResponse, _configs),
    DescribeGroupsRequest: (5, DescribeGroupsResponse, _classic),
    DescribeLogDirsRequest: (4, DescribeLogDirsResponse, _log_dirs),
    DescribeQuorumRequest: (2, DescribeQuorumResponse, _quorum),
    DescribeShareGroupOffsetsRequest: (1, DescribeShareGroupOffsetsResponse, _share_offsets),
    DescribeTopicPartitionsRequest: (0, DescribeTopicPartitionsResponse, _topic_partitions),
    FindCoordinatorRequest: (5, FindCoordinatorResponse, _coordinators),
    ListGroupsRequest: (5, ListGroupsResponse, _list_groups),
    ListOffsetsRequest: (8, ListOffsetsResponse, _offsets),
    ListPartitionReassignmentsRequest: (0, ListPartitionReassignmentsResponse, _reassignments),
    MetadataRequest: (12, MetadataResponse, _metadata),
    OffsetFetchRequest: (8, OffsetFetchResponse, _commits),
    ShareGroupDescribeRequest: (1, ShareGroupDescribeResponse, _modern),
    StreamsGroupDescribeRequest: (0, StreamsGroupDescribeResponse, _streams),
}


def built(kind: Any, fields: Mapping[str, Any], version: int) -> Any:
    """A message or a part of one; what is not given has its default."""
    schema = {name: field for name, field in kind.fields.items() if field.for_version_q(version)}

    def value(name: str) -> Any:
        field_value, field = fields[name], schema[name]
        if field_value is None:
            return None
        if field.is_struct_array():
            return [built(field.data_class, row, version) for row in field_value]
        return built(field.data_class, field_value, version) if field.is_struct() else field_value

    return kind(version=version, **{name: value(name) for name in fields if name in schema})


class Mangling:
    """Changes each answer of one broker to one kind of request in the same way, or only the first of them."""

    def __init__(self, broker: int, request: Any, how: str, seed: int, *, is_for_ever: bool) -> None:
        self.broker, self.request, self.how, self.seed, self.is_for_ever = broker, request, how, seed, is_for_ever
        self.count = 0

    def concerns(self, broker: int, request: Any) -> bool:
        return (broker, type(request)) == (self.broker, self.request) and (self.is_for_ever or not self.count)

    def fields(self, fields: Fields) -> Fields:
        """For ``null``, ``twice``, ``gone`` and ``minus``: one list of the answer, or one number in it, is another."""
        places: list[tuple[Any, Any]] = []
        _find(fields, places, int if self.how == "minus" else list)
        if not places:
            return fields
        holder, key = self._random().choice(places)
        if self.how == "minus":
            holder[key] = -2
        elif self.how == "null":
            holder[key] = None
        elif holder[key]:
            at = self._random().randrange(len(holder[key]))
            holder[key] = [*holder[key], holder[key][at]] if self.how == "twice" else holder[key][:at]
        return fields

    def body(self, body: bytes) -> bytes:
        """For ``byte``, ``cut`` and ``repeat``: the bytes of the answer behind its correlation id."""
        rng = self._random()
        at = rng.randrange(len(body))
        if self.how == "byte":
            return body[:at] + bytes([body[at] ^ rng.randrange(1, 256)]) + body[at + 1 :]
        return body[:at] if self.how == "cut" else body[:at] + body[rng.randrange(at + 1) : at] + body[at:]

    def _random(self) -> random.Random:
        return random.Random(self.seed)


def _find(value: Any, places: list[tuple[Any, Any]], kind: type) -> None:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        if type(inner) is kind:
            places.append((value, key))
        if isinstance(inner, dict | list):
            _find(inner, places, kind)


class WireClient:
    """The part of the client that a snapshot needs, with bytes for requests and answers."""

    def __init__(self, mangling: Mangling | None = None) -> None:
        self.mangling = mangling
        self.versions = BrokerVersionData(
            api_versions={kind.API_KEY: (0, newest) for kind, (newest, _, _) in APIS.items()}
        )
        self.asked: list[tuple[int, Any]] = []

    def version_of(self, request: Any) -> int:
        return int(self.versions.api_version(request))

    def send(self, requests: Mapping[Any, tuple[int, Any]], seconds: float) -> dict[Any, Any]:
        assert seconds > 0
        return {key: self._one(broker, request) for key, (broker, request) in requests.items()}

    def _one(self, broker: int, request: Any) -> Any:
        self.asked.append((broker, type(request)))
        request.API_VERSION = self.versions.api_version(request)
        connection = _Connection(request)
        answers = WholeAnswers(connection, _never, f"b{broker}:9092", AnswerBudget())
        try:
            answers.data_received(self._reply(broker, connection.sent))
        except errors.KafkaProtocolError as failure:
            return failure
        return connection.response

    def _reply(self, broker: int, frame: bytes) -> bytes:
        key, version, correlation = struct.unpack_from(">hhi", frame, 4)
        kind = next(kind for kind in APIS if key == kind.API_KEY)
        request = kind.decode(frame[4:], version=version, header=True)
        mangling = self.mangling if self.mangling and self.mangling.concerns(broker, request) else None
        fields = copy.deepcopy(APIS[kind][2](broker, request))
        if mangling:
            mangling.count += 1
            if mangling.how in ("null", "twice", "gone", "minus"):
                fields = mangling.fields(fields)
        response = built(APIS[kind][1], fields, version)
        has_tags = kind is not ApiVersionsRequest and response.flexible_version_q(version)
        body = bytes(response.encode(version=version))
        if mangling and mangling.how in ("byte", "cut", "repeat"):
            body = mangling.body(body)
        whole = struct.pack(">i", correlation) + (b"\0" if has_tags else b"") + body
        return struct.pack(">i", len(whole)) + whole


class _Connection:
    """Receiver of answers from ``WholeAnswers``."""

    def __init__(self, request: Any) -> None:
        self._parser = KafkaProtocol(client_id="test", receive_message_max_bytes=LARGEST_ANSWER)
        self._parser.send_request(request)
        self.sent: bytes = self._parser.send_bytes()
        self.response: Any = TimeoutError("no answer")

    def data_received(self, data: bytes) -> None:
        for _, response in self._parser.receive_bytes(data):
            self.response = response


def _never(failure: Exception) -> None:
    raise AssertionError(failure)
