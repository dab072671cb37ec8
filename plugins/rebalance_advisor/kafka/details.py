"""What is read beside placement, sizes, offsets and groups, in few requests: a failure costs a line of coverage.

For the cluster: finalized features, client quotas, configs of groups, and, only where an ISR is too small to write,
eligible leader replicas (the one page of partitions that one answer holds). For each broker: where tiered topics begin
on its own disks, only where there are such topics.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kafka.protocol.admin import (
    DescribeClientQuotasRequest,
    DescribeConfigsRequest,
    DescribeTopicPartitionsRequest,
)
from kafka.protocol.consumer import ListOffsetsRequest
from kafka.protocol.metadata import ApiVersionsRequest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.model import Group, GroupType, Quota
from kafka_rebalance.snapshot.ranges import LARGEST_QUOTA
from kafka_rebalance.snapshot.rights import Right
from rebalance_advisor.kafka.assemble import Reading
from rebalance_advisor.kafka.cluster_metadata import SeenPartition, kafka_id
from rebalance_advisor.kafka.connection.client import kafka_error, reason_of
from rebalance_advisor.kafka.coverage import CONFIGS, Coverage
from rebalance_advisor.kafka.offsets import TopicPartition
from rebalance_advisor.kafka.request_sender import RequestSender

_GROUP = 32  # a resource type of DescribeConfigs, from 4.0 on
_NO_SUCH_RESOURCES = 42
_DEFAULT_SOURCE = 5
_PARTITIONS_A_PAGE = 2_000  # what a broker answers at most, as it comes
_CLUSTER_REFUSED = 31
_QUOTAS = FactCode.LACKS_QUOTAS
_LOCAL_START, _KNOWS_LOCAL_START = -4, 8  # the version of ListOffsets that brought it
_LOCAL, _ELIGIBLE = FactCode.LACKS_LOCAL_START_OFFSETS, FactCode.LACKS_ELIGIBLE_LEADERS


def read_details(
    sender: RequestSender, reading: Reading, leaders: Mapping[TopicPartition, int], coverage: Coverage
) -> Reading:
    """The reading with all of it but eligible leaders. ``leaders`` of the partitions that one can ask."""
    tiered = {name for name, values in reading.configs.topics.items() if values.get("remote.storage.enable") == "true"}
    return replace(
        reading,
        features=read_features(sender, coverage),
        quotas=read_quotas(sender, coverage),
        groups=with_group_configs(sender, reading.groups, coverage),
        local_starts=read_local_starts(
            sender, {key: leader for key, leader in leaders.items() if key[0] in tiered}, coverage
        ),
    )


def read_features(sender: RequestSender, coverage: Coverage) -> dict[str, int]:
    """Feature → finalized level; empty where brokers know none (before 2.7, and ZooKeeper's)."""
    if sender.client.version_of(ApiVersionsRequest) < 3:
        return {}
    request = ApiVersionsRequest(client_software_name="rebalance-advisor", client_software_version="1", min_version=3)
    answer = sender.send_to_any(request)
    if isinstance(answer, Exception):
        coverage.add_cluster(FactCode.LACKS_FEATURES, reason_of(answer))
        return {}
    return {row.name: int(row.max_version_level) for row in answer.finalized_features or ()}


def read_quotas(sender: RequestSender, coverage: Coverage) -> tuple[Quota, ...]:
    """All of them, in the order of their entities."""
    if sender.client.version_of(DescribeClientQuotasRequest) < 0:
        return ()
    answer = sender.send_to_any(DescribeClientQuotasRequest(components=[], strict=False))
    if isinstance(answer, Exception):
        coverage.add_cluster(_QUOTAS, reason_of(answer))
        return ()
    if answer.error_code:
        coverage.add_cluster(_QUOTAS, kafka_error(answer.error_code))
        if answer.error_code == _CLUSTER_REFUSED:
            coverage.add_right(Right.BROKER_CONFIGS)
        return ()
    quotas = (
        Quota(
            tuple(sorted((part.entity_type, part.entity_name) for part in entry.entity)),
            {row.key: float(row.value) for row in sorted(entry.values, key=lambda row: str(row.key))
             if 0 <= row.value <= LARGEST_QUOTA},
        )
        for entry in answer.entries or ()
    )  # fmt: skip
    return tuple(sorted(quotas, key=lambda quota: [(kind, name or "") for kind, name in quota.entity]))


def with_group_configs(sender: RequestSender, groups: tuple[Group, ...], coverage: Coverage) -> tuple[Group, ...]:
    """The groups with the configs that somebody set for each; classic groups have none."""
    names = [group.id for group in groups if group.type not in (GroupType.CLASSIC, GroupType.UNKNOWN)]
    if not names:
        return groups
    answer = sender.send_to_any(DescribeConfigsRequest(resources=[(_GROUP, name, None) for name in names]))
    if isinstance(answer, Exception):
        for name in names:
            coverage.add("group", name, CONFIGS, reason_of(answer))
        return groups
    found: dict[str, dict[str, str]] = {}
    for result in answer.results:
        if result.error_code == _NO_SUCH_RESOURCES:  # Kafka 3: groups have no configs of their own there
            continue
        if result.error_code:
            coverage.add_error("group", result.resource_name, CONFIGS, result.error_code)
            continue
        found[result.resource_name] = {
            row.name: row.value
            for row in sorted(result.configs, key=lambda row: str(row.name))
            if row.value is not None and row.config_source != _DEFAULT_SOURCE
        }
    return tuple(replace(group, configs=found.get(group.id, {})) for group in groups)


def _short_of_isr(reading: Reading) -> list[SeenPartition]:
    """Partitions whose ISR is smaller than what a write needs: only there may others be eligible."""
    brokers = [values.get("min.insync.replicas", "1") for values in reading.configs.brokers.values()]
    default = max((int(value) for value in brokers if value.isdigit()), default=1)
    found = []
    for partition in reading.metadata.partitions:
        own = reading.configs.topics.get(partition.topic, {}).get("min.insync.replicas", "")
        if len(partition.isr) < (int(own) if own.isdigit() else default) or partition.leader is None:
            found.append(partition)
    return found


def with_eligible_leaders(sender: RequestSender, reading: Reading, coverage: Coverage) -> Reading:
    """The reading with replicas that may lead although they are not in the ISR (KIP-966), where an ISR is short.

    To be asked last: an ISR that shrank while the rest was read would be shown without them. Leader, ISR, offline and
    eligible replicas of a partition are those of one answer, never of two moments; where the topic was made anew or the
    replicas are others by then, that is told, and the partition stays as it was.
    """
    ids = {topic.name: topic.id for topic in reading.metadata.topics}
    wanted = {(row.topic, row.partition): row for row in _short_of_isr(reading)}
    now, eligible = {}, {}
    for row in read_eligible_leaders(sender, wanted.values(), coverage):
        key = (row.topic, row.partition)
        is_made_anew = None not in (row.topic_id, ids[row.topic]) and row.topic_id != ids[row.topic]
        if is_made_anew or row.replicas != wanted[key].replicas:
            coverage.add_partition(*key, _ELIGIBLE, FactCode.CHANGED_WHILE_READ)
            continue
        now[key] = replace(wanted[key], leader=row.leader, isr=row.isr, offline=row.offline)
        if row.eligible:
            eligible[key] = row.eligible
    rows = tuple(now.get((row.topic, row.partition), row) for row in reading.metadata.partitions)
    return replace(reading, metadata=replace(reading.metadata, partitions=rows), eligible=eligible)


@dataclass(frozen=True, slots=True)
class EligibleLeaders:
    """A partition as DescribeTopicPartitions shows it: ``eligible`` may lead although they are not in ``isr``."""

    topic: str
    topic_id: str | None
    partition: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline: tuple[int, ...]
    eligible: tuple[int, ...]


def read_eligible_leaders(
    sender: RequestSender, partitions: Iterable[SeenPartition], coverage: Coverage
) -> list[EligibleLeaders]:
    """Of these partitions those that the brokers tell of; why others are missing is told."""
    wanted = {(partition.topic, partition.partition) for partition in partitions}
    if not wanted or sender.client.version_of(DescribeTopicPartitionsRequest) < 0:
        return []
    topic = DescribeTopicPartitionsRequest.TopicRequest
    request = DescribeTopicPartitionsRequest(
        topics=[topic(name=name) for name in sorted({name for name, _ in wanted})],
        response_partition_limit=_PARTITIONS_A_PAGE,
        cursor=None,
    )
    answer = sender.send_to_any(request)
    if isinstance(answer, Exception):
        coverage.add_cluster(_ELIGIBLE, reason_of(answer))
        return []
    if answer.next_cursor is not None:
        read_to = answer.next_cursor.topic_name
        reason = fact(FactCode.MORE_THAN_A_PAGE, partitions=_PARTITIONS_A_PAGE, topic=read_to)
        coverage.add_cluster(_ELIGIBLE, reason)
    found = []
    for row in answer.topics:
        if row.error_code:
            coverage.add_error("topic", row.name, _ELIGIBLE, row.error_code)
        found += [
            _eligible_of(row, partition)
            for partition in row.partitions or ()
            if (row.name, partition.partition_index) in wanted  # also one without a leader
        ]
    return found


def _eligible_of(topic: Any, partition: Any) -> EligibleLeaders:
    return EligibleLeaders(
        topic.name,
        kafka_id(topic.topic_id),
        partition.partition_index,
        None if partition.leader_id < 0 else partition.leader_id,
        tuple(partition.replica_nodes),
        tuple(partition.isr_nodes),
        tuple(partition.offline_replicas),
        tuple(partition.eligible_leader_replicas or ()),
    )


def read_local_starts(
    sender: RequestSender, leaders: Mapping[TopicPartition, int], coverage: Coverage
) -> dict[TopicPartition, int]:
    """Of tiered topics: the first offset that the leader holds itself. Older records are elsewhere, their bytes too."""
    if not leaders:
        return {}
    if sender.client.version_of(ListOffsetsRequest) < _KNOWS_LOCAL_START:
        for topic, partition in sorted(leaders):
            coverage.add_partition(topic, partition, _LOCAL, FactCode.BROKERS_DO_NOT_TELL)
        return {}
    by_broker: dict[int, list[TopicPartition]] = defaultdict(list)
    for key, leader in sorted(leaders.items()):
        by_broker[leader].append(key)
    answers = sender.send({broker: (broker, _local_starts(keys)) for broker, keys in by_broker.items()})
    found: dict[TopicPartition, int] = {}
    for broker, answer in answers.items():
        if isinstance(answer, Exception):
            coverage.add_unanswered(broker, FactCode.LACKS_OFFSETS_OF_PARTITIONS, answer, by_broker[broker])
            continue
        _take_local_starts(answer, found, coverage)
    return found


def _take_local_starts(answer: Any, found: dict[TopicPartition, int], coverage: Coverage) -> None:
    for topic in answer.topics:
        for row in topic.partitions:
            if row.error_code:
                coverage.note_refusal(_LOCAL, row.error_code)
                coverage.add_partition(topic.name, row.partition_index, _LOCAL, kafka_error(row.error_code))
            elif row.offset >= 0:
                found[topic.name, row.partition_index] = int(row.offset)


def _local_starts(partitions: list[TopicPartition]) -> Any:
    kind = ListOffsetsRequest.ListOffsetsTopic
    by_topic: dict[str, list[Any]] = defaultdict(list)
    for topic, partition in partitions:
        by_topic[topic].append(kind.ListOffsetsPartition(partition_index=partition, timestamp=_LOCAL_START))
    topics = [kind(name=name, partitions=rows) for name, rows in by_topic.items()]
    return ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=topics, min_version=_KNOWS_LOCAL_START)
