"""Read a running cluster into one ``ClusterSnapshot``, under one deadline, without writing.

At most 14 requests to each broker and 10 for the cluster. An unresponsive broker costs 5 to 6 s and one gap. Metadata
is read again at the end, so each topic has one state: changed topics are read again; if they change twice they have no
sizes and offsets, and a gap. Brokers that joined or left count as unresponsive.

Log dirs, members and commits can name topics hidden from Metadata. Each is requested alone: Kafka answers "not
authorized" (also if absent), or "unknown" to an authorized user, which is no gap.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any, TypeVar

from kafka.errors import KafkaError
from kafka.protocol.admin import (
    DescribeClientQuotasRequest,
    DescribeConfigsRequest,
    DescribeLogDirsRequest,
    DescribeTopicPartitionsRequest,
)
from kafka.protocol.consumer import ListOffsetsRequest
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest

from kafka_assignors.releases import broker_release
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.render import render
from kafka_rebalance.snapshot.coverage import Right
from kafka_rebalance.snapshot.figures import LARGEST_QUOTA, topic_name_fault
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    GroupType,
    LogDir,
    Partition,
    Quota,
    Topic,
    partition_table,
)
from kafka_rebalance.snapshot.partition_table import FutureReplica
from rebalance_advisor.kafka.cluster_metadata import (
    ClusterMetadata,
    ClusterUnreadableError,
    SeenPartition,
    TopicsSeen,
    kafka_id,
    look_again,
    read_cluster_metadata,
    read_reassignments,
)
from rebalance_advisor.kafka.connection.client import ClusterClient, error_name, kafka_error, reason_of
from rebalance_advisor.kafka.connection.probe import find_server
from rebalance_advisor.kafka.connection.properties import connection_settings
from rebalance_advisor.kafka.connection.settings import ConnectionSettings
from rebalance_advisor.kafka.coverage import CONFIGS, Coverage
from rebalance_advisor.kafka.groups import ListedGroups, describe_groups, list_groups
from rebalance_advisor.kafka.offsets import TopicPartition, leaders_of, read_ends, read_group_offsets
from rebalance_advisor.kafka.request_sender import RequestCounts, RequestSender
from rebalance_advisor.kafka.unresponsive import UnresponsiveBroker

TOPIC_CONFIGS = (
    "cleanup.policy", "compression.type", "follower.replication.throttled.replicas",
    "leader.replication.throttled.replicas", "local.retention.bytes", "local.retention.ms", "min.insync.replicas",
    "remote.storage.enable", "retention.bytes", "retention.ms", "segment.bytes", "segment.ms",
    "unclean.leader.election.enable",
)  # fmt: skip
# Defaults for topics and groups; reported even when not set.
BROKER_DEFAULTS = (
    "confluent.balancer.enable", "default.replication.factor", "group.consumer.assignors",
    "group.consumer.heartbeat.interval.ms",
    "group.consumer.migration.policy", "group.consumer.session.timeout.ms", "group.coordinator.rebalance.protocols",
    "group.initial.rebalance.delay.ms", "group.max.session.timeout.ms", "group.max.size",
    "group.min.session.timeout.ms", "group.share.record.lock.duration.ms", "group.share.session.timeout.ms",
    "group.streams.num.standby.replicas", "group.streams.session.timeout.ms", "log.local.retention.bytes",
    "log.local.retention.ms", "log.retention.bytes", "log.retention.hours", "log.retention.minutes",
    "log.retention.ms", "log.segment.bytes", "offsets.retention.minutes",
)  # fmt: skip
BROKER_CONFIGS = (
    "auto.leader.rebalance.enable", "follower.replication.throttled.rate",
    "leader.imbalance.per.broker.percentage", "leader.replication.throttled.rate", "min.insync.replicas",
    "num.replica.fetchers", "replica.alter.log.dirs.io.max.bytes.per.second", "replica.selector.class",
    *BROKER_DEFAULTS,
)  # fmt: skip
_TOPIC, _BROKER = 2, 4
_DEFAULT_SOURCE = 5
_METADATA_TOPIC = "__cluster_metadata"


@dataclass(frozen=True, slots=True)
class Storage:
    """Brokers without an answer are absent.

    ``dir_indexes``: dir of a replica; ``future``: copies in progress on another dir.
    """

    log_dirs: dict[int, tuple[LogDir, ...]] = field(default_factory=dict)
    sizes: dict[int, dict[tuple[str, int], int]] = field(default_factory=dict)
    dir_indexes: dict[int, dict[tuple[str, int], int]] = field(default_factory=dict)
    future: dict[int, dict[tuple[str, int], tuple[int, int]]] = field(default_factory=dict)

    def topic_names(self) -> set[str]:
        """Includes topics without the Describe right."""
        return {topic for sizes in self.sizes.values() for topic, _ in sizes} - {_METADATA_TOPIC}


@dataclass(frozen=True, slots=True)
class Configs:
    topics: dict[str, dict[str, str]] = field(default_factory=dict)
    brokers: dict[int, dict[str, str]] = field(default_factory=dict)


def read_storage(sender: RequestSender, coverage: Coverage) -> Storage:
    """Needs only Describe on the cluster."""
    answers = sender.send({broker: (broker, DescribeLogDirsRequest(topics=None)) for broker in sender.all_brokers})
    storage = Storage()
    for broker, answer in sorted(answers.items()):
        if isinstance(answer, Exception):
            coverage.add_unanswered(broker, FactCode.LACKS_LOG_DIRS, answer)
            continue
        if code := int(getattr(answer, "error_code", 0) or 0):
            coverage.add_error("broker", broker, FactCode.LACKS_LOG_DIRS, code)
            continue
        for result in answer.results:
            if result.error_code:  # content of an offline dir is unknown
                what = fact(FactCode.LACKS_LOG_DIR, path=result.log_dir)
                coverage.add_error("broker", broker, what, result.error_code)
        storage.log_dirs[broker] = tuple(
            sorted((_log_dir(result) for result in answer.results), key=lambda log_dir: log_dir.path)
        )
        # A future replica is a second row.
        storage.sizes[broker] = _sizes(answer)
        _note_places(storage, broker, answer)
    return storage


def _note_places(storage: Storage, broker: int, answer: Any) -> None:
    index = {log_dir.path: number for number, log_dir in enumerate(storage.log_dirs[broker])}
    dir_indexes, future = storage.dir_indexes.setdefault(broker, {}), storage.future.setdefault(broker, {})
    for result in answer.results:
        for topic in result.topics:
            for partition in topic.partitions:
                key = (topic.name, partition.partition_index)
                if partition.is_future_key:
                    future[key] = (index[result.log_dir], partition.partition_size)
                elif len(index) > 1:
                    dir_indexes[key] = index[result.log_dir]


def read_sizes(sender: RequestSender, partitions: Iterable[tuple[str, int]]) -> dict[int, dict[tuple[str, int], int]]:
    topic_type = DescribeLogDirsRequest.DescribableLogDirTopic
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        by_topic.setdefault(topic, []).append(partition)
    requested_topics = [topic_type(topic=topic, partitions=numbers) for topic, numbers in by_topic.items()]
    answers = sender.send(
        {broker: (broker, DescribeLogDirsRequest(topics=requested_topics)) for broker in sender.brokers}
    )
    return {
        broker: _sizes(answer)
        for broker, answer in answers.items()
        if not isinstance(answer, Exception) and not getattr(answer, "error_code", 0)
    }


def _sizes(answer: Any) -> dict[tuple[str, int], int]:
    return {
        (topic.name, partition.partition_index): partition.partition_size
        for result in answer.results
        for topic in result.topics
        for partition in topic.partitions
        if not partition.is_future_key
    }


def read_configs(
    sender: RequestSender, topics: Iterable[str], coverage: Coverage, *, of_brokers: bool = True
) -> Configs:
    configs = Configs()
    cluster_wide: dict[str, str] = {}
    own = set(sender.all_brokers) if of_brokers else set()
    left: list[_Resource] = [(_TOPIC, name) for name in sorted(topics)] + ([_CLUSTER_WIDE] if of_brokers else [])
    failed: dict[int, Exception] = {}
    while left or own:
        shares = sender.share_out(left, without=failed)
        requests = {}
        for broker in sorted(shares.keys() | own):
            of_itself = [(_BROKER, str(broker))] if broker in own else []
            requests[broker] = broker, _question([*shares.get(broker, ()), *of_itself])
        if not requests:
            break
        left = []
        for broker, answer in sender.send(requests).items():
            if isinstance(answer, Exception):
                failed[broker] = answer
                left += shares.get(broker, ())
                if broker in own:
                    coverage.add_unanswered(broker, CONFIGS, answer)
                continue
            for result in answer.results:
                _take(result, configs, cluster_wide, coverage)
        own = set()
    for kind in sorted({"broker" if resource[0] == _BROKER else "topic" for resource in left}):
        reason = reason_of([*failed.values()][-1]) if failed else fact(FactCode.NO_BROKER_LEFT_TO_ASK)
        coverage.add_cluster(fact(FactCode.LACKS_CONFIGS, kind=kind), reason)
    if of_brokers:
        _add_defaults(configs, cluster_wide, sender.all_brokers)
    return configs


def _add_defaults(configs: Configs, cluster_wide: Mapping[str, str], brokers: Iterable[int]) -> None:
    """Set each broker's configs: its own, else the cluster-wide default."""
    default = {key: value for key, value in cluster_wide.items() if key in BROKER_CONFIGS}
    for broker in brokers:
        configs.brokers[broker] = dict(sorted({**default, **configs.brokers.get(broker, {})}.items()))


