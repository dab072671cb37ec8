"""Small clusters for tests, in few words, and random ones by seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    Capacity,
    ClusterSnapshot,
    Topic,
    partition_table,
)
from kafka_rebalance.snapshot.partition_table import LoadColumn, Partition, PartitionLoads
from kafka_rebalance.snapshot.times import parse_time

GB = 10**9
NOON = "2026-11-20T12:00:00Z"


def cluster(
    rows: Sequence[Partition],
    brokers: Sequence[Broker],
    *,
    rates: Mapping[LoadKind, Sequence[float]] | None = None,
    captured_at: str | None = NOON,
) -> ClusterSnapshot:
    """Snapshot of ``rows``; ``rates`` in the same order."""
    names = sorted({row.topic for row in rows})
    order = sorted(range(len(rows)), key=lambda i: (rows[i].topic, rows[i].partition))
    columns = {
        kind: LoadColumn(np.array([float(values[i]) for i in order]), LoadSource.GIVEN)
        for kind, values in (rates or {}).items()
    }
    return ClusterSnapshot(
        cluster="test",
        cluster_id="test-id",
        captured_at=None if captured_at is None else parse_time(captured_at, "captured_at"),
        brokers=tuple(brokers),
        topics=tuple(Topic(name) for name in names),
        partitions=partition_table(list(rows), {name: i for i, name in enumerate(names)}),
        loads=PartitionLoads(columns),
        source="test",
    )


def row(topic: str, partition: int, replicas: Sequence[int], size: int | None = GB, **more: object) -> Partition:
    """Partition led by its first replica, every replica of ``size`` bytes."""
    fields: dict[str, object] = {"leader": replicas[0], "isr": tuple(replicas), "log_bytes": (size,) * len(replicas)}
    return Partition(topic=topic, partition=partition, replicas=tuple(replicas), **(fields | more))


def brokers(count: int, racks: int = 0, **states: BrokerState) -> list[Broker]:
    """Brokers 0..count-1, over ``racks`` in turn; states by keyword ``b3=BrokerState.DEAD``."""
    return [
        Broker(
            id=number,
            rack=f"rack-{number % racks}" if racks else None,
            state=states.get(f"b{number}", BrokerState.ALIVE),
        )
        for number in range(count)
    ]


def random_cluster(
    seed: int = 0, *, broker_count: int = 12, racks: int = 3, topics: int = 25, with_rates: bool = True
) -> ClusterSnapshot:
    """Skewed cluster with realistic sizes: few large topics, some brokers more loaded."""
    draw = np.random.default_rng(seed)
    popularity = draw.lognormal(0, 0.5, broker_count)
    rows: list[Partition] = []
    for number in range(topics):
        scale = float(draw.lognormal(0, 1.0))
        for partition in range(int(draw.integers(1, 24))):
            chosen: list[int] = []
            for rack in draw.permutation(racks)[:3].tolist():
                inside = [b for b in range(broker_count) if b % racks == rack]
                weight = popularity[inside] / popularity[inside].sum()
                chosen.append(int(draw.choice(inside, p=weight)))
            size = int(GB * scale * draw.lognormal(0, 0.3)) + 1
            rows.append(row(f"topic-{number:02d}", partition, chosen, size))
    rates = None
    if with_rates:
        sizes = np.array([float(row.log_bytes[0] or 0) for row in rows])
        written = sizes / 86400 * draw.lognormal(0, 0.3, len(rows))
        rates = {
            LoadKind.IN_BYTES_PER_S: written.tolist(),
            LoadKind.OUT_BYTES_PER_S: (written * draw.lognormal(0.3, 0.5, len(rows))).tolist(),
            LoadKind.CPU_PERCENT: (written / written.sum() * 100).tolist(),
        }
    return cluster(rows, brokers(broker_count, racks), rates=rates)


def with_capacity(snapshot: ClusterSnapshot, disk_bytes: float) -> list[Broker]:
    """Its brokers, each with a disk of that size."""
    return [
        Broker(id=b.id, rack=b.rack, state=b.state, capacity=Capacity(disk_bytes=disk_bytes)) for b in snapshot.brokers
    ]
