"""Random small clusters with everything that a plan can meet, and something to be wanted of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target, TopicBrokers
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Broker, BrokerState, Capacity, ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import Partition
from tests.unit.planner.sample_clusters import GB, cluster, row

MOST_BROKERS, MOST_PARTITIONS = 6, 12
JOBS = ("balance", "targets", "remove", "add", "demote", "exclude", "factor", "leaders", "pin", "factor and remove")


def small_cluster(seed: int) -> tuple[ClusterSnapshot, PlanOptions]:
    """At most 6 brokers and 12 partitions: racks or none, capacities, own sizes, offline dirs, a dead broker, unknown
    rates, partitions in flight, leaders anywhere; and one job within a band that is narrow or wide.
    """
    draw = np.random.default_rng(seed)
    count, racks = int(draw.integers(2, MOST_BROKERS + 1)), int(draw.choice([0, 2, 3]))
    brokers = [_broker(draw, number, racks) for number in range(count)]
    rows = _rows(draw, count)
    if draw.random() < 0.1:
        rows = _one_dies(draw, brokers, rows)
    kinds = {LoadKind.IN_BYTES_PER_S: 0.6, LoadKind.OUT_BYTES_PER_S: 0.6, LoadKind.CPU_PERCENT: 0.5}
    rates = {kind: draw.lognormal(2, 1, len(rows)).tolist() for kind, likely in kinds.items() if draw.random() < likely}
    return cluster(rows, brokers, rates=rates), _parameters(draw, count, racks)


def confined_cluster(seed: int) -> tuple[ClusterSnapshot, PlanOptions]:
    """A small cluster some of whose topics may be on some brokers alone, or on those of a rack; leaders alone move in
    none of them.
    """
    snapshot, options = small_cluster(seed)
    draw = np.random.default_rng((seed, 1))
    ids = sorted({broker.id for broker in snapshot.brokers} | set(options.add_brokers))
    racks = sorted({broker.rack for broker in snapshot.brokers if broker.rack})
    rules = []
    for topic in range(int(draw.integers(1, 3))):
        count = int(draw.integers(1, len(ids) + 1)) if draw.random() < 0.2 else min(len(ids), int(draw.integers(3, 5)))
        some = frozenset(map(int, draw.choice(ids, count, replace=False)))
        rack = frozenset({str(draw.choice(racks))}) if racks and draw.random() < 0.3 else frozenset()
        pattern = f"t{topic}" if draw.random() < 0.8 else "t.*"
        rules.append(TopicBrokers(pattern, frozenset() if rack and draw.random() < 0.3 else some, rack))
    return snapshot, replace(options, leaders_only=False, preferred_election=False, topic_brokers=tuple(rules))


def _broker(draw: np.random.Generator, number: int, racks: int) -> Broker:
    capacity = Capacity(disk_bytes=float(draw.choice([40, 60, 80])) * GB) if draw.random() < 0.3 else Capacity()
    rack = f"rack-{int(draw.integers(0, racks))}" if racks else None
    return Broker(id=number, rack=rack, capacity=capacity)


def _rows(draw: np.random.Generator, count: int) -> list[Partition]:
    rows: list[Partition] = []
    with_own_sizes, with_offline = draw.random() < 0.2, draw.random() < 0.1
    for topic in range(int(draw.integers(1, 4))):
        factor = min(count, int(draw.choice([1, 2, 2, 3])))
        popular = draw.dirichlet(np.full(count, 0.7)) + 1e-3
        for partition in range(int(draw.integers(1, MOST_PARTITIONS // 3 + 1))):
            chosen = draw.choice(count, factor, replace=False, p=popular / popular.sum()).tolist()
            size = int(GB * draw.lognormal(0, 0.8)) if draw.random() > 0.05 else 0
            spread = draw.uniform(0.6, 1.3, factor) if with_own_sizes else np.ones(factor)
            leader = chosen[int(draw.integers(0, factor))] if draw.random() < 0.4 else chosen[0]
            sizes = tuple(size if b == leader else int(size * scale) for b, scale in zip(chosen, spread, strict=True))
            offline = tuple(b for b in chosen if with_offline and b != leader and draw.random() < 0.3)
            synced = tuple(b for b in chosen if b not in offline)
            more = {"log_bytes": sizes, "leader": leader, "offline": offline, "isr": synced}
            rows.append(row(f"t{topic}", partition, chosen, **more))
    return rows


def _one_dies(draw: np.random.Generator, brokers: list[Broker], rows: Sequence[Partition]) -> list[Partition]:
    """Its leaderships have gone to others, or to nobody."""
    dead = int(draw.integers(0, len(brokers)))
    brokers[dead] = replace(brokers[dead], state=BrokerState.DEAD)
    left = []
    for partition_row in rows:
        alive = tuple(b for b in partition_row.isr or () if b != dead)
        leader = partition_row.leader if partition_row.leader != dead else next(iter(alive), None)
        left.append(
            replace(
                partition_row, isr=alive, leader=leader, offline=tuple(b for b in partition_row.offline if b != dead)
            )
        )
    return left


def _parameters(draw: np.random.Generator, count: int, racks: int) -> PlanOptions:
    options = PlanOptions(within=float(draw.choice([0.05, 0.2, 0.4, 0.6, 0.9, 0.9])), with_frontier=False)
    job, some = str(draw.choice(JOBS)), int(draw.integers(0, count))
    factor = int(draw.integers(1, min(count, 3) + 1))
    new_rack = f"rack-{int(draw.integers(0, racks + 1))}" if racks else None
    changes: dict[str, dict[str, object]] = {
        "targets": {"targets": {"disk": Target(0.3, 1.6), "replicas": Target(None, 1.4)}},
        "remove": {"remove_brokers": frozenset({some})},
        "add": {"add_brokers": {count: new_rack}},
        "demote": {"demote_brokers": frozenset({some})},
        "exclude": {"exclude_brokers": frozenset({some})},
        "factor": {"replication_factor": factor},
        "leaders": {"leaders_only": True},
        "pin": {"exclude_topics": ("t0",)},
        "factor and remove": {"replication_factor": factor, "remove_brokers": frozenset({some})},
    }
    return replace(options, **changes.get(job, {}))
