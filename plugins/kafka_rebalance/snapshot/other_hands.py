"""Others that may move replicas of this cluster: balancers, by the traces that they leave in it.

A plan that is executed beside one of them may be undone by it, so plan and findings name it. None of this proves that
a balancer runs now: its topics stay when it is gone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from kafka_rebalance.snapshot.model import ClusterSnapshot

MOST_CANCELLED = 20  # partitions in a command that people copy
_THROTTLED_REPLICAS = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
_THROTTLED_RATES = (
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
)


@dataclass(frozen=True, slots=True)
class Balancer:
    """``signs``: topics, groups and configs by which it is known, in order."""

    name: str
    signs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Traces:
    """Beginnings of names, and a broker config that switches it on or off."""

    name: str
    topics: tuple[str, ...]
    groups: tuple[str, ...] = ()
    config: str | None = None


_KNOWN = (
    _Traces(
        "Cruise Control", ("__CruiseControlMetrics", "__KafkaCruiseControl"), ("CruiseControl", "KafkaCruiseControl")
    ),
    _Traces("Strimzi's Cruise Control", ("strimzi.cruisecontrol.",)),
    _Traces("Confluent's balancer", ("_confluent_balancer", "_confluent-"), config="confluent.balancer.enable"),
)


def balancers(snapshot: ClusterSnapshot) -> tuple[Balancer, ...]:
    """Those that left a trace, in a fixed order; not one whose config says that it is off."""
    return tuple(found for traces in _KNOWN if (found := _found(snapshot, traces)) is not None)


def cancel_json(snapshot: ClusterSnapshot, rows: Sequence[int]) -> str:
    """Kafka's format: these partitions, and the replicas that their reassignment is to end with."""
    partitions = [
        {"topic": one.topic, "partition": one.partition, "replicas": list(one.target_replicas)}
        for one in map(snapshot.partition, rows)
    ]
    return json.dumps({"version": 1, "partitions": partitions}, separators=(",", ":"))


def _found(snapshot: ClusterSnapshot, traces: _Traces) -> Balancer | None:
    told = {broker.configs.get(traces.config) for broker in snapshot.brokers} - {None} if traces.config else set()
    if told == {"false"}:
        return None
    signs = sorted(f"topic {topic.name}" for topic in snapshot.topics if topic.name.startswith(traces.topics))
    if traces.groups:
        signs += sorted(f"group {group.id}" for group in snapshot.groups if group.id.startswith(traces.groups))
    signs += [f"{traces.config}=true"] if "true" in told else []
    return Balancer(traces.name, tuple(signs)) if signs else None


def throttled(snapshot: ClusterSnapshot) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Topics and brokers on which a throttle of replication stands, of moves between log dirs, too."""
    topics = sorted(
        topic.name for topic in snapshot.topics if any(topic.configs.get(name) for name in _THROTTLED_REPLICAS)
    )
    brokers = sorted(
        broker.id for broker in snapshot.brokers if any(broker.configs.get(name) for name in _THROTTLED_RATES)
    )
    return tuple(topics), tuple(brokers)
