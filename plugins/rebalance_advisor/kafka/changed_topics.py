"""Topics that changed while the cluster was read: read once more, or told; never half of one and half of another.

Brokers that joined or left meanwhile are told, too, and were not heard.

The metadata is looked at again at the end. Gone: the topic is left out and told. Made, made anew (another id), grown,
or with other replicas: its sizes, configs, commits and offsets are read again, then its metadata a last time. What
changed again stays in the snapshot as it is now, without sizes and offsets, and is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.snapshot.model import BrokerState, CommittedOffset
from rebalance_advisor.kafka.assemble import Reading
from rebalance_advisor.kafka.cluster_metadata import (
    ClusterMetadata,
    SeenPartition,
    TopicsSeen,
    look_again,
    read_reassignments,
)
from rebalance_advisor.kafka.connection.client import reason_of
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.group_offsets import read_group_offsets
from rebalance_advisor.kafka.groups.groups import ListedGroups
from rebalance_advisor.kafka.offsets import TopicPartition, leaders_of, read_ends
from rebalance_advisor.kafka.request_sender import RequestSender
from rebalance_advisor.kafka.storage import read_configs, read_sizes
from rebalance_advisor.kafka.unheard import Unheard

_UNKNOWN_TOPIC = 3
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class TopicChanges:
    """Names of topics. ``changed`` holds those that are there, ``recreated`` those of them with another id."""

    deleted: frozenset[str]
    changed: frozenset[str]
    recreated: frozenset[str]


def read_again_what_changed(sender: RequestSender, reading: Reading, coverage: Coverage) -> Reading:
    """The reading with each topic as one moment shows it."""
    now = look_again(sender)
    if isinstance(now, Exception):
        coverage.add_cluster(FactCode.LACKS_LATER_CHANGES, fact(FactCode.NOT_TOLD_AGAIN, why=reason_of(now)))
        return reading
    reading = _with_brokers(sender, reading, now, coverage)
    before = _topics_seen(reading.metadata)
    changes = topic_changes(before, now, before.topics.keys() | now.topics.keys())
    reading = _told_gone(_shown_as(reading, before, now, None), changes.deleted, coverage)
    if not changes.changed:
        return reading
    reading = _read_again(sender, reading, changes, coverage)
    last = look_again(sender, changes.changed)
    if isinstance(last, Exception):
        reason = fact(FactCode.NOT_TOLD_AGAIN, why=reason_of(last))
        return _told_unknown(reading, changes.changed, reason, coverage)
    between = _topics_seen(reading.metadata)
    again = topic_changes(between, last, changes.changed)
    reading = _told_gone(_shown_as(reading, between, last, changes.changed), again.deleted, coverage)
    return _told_unknown(reading, again.changed, fact(FactCode.CHANGED_AGAIN), coverage)


def _with_brokers(sender: RequestSender, reading: Reading, now: TopicsSeen, coverage: Coverage) -> Reading:
    """Brokers that came or went meanwhile: there, not heard, and asked nothing more."""
    known = {broker.id for broker in reading.metadata.brokers}
    serving = {broker.id for broker in reading.metadata.brokers if not broker.is_fenced}
    joined = tuple(now.brokers[broker] for broker in sorted(now.brokers.keys() - known))
    late = Unheard(BrokerState.SILENT, fact(FactCode.BROKER_JOINED_LATE))
    unheard = {broker.id: late for broker in joined}
    gone = Unheard(BrokerState.DISCONNECTED, fact(FactCode.BROKER_LEFT_EARLY))
    unheard |= dict.fromkeys(sorted(serving - now.brokers.keys()), gone)
    for broker, why in unheard.items():
        coverage.add_unanswered(broker, None, sender.unheard.setdefault(broker, why).fact)
    metadata = replace(reading.metadata, brokers=(*reading.metadata.brokers, *joined))
    return replace(reading, metadata=metadata, unheard={**unheard, **reading.unheard, **sender.unheard})


def topic_changes(before: TopicsSeen, now: TopicsSeen, names: Iterable[str]) -> TopicChanges:
    """What became of ``names``. A topic that has an error now tells nothing, but that it is unknown."""
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
        {topic.name: topic for topic in metadata.topics}, {name: tuple(found) for name, found in rows.items()}
    )


def _shown_as(reading: Reading, before: TopicsSeen, now: TopicsSeen, names: Iterable[str] | None) -> Reading:
    """``names`` (None: all) as they are now; those of which nothing is told now as they were."""
    wanted = before.topics.keys() | now.topics.keys() if names is None else set(names)
    topics, partitions = dict(before.topics), dict(before.partitions)
    for name in wanted:
        if name in now.topics:
            topics[name], partitions[name] = now.topics[name], now.partitions[name]
    metadata = replace(
        reading.metadata,
        topics=tuple(topics[name] for name in sorted(topics)),
        partitions=tuple(chain.from_iterable(partitions[name] for name in sorted(topics))),
    )
    return replace(reading, metadata=metadata)


def _told_gone(reading: Reading, names: frozenset[str], coverage: Coverage) -> Reading:
    for name in sorted(names):
        coverage.forget_topic(name)
        coverage.add("topic", name, FactCode.LACKS_EVERYTHING, FactCode.DELETED_WHILE_READ)
    metadata = replace(
        reading.metadata,
        topics=tuple(topic for topic in reading.metadata.topics if topic.name not in names),
        partitions=tuple(row for row in reading.metadata.partitions if row.topic not in names),
    )
    return replace(_without_figures(reading, names), metadata=metadata)


def _told_unknown(reading: Reading, names: frozenset[str], reason: Fact, coverage: Coverage) -> Reading:
    for name in sorted(names):
        coverage.forget_topic(name)
        coverage.add("topic", name, FactCode.LACKS_SIZES_AND_OFFSETS, reason)
    return _without_figures(reading, names)


def _without_figures(reading: Reading, names: frozenset[str]) -> Reading:
    """Without sizes and offsets of these topics."""
    storage = reading.storage
    return replace(
        reading,
        storage=replace(
            storage,
            sizes=_without(storage.sizes, names),
            places=_without(storage.places, names),
            future=_without(storage.future, names),
        ),
        local_starts={key: offset for key, offset in reading.local_starts.items() if key[0] not in names},
        starts={key: offset for key, offset in reading.starts.items() if key[0] not in names},
        ends={key: offset for key, offset in reading.ends.items() if key[0] not in names},
    )


def _without(
    held: Mapping[int, dict[TopicPartition, Value]], names: frozenset[str]
) -> dict[int, dict[TopicPartition, Value]]:
    """By broker, without these topics."""
    return {broker: {key: value for key, value in rows.items() if key[0] not in names} for broker, rows in held.items()}


def _read_again(sender: RequestSender, reading: Reading, changes: TopicChanges, coverage: Coverage) -> Reading:
    """Sizes, configs, commits and offsets of what changed, in the order of the first reading."""
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
