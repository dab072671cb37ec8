"""Log dirs (sizes, volumes, what is offline or cordoned) and the configs that matter to placement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from kafka.protocol.admin import DescribeConfigsRequest, DescribeLogDirsRequest

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
BROKER_CONFIGS = (
    "auto.leader.rebalance.enable", "default.replication.factor", "follower.replication.throttled.rate",
    "leader.imbalance.per.broker.percentage", "leader.replication.throttled.rate", "min.insync.replicas",
    "num.replica.fetchers", "replica.alter.log.dirs.io.max.bytes.per.second", "replica.selector.class",
)  # fmt: skip
_TOPIC, _BROKER = 2, 4
_DEFAULT_SOURCE = 5
_TOPICS_A_QUESTION = 500
_METADATA_TOPIC = "__cluster_metadata"


@dataclass(frozen=True, slots=True)
class Storage:
    """Log dirs by broker and sizes in bytes by broker and (topic, partition); a broker that did not tell is absent."""

    log_dirs: dict[int, tuple[LogDir, ...]] = field(default_factory=dict)
    sizes: dict[int, dict[tuple[str, int], int]] = field(default_factory=dict)

    def topic_names(self) -> set[str]:
        """Every topic that any log dir holds, even one that we have no right to describe."""
        return {topic for sizes in self.sizes.values() for topic, _ in sizes} - {_METADATA_TOPIC}


@dataclass(frozen=True, slots=True)
class Configs:
    """Those of ``TOPIC_CONFIGS`` and ``BROKER_CONFIGS`` that somebody set, by topic and by broker."""

    topics: dict[str, dict[str, str]] = field(default_factory=dict)
    brokers: dict[int, dict[str, str]] = field(default_factory=dict)


def read_storage(sender: RequestSender, coverage: Coverage) -> Storage:
    """Ask every broker for all its log dirs (the right Describe on the cluster is enough)."""
    answers = sender.send({broker: (broker, DescribeLogDirsRequest(topics=None)) for broker in sender.brokers})
    found = Storage()
    for broker, answer in sorted(answers.items()):
        if isinstance(answer, Exception):
            coverage.add("broker", broker, "log dirs", reason_of(answer))
            continue
        if code := int(getattr(answer, "error_code", 0) or 0):
            coverage.add_error("broker", broker, "log dirs", code)
            continue
        for result in answer.results:
            if result.error_code:  # it stands with no topics and no totals: what it holds is unknown
                coverage.add_error("broker", broker, f"log dir {result.log_dir}", result.error_code)
        found.log_dirs[broker] = tuple(
            sorted((_log_dir(result) for result in answer.results), key=lambda log_dir: log_dir.path)
        )
        # A future replica (a move between dirs) is a second row of the same partition: not the replica that serves.
        found.sizes[broker] = _sizes(answer)
    return found


def read_sizes(sender: RequestSender, partitions: Iterable[tuple[str, int]]) -> dict[int, dict[tuple[str, int], int]]:
    """Sizes of these partitions alone, by broker; one that does not tell is absent."""
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
    """Ask for the configs of topics (any broker), of each broker (itself) and the cluster-wide default (any)."""
    names = sorted(topics)
    chunks = [names[i : i + _TOPICS_A_QUESTION] for i in range(0, len(names), _TOPICS_A_QUESTION)]
    requests: dict[tuple[str, int], tuple[int, Any]] = {
        ("topics", i): (sender.spread(i), _question([(_TOPIC, name, list(TOPIC_CONFIGS)) for name in chunk]))
        for i, chunk in enumerate(chunks)
    }
    for broker in sender.brokers if of_brokers else ():
        requests["broker", broker] = (broker, _question([(_BROKER, str(broker), list(BROKER_CONFIGS))]))
    if of_brokers:
        requests["default", 0] = (sender.spread(0), _question([(_BROKER, "", None)]))
    found = Configs()
    cluster_wide: dict[str, str] = {}
    for (kind, number), answer in sender.send(requests).items():
        if isinstance(answer, Exception):
            if kind == "broker":
                coverage.add("broker", number, CONFIGS, reason_of(answer))
            else:
                coverage.add_cluster(f"{'topic' if kind == 'topics' else 'broker'} {CONFIGS}", reason_of(answer))
            continue
        for result in answer.results:
            _take(result, kind, number, found, cluster_wide, coverage)
    for broker in sender.brokers if of_brokers else ():
        own = found.brokers.get(broker, {})
        default = {key: value for key, value in cluster_wide.items() if key in BROKER_CONFIGS}
        found.brokers[broker] = dict(sorted({**default, **own}.items()))
    return found


def _question(resources: list[tuple[int, str, list[str] | None]]) -> Any:
    return DescribeConfigsRequest(resources=resources)


def _take(
    result: Any, kind: str, number: int, found: Configs, cluster_wide: dict[str, str], coverage: Coverage
) -> None:
    if result.error_code:
        if kind == "topics":
            coverage.add_error("topic", result.resource_name, CONFIGS, result.error_code)
        elif kind == "broker":
            coverage.add_error("broker", number, CONFIGS, result.error_code)
        else:
            coverage.add_error("cluster", "", f"broker {CONFIGS}", result.error_code)
        return
    values = {
        config.name: config.value
        for config in sorted(result.configs, key=lambda entry: str(entry.name))
        if config.value is not None and config.config_source != _DEFAULT_SOURCE and not config.is_sensitive
    }
    if kind == "topics":
        found.topics[result.resource_name] = values
    elif kind == "broker":
        found.brokers[number] = values
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