_Resource = tuple[int, str]
_CLUSTER_WIDE: _Resource = (_BROKER, "")


def _question(resources: list[_Resource]) -> Any:
    names = {_TOPIC: list(TOPIC_CONFIGS), _BROKER: list(BROKER_CONFIGS)}
    return DescribeConfigsRequest(
        resources=[(*resource, None if resource == _CLUSTER_WIDE else names[resource[0]]) for resource in resources]
    )


def _take(result: Any, configs: Configs, cluster_wide: dict[str, str], coverage: Coverage) -> None:
    is_topic, name = result.resource_type == _TOPIC, result.resource_name
    if result.error_code:
        if is_topic:
            coverage.add_error("topic", name, CONFIGS, result.error_code)
        elif name:
            coverage.add_error("broker", name, CONFIGS, result.error_code)
        else:
            coverage.add_error("cluster", "", fact(FactCode.LACKS_CONFIGS, kind="broker"), result.error_code)
        return
    values = {
        config.name: config.value
        for config in sorted(result.configs, key=lambda entry: str(entry.name))
        if config.value is not None
        and (config.config_source != _DEFAULT_SOURCE or config.name in BROKER_DEFAULTS)
        and not config.is_sensitive
    }
    if is_topic:
        configs.topics[name] = values
    elif name:
        configs.brokers[int(name)] = values
    else:
        cluster_wide.update(values)


