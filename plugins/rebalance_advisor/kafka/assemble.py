"""What the readers brought → one ``ClusterSnapshot``; and the gaps that show only once all of it is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    ClusterSnapshot,
    Group,
    Partition,
    Quota,
    Topic,
    partition_table,
)
from kafka_rebalance.snapshot.partition_table import FutureReplica
from rebalance_advisor.kafka.cluster_metadata import ClusterMetadata
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.offsets import TopicPartition
from rebalance_advisor.kafka.storage import Configs, Storage
from rebalance_advisor.kafka.unheard import Unheard


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything. ``unheard``: brokers that did not answer to the end, and how they failed."""

    metadata: ClusterMetadata
    storage: Storage
    configs: Configs
    starts: Mapping[TopicPartition, int]
    ends: Mapping[TopicPartition, int]
    groups: tuple[Group, ...] = ()
    unheard: Mapping[int, Unheard] = field(default_factory=dict)
    features: Mapping[str, int] = field(default_factory=dict)
    quotas: tuple[Quota, ...] = ()
    eligible: Mapping[TopicPartition, tuple[int, ...]] = field(default_factory=dict)
    local_starts: Mapping[TopicPartition, int] = field(default_factory=dict)


def note_unseen(reading: Reading, coverage: Coverage) -> None:
    """Brokers that hold replicas and cannot be asked, and replicas that are offline on brokers that are there."""
    metadata = reading.metadata
    fenced = {broker.id for broker in metadata.brokers if broker.is_fenced}
    for broker in sorted(fenced - reading.unheard.keys()):
        coverage.add_unanswered(broker, FactCode.LACKS_LOG_DIRS, FactCode.BROKER_IS_FENCED)
    known = {broker.id for broker in metadata.brokers}
    for broker in sorted({replica for partition in metadata.partitions for replica in partition.replicas} - known):
        coverage.add("broker", broker, FactCode.LACKS_EVERYTHING, FactCode.BROKER_NOT_REGISTERED)
    serving = known - fenced - reading.unheard.keys()
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
        # The metadata may say so seconds later than the broker.
        key = (partition.topic, partition.partition)
        for broker in sorted(failed & set(partition.replicas) - set(partition.offline)):
            if key not in reading.storage.sizes[broker]:
                reason = fact(FactCode.LOG_DIR_IS_OFFLINE, broker=broker)
                coverage.add_partition(*key, FactCode.LACKS_REPLICA_SIZE, reason)


def assemble_snapshot(cluster_name: str, reading: Reading) -> ClusterSnapshot:
    """The snapshot without time and coverage."""
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
    places, future = reading.storage.places, reading.storage.future
    for partition in reading.metadata.partitions:
        key = (partition.topic, partition.partition)
        adding, removing = reading.metadata.reassignments.get(key, ((), ()))
        if not {*adding, *removing} <= set(partition.replicas):
            adding, removing = (), ()  # it began or ended between the two answers: see note_unseen
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
                log_dirs=tuple(places.get(broker, {}).get(key) for broker in partition.replicas)
                if has_several_dirs
                else (),
                future=tuple(FutureReplica(broker, *held[key]) for broker, held in future.items() if key in held),
                local_start_offset=reading.local_starts.get(key),
            )
        )
    return rows


def _brokers(reading: Reading) -> tuple[Broker, ...]:
    """Registered brokers, and those that only replica lists know: dead."""
    metadata = reading.metadata
    seen = {
        known_broker.id: Broker(
            known_broker.id, known_broker.rack, known_broker.host, known_broker.port,
            state=_state(known_broker.id, reading, is_fenced=known_broker.is_fenced),
            is_controller=known_broker.id == metadata.controller,
            log_dirs=reading.storage.log_dirs.get(known_broker.id, ()),
            configs=reading.configs.brokers.get(known_broker.id, {}),
        )
        for known_broker in metadata.brokers
    }  # fmt: skip
    for broker in {replica for partition in metadata.partitions for replica in partition.replicas} - set(seen):
        seen[broker] = Broker(broker, state=BrokerState.DEAD)
    return tuple(seen[broker] for broker in sorted(seen))


def _state(broker: int, reading: Reading, *, is_fenced: bool) -> BrokerState:
    """The controller's word goes before ours."""
    if is_fenced:
        return BrokerState.FENCED
    return reading.unheard[broker].state if broker in reading.unheard else BrokerState.ALIVE
