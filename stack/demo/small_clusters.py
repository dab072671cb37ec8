"""Two small clusters beside the demo's: one needs nothing since its plan was carried out, one hides its loads.

- ``demo-healthy``: 6 brokers in 3 racks, 60 partitions, 3 groups. Broker 5 joined empty, so broker 2 alone held a
  replica of every partition in rack-c, until a plan was carried out.
- ``demo-blind``: 4 brokers without racks, 24 partitions. The login lost ``Describe on Cluster``: no loads, and topics
  may be hidden.

The same seed and time give the same snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.coverage import CoverageGap, Right, right_gap
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import (
    Broker,
    Capacity,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    LogDir,
    Member,
    Partition,
    Topic,
    partition_table,
)
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from stack.demo.topics import DAY_S, RACKS, WINDOW_S

HEALTHY, BLIND = "demo-healthy", "demo-blind"
HEALTHY_TOPICS = ("accounts.changes", "invoices.created", "logins", "prices", "quotes")
BLIND_TOPICS = ("claims", "policies", "tariffs")
_PARTITIONS, _BLIND_PARTITIONS = 12, 8
_GROWTH_A_DAY = 0.006
_DISK_BYTES = 500_000_000_000
_LARGEST_BYTES = 9_000_000_000
_MESSAGE_BYTES = 1_000
_MESSAGES_BEHIND = 40

Placement = Mapping[tuple[str, int], tuple[int, ...]]


def snapshot_file(dumps: Path, cluster: str) -> Path:
    """The newest snapshot of a small cluster, beside the demo's dumps."""
    return dumps.with_name(f"{cluster}.json")


def healthy_cluster(captured_at: datetime, age_days: float, moved: Placement, seed: int) -> ClusterSnapshot:
    """Snapshot of ``age_days`` before the demo; ``moved``: replicas of the partitions that a plan has moved."""
    rows = [
        (topic, number, moved.get((topic, number), _in_racks_without_broker_5(index * _PARTITIONS + number)))
        for index, topic in enumerate(HEALTHY_TOPICS)
        for number in range(_PARTITIONS)
    ]
    snapshot = _cluster(HEALTHY, [RACKS[broker % 3] for broker in range(6)], rows, captured_at, age_days, seed)
    groups = [("billing", "invoices.created"), ("fraud-rules", "logins"), ("quote-cache", "quotes")]
    return replace(snapshot, groups=tuple(_group(name, topic, snapshot) for name, topic in groups))


def blind_cluster(captured_at: datetime, age_days: float, seed: int, *, may_describe: bool) -> ClusterSnapshot:
    """``may_describe``: the login still had its rights."""
    rows = [
        (topic, number, tuple((index + number + step) % 4 for step in range(3)))
        for index, topic in enumerate(BLIND_TOPICS)
        for number in range(_BLIND_PARTITIONS)
    ]
    snapshot = _cluster(BLIND, [None] * 4, rows, captured_at, age_days, seed)
    if may_describe:
        return snapshot
    refused = fact(FactCode.RIGHT_NOT_HELD, right=Right.DESCRIBE_CLUSTER.value)
    gaps = tuple(
        CoverageGap("broker", str(broker.id), fact(FactCode.LACKS_LOG_DIRS), refused) for broker in snapshot.brokers
    )
    hidden = replace(snapshot.partitions, replica_log_bytes=np.full(len(snapshot.partitions.replicas), -1))
    return replace(
        snapshot, brokers=tuple(replace(broker, log_dirs=()) for broker in snapshot.brokers), partitions=hidden,
        loads=PartitionLoads(), coverage=(*gaps, right_gap(Right.DESCRIBE_CLUSTER)),
    )  # fmt: skip


def _in_racks_without_broker_5(index: int) -> tuple[int, ...]:
    """Three racks in turn; rack-c has broker 2 only."""
    in_racks = (index // 3 % 2 * 3, 1 + index // 6 % 2 * 3, 2)
    return tuple(in_racks[(index + step) % 3] for step in range(3))


def _cluster(
    name: str, racks: Sequence[str | None], rows: Sequence[tuple[str, int, tuple[int, ...]]], captured_at: datetime,
    age_days: float, seed: int,
) -> ClusterSnapshot:  # fmt: skip
    rng = np.random.default_rng(seed)
    sizes = _LARGEST_BYTES * rng.uniform(0.8, 1.0, len(rows)) * (1 - _GROWTH_A_DAY * age_days)
    rates = sizes / (7 * DAY_S)
    ends = np.round((sizes + rates * DAY_S * (30 - age_days)) / _MESSAGE_BYTES)
    partitions = [
        Partition(
            topic, number, replicas, replicas[0], replicas, (int(size),) * len(replicas),
            int(end - size / _MESSAGE_BYTES), int(end),
        )
        for (topic, number, replicas), size, end in zip(rows, sizes, ends, strict=True)
    ]  # fmt: skip
    topics = tuple(dict.fromkeys(topic for topic, _, _ in rows))
    held = np.zeros(len(racks))
    for (_, _, replicas), size in zip(rows, sizes, strict=True):
        held[list(replicas)] += size
    columns = {
        LoadKind.LOG_BYTES: LoadColumn(np.floor(sizes), LoadSource.LOG_DIRS),
        LoadKind.IN_BYTES_PER_S: LoadColumn(rates, LoadSource.LOG_DIR_GROWTH, WINDOW_S),
        LoadKind.OUT_BYTES_PER_S: LoadColumn(rates, LoadSource.LOG_DIR_GROWTH, WINDOW_S),
        LoadKind.IN_MESSAGES_PER_S: LoadColumn(rates / _MESSAGE_BYTES, LoadSource.OFFSETS_TIMES_MESSAGE_SIZE, WINDOW_S),
    }
    return ClusterSnapshot(
        cluster=name,
        brokers=tuple(
            Broker(
                broker, rack, f"{name}-{broker}.example", 9092, is_controller=broker == 0,
                log_dirs=(LogDir("/var/lib/kafka/data", _DISK_BYTES, int(_DISK_BYTES - held[broker])),),
                capacity=Capacity(disk_bytes=float(_DISK_BYTES)),
            )
            for broker, rack in enumerate(racks)
        ),
        topics=tuple(Topic(topic) for topic in topics),
        partitions=partition_table(partitions, {topic: index for index, topic in enumerate(topics)}),
        loads=PartitionLoads(columns), captured_at=captured_at, source="demo",
    )  # fmt: skip


def _group(name: str, topic: str, snapshot: ClusterSnapshot) -> Group:
    """Four members that keep up, three partitions each."""
    ends = {row.partition: row.end_offset or 0 for row in snapshot.each_partition() if row.topic == topic}
    rates = snapshot.load(LoadKind.IN_MESSAGES_PER_S)
    return Group(
        name, protocol="range", state="Stable", generation=3, coordinator=0,
        members=tuple(
            Member(
                f"{name}-{member}", client_id=f"consumer-{name}-{member}", host=f"/198.51.100.{member + 1}",
                subscription=(topic,), assigned=((topic, tuple(range(3 * member, 3 * member + 3))),),
            )
            for member in range(_PARTITIONS // 3)
        ),
        committed=tuple(
            CommittedOffset(
                topic, number, end - _MESSAGES_BEHIND, None, float(rates[snapshot.row_of[topic, number]])
            )
            for number, end in sorted(ends.items())
        ),
    )  # fmt: skip
