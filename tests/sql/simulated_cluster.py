"""The one cluster from which histories are cloned: read and advised through the store's own functions."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import numpy as np

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Severity
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.scoring.snapshot_scores import score_cluster
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
from rebalance_advisor import store
from tests.coverage_gaps import gap_of
from tests.sql.sample_clusters import finding, small_plan

BROKERS, PARTITIONS, GROUPS = 9, 10, 6
TOPICS = ("clicks", "orders", "payments", "telemetry", "users")
_DISK_BYTES = 100_000_000
VERSION = fact(FactCode.ANSWER_OF_ASSIGNOR, versions="2.4+", gives_today=True).document()


def base_snapshot(cluster: str, captured_at: datetime, partitions: int = PARTITIONS) -> ClusterSnapshot:
    """Nine brokers in three racks, of which broker 1 holds too much; five topics of ``partitions``; six groups."""
    brokers = tuple(
        Broker(
            number, "abc"[number % 3], f"host-{number}", 9092,
            log_dirs=(LogDir("/d", _DISK_BYTES, _DISK_BYTES - 4_000_000 * number),),
            capacity=Capacity(disk_bytes=float(_DISK_BYTES)),
        )
        for number in range(1, BROKERS + 1)
    )  # fmt: skip
    count = len(TOPICS) * partitions
    rows = [
        Partition(
            topic, n, replicas := _replicas(index * partitions + n), replicas[0], replicas,
            (1_000_000 + 50_000 * n,) * 3, 0, 100_000 * (n + 1),
        )
        for index, topic in enumerate(TOPICS)
        for n in range(partitions)
    ]  # fmt: skip
    rate = 1_000.0 * (1 + np.arange(count) % 7)
    columns = {
        LoadKind.LOG_BYTES: LoadColumn(np.array([row.log_bytes[0] for row in rows], dtype=float), LoadSource.LOG_DIRS),
        LoadKind.IN_BYTES_PER_S: LoadColumn(rate, LoadSource.LOG_DIR_GROWTH, 3600.0),
        LoadKind.OUT_BYTES_PER_S: LoadColumn(rate * 2, LoadSource.ESTIMATED),
    }
    return ClusterSnapshot(
        cluster=cluster, brokers=brokers, topics=tuple(map(Topic, TOPICS)),
        partitions=partition_table(rows, {topic: index for index, topic in enumerate(TOPICS)}),
        loads=PartitionLoads(columns), captured_at=captured_at,
        groups=tuple(_group(number, partitions) for number in range(GROUPS)),
        source="live", coverage=(gap_of("broker", "9", FactCode.LACKS_LOG_DIRS, "timed out after 10 s"),),
    )  # fmt: skip


def _replicas(index: int) -> tuple[int, ...]:
    first = 1 if index % 4 == 0 else index % BROKERS + 1
    return tuple((first - 1 + step) % BROKERS + 1 for step in (0, 1, 2))


def _group(number: int, partitions: int) -> Group:
    topic = TOPICS[number % len(TOPICS)]
    members = (
        Member("m-1", rack="a", subscription=(topic,), assigned=((topic, tuple(range(7))),)),
        Member("m-2", rack="b", subscription=(topic,), assigned=((topic, tuple(range(7, partitions))),)),
        Member("m-3", rack="c", subscription=(topic,)),
    )
    committed = tuple(
        CommittedOffset(topic, n, 100_000 * (n + 1) - 500 * number, None, 10.0) for n in range(partitions)
    )
    return Group(
        f"group-{number}", state="Stable", protocol_type="consumer", protocol="range", generation=4, members=members,
        committed=committed,
    )  # fmt: skip


def _plan(snapshot_id: str, cluster: str) -> Plan:
    """Two moves of topics that are there; the newest reading shows one of them still to be done."""
    plan = small_plan(snapshot_id, cluster)
    first, second = plan.moves
    moves = (
        replace(first, topic="clicks", from_replicas=(1, 2, 3), to_replicas=(4, 2, 3), leader_to=4),
        replace(second, topic="orders", partition=2, from_replicas=(1, 2, 3), to_replicas=(2, 1, 3), leader_to=2),
    )
    outcome = plan.resources[0]
    levels = {number: 10e6 - 1e6 * (number == 1) for number in range(1, BROKERS + 1)}
    before = dict.fromkeys(range(1, BROKERS + 1), 10000000.0)
    return replace(plan, moves=moves, resources=(replace(outcome, before=before, after=levels),)).sealed()


def read_and_advise(connection: store.Connection, cluster: str, now: datetime, partitions: int = PARTITIONS) -> None:
    """The newest reading and the newest advisory of a cluster, through the store's own functions."""
    snapshot = base_snapshot(cluster, now, partitions)
    snapshot_id = store.save_snapshot(connection, snapshot)
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    run_id, scores = f"today.{cluster}", score_cluster(snapshot)
    store.start_run(connection, run_id=run_id, cluster=cluster, snapshot_id=snapshot_id, advisor_version="0.1.0")
    store.save_scores(connection, run_id, "broker_score", scores.brokers)
    store.save_scores(connection, run_id, "rack_score", scores.racks)
    store.save_scores(connection, run_id, "resource_score", scores.resources)
    results = [finding("dead_broker", "9", Severity.CRITICAL), finding(subject="2"), finding("leaders_piled_up", "1")]
    results.append(finding("broker_rate_over_share", "4", Severity.MEDIUM))
    store.save_findings(connection, run_id, results)
    store.save_scores(
        connection, run_id, "group_score", [row for number in range(GROUPS) for row in _group_scores(number)]
    )
    store.save_plan(connection, run_id, _plan(snapshot_id, cluster))
    store.publish_run(connection, run_id)


def _group_scores(number: int) -> list[dict[str, object]]:
    row = {"group_id": f"group-{number}", "members": 3, "partitions": PARTITIONS, "version": VERSION}
    today = {"assignor": "range", "is_current": True, "is_advised": False, "idle_members": 1, "skew_count": 2.1}
    better = {"assignor": "roundrobin", "is_current": False, "is_advised": True, "idle_members": 0, "skew_count": 1.2}
    falling = {"members_falling_behind": int(number == 5), "drain_seconds": None if number == 5 else 600.0 * number}
    gained = {"members_falling_behind": 0, "drain_seconds": 300.0 * number, "partitions_moved": 4}
    return [row | today | falling | {"skew_rate": 2.0}, row | better | gained | {"skew_rate": 1.1}]
