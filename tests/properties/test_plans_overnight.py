"""An earlier plan meets a cluster that changed since: whatever is made of it is right for today."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Move, Plan
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Broker, BrokerState, Capacity, ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import Partition, partition_table
from kafka_rebalance.verify import verify_plan
from tests.properties.any_cluster import any_case
from tests.properties.test_steps import filling_cluster
from tests.properties.unhealthy_clusters import faults_of, unhealthy_cluster
from tests.sample import for_each
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

CHANGES = (
    "logs grow", "disks shrink", "broker dies", "replicas lag", "part is done", "others move", "leaders change",
    "brokers drain", "brokers are fenced", "racks change", "reassignments run", "disks grow",
)  # fmt: skip
# Seeds of faults that are mended: the share of a broker that leaves; a leader outside the ISR; a replica that lags and
# comes back; a list in another order; a leader change that evens nothing out.
ONCE_WRONG = (197, 317, 461, 1257, 341, 701, 2405, 2818, 4020, 4328)


def first_day(seed: int) -> tuple[ClusterSnapshot, PlanOptions]:
    """Any cluster with any job, one whose disks fill up, or one in trouble."""
    if seed % 3 == 0:
        case = any_case(seed)
        return case.snapshot, replace(case.options, with_frontier=False)
    if seed % 3 == 1:
        return filling_cluster(seed), PlanOptions(with_frontier=False, **({"within": 0.05} if seed % 2 else {}))
    return unhealthy_cluster(seed)


def next_day(snapshot: ClusterSnapshot, plan: Plan, draw: np.random.Generator) -> ClusterSnapshot:
    """One to three of ``CHANGES``."""
    changes = set(draw.choice(CHANGES, size=int(draw.integers(1, 4))).tolist())
    ids = [broker.id for broker in snapshot.brokers]
    dead = int(draw.choice(ids)) if "broker dies" in changes and len(ids) > 2 else None
    moves = {(move.topic, move.partition): move for move in plan.moves}
    rows = []
    for before in snapshot.each_partition():
        move = moves.get((before.topic, before.partition))
        is_done = move and "part is done" in changes and draw.random() < 0.5 and set(move.to_replicas) <= set(ids)
        after = _changed(_done(before, move) if move and is_done else before, changes, ids, draw)
        rows.append(after if dead is None else _without_broker(after, dead))
    names = {topic.name: at for at, topic in enumerate(snapshot.topics)}
    held: Counter[int] = Counter()
    for each in rows:
        for broker, size in zip(each.replicas, each.log_bytes, strict=True):
            held[broker] += size or 0
    today = [_changed_broker(broker, held[broker.id], changes, draw) for broker in snapshot.brokers]
    today = [replace(broker, state=BrokerState.DEAD, log_dirs=()) if broker.id == dead else broker for broker in today]
    return replace(snapshot, brokers=tuple(today), partitions=partition_table(rows, names))


def _done(row: Partition, move: Move) -> Partition:
    size = max((size for size in row.log_bytes if size is not None), default=None)
    to = move.to_replicas
    return replace(row, replicas=to, leader=move.leader_to, isr=to, log_bytes=(size,) * len(to), offline=())


def _changed(row: Partition, changes: set[str], ids: Sequence[int], draw: np.random.Generator) -> Partition:
    isr = row.isr or ()
    if "logs grow" in changes and draw.random() < 0.6:
        factor = float(draw.choice([0.5, 1.02, 1.2, 1.5, 3]))
        row = replace(row, log_bytes=tuple(None if size is None else int(size * factor) for size in row.log_bytes))
    if "replicas lag" in changes and draw.random() < 0.3 and len(isr) > 1:
        isr = tuple(broker for broker in isr if broker == row.leader or draw.random() < 0.5)
        row = replace(row, isr=isr)
    if "leaders change" in changes and draw.random() < 0.3 and isr and row.leader is not None:
        row = replace(row, leader=int(draw.choice(isr)))
    others = [broker for broker in ids if broker not in row.replicas]
    if row.adding or row.removing or not others or draw.random() >= 0.15:
        return row
    new = int(draw.choice(others))
    if "others move" in changes and set(isr) == set(row.replicas):
        old = int(draw.choice(row.replicas))
        replicas, isr = (tuple(new if broker == old else broker for broker in side) for side in (row.replicas, isr))
        return replace(row, replicas=replicas, isr=isr, leader=new if row.leader == old else row.leader)
    if "reassignments run" in changes and row.leader is not None:
        return replace(row, replicas=(*row.replicas, new), log_bytes=(*row.log_bytes, 0), adding=(new,))
    return row


def _without_broker(row: Partition, dead: int) -> Partition:
    if dead not in row.replicas:
        return row
    isr = tuple(broker for broker in row.isr or () if broker != dead)
    leader = row.leader if row.leader != dead else isr[0] if isr else None
    sizes = (None if broker == dead else size for broker, size in zip(row.replicas, row.log_bytes, strict=True))
    return replace(row, isr=isr, leader=leader, log_bytes=tuple(sizes))


def _changed_broker(broker: Broker, held: int, changes: set[str], draw: np.random.Generator) -> Broker:
    size = broker.capacity.disk_bytes
    for change, state in (("brokers drain", BrokerState.DRAINING), ("brokers are fenced", BrokerState.FENCED)):
        if change in changes and draw.random() < 0.2 and broker.state is BrokerState.ALIVE:
            broker = replace(broker, state=state)
    if "racks change" in changes and draw.random() < 0.3 and broker.rack:
        broker = replace(broker, rack="rack-9")
    if "disks grow" in changes and size:
        return replace(broker, capacity=replace(broker.capacity, disk_bytes=1.3 * size))
    if "disks shrink" not in changes:
        return broker
    if size and size > held:
        left = held + (size - held) * float(draw.uniform(0, 0.7))
        broker = replace(broker, capacity=replace(broker.capacity, disk_bytes=max(1.0, left)))
    usable = [None if each.usable_bytes is None else each.usable_bytes // 2 for each in broker.log_dirs]
    dirs = (replace(each, usable_bytes=free) for each, free in zip(broker.log_dirs, usable, strict=True))
    return replace(broker, log_dirs=tuple(dirs))


def check_next_day(snapshot: ClusterSnapshot, options: PlanOptions, earlier: Plan, text: str) -> None:
    """Raises AssertionError where the plan that is made of ``earlier`` is wrong today."""
    try:
        plan = make_plan(snapshot, options, previous=earlier.document)
    except InfeasibleError:
        return
    assert [str(fault) for fault in verify_plan(plan.document, snapshot).wrong] == [], text
    assert faults_of(plan.document, snapshot, options) == [], text


@for_each("seed", sorted({*range(2000), *ONCE_WRONG}), fast=(*range(36), *ONCE_WRONG), rest_mark=pytest.mark.matrix)
def test_an_earlier_plan_of_any_cluster_becomes_a_right_plan_for_today(seed: int) -> None:
    snapshot, options = first_day(seed)
    earlier = make_plan(snapshot, options)
    if earlier.moves:
        today = next_day(snapshot, earlier, np.random.default_rng((seed, 77)))
        check_next_day(today, options, earlier, f"seed {seed}")


@for_each("seed", range(300), fast=(*range(20), 49, 69, 147, 196), rest_mark=pytest.mark.matrix)
def test_copies_that_have_no_room_any_more_are_planned_anew(seed: int) -> None:
    """Disks had room for the plan's copies yesterday; today some have less than a replica needs."""
    draw = np.random.default_rng(seed)
    count, size = int(draw.integers(2, 6)), int(draw.integers(1, 4)) * GB
    rows, rates = [], []
    for broker in range(count):
        for _ in range(int(draw.integers(2, 8))):
            others = [] if draw.random() < 0.7 else [int((broker + 1 + draw.integers(count - 1)) % count)]
            rows.append(row("t", len(rows), [broker, *others], int(size * draw.choice([1, 1, 1, 2]))))
            rates.append(float(draw.lognormal(14, 0.3)) * (3 if broker == 0 else 1))
    used = Counter[int]()
    for each in rows:
        used.update(dict.fromkeys(each.replicas, each.log_bytes[0] or 0))
    free = float(draw.choice([1.1, 1.6, 3, 6])) * size

    def with_room(share: float) -> ClusterSnapshot:
        disks = [used[b] + free * (share if draw.random() < 0.7 else 1) for b in range(count)]
        sized = [replace(b, capacity=Capacity(disk_bytes=disks[b.id])) for b in brokers(count)]
        return cluster(rows, sized, rates={LoadKind.IN_BYTES_PER_S: rates})

    options = PlanOptions(with_frontier=False, **({"within": float(draw.choice([0.05, 0.1]))} if seed % 2 else {}))
    earlier = make_plan(with_room(1), options)
    if earlier.moves:
        check_next_day(with_room(float(draw.choice([0.2, 0.5, 0.8]))), options, earlier, f"seed {seed}")
