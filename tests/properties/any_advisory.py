"""Any input of an advisory: clusters in each kind of trouble with groups of each type, and whatever may be asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import numpy as np

from kafka_rebalance.facts import FactCode
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import MuteRule, OwnerRule
from kafka_rebalance.snapshot.coverage import Right, right_gap
from kafka_rebalance.snapshot.model import (
    Broker,
    Capacity,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    GroupType,
    LogDir,
    Member,
    partition_table,
)
from kafka_rebalance.snapshot.partition_table import Partition
from kafka_rebalance.snapshot.rates import measure_rates
from rebalance_advisor.request.run_request import RunRequest
from tests.coverage_gaps import gap_of
from tests.properties.any_cluster import any_case
from tests.properties.clusters_with_everything import cluster_with_everything
from tests.properties.test_steps import filling_cluster
from tests.properties.unhealthy_clusters import unhealthy_cluster
from tests.unit.findings.consumers.test_connect_rules import connect
from tests.unit.findings.consumers.test_followable_advice import draw_group, draw_snapshot
from tests.unit.findings.consumers.test_streams_rules import random_snapshot
from tests.unit.findings.sample_clusters import brokers, cluster, striped
from tests.unit.groups.test_classic_streams import PROCESSES, at_rest

World = tuple[ClusterSnapshot, PlanOptions]
NEVER = datetime(2100, 1, 1, tzinfo=UTC)
THROTTLE = "leader.replication.throttled"


def any_advisory(seed: int) -> tuple[ClusterSnapshot, RunRequest]:
    """Return a snapshot without a cluster's name of its own, and the request of its run."""
    random = Random(seed)
    world = WORLDS[seed % len(WORLDS)]
    snapshot, options = world(seed, random)
    for change, likely in CHANGES:
        if random.random() < likely and snapshot.brokers and len(snapshot.partitions):
            snapshot = change(random, snapshot)
    with_frontier = options.at is not None or random.random() < 0.2
    return snapshot, RunRequest(
        options=replace(options, with_frontier=with_frontier),
        age_limit_s=3600 if random.random() < 0.04 else None,
        owners=(OwnerRule("t.*|g[0-4]", "payments", "#pay", 1),) if random.random() < 0.3 else (),
        mutes=_mutes(random) if random.random() < 0.3 else (),
        scenarios="all" if random.random() < (0.8 if world is _of_programs else 0.3) else "today",
        rack_byte_price=0.02 if random.random() < 0.1 else None,
    )


def _mutes(random: Random) -> tuple[MuteRule, ...]:
    kinds = random.sample(("cluster", "broker", "topic", "group", "partition"), random.randint(1, 4))
    return tuple(MuteRule(".*", NEVER, "known until the upgrade", subject_type=kind) for kind in kinds)


def _of_groups(_seed: int, random: Random) -> World:
    return draw_snapshot(random)[0], PlanOptions()


def _of_any_case(seed: int, random: Random) -> World:
    case = any_case(seed)
    return with_groups(random, case.snapshot), case.options


def _in_trouble(seed: int, random: Random) -> World:
    snapshot, options = unhealthy_cluster(seed)
    return with_groups(random, snapshot), options


def _with_everything(seed: int, random: Random) -> World:
    snapshot, options = cluster_with_everything(seed)
    return with_groups(random, snapshot), options


def _filling(seed: int, random: Random) -> World:
    at = random.choice((None, None, None, "relieve", "cheap", "even"))
    return with_groups(random, filling_cluster(seed)), PlanOptions(at=at)


def _of_programs(_seed: int, random: Random) -> World:
    """Kafka Streams of both protocols, Connect and a share group beside consumers."""
    snapshot = random_snapshot(random)
    tasks = int((snapshot.partitions.topic == 0).sum())
    work = [random.randint(0, 4) for _ in range(random.randint(1, 4))]
    member = Member("m", assigned=(("orders", tuple(range(tasks))),))
    commits = tuple(CommittedOffset("orders", number, 0, random.choice((0, 10**6))) for number in range(tasks))
    classic = at_rest(PROCESSES[: random.randint(1, 3)], tasks, is_told=random.random() < 0.5).group
    groups = (
        *snapshot.groups, connect(*work), replace(classic, id="classic-app"),
        Group("shared", GroupType.SHARE, "share", state="Stable", members=(member,), committed=commits),
    )  # fmt: skip
    return with_groups(random, replace(snapshot, groups=groups), count=4), PlanOptions()


