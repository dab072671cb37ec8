"""Plans to spoil: one real plan with everything in it, as a document, beside the snapshot it was made from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import plan_id, to_document
from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.snapshot.model import BrokerState, Capacity, ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import partition_table
from rebalance_advisor.publish.plan_files import plan_files
from tests.unit.planner.sample_clusters import GB, random_cluster


@dataclass(frozen=True)
class SamplePlan:
    """A plan's text, its snapshot, and all its files by name; ``document`` is a fresh copy each time."""

    snapshot: ClusterSnapshot
    text: str
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.text)


def sealed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with a recomputed hash, as a forger makes it."""
    document["plan_id"] = plan_id(document)
    return document


def sealed_anyhow(document: dict[str, Any]) -> dict[str, Any]:
    """As ``sealed``; invalid values are hashed as far as Python can write them."""
    content = {key: value for key, value in document.items() if key != "plan_id"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return document | {"plan_id": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()}


def as_if_made_from(snapshot: ClusterSnapshot, document: dict[str, Any]) -> dict[str, Any]:
    """The document of another snapshot, forged so that it names this one."""
    return sealed_anyhow(document | {"snapshot_id": snapshot_id(snapshot)})


@cache
def busy_plan() -> SamplePlan:
    """12 brokers in 3 racks: 3 leaves, 5 demoted, 7 excluded, 9 dead; out-of-sync replicas, a reassignment, an
    excluded topic.
    """
    snapshot = random_cluster(4, topics=40)
    rows = list(snapshot.each_partition())
    draw = np.random.default_rng(0)
    for number in draw.choice(len(rows), 12, replace=False).tolist():
        row = rows[number]
        out = next((b for b in row.replicas if b != row.leader), None)
        rows[number] = replace(row, isr=tuple(b for b in row.replicas if b != out))
    for number, row in enumerate(rows):
        if 9 in row.replicas:
            alive = tuple(b for b in row.isr or () if b != 9)
            leader = row.leader if row.leader != 9 else next(iter(alive), None)
            rows[number] = replace(row, isr=alive, leader=leader)
    flying = next(i for i, row in enumerate(rows) if 9 not in row.replicas and row.topic == "topic-02")
    coming = next(b for b in (0, 1, 2, 4) if b not in rows[flying].replicas)
    leaving = rows[flying].replicas[-1]
    rows[flying] = replace(
        rows[flying],
        replicas=(*rows[flying].replicas, coming),
        adding=(coming,),
        removing=(leaving,),
        log_bytes=(*rows[flying].log_bytes, 0),
    )
    brokers = tuple(
        replace(
            broker,
            state=BrokerState.DEAD if broker.id == 9 else BrokerState.ALIVE,
            capacity=Capacity(disk_bytes=600.0 * GB),
        )
        for broker in snapshot.brokers
    )
    index = {topic.name: i for i, topic in enumerate(snapshot.topics)}
    snapshot = replace(snapshot, brokers=brokers, partitions=partition_table(rows, index))
    on_3 = {row.topic for row in rows if 3 in row.replicas}
    free_of_3 = next(topic.name for topic in snapshot.topics if topic.name not in on_3)
    options = PlanOptions(
        within=0.2,
        remove_brokers=frozenset({3}),
        demote_brokers=frozenset({5}),
        exclude_brokers=frozenset({7}),
        exclude_topics=(free_of_3,),
        moves_per_broker=6,
        throttle_bytes_per_s=20_000_000,
        with_frontier=False,
    )
    plan = make_plan(snapshot, options)
    return SamplePlan(snapshot, json.dumps(to_document(plan)), plan_files(plan))


@cache
def plain_plan() -> SamplePlan:
    """A balance within 10 %: the fewest rules in the way, so that bounds and bands are at their sharpest."""
    snapshot = random_cluster(11, topics=40)
    plan = make_plan(snapshot, PlanOptions(within=0.1, with_frontier=False))
    return SamplePlan(snapshot, json.dumps(to_document(plan)), plan_files(plan))
