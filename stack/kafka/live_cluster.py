"""A small cluster with traffic: four brokers in three racks, one empty; topics of many sizes; three groups.

Broker 1 has more than its share, broker 4 nothing. Acknowledged records are remembered, so a test can check every
record after the partitions moved.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kafka_rebalance.snapshot.model import ClusterSnapshot
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.setup import create_topics, fill
from stack.kafka.tools import NEWEST
from stack.kafka.traffic import ReadingGroup, RememberingProducer
from stack.waiting import wait_for

RACKS = {1: "a", 2: "b", 3: "c", 4: "a"}
EMPTY_BROKER = 4

# Topic → replicas of each partition; broker 1 is first too often, broker 4 is unused.
PLACEMENT: dict[str, list[list[int]]] = {
    "orders": [[1, 2, 3], [2, 3, 1], [3, 1, 2], [1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [1, 3, 2]],
    "clicks": [[1, 2], [1, 3], [2, 1], [1, 2], [3, 1], [1, 2]],
    "payments": [[1, 2, 3], [1, 3, 2], [2, 1, 3], [3, 2, 1]],
    "sessions": [[1, 3], [2, 1], [1, 2]],
    "audit": [[1, 2, 3], [2, 3, 1]],
    "tiny": [[1, 2]],
}
CONFIGS = {"clicks": {"retention.ms": "86400000"}, "audit": {"cleanup.policy": "compact"}}
_FILLED = {"clicks": 16_000, "sessions": 6_000, "payments": 3_000}  # records of 1,000 bytes
_WRITTEN = ("orders", "payments", "audit", "clicks")


@dataclass(frozen=True, slots=True)
class LiveCluster:
    cluster: KafkaCluster
    producer: RememberingProducer
    groups: tuple[ReadingGroup, ...]

    @property
    def failures(self) -> list[BaseException]:
        return [*self.producer.failures, *(failure for group in self.groups for failure in group.failures)]

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(sorted(PLACEMENT))


def short_isr(snapshot: ClusterSnapshot) -> list[tuple[str, int]]:
    """Partitions with a replica that is not in sync: it joins the ISR shortly after its move is completed."""
    return [(row.topic, row.partition) for row in snapshot.each_partition() if set(row.isr or ()) != set(row.replicas)]


def in_sync(read: Callable[[], ClusterSnapshot]) -> ClusterSnapshot:
    """First snapshot in which every ISR is full."""
    return wait_for(
        "every ISR to be full", read, until=lambda snapshot: not short_isr(snapshot), gist=short_isr, every_s=0.5
    )


@contextlib.contextmanager
def start_live_cluster(folder: Path, version: str = NEWEST) -> Iterator[LiveCluster]:
    with start_cluster(ClusterSpec(version=version, racks=RACKS), folder) as cluster, live(cluster) as live_cluster:
        yield live_cluster


@contextlib.contextmanager
def live(cluster: KafkaCluster) -> Iterator[LiveCluster]:
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor

    where = cluster.bootstrap
    create_topics(where, PLACEMENT, CONFIGS)
    fill(where, _FILLED)
    with contextlib.ExitStack() as life:
        producer = RememberingProducer(where, _WRITTEN)
        life.callback(producer.stop)
        groups = (
            ReadingGroup(where, "billing", ["orders", "payments"], members=3, assignor=RangePartitionAssignor),
            ReadingGroup(
                where, "search", ["orders", "clicks"], members=2, assignor=RoundRobinPartitionAssignor, is_static=True
            ),
        )
        for group in groups:
            life.callback(group.stop)
        modern = cluster.tools.start_console_consumer("clicks", "next-gen", "group.protocol=consumer")
        life.callback(modern.wait)
        life.callback(modern.terminate)
        yield LiveCluster(cluster, producer, groups)