def _even(_seed: int, random: Random) -> World:
    rows = [row for topic in range(random.randint(1, 4)) for row in striped(f"t{topic}", 6 * random.randint(1, 3))]
    snapshot = cluster(rows, of=tuple(replace(one, capacity=Capacity(disk_bytes=1e5)) for one in brokers()))
    return with_groups(random, snapshot), PlanOptions()


WORLDS: Sequence[Callable[[int, Random], World]] = (
    _of_groups, _of_any_case, _in_trouble, _with_everything, _filling, _of_programs,
    _even,
)  # fmt: skip


def with_groups(random: Random, snapshot: ClusterSnapshot, count: int = 6) -> ClusterSnapshot:
    """Return the cluster with groups that read it, also rates measured between two snapshots in every second one."""
    rows, counts = [], Counter[str]()
    for row in snapshot.each_partition():
        rows.append(replace(row, partition=counts[row.topic]))
        counts[row.topic] += 1
    if not rows:
        return replace(snapshot, captured_at=datetime(2026, 11, 26, 9, tzinfo=UTC))
    ends = {(row.topic, row.partition): random.choice((0, 1_000, 50_000)) for row in rows}
    now_ends = {pair: end + random.choice((0, 600, 60_000)) for pair, end in ends.items()}
    drawn = [draw_group(random, f"g{number}", counts, ends, now_ends) for number in range(count)]

    def at(minute: int, offsets: dict[tuple[str, int], int], groups: list[Group]) -> ClusterSnapshot:
        measured = [replace(row, start_offset=0, end_offset=offsets[row.topic, row.partition]) for row in rows]
        return replace(
            snapshot, partitions=_table(snapshot, measured), groups=(*snapshot.groups, *groups),
            captured_at=datetime(2026, 11, 26, 9, minute, tzinfo=UTC),
        )  # fmt: skip

    newer = at(10, now_ends, [one.group for one in drawn])
    return newer if random.random() < 0.5 else measure_rates(at(0, ends, [one.before for one in drawn]), newer)


def _table(snapshot: ClusterSnapshot, rows: list[Partition]):
    return partition_table(rows, {topic.name: number for number, topic in enumerate(snapshot.topics)})


def _one_broker(random: Random, snapshot: ClusterSnapshot, change: Callable[[Broker], Broker]) -> ClusterSnapshot:
    chosen = random.choice(snapshot.brokers).id
    return replace(
        snapshot, brokers=tuple(change(broker) if broker.id == chosen else broker for broker in snapshot.brokers)
    )


def _throttled(random: Random, snapshot: ClusterSnapshot) -> ClusterSnapshot:
    if random.random() < 0.5:
        topics = (replace(topic, configs={**topic.configs, f"{THROTTLE}.replicas": "*"}) for topic in snapshot.topics)
        return replace(snapshot, topics=tuple(topics))
    rate = {f"{THROTTLE}.rate": "1000"}
    return _one_broker(random, snapshot, lambda broker: replace(broker, configs={**broker.configs, **rate}))


def _balanced_by_another(random: Random, snapshot: ClusterSnapshot) -> ClusterSnapshot:
    on = {"confluent.balancer.enable": "true"}
    return _one_broker(random, snapshot, lambda broker: replace(broker, configs={**broker.configs, **on}))


def _with_odd_dir(random: Random, snapshot: ClusterSnapshot) -> ClusterSnapshot:
    odd = random.choice((
        LogDir("/d1", error="offline"), LogDir("/d1", is_cordoned=True),
        LogDir("/d1", stray_logs=2, stray_bytes=10**9, largest_stray="gone-0"),
    ))  # fmt: skip
    return _one_broker(random, snapshot, lambda broker: broker if broker.log_dirs else replace(broker, log_dirs=(odd,)))


