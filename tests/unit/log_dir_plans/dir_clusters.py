"""Small clusters whose brokers have several log dirs: by hand, and at random."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.log_dir_plans.make import LogDirRequest
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, LogDir, Partition, Topic, partition_table

DISK = 1_000
Sizes = list[tuple[int, int]]  # size and dir of each replica


def one_broker(replicas: Sizes, dirs: tuple[LogDir, ...]) -> ClusterSnapshot:
    """Broker 1 alone; partition p of topic t is replica p."""
    rows = [
        Partition("t", p, (1,), 1, isr=(1,), log_bytes=(size,), log_dirs=(location,))
        for p, (size, location) in enumerate(replicas)
    ]
    return snapshot_of(rows, (Broker(1, log_dirs=dirs),))


def snapshot_of(rows: list[Partition], brokers: tuple[Broker, ...]) -> ClusterSnapshot:
    names = sorted({row.topic for row in rows})
    index = {name: number for number, name in enumerate(names)}
    return ClusterSnapshot(
        cluster="dirs", brokers=brokers, topics=tuple(map(Topic, names)), partitions=partition_table(rows, index)
    )


def disks(*used: int, total: int = DISK) -> tuple[LogDir, ...]:
    """/d0, /d1, … on separate disks; of equal sizes the total is a byte larger each."""
    return tuple(LogDir(f"/d{n}", total + n, total + n - amount) for n, amount in enumerate(used))


def held(replicas: Sizes, count: int) -> list[int]:
    return [sum(size for size, location in replicas if location == n) for n in range(count)]


def random_broker(random: np.random.Generator) -> tuple[ClusterSnapshot, LogDirRequest]:
    """Up to 7 replicas in 2 or 3 dirs; balanced, a dir emptied, or both; now and then a stranger on a disk."""
    count = int(random.integers(2, 4))
    replicas = [(int(random.integers(0, 120)), int(random.integers(count))) for _ in range(int(random.integers(1, 8)))]
    strange = [int(random.integers(0, 300)) if random.random() < 0.3 else 0 for _ in range(count)]
    used = [mine + other for mine, other in zip(held(replicas, count), strange, strict=True)]
    dirs = disks(*used, total=int(random.integers(max(used) + 1, 3 * max(used) + 200)))
    kind = int(random.integers(3))
    within = None if kind == 1 else float(random.choice([0.0, 0.02, 0.1, 0.3]))
    removed = frozenset() if kind == 0 else frozenset({(1, f"/d{int(random.integers(count))}")})
    return one_broker(replicas, dirs), LogDirRequest(within, removed)


def three_brokers() -> ClusterSnapshot:
    """Two dirs each, the first fuller: 12 partitions on two brokers each, and nothing known of broker 3's disks."""
    random = np.random.default_rng(5)
    rows = [
        Partition(
            "orders", p, (1 + p % 3, 1 + (p + 1) % 3), 1 + p % 3, isr=(1 + p % 3, 1 + (p + 1) % 3),
            log_bytes=(size := int(random.integers(20, 90)), size), log_dirs=(0, 0 if p % 4 else 1),
        )
        for p in range(12)
    ]  # fmt: skip
    brokers = []
    for broker in (1, 2, 3):
        used = [0, 0]
        for row in rows:
            for replica, size, log_dir in zip(row.replicas, row.log_bytes, row.log_dirs, strict=True):
                used[log_dir or 0] += (size or 0) if replica == broker else 0
        dirs = disks(*used) if broker < 3 else (LogDir("/d0"), LogDir("/d1"))
        brokers.append(Broker(broker, log_dirs=dirs))
    return snapshot_of(rows, tuple(brokers))
