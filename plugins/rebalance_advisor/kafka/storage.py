from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from kafka.protocol.admin import DescribeConfigsRequest, DescribeLogDirsRequest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.model import LogDir
from rebalance_advisor.kafka.connection.client import error_name, reason_of
from rebalance_advisor.kafka.coverage import CONFIGS, Coverage
from rebalance_advisor.kafka.request_sender import RequestSender

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

    ``places``: dir of a replica; ``future``: copies in progress on another dir.
    """

    log_dirs: dict[int, tuple[LogDir, ...]] = field(default_factory=dict)
    sizes: dict[int, dict[tuple[str, int], int]] = field(default_factory=dict)
    places: dict[int, dict[tuple[str, int], int]] = field(default_factory=dict)
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
    found = Storage()
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
        found.log_dirs[broker] = tuple(
            sorted((_log_dir(result) for result in answer.results), key=lambda log_dir: log_dir.path)
        )
        # A future replica is a second row.
        found.sizes[broker] = _sizes(answer)
        _note_places(found, broker, answer)
    return found


def _note_places(found: Storage, broker: int, answer: Any) -> None:
    index = {log_dir.path: number for number, log_dir in enumerate(found.log_dirs[broker])}
    places, future = found.places.setdefault(broker, {}), found.future.setdefault(broker, {})
    for result in answer.results:
        for topic in result.topics:
            for partition in topic.partitions:
                key = (topic.name, partition.partition_index)
                if partition.is_future_key:
                    future[key] = (index[result.log_dir], partition.partition_size)
                elif len(index) > 1:
                    places[key] = index[result.log_dir]


def read_sizes(sender: RequestSender, partitions: Iterable[tuple[str, int]]) -> dict[int, dict[tuple[str, int], int]]:
    topic_type = DescribeLogDirsRequest.DescribableLogDirTopic
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        by_topic.setdefault(topic, []).append(partition)
    wanted = [topic_type(topic=topic, partitions=numbers) for topic, numbers in by_topic.items()]
    answers = sender.send({broker: (broker, DescribeLogDirsRequest(topics=wanted)) for broker in sender.brokers})
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
    found = Configs()
    cluster_wide: dict[str, str] = {}
    own = set(sender.all_brokers) if of_brokers else set()
    left: list[_Resource] = [(_TOPIC, name) for name in sorted(topics)] + ([_CLUSTER_WIDE] if of_brokers else [])
    failed: dict[int, Exception] = {}
    while left or own:
        shares = sender.share_out(left, without=failed)
        requests = {
            broker: (broker, _question([*shares.get(broker, ()), *([(_BROKER, str(broker))] if broker in own else [])]))
            for broker in sorted(shares.keys() | own)
        }
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
                _take(result, found, cluster_wide, coverage)
        own = set()
    for kind in sorted({"broker" if resource[0] == _BROKER else "topic" for resource in left}):
        reason = reason_of([*failed.values()][-1]) if failed else fact(FactCode.NO_BROKER_LEFT_TO_ASK)
        coverage.add_cluster(fact(FactCode.LACKS_CONFIGS, kind=kind), reason)
    for broker in sender.all_brokers if of_brokers else ():
        mine = found.brokers.get(broker, {})
        default = {key: value for key, value in cluster_wide.items() if key in BROKER_CONFIGS}
        found.brokers[broker] = dict(sorted({**default, **mine}.items()))
    return found


_Resource = tuple[int, str]
_CLUSTER_WIDE: _Resource = (_BROKER, "")


def _question(resources: list[_Resource]) -> Any:
    names = {_TOPIC: list(TOPIC_CONFIGS), _BROKER: list(BROKER_CONFIGS)}
    return DescribeConfigsRequest(
        resources=[(*resource, None if resource == _CLUSTER_WIDE else names[resource[0]]) for resource in resources]
    )


def _take(result: Any, found: Configs, cluster_wide: dict[str, str], coverage: Coverage) -> None:
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
        found.topics[name] = values
    elif name:
        found.brokers[int(name)] = values
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