def _log_dir(result: Any) -> LogDir:
    total, usable = getattr(result, "total_bytes", -1), getattr(result, "usable_bytes", -1)
    return LogDir(
        path=result.log_dir,
        total_bytes=total if total is not None and total >= 0 else None,
        usable_bytes=usable if usable is not None and usable >= 0 else None,
        error=error_name(result.error_code) if result.error_code else None,
        is_cordoned=bool(getattr(result, "is_cordoned", False)),
    )


@dataclass(frozen=True, slots=True)
class Reading:
    metadata: ClusterMetadata
    storage: Storage
    configs: Configs
    starts: Mapping[TopicPartition, int]
    ends: Mapping[TopicPartition, int]
    groups: tuple[Group, ...] = ()
    unresponsive: Mapping[int, UnresponsiveBroker] = field(default_factory=dict)
    features: Mapping[str, int] = field(default_factory=dict)
    quotas: tuple[Quota, ...] = ()
    eligible: Mapping[TopicPartition, tuple[int, ...]] = field(default_factory=dict)
    local_starts: Mapping[TopicPartition, int] = field(default_factory=dict)


def note_unseen(reading: Reading, coverage: Coverage) -> None:
    """Replicas on unreachable brokers, and offline replicas on live ones."""
    metadata = reading.metadata
    fenced = {broker.id for broker in metadata.brokers if broker.is_fenced}
    for broker in sorted(fenced - reading.unresponsive.keys()):
        coverage.add_unanswered(broker, FactCode.LACKS_LOG_DIRS, FactCode.BROKER_IS_FENCED)
    registered = {broker.id for broker in metadata.brokers}
    for broker in sorted({replica for partition in metadata.partitions for replica in partition.replicas} - registered):
        coverage.add("broker", broker, FactCode.LACKS_EVERYTHING, FactCode.BROKER_NOT_REGISTERED)
    serving = registered - fenced - reading.unresponsive.keys()
    failed = {broker for broker, dirs in reading.storage.log_dirs.items() if any(log_dir.error for log_dir in dirs)}
    for partition in metadata.partitions:
        moving = metadata.reassignments.get((partition.topic, partition.partition), ((), ()))
        if not {*moving[0], *moving[1]} <= set(partition.replicas):
            coverage.add_partition(
                partition.topic, partition.partition, FactCode.LACKS_REASSIGNMENTS, FactCode.CHANGED_WHILE_READ
            )
        for broker in sorted(serving & set(partition.offline)):
            reason = fact(FactCode.REPLICA_IS_OFFLINE, broker=broker)
            coverage.add_partition(partition.topic, partition.partition, FactCode.LACKS_OFFLINE_REPLICA, reason)
        # Metadata may be seconds behind the broker.
        key = (partition.topic, partition.partition)
        for broker in sorted(failed & set(partition.replicas) - set(partition.offline)):
            if key not in reading.storage.sizes[broker]:
                reason = fact(FactCode.LOG_DIR_IS_OFFLINE, broker=broker)
                coverage.add_partition(*key, FactCode.LACKS_REPLICA_SIZE, reason)


def assemble_snapshot(cluster_name: str, reading: Reading) -> ClusterSnapshot:
    metadata, configs = reading.metadata, reading.configs
    topics = tuple(
        Topic(known_topic.name, known_topic.id, known_topic.is_internal, configs.topics.get(known_topic.name, {}))
        for known_topic in metadata.topics
    )
    return ClusterSnapshot(
        cluster=cluster_name,
        brokers=_brokers(reading),
        topics=topics,
        partitions=partition_table(_rows(reading), {topic.name: i for i, topic in enumerate(topics)}),
        groups=reading.groups,
        cluster_id=metadata.cluster_id,
        features=reading.features,
        quotas=reading.quotas,
    )


