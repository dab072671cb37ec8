"""One plan with its snapshot, and ways to change the cluster after it was made."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import plan_id, to_document
from kafka_rebalance.snapshot.model import Broker, BrokerState, Capacity, ClusterSnapshot, Topic
from kafka_rebalance.snapshot.partition_table import Partition, PartitionLoads, partition_table
from tests.unit.planner.sample_clusters import random_cluster

Rows = list[Partition]
OPTIONS = PlanOptions(within=0.1, with_frontier=False)
_MADE: dict[tuple[int, bool, bool, str], Any] = {}


@dataclass(frozen=True)
class Planned:
    """``document`` is a fresh copy each time."""

    snapshot: ClusterSnapshot
    text: str

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.text)

    @property
    def moves(self) -> list[dict[str, Any]]:
        """Moves with copies."""
        return sorted(self.document["moves"], key=lambda move: move["kind"] != "replica")


def planned(seed: int = 11, *, has_id: bool = True, is_busy: bool = False, options: PlanOptions = OPTIONS) -> Planned:
    """A small skewed cluster whose topics have ids, and a plan for it; ``is_busy``: a reassignment was running."""
    key = (seed, has_id, is_busy, repr(options))
    if key not in _MADE:
        _MADE[key] = _planned(seed, has_id, is_busy, options)
    return _MADE[key]


def _planned(seed: int, has_id: bool, is_busy: bool, options: PlanOptions) -> Planned:
    snapshot = random_cluster(seed, broker_count=9, topics=12)
    named = tuple(replace(topic, topic_id=f"id-of-{topic.name}") for topic in snapshot.topics)
    snapshot = replace(snapshot, topics=named, cluster_id="test-id" if has_id else None)
    rows = list(snapshot.each_partition())
    if is_busy:
        rows[0] = flying(rows[0], next(b for b in range(9) if b not in rows[0].replicas))
    snapshot = with_rows(snapshot, rows)
    plan = make_plan(snapshot, options)
    return Planned(snapshot, json.dumps(to_document(plan)))


def resealed(document: dict[str, Any]) -> dict[str, Any]:
    """With the hash of the present content."""
    document["plan_id"] = plan_id(document)
    return document


def flying(row: Partition, to: int) -> Partition:
    """The partition while a replica is being copied to one more broker."""
    return replace(row, replicas=(*row.replicas, to), adding=(to,), log_bytes=(*row.log_bytes, 0))


def with_rows(snapshot: ClusterSnapshot, rows: Rows, **more: Any) -> ClusterSnapshot:
    """Other partitions; changed ones have no measured rates."""
    topics = more.get("topics", snapshot.topics)
    table = partition_table(rows, {topic.name: i for i, topic in enumerate(topics)})
    names = [(row.topic, row.partition) for row in rows]
    if names != [(row.topic, row.partition) for row in snapshot.each_partition()]:
        more["loads"] = PartitionLoads({})
    return replace(snapshot, partitions=table, **more)


def changed(
    snapshot: ClusterSnapshot, key: tuple[str, int], change: Callable[[Partition], Partition]
) -> ClusterSnapshot:
    """One partition is another."""
    return with_rows(
        snapshot, [change(row) if (row.topic, row.partition) == key else row for row in snapshot.each_partition()]
    )


def placed(row: Partition, replicas: list[int], leader: int | None = None) -> Partition:
    """The partition in its new place, everything in sync."""
    return replace(
        row,
        replicas=tuple(replicas),
        leader=replicas[0] if leader is None else leader,
        isr=tuple(replicas),
        adding=(),
        removing=(),
        log_bytes=(row.log_bytes[0],) * len(replicas),
    )


def applied(snapshot: ClusterSnapshot, moves: list[dict[str, Any]]) -> ClusterSnapshot:
    """The cluster after some moves."""
    target = {(move["topic"], move["partition"]): move["to"] for move in moves}
    return with_rows(
        snapshot,
        [
            placed(row, target[row.topic, row.partition]) if (row.topic, row.partition) in target else row
            for row in snapshot.each_partition()
        ],
    )


def with_broker(snapshot: ClusterSnapshot, broker: int, **fields: Any) -> ClusterSnapshot:
    """One broker is another."""
    brokers = tuple(replace(row, **fields) if row.id == broker else row for row in snapshot.brokers)
    return replace(snapshot, brokers=brokers)


def with_all_brokers(snapshot: ClusterSnapshot, change: Callable[[Broker], Broker]) -> ClusterSnapshot:
    """Every broker is another."""
    return replace(snapshot, brokers=tuple(change(broker) for broker in snapshot.brokers))


def with_topic(snapshot: ClusterSnapshot, name: str, change: Callable[[Topic], Topic]) -> ClusterSnapshot:
    """One topic is another."""
    return replace(snapshot, topics=tuple(change(topic) if topic.name == name else topic for topic in snapshot.topics))


def without_topic(snapshot: ClusterSnapshot, name: str) -> ClusterSnapshot:
    """The topic and its partitions are gone."""
    rows = [row for row in snapshot.each_partition() if row.topic != name]
    return with_rows(snapshot, rows, topics=tuple(topic for topic in snapshot.topics if topic.name != name))


def dead(snapshot: ClusterSnapshot, broker: int) -> ClusterSnapshot:
    """The broker has died; its partitions are led by others."""
    rows = []
    for row in snapshot.each_partition():
        isr = tuple(b for b in row.isr or row.replicas if b != broker)
        leader = row.leader if row.leader != broker else next(iter(isr), None)
        rows.append(replace(row, isr=isr, leader=leader) if broker in row.replicas else row)
    return with_rows(with_broker(snapshot, broker, state=BrokerState.DEAD), rows)


def small_disks(snapshot: ClusterSnapshot, broker: int) -> ClusterSnapshot:
    """That broker is full, the others have room."""
    held = sum(
        size or 0
        for row in snapshot.each_partition()
        for replica, size in zip(row.replicas, row.log_bytes, strict=True)
        if replica == broker
    )
    whole = 1e15
    return with_all_brokers(
        snapshot,
        lambda old: replace(old, capacity=Capacity(disk_bytes=held + 1.0 if old.id == broker else whole)),
    )
