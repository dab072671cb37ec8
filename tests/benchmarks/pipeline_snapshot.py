"""A cluster that is uneven and read: replicas and rates by ``generated``, and groups of five members on two topics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from kafka_rebalance.snapshot.model import ClusterSnapshot, CommittedOffset, Group, Member
from tests.benchmarks.bench_scale import Size, skewed_snapshot

MEMBERS, TOPICS_READ = 5, 2
_PROTOCOLS = ("range", "range", "roundrobin", "sticky", "cooperative-sticky")


@dataclass(frozen=True, slots=True)
class PipelineSize:
    """Three replicas a partition, some 25 partitions a topic."""

    name: str
    brokers: int
    partitions: int
    groups: int
    racks: int = 4


SIZES = (
    PipelineSize("10k", 60, 10_000, 200),
    PipelineSize("100k", 100, 100_000, 1_000),
    PipelineSize("333k", 333, 333_333, 3_000, racks=6),
)


def pipeline_snapshot(size: PipelineSize, captured_at: datetime, seed: int = 0) -> ClusterSnapshot:
    """The same arguments give the same cluster; every group is a little behind, as it reads."""
    bare = skewed_snapshot(Size(size.name, size.brokers, size.partitions, size.racks), seed)
    table, draw = bare.partitions, np.random.default_rng(seed + 1)
    ends = draw.integers(10**6, 10**9, len(table))
    counts = np.bincount(table.topic, minlength=len(bare.topics))
    first = np.cumsum(counts) - counts
    groups = [_group(number, bare, counts, first, ends) for number in range(size.groups)]
    partitions = replace(table, start_offset=np.zeros(len(table), dtype=np.int64), end_offset=ends)
    return replace(
        bare, cluster=f"size-{size.name}", captured_at=captured_at, partitions=partitions, groups=tuple(groups)
    )


def _group(
    index: int, snapshot: ClusterSnapshot, counts: np.ndarray, first: np.ndarray, ends: np.ndarray
) -> Group:  # fmt: skip
    topics = sorted({(TOPICS_READ * index + step) % len(counts) for step in range(TOPICS_READ)})
    names = {topic: snapshot.topics[topic].name for topic in topics}
    members = tuple(
        Member(
            f"member-{index}-{number}",
            client_id=f"client-{number}",
            host=f"/10.0.{index % 250}.{number}",
            subscription=tuple(names.values()),
            assigned=tuple((names[topic], tuple(range(number, int(counts[topic]), MEMBERS))) for topic in topics),
        )
        for number in range(MEMBERS)
    )
    committed = tuple(
        CommittedOffset(names[topic], partition, int(ends[first[topic] + partition]) - 10 * (index % 7))
        for topic in topics
        for partition in range(int(counts[topic]))
    )
    protocol = _PROTOCOLS[index % len(_PROTOCOLS)]
    return Group(f"group-{index:04d}", protocol=protocol, state="Stable", members=members, committed=committed)