def _rows(reading: Reading) -> list[Partition]:
    rows = []
    has_several_dirs = any(len(dirs) > 1 for dirs in reading.storage.log_dirs.values())
    dir_indexes, future = reading.storage.dir_indexes, reading.storage.future
    for partition in reading.metadata.partitions:
        key = (partition.topic, partition.partition)
        adding, removing = reading.metadata.reassignments.get(key, ((), ()))
        if not {*adding, *removing} <= set(partition.replicas):
            adding, removing = (), ()  # the reassignment began or ended between two answers
        rows.append(
            Partition(
                partition.topic,
                partition.partition,
                partition.replicas,
                partition.leader,
                partition.isr,
                log_bytes=tuple(reading.storage.sizes.get(broker, {}).get(key) for broker in partition.replicas),
                start_offset=reading.starts.get(key),
                end_offset=reading.ends.get(key),
                adding=adding,
                removing=removing,
                offline=partition.offline,
                eligible=tuple(broker for broker in reading.eligible.get(key, ()) if broker in partition.replicas),
                log_dirs=tuple(dir_indexes.get(broker, {}).get(key) for broker in partition.replicas)
                if has_several_dirs
                else (),
                future=tuple(FutureReplica(broker, *held[key]) for broker, held in future.items() if key in held),
                local_start_offset=reading.local_starts.get(key),
            )
        )
    return rows


def _brokers(reading: Reading) -> tuple[Broker, ...]:
    """Brokers that only replica lists name are dead."""
    metadata = reading.metadata
    by_id = {
        known_broker.id: Broker(
            known_broker.id, known_broker.rack, known_broker.host, known_broker.port,
            state=_state(known_broker.id, reading, is_fenced=known_broker.is_fenced),
            is_controller=known_broker.id == metadata.controller,
            log_dirs=reading.storage.log_dirs.get(known_broker.id, ()),
            configs=reading.configs.brokers.get(known_broker.id, {}),
        )
        for known_broker in metadata.brokers
    }  # fmt: skip
    for broker in {replica for partition in metadata.partitions for replica in partition.replicas} - set(by_id):
        by_id[broker] = Broker(broker, state=BrokerState.DEAD)
    return tuple(by_id[broker] for broker in sorted(by_id))


def _state(broker: int, reading: Reading, *, is_fenced: bool) -> BrokerState:
    """The controller's state, else ours."""
    if is_fenced:
        return BrokerState.FENCED
    return reading.unresponsive[broker].state if broker in reading.unresponsive else BrokerState.ALIVE


_UNKNOWN_TOPIC = 3
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class TopicChanges:
    """``changed`` exist; ``recreated`` have a new id."""

    deleted: frozenset[str]
    changed: frozenset[str]
    recreated: frozenset[str]


def read_again_what_changed(sender: RequestSender, reading: Reading, coverage: Coverage) -> Reading:
    now = look_again(sender)
    if isinstance(now, Exception):
        coverage.add_cluster(FactCode.LACKS_LATER_CHANGES, fact(FactCode.NOT_TOLD_AGAIN, why=reason_of(now)))
        return reading
    reading = _with_brokers(sender, reading, now, coverage)
    before = _topics_seen(reading.metadata)
    changes = topic_changes(before, now, before.topics.keys() | now.topics.keys())
    reading = _without_deleted_topics(_shown_as(reading, before, now, None), changes.deleted, coverage)
    if not changes.changed:
        return reading
    reading = _read_again(sender, reading, changes, coverage)
    last = look_again(sender, changes.changed)
    if isinstance(last, Exception):
        reason = fact(FactCode.NOT_TOLD_AGAIN, why=reason_of(last))
        return _with_unread_topics(reading, changes.changed, reason, coverage)
    between = _topics_seen(reading.metadata)
    again = topic_changes(between, last, changes.changed)
    reading = _without_deleted_topics(_shown_as(reading, between, last, changes.changed), again.deleted, coverage)
    return _with_unread_topics(reading, again.changed, fact(FactCode.CHANGED_AGAIN), coverage)


def _with_brokers(sender: RequestSender, reading: Reading, now: TopicsSeen, coverage: Coverage) -> Reading:
    registered = {broker.id for broker in reading.metadata.brokers}
    serving = {broker.id for broker in reading.metadata.brokers if not broker.is_fenced}
    joined = tuple(now.brokers[broker] for broker in sorted(now.brokers.keys() - registered))
    late = UnresponsiveBroker(BrokerState.SILENT, fact(FactCode.BROKER_JOINED_LATE))
    unresponsive = {broker.id: late for broker in joined}
    gone = UnresponsiveBroker(BrokerState.DISCONNECTED, fact(FactCode.BROKER_LEFT_EARLY))
    unresponsive |= dict.fromkeys(sorted(serving - now.brokers.keys()), gone)
    for broker, why in unresponsive.items():
        coverage.add_unanswered(broker, None, sender.unresponsive.setdefault(broker, why).fact)
    metadata = replace(reading.metadata, brokers=(*reading.metadata.brokers, *joined))
    return replace(
        reading, metadata=metadata, unresponsive={**unresponsive, **reading.unresponsive, **sender.unresponsive}
    )


def topic_changes(before: TopicsSeen, now: TopicsSeen, names: Iterable[str]) -> TopicChanges:
    """A topic with an error is "unknown" or unchanged."""
    deleted, changed, recreated = set(), set(), set()
    for name in names:
        if name not in now.topics:
            code = now.errors.get(name)
            deleted |= {name} if code in (None, _UNKNOWN_TOPIC) else set()
        elif name not in before.topics:
            changed.add(name)
        else:
            ids = {before.topics[name].id, now.topics[name].id} - {None}
            recreated |= {name} if len(ids) > 1 else set()
            is_same = len(ids) < 2 and _shape(before.partitions[name]) == _shape(now.partitions[name])
            changed |= set() if is_same else {name}
    return TopicChanges(frozenset(deleted), frozenset(changed), frozenset(recreated))


