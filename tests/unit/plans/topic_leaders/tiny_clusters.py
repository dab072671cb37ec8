"""Tiny random clusters with minimum leaders a topic, and an exhaustive test for a placement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import TopicLeaders
from kafka_rebalance.snapshot.model import Broker, Capacity, ClusterSnapshot
from tests.unit.planner.sample_clusters import GB, cluster, row


def tiny(seed: int) -> tuple[ClusterSnapshot, PlanOptions]:
    """At most 4 brokers and 6 partitions of two topics; disks that are now and then nearly full, and some job."""
    draw = np.random.default_rng(seed)
    count, racks = int(draw.integers(2, 5)), int(draw.choice([0, 2]))
    rows = []
    for topic in ("a", "b"):
        for partition in range(int(draw.integers(1, 4))):
            held = draw.permutation(count)[: int(draw.integers(1, 3))].tolist()
            rows.append(row(topic, partition, held, int(draw.integers(1, 10)) * GB, leader=int(draw.choice(held))))
    held_bytes = sum(entry.log_bytes[0] * len(entry.replicas) for entry in rows)
    capacity = Capacity(disk_bytes=held_bytes / count * float(draw.uniform(1.1, 2.0)) + 5 * GB)
    known = draw.random() < 0.5
    brokers = [
        Broker(id=b, rack=f"r{b % racks}" if racks else None, capacity=capacity if known else Capacity())
        for b in range(count)
    ]
    jobs: list[dict[str, Any]] = [
        {}, {}, {"leaders_only": True}, {"max_moves": int(draw.integers(0, 3))},
        {"max_leader_changes": int(draw.integers(0, 4))}, {"max_move_bytes": int(draw.integers(0, 12)) * GB},
        {"demote_brokers": frozenset({0})}, {"exclude_brokers": frozenset({0})}, {"exclude_topics": ("b",)},
    ]  # fmt: skip
    rules = (TopicLeaders(str(draw.choice(["a", ".*", "[ab]"])), int(draw.integers(1, 3))),)
    job = jobs[int(draw.integers(len(jobs)))]
    return cluster(rows, brokers), PlanOptions(min_topic_leaders=rules, with_frontier=False, within=0.5, **job)


@dataclass(frozen=True, slots=True)
class Way:
    """Brokers and leader of one partition, and what that costs."""

    brokers: tuple[int, ...]
    leader: int
    copies: int
    changed: int


def ways(snapshot: ClusterSnapshot, options: PlanOptions, number: int) -> Iterator[Way]:
    """Every lawful one of a partition."""
    entry = list(snapshot.each_partition())[number]
    today = set(entry.replicas)
    if not options.is_topic_allowed(entry.topic):
        yield Way(tuple(entry.replicas), entry.leader, 0, 0)
        return
    rack = {broker.id: broker.rack or f"alone-{broker.id}" for broker in snapshot.brokers}
    open_to = [b for b in rack if b not in options.exclude_brokers or b in today]
    lists = [tuple(sorted(today))] if options.leaders_only else list(combinations(open_to, len(today)))
    open_racks = {rack[b] for b in rack if b not in options.exclude_brokers}
    most = min(len(today), len(open_racks))
    for brokers in lists:
        is_spread = len({rack[b] for b in brokers}) >= most or options.leaders_only
        for leader in brokers if is_spread else ():
            keeps = leader == entry.leader and leader not in options.demote_brokers
            if keeps or leader not in options.demote_brokers | options.exclude_brokers:
                yield Way(brokers, leader, len(set(brokers) - today), int(leader != entry.leader))


def has_a_placement(snapshot: ClusterSnapshot, options: PlanOptions) -> bool:
    """Some placement keeps disks, racks and budget, and has the leaders; every one is tried."""
    entries = list(snapshot.each_partition())
    every = [list(ways(snapshot, options, number)) for number in range(len(entries))]
    eligible = [b.id for b in snapshot.brokers if b.id not in options.demote_brokers | options.exclude_brokers]
    limit = {b.id: b.capacity.disk_bytes or np.inf for b in snapshot.brokers}
    used = {b: sum(e.log_bytes[0] for e in entries if b in e.replicas) for b in limit}
    need = {
        topic: min(
            max(rule.leaders for rule in options.min_topic_leaders if rule.covers(topic)),
            sum(e.topic == topic for e in entries) // len(eligible),
        )
        for topic in {e.topic for e in entries}
        if options.is_topic_allowed(topic) and any(rule.covers(topic) for rule in options.min_topic_leaders)
    }
    left = (
        np.inf if options.max_moves is None else options.max_moves,
        np.inf if options.max_leader_changes is None else options.max_leader_changes,
        np.inf if options.max_move_bytes is None else options.max_move_bytes,
    )

    def completes(number: int, chosen: list[Way], spent: tuple[float, float, float]) -> bool:
        if any(had > most for had, most in zip(spent, left, strict=True)):
            return False
        if number == len(entries):
            return fits(chosen)
        size, (copies, changes, copied) = entries[number].log_bytes[0], spent
        return any(
            completes(
                number + 1, [*chosen, way], (copies + way.copies, changes + way.changed, copied + way.copies * size)
            )
            for way in every[number]
        )

    def fits(chosen: list[Way]) -> bool:
        for b, most in limit.items():
            holds = sum(e.log_bytes[0] for e, way in zip(entries, chosen, strict=True) if b in way.brokers)
            if holds > max(most, used[b]) or (holds > most and holds > used[b]):
                return False
        led = [(e.topic, way.leader) for e, way in zip(entries, chosen, strict=True)]
        return all(led.count((topic, b)) >= least for topic, least in need.items() for b in eligible)

    return completes(0, [], (0.0, 0.0, 0.0))
