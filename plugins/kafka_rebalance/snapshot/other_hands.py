"""Balancers that may move replicas of this cluster, by the traces that they leave.

A balancer may undo a plan. A trace is no proof that it runs: its topics remain.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from kafka_rebalance.snapshot.model import ClusterSnapshot

MOST_CANCELLED = 20  # partitions in one command
_THROTTLED_REPLICAS = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
_THROTTLED_RATES = (
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
)


@dataclass(frozen=True, slots=True)
class Balancer:
    """``signs``: its topics, groups and configs, in order."""

    name: str
    signs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Traces:
    """Name prefixes, and the broker config that switches it on or off."""

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
    """Return those with a trace and no config that switches them off."""
    return tuple(balancer for traces in _KNOWN if (balancer := _detect(snapshot, traces)) is not None)


def cancel_json(snapshot: ClusterSnapshot, rows: Sequence[int]) -> str:
    """Return JSON that cancels: these partitions with the replicas after their reassignment."""
    partitions = [
        {"topic": partition.topic, "partition": partition.partition, "replicas": list(partition.target_replicas)}
        for partition in map(snapshot.partition, rows)
    ]
    return json.dumps({"version": 1, "partitions": partitions}, separators=(",", ":"))


def _detect(snapshot: ClusterSnapshot, traces: _Traces) -> Balancer | None:
    values = {broker.configs.get(traces.config) for broker in snapshot.brokers} - {None} if traces.config else set()
    if values == {"false"}:
        return None
    signs = sorted(f"topic {topic.name}" for topic in snapshot.topics if topic.name.startswith(traces.topics))
    if traces.groups:
        signs += sorted(f"group {group.id}" for group in snapshot.groups if group.id.startswith(traces.groups))
    signs += [f"{traces.config}=true"] if "true" in values else []
    return Balancer(traces.name, tuple(signs)) if signs else None


def throttled_resources(snapshot: ClusterSnapshot) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Topics and brokers with a throttle, also between log dirs."""
    topics = sorted(
        topic.name for topic in snapshot.topics if any(topic.configs.get(name) for name in _THROTTLED_REPLICAS)
    )
    brokers = sorted(
        broker.id for broker in snapshot.brokers if any(broker.configs.get(name) for name in _THROTTLED_RATES)
    )
    return tuple(topics), tuple(brokers)