def _with_two_dirs(random: Random, snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """The first disk of each broker is nearly full, the second has room."""
    table = snapshot.partitions
    if (table.replica_log_bytes < 0).any():
        return snapshot
    dirs = np.array([random.random() < 0.2 for _ in table.replicas], dtype=np.int32)
    brokers = []
    for broker in snapshot.brokers:
        held = [
            int(table.replica_log_bytes[(table.replicas == broker.id) & (dirs == number)].sum()) for number in (0, 1)
        ]
        totals = (round(held[0] / random.uniform(0.5, 0.98)) or 1, 2 * sum(held) or random.randint(0, 1))
        log_dirs = tuple(
            LogDir(f"/d{number}", total, total - size)
            for number, (total, size) in enumerate(zip(totals, held, strict=True))
        )
        brokers.append(replace(broker, log_dirs=log_dirs, capacity=Capacity()))
    return replace(snapshot, brokers=tuple(brokers), partitions=replace(table, log_dir=dirs))


def _with_safety(random: Random, snapshot: ClusterSnapshot) -> ClusterSnapshot:
    least = {"min.insync.replicas": random.choice("123")}
    topics = tuple(replace(topic, configs={**topic.configs, **least}) for topic in snapshot.topics)
    return replace(snapshot, topics=topics)


def _half_seen(random: Random, snapshot: ClusterSnapshot) -> ClusterSnapshot:
    gaps = (
        right_gap(random.choice(list(Right))), gap_of("group", "secret", FactCode.LACKS_MEMBERS),
        gap_of("topic", "hidden", FactCode.LACKS_ALL_BUT_SIZE),
        gap_of("broker", str(random.choice(snapshot.brokers).id), FactCode.LACKS_LOG_DIRS),
    )  # fmt: skip
    return replace(snapshot, coverage=(*snapshot.coverage, *random.sample(gaps, random.randint(1, 4))))


def _coordinated(random: Random, snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """All groups have one coordinator, which may be gone, or each any, also one that metadata lacks."""
    known = [broker.id for broker in snapshot.brokers]
    ids = [random.choice([*known, *([max(known) + 1, -1] if random.random() < 0.2 else ())]) for _ in snapshot.groups]
    if random.random() < 0.5:
        ids = ids[:1] * len(ids)
    groups = (replace(group, coordinator=broker) for group, broker in zip(snapshot.groups, ids, strict=True))
    return replace(snapshot, groups=tuple(groups))


def _with_odd_groups(random: Random, snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Members that share partitions, none that reads what is committed, commits without members, a foreign protocol."""
    return replace(snapshot, groups=tuple(_odd(random, group) for group in snapshot.groups))


def _odd(random: Random, group: Group) -> Group:
    way = random.choice(("shared", "without reader", "without members", "foreign", *["as it is"] * 6))
    members = group.members
    if way == "shared" and members:
        held = members[0].assigned
        return replace(group, members=tuple(replace(one, assigned=held, target=None, owned=None) for one in members))
    if way == "without reader" and members and members[0].assigned:
        topic = members[0].assigned[0][0]
        kept = tuple(part for part in group.subtopologies if topic in part.read_topics)
        only = tuple(
            replace(one, subscription=(topic,), assigned=tuple(run for run in one.assigned if run[0] == topic),
                    target=None, owned=None, subscribed_regex=None)
            for one in members
        )  # fmt: skip
        return replace(group, members=only, subtopologies=kept)
    if way == "without members":
        return replace(group, members=(), member_count=0, state="Empty")
    return replace(group, protocol_type="lock") if way == "foreign" else group


def _reassigning(random: Random, snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Some partitions get a replica, lose one, or both."""
    rows = [_reassigned(random, snapshot, row) if random.random() < 0.3 else row for row in snapshot.each_partition()]
    return replace(snapshot, partitions=_table(snapshot, rows))


def _reassigned(random: Random, snapshot: ClusterSnapshot, row: Partition) -> Partition:
    others = [broker.id for broker in snapshot.brokers if broker.id not in row.replicas]
    if row.adding or row.removing or row.observers or not others:
        return row
    new, old = random.choice(others), random.choice(row.replicas)
    if random.random() < 0.3 and len(row.replicas) > 1:
        return replace(row, removing=(old,))
    return replace(
        row, replicas=(*row.replicas, new), adding=(new,), removing=(old,) if random.random() < 0.7 else (),
        log_bytes=(*row.log_bytes, random.choice((None, 0))) if row.log_bytes else (),
        log_dirs=(*row.log_dirs, 0) if row.log_dirs else (),
    )  # fmt: skip


def _released(random: Random, snapshot: ClusterSnapshot) -> ClusterSnapshot:
    return replace(snapshot, kafka_version=snapshot.kafka_version or random.choice(("2.8", "3.9", "4.1")))


CHANGES = (
    (_throttled, 0.15), (_balanced_by_another, 0.08), (_with_odd_dir, 0.15), (_with_two_dirs, 0.15),
    (_with_safety, 0.2), (_half_seen, 0.15), (_coordinated, 0.5), (_released, 0.5),
    (_with_odd_groups, 0.3), (_reassigning, 0.12),
)  # fmt: skip
