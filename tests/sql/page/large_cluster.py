"""A cluster of any size in the store, read twice and advised twice through the store's own functions.

Sizes, rates and places follow from numbers alone, nothing is drawn: the same size gives the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from kafka_rebalance.facts import BoundProof, FactCode, fact
from kafka_rebalance.findings.finding import Confidence, Finding, Severity, SubjectType
from kafka_rebalance.plans.plan import Bound, Cost, Move, MoveKind, Plan, ResourceOutcome, Rollback, Verdict, Wave
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import (
    Broker,
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
from rebalance_advisor import store

VERSION = fact(FactCode.ANSWER_OF_ASSIGNOR, versions="2.4+", gives_today=True).document()
GIB = 2**30
RACKS = 5
ASSIGNORS = ("range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "consumer-range", "weighted")
SCENARIOS = ("today", *(f"scenario_{number:02}" for number in range(20)))
PLACERS = ("current", "rack_aware", "random")
CLUSTER = "large"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many there are of each; ``moves`` ≤ ``topics`` × ``partitions_a_topic``, ``brokers`` ≥ 8."""

    brokers: int
    topics: int
    partitions_a_topic: int
    moves: int
    groups: int
    members_a_group: int
    seeds: int
    waves: int
    findings: int


WHOLE = Size(
    brokers=1000, topics=4000, partitions_a_topic=25, moves=50_000, groups=2000, members_a_group=10, seeds=20,
    waves=60, findings=3000,
)  # fmt: skip
SAMPLE = Size(
    brokers=60, topics=80, partitions_a_topic=25, moves=1500, groups=60, members_a_group=4, seeds=2, waves=6,
    findings=150,
)  # fmt: skip


def topic_name(number: int) -> str:
    """Of a length that people give to topics."""
    return f"team-{number % 40:02}.orders-by-region.events-{number:05}.v1"


def group_name(number: int) -> str:
    """Of a length that people give to groups."""
    return f"team-{number % 40:02}-order-projection-{number:05}"


