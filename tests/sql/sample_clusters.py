"""Small clusters and plans that the tests of the store share; every field of the model occurs in them."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from kafka_assignors.connect_work import ConnectTask, Work
from kafka_rebalance.facts import BoundProof, FactCode, fact
from kafka_rebalance.findings.finding import Confidence, Finding, Severity, SubjectType
from kafka_rebalance.plans.plan import (
    Bound,
    Cost,
    FrontierPoint,
    Move,
    MoveKind,
    Plan,
    ResourceOutcome,
    Rollback,
    Step,
    StepCost,
    StepKind,
    StepOutcome,
    Verdict,
    Watched,
    Wave,
)
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.group import ConnectWorker, Subtopology, Tasks
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    Capacity,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    GroupType,
    LogDir,
    Member,
    Partition,
    Quota,
    Topic,
    partition_table,
)
from kafka_rebalance.snapshot.partition_table import FutureReplica, LoadColumn, PartitionLoads
from kafka_rebalance.snapshot.times import parse_time
from tests.coverage_gaps import gap_of

WHY, WORSE = fact(FactCode.SEPARATES_RACKS), fact(FactCode.SHARES_RACK)
NASTY = "tab\t newline\n back\\slash 'quote' \"double\" {brace} , ünï ☃ \\N"


def rich_snapshot(captured_at: str | None = "2026-11-20T10:00:00.123Z", cluster: str = "prod") -> ClusterSnapshot:
    """Three brokers (one dead), three topics, five partitions, five groups; known, unknown and odd values."""
    brokers = (
        Broker(
            3, "b", "host-3", 9092, BrokerState.ALIVE, is_controller=True,
            log_dirs=(
                LogDir("/d1", 1000, 250, stray_logs=2, stray_bytes=70, largest_stray="gone-0"),
                LogDir("/d2", None, None, "offline", is_cordoned=True),
            ),
            capacity=Capacity(1000.0, 0.1, 2.5e9, 100.0), configs={"follower.throttled.rate": "1", NASTY: NASTY},
        ),
        Broker(1, "a", "host-1", 9093, BrokerState.FENCED),
        Broker(2, None, state=BrokerState.DEAD),
    )  # fmt: skip
    topics = (
        Topic("orders", "topic-id-1", configs={"retention.ms": "1000"}),
        Topic("__consumer_offsets", None, is_internal=True),
        Topic("no-partitions"),
    )
    partitions = partition_table(
        [
            Partition(
                "orders",
                0,
                (3, 1),
                3,
                (3,),
                (10, None),
                0,
                2**40,
                adding=(1,),
                removing=(3,),
                log_dirs=(0, None),
                future=(FutureReplica(3, 1, 7),),
                local_start_offset=3,
            ),
            Partition("orders", 1, (1, 2), 1, (1, 2), (5, 6), 7, 9, offline=(2,), observers=(2,), eligible=(1, 2)),
            Partition("orders", 5, (2,), None, (), (None,)),
            Partition("__consumer_offsets", 0, (1, 3, 2), 3, (1, 3), (2**50, 0, 1), 0, 0),
            Partition("__consumer_offsets", 1, (1,), 1, (1,), (4,), 0, 30),
        ],
        {"orders": 0, "__consumer_offsets": 1, "no-partitions": 2},
    )
    loads = PartitionLoads(
        {
            LoadKind.IN_BYTES_PER_S: LoadColumn(
                np.array([0.1, 1 / 3, np.nan, 1e-300, 1e14]), LoadSource.LOG_DIR_GROWTH, 60.5
            ),
            LoadKind.CPU_PERCENT: LoadColumn(np.full(5, np.nan), LoadSource.UNKNOWN),
        }
    )
    return ClusterSnapshot(
        cluster=cluster, brokers=brokers, topics=topics, partitions=partitions, groups=_groups(), loads=loads,
        cluster_id="abc", captured_at=_moment(captured_at), source="live", kafka_version="4.3",
        coverage=(gap_of("group", "secret", FactCode.LACKS_MEMBERS, "GROUP_AUTHORIZATION_FAILED"),
                  gap_of("broker", "2", FactCode.LACKS_LOG_DIRS, "timed out after 10 s")),
        features={"metadata.version": 29, "group.version": 1},
        quotas=(Quota((("user", NASTY), ("client-id", None)), {"producer_byte_rate": 1e18, NASTY: 0.5}),),
    )  # fmt: skip


def _groups() -> tuple[Group, ...]:
    members = (
        Member(
            "m-2", "static-1", "client", "/10.0.0.1", "a", ("orders", NASTY), None,
            (("orders", (0, 1)), ("orders", ())), (("orders", (1,)),), (("orders", (5, 0)),), 7, b"\x00\xff\\x", None,
        ),
        Member("m-1", subscription=(), assigned=(("orders", (0, 5)),), subscription_version=1),
        Member("m-0", decode_error="no Subscription", subscribed_regex="ord.*"),
    )  # fmt: skip
    committed = (
        CommittedOffset("orders", 1, 3), CommittedOffset("gone", 0, 12, None, 1 / 3),
        CommittedOffset("orders", 0, 2**40 - 5, None, 1e15),
        CommittedOffset("orders", 5, 0),
    )  # fmt: skip
    tasks = Tasks((("0", (0, 1)), ("1", ())), (("0", (5,)),))
    flow = (
        Member("s-0", client_id="c", assigned=(("orders", (0, 1)),), target=(), is_classic=False, process_id="p\\",
               tasks=tasks, target_tasks=Tasks(warmup=(("0", (9,)),)), generation=3,
               task_offsets=(("0", ((1, 2**40), (5, 0))),), task_end_offsets=()),
        Member("s-1", is_classic=True, tasks=Tasks()),
        Member("w-0", worker=ConnectWorker(version=2, url=NASTY, leader="w-0",
                                           assigned=Work((NASTY,), (ConnectTask(NASTY, 3),)))),
        Member("w-1", worker=ConnectWorker(version=0, delay_ms=7, error=1)),
    )  # fmt: skip
    return (
        Group("readers", GroupType.CLASSIC, "consumer", "range", "Stable", 7, 3, members, committed),
        Group(NASTY, GroupType.CONSUMER, "", None, None, None, None),
        Group("share", GroupType.SHARE, protocol_type="share", configs={"share.auto.offset.reset": "earliest"},
              committed=(CommittedOffset("orders", 0, 4, 2), CommittedOffset("orders", 1, 5))),
        Group("flow", GroupType.STREAMS, "streams", state="Stable", generation=4, members=flow, assignment_epoch=3,
              subtopologies=(Subtopology("0", ("orders",), ("flow-x-repartition",), (NASTY,)), Subtopology("1"))),
        Group("empty", committed=(CommittedOffset("orders", 1, 9),)),
    )  # fmt: skip


def plain_snapshot(
    partition_count: int = 6,
    captured_at: str | None = "2026-11-20T11:00:00Z",
    cluster: str = "prod",
    grown_bytes: int = 0,
) -> ClusterSnapshot:
    """Three brokers in three racks, one topic, replicas round-robin: nothing is odd."""
    brokers = tuple(
        Broker(broker, rack, log_dirs=(LogDir("/d", 1_000_000, 500_000 - grown_bytes),))
        for broker, rack in ((1, "a"), (2, "b"), (3, "c"))
    )
    rows = [
        Partition(
            "orders", n, (n % 3 + 1, (n + 1) % 3 + 1), n % 3 + 1, (n % 3 + 1, (n + 1) % 3 + 1),
            (100 + grown_bytes, 100 + grown_bytes), 0, 50,
        )
        for n in range(partition_count)
    ]  # fmt: skip
    columns = {
        LoadKind.LOG_BYTES: LoadColumn(np.full(partition_count, 100.0 + grown_bytes), LoadSource.LOG_DIRS),
        LoadKind.IN_BYTES_PER_S: LoadColumn(np.full(partition_count, 10.0), LoadSource.GIVEN),
    }
    half = partition_count // 2
    members = (
        Member("m-1", rack="a", subscription=("orders",), assigned=(("orders", tuple(range(half))),)),
        Member("m-2", rack="b", subscription=("orders",), assigned=(("orders", tuple(range(half, partition_count))),)),
        Member("m-3", subscription=("orders",)),
    )
    committed = tuple(CommittedOffset("orders", n, 45) for n in range(partition_count))
    return ClusterSnapshot(
        cluster=cluster, brokers=brokers, topics=(Topic("orders"),),
        partitions=partition_table(rows, {"orders": 0}), loads=PartitionLoads(columns),
        groups=(
            Group("readers", state="Stable", protocol="range", generation=4, members=members, committed=committed),
        ),
        captured_at=_moment(captured_at), source="dumps",
    )  # fmt: skip


def _moment(text: str | None) -> datetime | None:
    return None if text is None else parse_time(text, "captured_at")


def small_plan(snapshot_id: str, cluster: str = "prod", bytes_: int = 100) -> Plan:
    """Two moves in two waves, each a step."""
    moves = (
        Move("orders", 0, (1, 2), (3, 2), 1, 3, MoveKind.REPLICA, bytes_, 1, WHY, WORSE),
        Move("orders", 1, (2, 3), (3, 2), 2, 3, MoveKind.LEADER, 0, 2, WHY, WORSE),
    )
    waves = (Wave((0,), bytes_, 1.5, 100, {3: bytes_}), Wave((1,), 0, 0.0, 100))
    cost = Cost(1, bytes_, 2, 1.5, 1.0)
    outcome = ResourceOutcome(
        "disk", "bytes", "log_dirs", 400.0, "fair_share", (0.9, 1.1), (None, None), 1.25, 1.05,
        {1: 500.0, 2: 400.0, 3: 300.0}, {1: 400.0, 2: 400.0, 3: 400.0},
        watched=Watched(1, 500.0, 1000.0, is_assumed=True),
    )  # fmt: skip
    relieved = StepOutcome("disk", 1.25, 1.05, 1, 500.0, 3, 420.0, (None, None))
    evened = StepOutcome("disk", 1.05, 1.05, 3, 420.0, 3, 420.0, (None, None))
    steps = (
        Step(StepKind.RELIEVE, (1,), StepCost(1, bytes_, 1, 1.5), (relieved,), 80.0, bytes_ / 80 - 1),
        Step(StepKind.EVEN_OUT, (2,), StepCost(0, 0, 1, 0.0), (evened,), 100.0, bytes_ / 100 - 1),
    )
    return Plan(
        cluster=cluster, verdict=Verdict.REBALANCE, snapshot_id=snapshot_id, cost=cost,
        reasons=(fact(FactCode.ALL_INSIDE_BAND),),
        captured_at="2026-11-20T11:00:00Z", expires_at="2026-11-21T11:00:00Z", parameters={"tolerance": 0.1}, seed=3,
        resources=(outcome,), left_out={"cpu": fact(FactCode.FIGURE_NOT_MEASURED, figure="cpu_percent")},
        lower_bound=(
            Bound("bytes", 100.0, 0.0, BoundProof.PRICES_ABOVE_BANDS),
            Bound("replica_moves", 0.0, None, BoundProof.COUNTED_REPLICAS),
        ),
        frontier=(FrontierPoint(0.1, bytes_, 1, 2, 100.0, {"disk": 1.05}, "knee", True, (fact(FactCode.POINT_KNEE),)),),
        moves=moves, waves=waves, rollback=Rollback(cost, waves), steps=steps,
    ).sealed()  # fmt: skip


def finding(code: str = "broker_disk_over_share", subject: str = "1", severity: Severity = Severity.HIGH) -> Finding:
    """One finding of a broker."""
    return Finding(
        code, severity, SubjectType.BROKER, subject, {"disk_bytes": 500, "over_share_ratio": 1.25},
        fact(FactCode.BROKER_DISK_OVER_SHARE, broker=1, disk_bytes=500.0, times_share=1.25,
             outcome=fact(FactCode.MOVE_BYTES_AWAY, excess_bytes=100.0)),
        cost=fact(FactCode.COPIES_BYTES, copied_bytes=100.0, is_least=True), gain=0.5, confidence=Confidence.ESTIMATED,
    )  # fmt: skip
