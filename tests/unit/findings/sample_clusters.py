"""Small clusters for rules: six brokers in three racks, and builders that change one thing."""

from __future__ import annotations

import json

import numpy as np

from kafka_rebalance.facts import Fact
from kafka_rebalance.findings.context import FindingContext
from kafka_rebalance.findings.finding import Finding, rank
from kafka_rebalance.findings.rules import RULES, evaluate_rules
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import ReplayOptions
from kafka_rebalance.render import render
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, Partition, Topic, partition_table
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from tests.unit.render.plain_sentences import require_plain

RACKS = ("a", "b", "c")


def brokers(count=6, **changes):
    """Racks alternate; ``changes`` by field: broker → value."""
    return tuple(
        Broker(number, rack=RACKS[number % 3], **{name: by[number] for name, by in changes.items() if number in by})
        for number in range(count)
    )


def striped(topic, count, size=100, brokers_in_all=6):
    """Partitions that are as even as can be: three replicas, one in each rack, all in sync."""
    rows = []
    for number in range(count):
        first = number % brokers_in_all
        replicas = tuple((first + step) % brokers_in_all for step in range(3))
        rows.append(Partition(topic, number, replicas, replicas[0], replicas, (size,) * 3, 0, 1000))
    return rows


def cluster(rows, *, of=None, configs=None, groups=(), coverage=(), **loads):
    """``loads``: kind → figures by row, in table order; ``configs``: topic → its configs."""
    names = sorted({row.topic for row in rows})
    topics = tuple(Topic(name, configs=(configs or {}).get(name, {})) for name in names)
    columns = {
        LoadKind(kind): LoadColumn(np.array(values, dtype=np.float64), LoadSource.GIVEN, 60.0)
        for kind, values in loads.items()
    }
    return ClusterSnapshot(
        "c",
        brokers() if of is None else of,
        topics,
        partition_table(list(rows), {name: number for number, name in enumerate(names)}),
        groups=tuple(groups),
        loads=PartitionLoads(columns),
        coverage=tuple(coverage),
    )


def findings_of(snapshot, code, plan=None) -> list[Finding]:
    """Findings of one code, explained by others or not."""
    known = FindingContext(snapshot, score_cluster(snapshot), replays(snapshot), plan)
    every = rank([row for rule in RULES for row in rule(known)])
    for result in every:
        require_text(result.recommendation)
        require_text(result.cost)
    return [finding for finding in every if finding.code == code]


def require_text(fact: Fact | None) -> None:
    """The fact's arguments are plain JSON values that come back as they are, and its words are whole."""
    if fact is not None:
        document = json.loads(json.dumps(fact.document(), allow_nan=False))
        assert Fact.from_document(document) == fact
        require_plain(render(fact))


def explained(snapshot) -> tuple[Finding, ...]:
    """The findings with what they explain."""
    return evaluate_rules(snapshot, score_cluster(snapshot), replays(snapshot))


def replays(snapshot):
    return [ReplayOptions().replay(group_input) for group_input in group_inputs(snapshot)]