def _shape(partitions: tuple[SeenPartition, ...]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    return tuple((partition.partition, partition.replicas) for partition in partitions)


def _topics_seen(metadata: ClusterMetadata) -> TopicsSeen:
    rows: dict[str, list[SeenPartition]] = {topic.name: [] for topic in metadata.topics}
    for partition in metadata.partitions:
        rows[partition.topic].append(partition)
    return TopicsSeen(
        {topic.name: topic for topic in metadata.topics}, {name: tuple(partitions) for name, partitions in rows.items()}
    )


def _shown_as(reading: Reading, before: TopicsSeen, now: TopicsSeen, names: Iterable[str] | None) -> Reading:
    """``names`` (None: all) from ``now``, others from ``before``."""
    requested = before.topics.keys() | now.topics.keys() if names is None else set(names)
    topics, partitions = dict(before.topics), dict(before.partitions)
    for name in requested:
        if name in now.topics:
            topics[name], partitions[name] = now.topics[name], now.partitions[name]
    metadata = replace(
        reading.metadata,
        topics=tuple(topics[name] for name in sorted(topics)),
        partitions=tuple(chain.from_iterable(partitions[name] for name in sorted(topics))),
    )
    return replace(reading, metadata=metadata)


def _without_deleted_topics(reading: Reading, names: frozenset[str], coverage: Coverage) -> Reading:
    for name in sorted(names):
        coverage.forget_topic(name)
        coverage.add("topic", name, FactCode.LACKS_EVERYTHING, FactCode.DELETED_WHILE_READ)
    metadata = replace(
        reading.metadata,
        topics=tuple(topic for topic in reading.metadata.topics if topic.name not in names),
        partitions=tuple(row for row in reading.metadata.partitions if row.topic not in names),
    )
    return replace(_without_figures(reading, names), metadata=metadata)


def _with_unread_topics(reading: Reading, names: frozenset[str], reason: Fact, coverage: Coverage) -> Reading:
    for name in sorted(names):
        coverage.forget_topic(name)
        coverage.add("topic", name, FactCode.LACKS_SIZES_AND_OFFSETS, reason)
    return _without_figures(reading, names)


def _without_figures(reading: Reading, names: frozenset[str]) -> Reading:
    storage = reading.storage
    return replace(
        reading,
        storage=replace(
            storage,
            sizes=_without(storage.sizes, names),
            dir_indexes=_without(storage.dir_indexes, names),
            future=_without(storage.future, names),
        ),
        local_starts={key: offset for key, offset in reading.local_starts.items() if key[0] not in names},
        starts={key: offset for key, offset in reading.starts.items() if key[0] not in names},
        ends={key: offset for key, offset in reading.ends.items() if key[0] not in names},
    )


def _without(
    held: Mapping[int, dict[TopicPartition, Value]], names: frozenset[str]
) -> dict[int, dict[TopicPartition, Value]]:
    return {broker: {key: value for key, value in rows.items() if key[0] not in names} for broker, rows in held.items()}


def _read_again(sender: RequestSender, reading: Reading, changes: TopicChanges, coverage: Coverage) -> Reading:
    names = changes.changed
    for name in names:
        coverage.forget_topic(name)
    reading = _without_figures(reading, names)
    rows = [row for row in reading.metadata.partitions if row.topic in names]
    sizes = {broker: dict(held) for broker, held in reading.storage.sizes.items()}
    for broker, held in read_sizes(sender, {(row.topic, row.partition) for row in rows}).items():
        sizes.setdefault(broker, {}).update(held)
    configs = read_configs(sender, names, coverage, of_brokers=False)
    readers = {group.id: group for group in reading.groups if _commits_to(group.committed, changes.recreated)}
    committed = read_group_offsets(sender, ListedGroups(readers), coverage) if readers else {}
    starts, ends = read_ends(sender, leaders_of(rows, coverage), coverage)
    return replace(
        reading,
        metadata=replace(
            reading.metadata, reassignments=read_reassignments(sender, reading.metadata.controller, coverage)
        ),
        storage=replace(reading.storage, sizes=sizes),
        configs=replace(reading.configs, topics={**reading.configs.topics, **configs.topics}),
        groups=tuple(
            replace(group, committed=committed.get(group.id, ())) if group.id in readers else group
            for group in reading.groups
        ),
        starts={**reading.starts, **starts},
        ends={**reading.ends, **ends},
    )


def _commits_to(committed: Iterable[CommittedOffset], topics: frozenset[str]) -> bool:
    return any(commit.topic in topics for commit in committed)


_GROUP = 32  # DescribeConfigs, from 4.0
_NO_SUCH_RESOURCES = 42
_PARTITIONS_A_PAGE = 2_000  # the broker's default limit
_CLUSTER_REFUSED = 31
_QUOTAS = FactCode.LACKS_QUOTAS
_LOCAL_START, _KNOWS_LOCAL_START = -4, 8  # ListOffsets from this version
_LOCAL, _ELIGIBLE = FactCode.LACKS_LOCAL_START_OFFSETS, FactCode.LACKS_ELIGIBLE_LEADERS


def read_details(
    sender: RequestSender, reading: Reading, leaders: Mapping[TopicPartition, int], coverage: Coverage
) -> Reading:
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
    """Return {} before 2.7 and with ZooKeeper."""
    if sender.client.version_of(ApiVersionsRequest) < 3:
        return {}
    request = ApiVersionsRequest(client_software_name="rebalance-advisor", client_software_version="1", min_version=3)
    answer = sender.send_to_any(request)
    if isinstance(answer, Exception):
        coverage.add_cluster(FactCode.LACKS_FEATURES, reason_of(answer))
        return {}
    return {row.name: int(row.max_version_level) for row in answer.finalized_features or ()}


def read_quotas(sender: RequestSender, coverage: Coverage) -> tuple[Quota, ...]:
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
    names = [group.id for group in groups if group.type not in (GroupType.CLASSIC, GroupType.UNKNOWN)]
    if not names:
        return groups
    answer = sender.send_to_any(DescribeConfigsRequest(resources=[(_GROUP, name, None) for name in names]))
    if isinstance(answer, Exception):
        for name in names:
            coverage.add("group", name, CONFIGS, reason_of(answer))
        return groups
    configs: dict[str, dict[str, str]] = {}
    for result in answer.results:
        if result.error_code == _NO_SUCH_RESOURCES:  # Kafka 3
            continue
        if result.error_code:
            coverage.add_error("group", result.resource_name, CONFIGS, result.error_code)
            continue
        configs[result.resource_name] = {
            row.name: row.value
            for row in sorted(result.configs, key=lambda row: str(row.name))
            if row.value is not None and row.config_source != _DEFAULT_SOURCE
        }
    return tuple(replace(group, configs=configs.get(group.id, {})) for group in groups)


def _short_of_isr(reading: Reading) -> list[SeenPartition]:
    """ISR below min.insync.replicas; others have no eligible leaders."""
    brokers = [values.get("min.insync.replicas", "1") for values in reading.configs.brokers.values()]
    default = max((int(value) for value in brokers if value.isdigit()), default=1)
    short = []
    for partition in reading.metadata.partitions:
        own = reading.configs.topics.get(partition.topic, {}).get("min.insync.replicas", "")
        if len(partition.isr) < (int(own) if own.isdigit() else default) or partition.leader is None:
            short.append(partition)
    return short


def with_eligible_leaders(sender: RequestSender, reading: Reading, coverage: Coverage) -> Reading:
    """Eligible leader replicas (KIP-966) of short ISRs.

    Call it last: an ISR may shrink meanwhile. All fields of a partition come from one answer.
    """
    ids = {topic.name: topic.id for topic in reading.metadata.topics}
    row_of_partition = {(row.topic, row.partition): row for row in _short_of_isr(reading)}
    now, eligible = {}, {}
    for row in read_eligible_leaders(sender, row_of_partition.values(), coverage):
        key = (row.topic, row.partition)
        is_made_anew = None not in (row.topic_id, ids[row.topic]) and row.topic_id != ids[row.topic]
        if is_made_anew or row.replicas != row_of_partition[key].replicas:
            coverage.add_partition(*key, _ELIGIBLE, FactCode.CHANGED_WHILE_READ)
            continue
        now[key] = replace(row_of_partition[key], leader=row.leader, isr=row.isr, offline=row.offline)
        if row.eligible:
            eligible[key] = row.eligible
    rows = tuple(now.get((row.topic, row.partition), row) for row in reading.metadata.partitions)
    return replace(reading, metadata=replace(reading.metadata, partitions=rows), eligible=eligible)


@dataclass(frozen=True, slots=True)
class EligibleLeaders:
    """``eligible`` may lead although not in ``isr``."""

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
    keys = {(partition.topic, partition.partition) for partition in partitions}
    if not keys or sender.client.version_of(DescribeTopicPartitionsRequest) < 0:
        return []
    topic = DescribeTopicPartitionsRequest.TopicRequest
    request = DescribeTopicPartitionsRequest(
        topics=[topic(name=name) for name in sorted({name for name, _ in keys})],
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
    eligible = []
    for row in answer.topics:
        if row.error_code:
            coverage.add_error("topic", row.name, _ELIGIBLE, row.error_code)
        eligible += [
            _eligible_of(row, partition)
            for partition in row.partitions or ()
            if (row.name, partition.partition_index) in keys  # also without a leader
        ]
    return eligible


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
    """First local offset of tiered partitions; older records are remote."""
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
    starts: dict[TopicPartition, int] = {}
    for broker, answer in answers.items():
        if isinstance(answer, Exception):
            coverage.add_unanswered(broker, FactCode.LACKS_OFFSETS_OF_PARTITIONS, answer, by_broker[broker])
            continue
        _take_local_starts(answer, starts, coverage)
    return starts


def _take_local_starts(answer: Any, starts: dict[TopicPartition, int], coverage: Coverage) -> None:
    for topic in answer.topics:
        for row in topic.partitions:
            if row.error_code:
                coverage.note_refusal(_LOCAL, row.error_code)
                coverage.add_partition(topic.name, row.partition_index, _LOCAL, kafka_error(row.error_code))
            elif row.offset >= 0:
                starts[topic.name, row.partition_index] = int(row.offset)


def _local_starts(partitions: list[TopicPartition]) -> Any:
    kind = ListOffsetsRequest.ListOffsetsTopic
    by_topic: dict[str, list[Any]] = defaultdict(list)
    for topic, partition in partitions:
        by_topic[topic].append(kind.ListOffsetsPartition(partition_index=partition, timestamp=_LOCAL_START))
    topics = [kind(name=name, partitions=rows) for name, rows in by_topic.items()]
    return ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=topics, min_version=_KNOWS_LOCAL_START)


_REFUSED, _UNKNOWN = 29, 3
_NAMES_A_QUESTION = 50_000


def note_hidden_topics(
    sender: RequestSender, described: set[str], on_disk: set[str], groups: Iterable[Group], coverage: Coverage
) -> None:
    reported = {gap.subject for gap in coverage.gaps if gap.subject_type == "topic"}
    readers = _readers(groups)
    hidden = sorted(
        name
        for name in (on_disk | readers.keys()) - described - reported
        if name in on_disk or not topic_name_fault(name)
    )
    codes = _codes(sender, hidden)
    for name in hidden:
        code = codes.get(name)
        is_refused, failure = code == _REFUSED, code if isinstance(code, Fact) else None
        if name in on_disk:
            reason = fact(FactCode.TOPIC_ON_DISK, why=failure, is_refused=is_refused)
            coverage.add("topic", name, FactCode.LACKS_ALL_BUT_SIZE, reason)
        elif code not in (_UNKNOWN, None):
            why = kafka_error(code) if isinstance(code, int) and code and not is_refused else failure
            reason = fact(FactCode.TOPIC_NAMED_BY_GROUP, group=readers[name], why=why, is_refused=is_refused)
            coverage.add("topic", name, FactCode.LACKS_DESCRIPTION, reason)
        if is_refused:
            coverage.add_right(Right.DESCRIBE_TOPICS)


def _readers(groups: Iterable[Group]) -> dict[str, str]:
    group_of_topic: dict[str, str] = {}
    for group in groups:
        names = [commit.topic for commit in group.committed]
        for member in group.members:
            names += member.subscription or ()
            names += [topic for part in (member.assigned, member.owned, member.target) for topic, _ in part or ()]
        for name in names:
            group_of_topic.setdefault(name, group.id)
    return group_of_topic


def _codes(sender: RequestSender, names: list[str]) -> Mapping[str, int | Fact]:
    """Code (0: visible now) or failure."""
    codes: dict[str, int | Fact] = {}
    for at in range(0, len(names), _NAMES_A_QUESTION):
        part = names[at : at + _NAMES_A_QUESTION]
        topics = [MetadataRequest.MetadataRequestTopic(name=name) for name in part]
        answer: Any = sender.send_to_any(MetadataRequest(topics=topics, allow_auto_topic_creation=False))
        if isinstance(answer, Exception):
            codes |= dict.fromkeys(part, reason_of(answer))
        else:
            codes |= {topic.name: int(topic.error_code) for topic in answer.topics}
    return codes


def note_odd_commits(
    groups: Iterable[Group],
    starts: Mapping[TopicPartition, int],
    ends: Mapping[TopicPartition, int],
    coverage: Coverage,
) -> None:
    for group in groups:
        if group.type is GroupType.SHARE:
            continue  # start moves with the log at the next read
        by_topic: dict[tuple[str, bool], list[tuple[int, str, int]]] = {}
        for commit in group.committed:
            key = (commit.topic, commit.partition)
            name = f"{commit.topic}-{commit.partition}"
            if commit.offset > ends.get(key, commit.offset):
                by_topic.setdefault((commit.topic, True), []).append((commit.offset, name, ends[key]))
            elif commit.offset < starts.get(key, commit.offset):
                by_topic.setdefault((commit.topic, False), []).append((commit.offset, name, starts[key]))
        for (topic, is_beyond_end), examples in by_topic.items():
            offset, name, limit = examples[0]
            reason = fact(
                FactCode.COMMITS_OUTSIDE_LOG,
                commits=len(examples),
                is_beyond_end=is_beyond_end,
                offset=offset,
                partition=name,
                limit=limit,
            )
            coverage.add("group", group.id, fact(FactCode.LACKS_LAG, topic=topic), reason)


DEADLINE_S = 120.0
ROUND_S = 5.0
_ROUNDS_A_DEADLINE = 24  # longer deadlines give slow brokers longer rounds


def read_cluster(
    properties: Mapping[str, object],
    *,
    cluster_name: str | None,
    now: datetime,
    bootstrap: str | None = None,
    locations: Mapping[str, str] | None = None,
    deadline_s: float = DEADLINE_S,
    say: Callable[[str], None] = lambda _: None,
) -> ClusterSnapshot:
    """``bootstrap`` overrides ``bootstrap.servers``; ``cluster_name`` None: the cluster's id.

    Raises InvalidInputError, ConnectionFailedError (within 10 s), or ClusterUnreadableError.
    """
    settings = connection_settings(properties, bootstrap=bootstrap, locations=locations)
    return read_with_settings(settings, cluster_name=cluster_name, now=now, deadline_s=deadline_s, say=say)


def read_with_settings(
    settings: ConnectionSettings,
    *,
    cluster_name: str | None,
    now: datetime,
    deadline_s: float = DEADLINE_S,
    say: Callable[[str], None] = lambda _: None,
    counts: RequestCounts | None = None,
) -> ClusterSnapshot:
    if now.tzinfo is None:
        raise ValueError(f"now={now} has no time zone")
    deadline = time.monotonic() + deadline_s
    say("connecting")
    with connected(settings) as client:
        sender = RequestSender(
            client, tuple(sorted(client.addresses)), deadline, round_seconds(settings.request_timeout_ms, deadline_s),
            unresponsive=unresponsive_at_first(client), counts=RequestCounts() if counts is None else counts,
        )  # fmt: skip
        snapshot = read_with_sender(sender, cluster_name=cluster_name, say=say)
        version = broker_release(client.kafka_version, snapshot.features.get("metadata.version"))
        return replace(snapshot, captured_at=now, kafka_version=version)


def read_with_sender(
    sender: RequestSender, *, cluster_name: str | None, say: Callable[[str], None] = lambda _: None
) -> ClusterSnapshot:
    """Return the snapshot without time and Kafka version."""
    coverage = Coverage()
    say("reading brokers, topics and partitions")
    metadata = read_cluster_metadata(sender, coverage)
    coverage.cluster = cluster_name or metadata.cluster_id or "kafka"
    say(f"reading log dirs and configs of {len(metadata.partitions)} partitions on {len(metadata.brokers)} brokers")
    storage = read_storage(sender, coverage)
    configs = read_configs(sender, [topic.name for topic in metadata.topics], coverage)
    say("reading groups")
    partition_counts = Counter(partition.topic for partition in metadata.partitions)
    listed = describe_groups(sender, list_groups(sender, coverage), coverage, partition_counts)
    groups = _with_offsets(sender, listed, coverage)
    say("reading offsets")
    leaders = leaders_of(metadata.partitions, coverage)
    starts, ends = read_ends(sender, leaders, coverage)
    say("looking for what changed meanwhile")
    reading = Reading(metadata, storage, configs, starts, ends, groups)
    reading = read_details(sender, reading, leaders, coverage)
    reading = read_again_what_changed(sender, reading, coverage)
    reading = with_eligible_leaders(sender, reading, coverage)
    described = {topic.name for topic in reading.metadata.topics}
    note_hidden_topics(sender, described, reading.storage.topic_names(), reading.groups, coverage)
    for broker, why in sender.unresponsive.items():
        coverage.add_unanswered(broker, None, why.fact)
    for broker, mangled in sender.mangled.items():
        coverage.add("broker", broker, FactCode.LACKS_ANSWER_FOR_CLUSTER, reason_of(mangled))
    reading = replace(reading, unresponsive={**reading.unresponsive, **sender.unresponsive})
    note_unseen(reading, coverage)
    note_odd_commits(reading.groups, reading.starts, reading.ends, coverage)
    snapshot = assemble_snapshot(coverage.cluster, reading)
    return replace(snapshot, coverage=coverage.gaps, source="live")


def connected(settings: ConnectionSettings) -> ClusterClient:
    server = find_server(settings)
    try:
        return ClusterClient(settings, server)
    except KafkaError as failure:
        others = tuple(other for other in settings.servers if other != server)
        if not others:
            raise ClusterUnreadableError(
                f"{server[0]}:{server[1]}: it let us in and then told nothing ({render(reason_of(failure))}); try again"
            ) from None
    return ClusterClient(settings, find_server(replace(settings, servers=others)))


def round_seconds(request_timeout_ms: int | None, deadline_s: float) -> float:
    """``request.timeout.ms`` only shortens rounds, because many files hold the default of 30000."""
    longest = max(ROUND_S, deadline_s / _ROUNDS_A_DEADLINE)
    return min(longest, request_timeout_ms / 1000) if request_timeout_ms else longest


def unresponsive_at_first(client: ClusterClient) -> dict[int, UnresponsiveBroker]:
    """Raises ClusterUnreadableError when no broker answers at its advertised address."""
    where = {broker: f"{host}:{port}" for broker, (host, port) in client.addresses.items()}
    answers = client.connect()
    unresponsive = {broker: why for broker, why in answers.items() if why is not None}
    if len(unresponsive) == len(answers):
        failures = "; ".join(
            f"{broker} at {where[broker]}: {render(why.reason)}" for broker, why in sorted(unresponsive.items())
        )
        raise ClusterUnreadableError(
            f"no broker answers under the address that it advertises ({failures}); "
            "are these names and ports (advertised.listeners) reachable from here?"
        )
    return {broker: replace(why, address=where[broker]) for broker, why in unresponsive.items()}


def _with_offsets(sender: RequestSender, listed: ListedGroups, coverage: Coverage) -> tuple[Group, ...]:
    committed = read_group_offsets(sender, listed, coverage)
    return tuple(replace(group, committed=committed.get(name, ())) for name, group in listed.groups.items())
