from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from uuid import UUID

from kafka.protocol.admin import DescribeClusterRequest, DescribeQuorumRequest, ListPartitionReassignmentsRequest
from kafka.protocol.metadata import MetadataRequest

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.render import render
from kafka_rebalance.snapshot.coverage import Right
from kafka_rebalance.snapshot.figures import uuid_text
from rebalance_advisor.kafka.connection.client import kafka_error, reason_of
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.request_sender import RequestSender

OFFSETS_TOPIC = "__consumer_offsets"
_DESCRIBE, _DESCRIBE_CONFIGS = 8, 10  # bits of authorized_operations (AclOperation)
_REASSIGNMENT_TIMEOUT_MS = 30_000


class ClusterUnreadableError(AdvisorError):
    """No broker answered Metadata."""


@dataclass(frozen=True, slots=True)
class SeenBroker:
    id: int
    host: str
    port: int
    rack: str | None
    is_fenced: bool = False


@dataclass(frozen=True, slots=True)
class SeenPartition:
    topic: str
    partition: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SeenTopic:
    name: str
    id: str | None
    is_internal: bool


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """``reassignments``: (topic, partition) → (adding, removing)."""

    cluster_id: str | None
    controller: int | None
    brokers: tuple[SeenBroker, ...]
    topics: tuple[SeenTopic, ...]
    partitions: tuple[SeenPartition, ...]
    reassignments: dict[tuple[str, int], tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicsSeen:
    topics: dict[str, SeenTopic] = field(default_factory=dict)
    partitions: dict[str, tuple[SeenPartition, ...]] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    brokers: dict[int, SeenBroker] = field(default_factory=dict)


def read_cluster_metadata(sender: RequestSender, coverage: Coverage) -> ClusterMetadata:
    metadata = sender.send_to_any(MetadataRequest(topics=None, allow_auto_topic_creation=False))
    if isinstance(metadata, Exception):
        raise ClusterUnreadableError(
            f"no broker told the cluster's metadata ({render(reason_of(metadata))}); try again"
        )
    topics = _topics(metadata, coverage)
    cluster = sender.send_to_any(
        DescribeClusterRequest(include_cluster_authorized_operations=True, include_fenced_brokers=True)
    )
    _note_rights(sender, cluster, coverage)
    controller = _controller(sender, metadata, coverage)
    return ClusterMetadata(
        cluster_id=metadata.cluster_id,
        controller=controller,
        brokers=_brokers(cluster, metadata, coverage),
        topics=tuple(topics.topics.values()),
        partitions=tuple(chain.from_iterable(topics.partitions.values())),
        reassignments=read_reassignments(sender, controller, coverage),
    )


def refreshed_leaders(sender: RequestSender, topics: set[str]) -> dict[tuple[str, int], int]:
    """Return {} when no broker answers."""
    requested_topics = [MetadataRequest.MetadataRequestTopic(name=topic) for topic in sorted(topics)]
    metadata = sender.send_to_any(MetadataRequest(topics=requested_topics, allow_auto_topic_creation=False))
    if isinstance(metadata, Exception):
        return {}
    return {
        (topic.name, partition.partition_index): partition.leader_id
        for topic in metadata.topics
        for partition in topic.partitions
        if partition.leader_id >= 0
    }


def look_again(sender: RequestSender, topics: Iterable[str] | None = None) -> TopicsSeen | Exception:
    requested_topics = (
        None if topics is None else [MetadataRequest.MetadataRequestTopic(name=name) for name in sorted(topics)]
    )
    metadata = sender.send_to_any(MetadataRequest(topics=requested_topics, allow_auto_topic_creation=False))
    return metadata if isinstance(metadata, Exception) else _topics_of(metadata)


def _topics_of(metadata: Any) -> TopicsSeen:
    reading = TopicsSeen(
        brokers={
            broker.node_id: SeenBroker(broker.node_id, broker.host, broker.port, broker.rack)
            for broker in metadata.brokers
        }
    )
    for topic in sorted(metadata.topics, key=lambda row: row.name or ""):
        if topic.error_code:
            reading.errors[topic.name] = int(topic.error_code)
            continue
        reading.topics[topic.name] = SeenTopic(topic.name, kafka_id(topic.topic_id), bool(topic.is_internal))
        reading.partitions[topic.name] = tuple(
            SeenPartition(
                topic.name, row.partition_index, None if row.leader_id < 0 else row.leader_id,
                tuple(row.replica_nodes), tuple(row.isr_nodes), tuple(row.offline_replicas or ()),
            )
            for row in sorted(topic.partitions, key=lambda partition: int(partition.partition_index))
        )  # fmt: skip
    return reading


def _topics(metadata: Any, coverage: Coverage) -> TopicsSeen:
    topics = _topics_of(metadata)
    for name, code in topics.errors.items():
        coverage.add_error("topic", name, FactCode.LACKS_PARTITIONS, code)
    offsets = topics.partitions.get(OFFSETS_TOPIC, ())
    leaderless = sum(partition.leader is None for partition in offsets)
    if leaderless:
        # Kafka silently omits their groups from every list.
        reason = fact(
            FactCode.OFFSETS_TOPIC_LEADERLESS, topic=OFFSETS_TOPIC, leaderless=leaderless, partitions=len(offsets)
        )
        coverage.add_cluster(FactCode.LACKS_GROUPS, reason)
    return topics


def _brokers(cluster: Any, metadata: Any, coverage: Coverage) -> tuple[SeenBroker, ...]:
    """Add the fenced brokers of DescribeCluster (from 4.0)."""
    by_id = {
        broker.node_id: SeenBroker(broker.node_id, broker.host, broker.port, broker.rack) for broker in metadata.brokers
    }
    if isinstance(cluster, Exception) or cluster.error_code:
        reason = reason_of(cluster) if isinstance(cluster, Exception) else kafka_error(cluster.error_code)
        coverage.add_cluster(FactCode.LACKS_FENCED_BROKERS, reason)
        return tuple(by_id[broker] for broker in sorted(by_id))
    for broker in cluster.brokers:
        is_fenced = bool(getattr(broker, "is_fenced", False))
        if is_fenced or broker.broker_id not in by_id:
            by_id[broker.broker_id] = SeenBroker(broker.broker_id, broker.host, broker.port, broker.rack, is_fenced)
    return tuple(by_id[broker] for broker in sorted(by_id))


def _note_rights(sender: RequestSender, cluster: Any, coverage: Coverage) -> None:
    """An *empty* set means no right. Brokers before 2.8 send it with Metadata."""
    answer = cluster
    if sender.client.version_of(DescribeClusterRequest) < 0:
        answer = sender.send_to_any(
            MetadataRequest(
                topics=[], allow_auto_topic_creation=False, include_cluster_authorized_operations=True, min_version=8,
                max_version=10,
            )
        )  # fmt: skip
    is_told = not isinstance(answer, Exception) and not getattr(answer, "error_code", 0)
    rights = (answer.authorized_operations or ()) if is_told else ()
    if _DESCRIBE not in rights:
        coverage.add_right(Right.DESCRIBE_CLUSTER, is_told=is_told)
    elif _DESCRIBE_CONFIGS not in rights:
        coverage.add_right(Right.BROKER_CONFIGS)


def _controller(sender: RequestSender, metadata: Any, coverage: Coverage) -> int | None:
    """KRaft's Metadata names a random broker, so this returns the leader of the metadata quorum."""
    if sender.client.version_of(DescribeQuorumRequest) < 0:
        return int(metadata.controller_id) if metadata.controller_id >= 0 else None
    topic = DescribeQuorumRequest.TopicData
    request = DescribeQuorumRequest(
        topics=[topic(topic_name="__cluster_metadata", partitions=[topic.PartitionData(partition_index=0)])]
    )
    answer = sender.send_to_any(request)
    if isinstance(answer, Exception):
        coverage.add_cluster(FactCode.LACKS_CONTROLLER, reason_of(answer))
        return None
    codes = [answer.error_code, *(partition.error_code for topic in answer.topics for partition in topic.partitions)]
    if any(codes):
        coverage.add_error("cluster", "", FactCode.LACKS_CONTROLLER, next(filter(None, codes)))
        return None
    return int(answer.topics[0].partitions[0].leader_id)


def read_reassignments(
    sender: RequestSender, controller: int | None, coverage: Coverage
) -> dict[tuple[str, int], tuple[tuple[int, ...], tuple[int, ...]]]:
    """With ZooKeeper only the controller answers."""
    request = ListPartitionReassignmentsRequest(timeout_ms=_REASSIGNMENT_TIMEOUT_MS, topics=None)
    answer = sender.send_to_any(request, first=controller)
    if isinstance(answer, Exception):
        coverage.add_cluster(FactCode.LACKS_REASSIGNMENTS, reason_of(answer))
        return {}
    if answer.error_code:
        coverage.add_error("cluster", "", FactCode.LACKS_REASSIGNMENTS, answer.error_code)
        return {}
    return {
        (topic.name, partition.partition_index): (tuple(partition.adding_replicas), tuple(partition.removing_replicas))
        for topic in answer.topics
        for partition in topic.partitions
    }


def kafka_id(topic_id: UUID | None) -> str | None:
    if topic_id is None or topic_id.int == 0:
        return None
    return uuid_text(topic_id.bytes)