def replicas_of(index: int, brokers: int) -> tuple[int, int, int]:
    """Three different brokers; every fifth partition begins among the first eighth, which so become hot."""
    first = index % (brokers // 8) if index % 5 == 0 else index % brokers
    return first, (first + 1 + index % 3) % brokers, (first + 4 + index % 2) % brokers


def large_snapshot(size: Size, captured_at: datetime, *, grown: float = 1.0) -> ClusterSnapshot:
    """``grown``: how much larger each replica is than a GiB times its topic's weight."""
    count = size.topics * size.partitions_a_topic
    per_topic = size.partitions_a_topic
    log_bytes = (GIB * grown * (1 + np.arange(count) // per_topic % 17)).astype(np.int64)
    rows = [
        Partition(
            topic_name(number // per_topic), number % per_topic, replicas := replicas_of(number, size.brokers),
            replicas[0], replicas, (int(log_bytes[number]),) * 3, 0, 1_000_000,
        )
        for number in range(count)
    ]  # fmt: skip
    rate = 10_000.0 * (1 + np.arange(count) % 13)
    columns = {
        LoadKind.LOG_BYTES: LoadColumn(log_bytes.astype(float), LoadSource.LOG_DIRS),
        LoadKind.IN_BYTES_PER_S: LoadColumn(rate, LoadSource.LOG_DIR_GROWTH, 3600.0),
    }
    return ClusterSnapshot(
        cluster=CLUSTER, brokers=tuple(_broker(number) for number in range(size.brokers)),
        topics=tuple(Topic(topic_name(number)) for number in range(size.topics)),
        partitions=partition_table(rows, {topic_name(number): number for number in range(size.topics)}),
        loads=PartitionLoads(columns), groups=tuple(_group(number, size) for number in range(size.groups)),
        captured_at=captured_at, source="live",
    )  # fmt: skip


def _broker(number: int) -> Broker:
    disk = 16_000 * GIB
    return Broker(
        number, f"rack-{number % RACKS}", f"kafka-{number:04}.example.org", 9092,
        log_dirs=(LogDir("/data", disk, disk // 2),),
    )  # fmt: skip


def _group(number: int, size: Size) -> Group:
    topic = topic_name(number % size.topics)
    shares = np.array_split(np.arange(size.partitions_a_topic), size.members_a_group)
    members = tuple(
        Member(
            f"{group_name(number)}-{member}", rack=f"rack-{member % RACKS}", subscription=(topic,),
            assigned=((topic, tuple(int(partition) for partition in share)),),
        )
        for member, share in enumerate(shares)
    )  # fmt: skip
    committed = tuple(
        CommittedOffset(topic, n, 1_000_000 - number - n, None, 10.0) for n in range(size.partitions_a_topic)
    )
    return Group(
        group_name(number), state="Stable", protocol_type="consumer", protocol="range", generation=4, members=members,
        committed=committed,
    )  # fmt: skip


def large_plan(size: Size, snapshot_id: str) -> Plan:
    """The first ``moves`` partitions in turn change their first replica, in waves of one size."""
    per_topic, brokers = size.partitions_a_topic, size.brokers
    moves = []
    for index in range(size.moves):
        old = replicas_of(index, brokers)
        new = next(broker for step in range(3, 9) if (broker := (old[0] + step * 7) % brokers) not in old)
        moves.append(
            Move(
                topic_name(index // per_topic), index % per_topic, old, (new, *old[1:]), old[0], new, MoveKind.REPLICA,
                GIB * (1 + index // per_topic % 17), 1 + index % size.waves,
                fact(FactCode.RELIEVES_BROKER, broker=old[0], resource="disk", times_share=1.5),
                fact(
                    FactCode.BROKER_FURTHER_OFF, broker=old[0], resource="disk", times_share_without=1.5,
                    times_share_after=1.2,
                ),
            )
        )  # fmt: skip
    total = sum(move.bytes or 0 for move in moves)
    waves = tuple(_wave(moves, number, size.waves) for number in range(size.waves))
    cost = Cost(len(moves), total, len(moves), sum(wave.seconds or 0 for wave in waves))
    return Plan(
        cluster=CLUSTER, verdict=Verdict.REBALANCE, snapshot_id=snapshot_id, cost=cost,
        reasons=(fact(FactCode.ALL_INSIDE_BAND),),
        captured_at="2026-11-20T11:00:00Z", seed=3, topic_ids={move.topic: None for move in moves},
        resources=tuple(_outcome(name, unit, brokers) for name, unit in (("disk", "bytes"), ("leaders", "count"))),
        lower_bound=(Bound("bytes", 0.9 * total, 0.1, BoundProof.PRICES_ABOVE_BANDS),), moves=tuple(moves), waves=waves,
        rollback=Rollback(cost, waves),
    ).sealed()  # fmt: skip


def _wave(moves: list[Move], number: int, waves: int) -> Wave:
    own = tuple(range(number, len(moves), waves))
    return Wave(own, sum(moves[index].bytes or 0 for index in own), 600.0, 50_000_000)


def _outcome(resource: str, unit: str, brokers: int) -> ResourceOutcome:
    before = {broker: 1000.0 * (1.6 if broker < brokers // 8 else 0.9) for broker in range(brokers)}
    after = dict.fromkeys(range(brokers), 1000.0)
    return ResourceOutcome(
        resource, unit, "log_dirs", 1000.0, "fair_share", (0.9, 1.1), (None, None), 1.6, 1.0, before, after
    )


def large_findings(size: Size) -> list[Finding]:
    """A third each of brokers, topics and groups, as far as there are so many."""
    kinds: tuple[tuple[str, SubjectType, int, Any], ...] = (
        ("broker_disk_over_share", SubjectType.BROKER, size.brokers, str),
        ("rack_violated", SubjectType.TOPIC, size.topics, topic_name),
        ("idle_members", SubjectType.GROUP, size.groups, group_name),
    )
    results = []
    for code, kind, many, named in kinds:
        for number in range(min(size.findings // 3, many)):
            severity = (Severity.HIGH, Severity.MEDIUM, Severity.LOW)[number % 3]
            results.append(
                Finding(
                    code, severity, kind, named(number), {"disk_bytes": 500 * GIB, "over_share_ratio": 1.25},
                    fact(FactCode.LEARN_STRATEGY, group=named(number)), gain=0.5,
                    confidence=Confidence.ESTIMATED, team=f"team-{number % 40:02}", channel="#kafka-on-call",
                )
            )  # fmt: skip
    return results


def fill(connection: store.Connection, size: Size, now: datetime) -> None:
    """Readings of a week ago and of now, an advisory of each; the newest is ``today``."""
    for run_id, moment, grown in (("last-week", now - timedelta(days=7), 1.0), ("today", now, 1.1)):
        connection.execute("SELECT store.ensure_week(%s)", (moment,))
        snapshot = large_snapshot(size, moment, grown=grown)
        snapshot_id = store.save_snapshot(connection, snapshot)
        store.mark_snapshot(connection, snapshot_id, is_blocked=False)
        store.start_run(connection, run_id=run_id, cluster=CLUSTER, snapshot_id=snapshot_id, advisor_version="0.1.0")
        connection.execute("UPDATE store.run SET started_at = %s WHERE run_id = %s", (moment, run_id))
        scores = score_cluster(snapshot)
        store.save_scores(connection, run_id, "broker_score", scores.brokers)
        store.save_scores(connection, run_id, "rack_score", scores.racks)
        store.save_scores(connection, run_id, "resource_score", scores.resources)
        store.save_findings(connection, run_id, large_findings(size))
        store.save_scores(connection, run_id, "topic_score", _topic_scores(size))
        store.save_scores(connection, run_id, "group_score", _group_scores(size))
        store.save_scores(connection, run_id, "member_score", _member_scores(size))
        store.save_plan(connection, run_id, large_plan(size, snapshot_id))
        store.publish_run(connection, run_id)
    connection.execute(
        "INSERT INTO store.lag_day SELECT cluster, period_start - day * interval '1 day', group_id, snapshot_count,"
        " lag_messages * (1 + day % 5), highest_lag_messages * (1 + day % 5)"
        " FROM store.lag_day, generate_series(1, 30) AS day ON CONFLICT DO NOTHING"
    )


def _topic_scores(size: Size) -> Iterator[dict[str, Any]]:
    for topic in range(size.topics):
        for placer in PLACERS:
            for seed in range(1 if placer == "current" else size.seeds):
                yield {
                    "topic": topic_name(topic), "placer": placer, "seed": seed, "replica_skew": 1.2,
                    "leader_skew": 1.3, "replica_moves": 7, "leader_changes": 3, "rack_violations": 0,
                }  # fmt: skip


def _group_scores(size: Size) -> Iterator[dict[str, Any]]:
    for number in range(size.groups):
        for scenario in SCENARIOS:
            for assignor in ASSIGNORS:
                yield {
                    "group_id": group_name(number), "assignor": assignor, "scenario": scenario,
                    "is_current": assignor == "range", "is_advised": assignor == "cooperative-sticky",
                    "members": size.members_a_group, "partitions": size.partitions_a_topic, "version": VERSION,
                    "idle_members": 0, "skew_count": 1.2, "skew_rate": 1.1 + number % 9 / 10, "partitions_moved": 3,
                    "members_falling_behind": int(number % 50 == 0), "drain_seconds": 60.0 + number,
                    "lag_seconds": 3.0 * number,
                }  # fmt: skip


def _member_scores(size: Size) -> Iterator[dict[str, Any]]:
    for number in range(size.groups):
        for is_current in (True, False):
            for member in range(size.members_a_group):
                yield {
                    "group_id": group_name(number), "assignor": "range" if is_current else "cooperative-sticky",
                    "is_current": is_current, "is_advised": not is_current,
                    "member_id": f"{group_name(number)}-{member}", "partitions": 3, "lag_messages": 10 * member,
                }  # fmt: skip
