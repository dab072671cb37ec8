"""Read one running cluster into one ``ClusterSnapshot``: in order, under one deadline, without writing anything.

    probe → connect to every broker → shape (brokers, topics, partitions, reassignments)
          → log dirs and configs → groups → committed offsets → start and end offsets → snapshot

Commits are read before ends, so that a lag is never negative. About 25 requests read a cluster of 10,000 partitions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    ClusterSnapshot,
    Group,
    GroupType,
    Partition,
    Topic,
    partition_table,
)
from rebalance_advisor.kafka.cluster_metadata import ClusterUnreadableError, Shape, read_shape
from rebalance_advisor.kafka.connection.client import ClusterClient
from rebalance_advisor.kafka.connection.probe import find_server
from rebalance_advisor.kafka.connection.settings import connection_settings
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.groups.groups import ListedGroups, describe_groups, list_groups
from rebalance_advisor.kafka.offsets import TopicPartition, read_committed, read_ends
from rebalance_advisor.kafka.request_sender import Asker
from rebalance_advisor.kafka.storage import Configs, Storage, read_configs, read_storage

DEADLINE_S = 120.0
ROUND_S = 30.0


def read_cluster(
    properties: Mapping[str, object],
    *,
    cluster_name: str | None,
    now: datetime,
    bootstrap: str | None = None,
    places: Mapping[str, str] | None = None,
    deadline_s: float = DEADLINE_S,
    say: Callable[[str], None] = lambda _: None,
) -> ClusterSnapshot:
    """One reading. ``properties`` under Java's or librdkafka's names: a client properties file, or the extra of
    Airflow's ``kafka`` connection; ``bootstrap`` goes before ``bootstrap.servers``. ``now`` must carry a zone;
    ``cluster_name`` None means the cluster's own id.

    What could not be read stands in ``coverage``. Raises InvalidInputError for properties that cannot be,
    ConnectionFailedError (within 10 s, with the cause) where no server lets us in, ClusterUnreadableError where not
    even brokers and topics can be read. ``say`` hears a line for each step.
    """
    if now.tzinfo is None:
        raise ValueError(f"now={now} has no time zone")
    deadline = time.monotonic() + deadline_s
    settings = connection_settings(properties, bootstrap=bootstrap, places=places)
    say("connecting")
    server = find_server(settings)
    round_s = settings.request_timeout_ms / 1000 if settings.request_timeout_ms else ROUND_S
    coverage = Coverage()
    with ClusterClient(settings, server) as client:
        brokers = _answering(client, coverage)
        asker = Asker(client, brokers, deadline, round_s)
        say("reading brokers, topics and partitions")
        shape = read_shape(asker, coverage)
        coverage.cluster = cluster_name or shape.cluster_id or "kafka"
        say(f"reading log dirs and configs of {len(shape.partitions)} partitions on {len(shape.brokers)} brokers")
        storage = read_storage(asker, coverage)
        configs = read_configs(asker, [topic.name for topic in shape.topics], coverage)
        say("reading groups")
        listed = describe_groups(asker, list_groups(asker, coverage), coverage)
        groups = _with_offsets(asker, listed, coverage)
        say("reading offsets")
        starts, ends = read_ends(asker, _leaders(shape, brokers, coverage), coverage)
        version = client.kafka_version
    _note_unseen(shape, storage, coverage)
    snapshot = _assemble(coverage.cluster, shape, storage, configs, starts, ends)
    return replace(
        snapshot,
        groups=groups,
        captured_at=now,
        kafka_version=version,
        coverage=coverage.gaps,
        source="live",
    )


def _answering(client: ClusterClient, coverage: Coverage) -> tuple[int, ...]:
    """Brokers that answer. Raises ClusterUnreadableError where none does under the address that it advertises."""
    where = {broker: f"{host}:{port}" for broker, (host, port) in client.addresses.items()}
    answers = client.connect()
    silent = {broker: why for broker, why in answers.items() if why is not None}
    if len(silent) == len(answers):
        told = "; ".join(f"{broker} at {where[broker]}: {why}" for broker, why in sorted(silent.items()))
        raise ClusterUnreadableError(
            f"no broker answers under the address that it advertises ({told}); "
            "are these names and ports (advertised.listeners) reachable from here?"
        )
    for broker, why in silent.items():
        reason = f"does not answer at {where[broker]} ({why})"
        coverage.add("broker", broker, "log dirs", reason)
        coverage.add_cluster("groups", f"broker {broker} {reason}: groups that it coordinates are not listed")
    return tuple(sorted(set(answers) - set(silent)))


def _with_offsets(asker: Asker, listed: ListedGroups, coverage: Coverage) -> tuple[Group, ...]:
    committed = read_committed(asker, listed, coverage)
    for name, group in listed.groups.items():
        if group.type is GroupType.SHARE:
            coverage.add("group", name, "committed offsets", "offsets of share groups are not read yet")
    return tuple(replace(group, committed=committed.get(name, ())) for name, group in listed.groups.items())


def _leaders(shape: Shape, brokers: tuple[int, ...], coverage: Coverage) -> dict[TopicPartition, int]:
    """The leader of each partition that one can ask."""
    found = {}
    silent: dict[int, int] = {}
    for each in shape.partitions:
        if each.leader is None:
            coverage.add_partition(each.topic, each.partition, "offsets", "no leader")
        elif each.leader not in brokers:
            silent[each.leader] = silent.get(each.leader, 0) + 1
        else:
            found[each.topic, each.partition] = each.leader
    for broker, count in silent.items():
        coverage.add("broker", broker, f"offsets of the {count} partitions it leads", "does not answer")
    return found


def _note_unseen(shape: Shape, storage: Storage, coverage: Coverage) -> None:
    """Topics that only log dirs know, and brokers that hold replicas and cannot be asked."""
    unread = {gap.subject for gap in coverage.gaps if gap.subject_type == "topic"}
    for topic in sorted(storage.topic_names() - {each.name for each in shape.topics} - unread):
        coverage.add("topic", topic, "everything but its size", "no right to describe it, or made while reading")
    for broker in sorted({each.id for each in shape.brokers if each.is_fenced}):
        coverage.add("broker", broker, "log dirs", "is fenced")
    known = {each.id for each in shape.brokers}
    for broker in sorted({replica for each in shape.partitions for replica in each.replicas} - known):
        coverage.add("broker", broker, "everything", "replicas are placed on it, and the cluster does not know it")


def _assemble(
    cluster_name: str,
    shape: Shape,
    storage: Storage,
    configs: Configs,
    starts: dict[TopicPartition, int],
    ends: dict[TopicPartition, int],
) -> ClusterSnapshot:
    rows = []
    for each in shape.partitions:
        key = (each.topic, each.partition)
        adding, removing = shape.reassignments.get(key, ((), ()))
        rows.append(
            Partition(
                each.topic,
                each.partition,
                each.replicas,
                each.leader,
                each.isr,
                log_bytes=tuple(storage.sizes.get(broker, {}).get(key) for broker in each.replicas),
                start_offset=starts.get(key),
                end_offset=ends.get(key),
                adding=adding,
                removing=removing,
                offline=each.offline,
            )
        )
    topics = tuple(
        Topic(each.name, each.id, each.is_internal, configs.topics.get(each.name, {})) for each in shape.topics
    )
    return ClusterSnapshot(
        cluster=cluster_name,
        brokers=_brokers(shape, storage, configs),
        topics=topics,
        partitions=partition_table(rows, {topic.name: i for i, topic in enumerate(topics)}),
        cluster_id=shape.cluster_id,
    )


def _brokers(shape: Shape, storage: Storage, configs: Configs) -> tuple[Broker, ...]:
    """Registered brokers, and those that only replica lists know: dead."""
    seen = {
        each.id: Broker(
            each.id, each.rack, each.host, each.port,
            state=BrokerState.FENCED if each.is_fenced else BrokerState.ALIVE,
            is_controller=each.id == shape.controller,
            log_dirs=storage.log_dirs.get(each.id, ()),
            configs=configs.brokers.get(each.id, {}),
        )
        for each in shape.brokers
    }  # fmt: skip
    for broker in {replica for each in shape.partitions for replica in each.replicas} - set(seen):
        seen[broker] = Broker(broker, state=BrokerState.DEAD)
    return tuple(seen[broker] for broker in sorted(seen))
