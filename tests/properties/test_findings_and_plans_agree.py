"""Findings and plans agree on clusters in trouble: brokers that running reassignments fill, mixed replica counts.

What is filled is named with its partitions, and no plan says "nothing to do" of it. The way back from mixed replica
counts that a finding names is a plan that brings them back, but for what waits or cannot be touched.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.facts import FactCode
from kafka_rebalance.findings.finding import Actor
from kafka_rebalance.findings.plan_outcome import carried_out
from kafka_rebalance.findings.rules import evaluate_rules, urgent_findings
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Move, Plan, Verdict
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot, LogDir
from kafka_rebalance.snapshot.partition_table import Partition
from tests.facts_said import said
from tests.properties.test_steps import filling_cluster
from tests.properties.unhealthy_clusters import unhealthy_cluster
from tests.sample import for_each

pytestmark = pytest.mark.planned


# Codes of replicas alone, each over if and only if what it says is no longer so.
PLACED = (
    "rack_violated",
    "single_replica",
    "below_min_isr",
    "under_replicated",
    "dead_broker",
    "preferred_leaders_off",
)


def filled(snapshot: ClusterSnapshot, options: PlanOptions) -> dict[int, int]:
    """Broker → partitions whose running reassignment ends with a replica on it."""
    racks = {broker.id: broker.rack for broker in snapshot.brokers}
    emptied = {broker.id for broker in snapshot.brokers if broker.state.is_gone or not broker.state.stays}
    emptied |= {broker for broker, rack in racks.items() if options.is_removed(broker, rack)}
    counts: dict[int, int] = {}
    for row in snapshot.each_partition():
        if row.adding or row.removing:
            for broker in emptied & set(row.target_replicas):
                counts[broker] = counts.get(broker, 0) + 1
    return counts


@for_each("seed", range(400), fast=range(60), rest_mark=pytest.mark.matrix)
def test_every_broker_that_is_filled_is_named_with_its_partitions(seed: int) -> None:
    snapshot, options = unhealthy_cluster(seed)
    expected = filled(snapshot, options) if options.moves_replicas else {}
    plan = make_plan(snapshot, options)
    filling = said(plan.reasons, FactCode.REASSIGNMENT_FILLS_BROKER)
    reported = {args["broker"]: args["partitions"] for args in filling}
    assert reported == expected, plan.reasons
    assert not expected or plan.verdict is not Verdict.NOTHING_TO_DO


@for_each("seed", range(400), fast=range(60), rest_mark=pytest.mark.matrix)
def test_what_waits_for_a_broker_that_is_gone_is_to_be_cancelled(seed: int) -> None:
    snapshot, _ = unhealthy_cluster(seed)
    gone = {broker.id for broker in snapshot.brokers if broker.state.is_gone}
    stuck = sum(bool(gone & set(row.adding)) for row in snapshot.each_partition())
    findings = evaluate_rules(snapshot, score_cluster(snapshot), [])
    reported = [item.evidence["partitions"] for item in findings if item.code == "reassignment_stuck"]
    assert reported == ([stuck] if stuck else [])


def test_the_clusters_hold_both_kinds() -> None:
    made = [unhealthy_cluster(seed) for seed in range(60)]
    assert sum(bool(filled(snapshot, options)) for snapshot, options in made) >= 5
    gone = [{broker.id for broker in snapshot.brokers if broker.state.is_gone} for snapshot, _ in made]
    stuck = [any(away & set(row.adding) for row in snapshot.each_partition())
             for away, (snapshot, _) in zip(gone, made, strict=True)]  # fmt: skip
    assert sum(stuck) >= 3


@for_each("seed", range(200), fast=range(25), rest_mark=pytest.mark.matrix)
def test_the_way_back_from_mixed_replica_counts_is_one(seed: int) -> None:
    snapshot, _ = unhealthy_cluster(seed)
    serving = sum(broker.state.is_responsive for broker in snapshot.brokers)
    for item in evaluate_rules(snapshot, score_cluster(snapshot), []):
        if item.code != "mixed_replication_factor":
            continue
        factor = int(item.evidence["replication_factor"] or 0)
        args = item.recommendation.args
        assert (args["topic"], args["replication_factor"]) == (item.subject, factor)
        assert (args["needed_brokers"], args["serving_brokers"]) == (factor, serving)
        if factor > serving:
            continue
        options = PlanOptions(with_frontier=False, include_topics=(item.subject,), replication_factor=factor)
        plan = make_plan(snapshot, options)
        assert plan.verdict in (Verdict.REBALANCE, Verdict.NOT_FIXABLE_BY_MOVING), plan.reasons
        moved = {move.partition: move.to_replicas for move in plan.moves}
        for row in snapshot.each_partition():
            lags = row.leader is not None and set(row.replicas) - set(row.isr or ())
            if row.topic == item.subject and row.leader is not None and not row.adding and not lags:
                assert len(moved.get(row.partition, row.replicas)) == factor, row


def sized_cluster(seed: int) -> tuple[ClusterSnapshot, dict[int, Capacity]]:
    """Disks whose size the brokers report, a file gives, or both with different figures, the smaller or the larger."""
    draw, snapshot = np.random.default_rng((seed, 2)), filling_cluster(seed)
    held = dict.fromkeys((broker.id for broker in snapshot.brokers), 0)
    for row in snapshot.each_partition():
        for broker, size in zip(row.replicas, row.log_bytes, strict=True):
            held[broker] += size or 0
    known, given = [], {}
    for broker in snapshot.brokers:
        size, kind = broker.capacity.disk_bytes or 0.0, draw.integers(0, 4)
        total = max(held[broker.id], round(size * draw.uniform(0.7, 1.5)))
        volume = LogDir("/data", total, total - held[broker.id])
        if kind == 0:
            given[broker.id] = broker.capacity
        log_dirs = (LogDir("/data"),) if kind == 1 else (volume,)
        known.append(replace(broker, log_dirs=log_dirs, capacity=broker.capacity if kind in (1, 2) else Capacity()))
    return replace(snapshot, brokers=tuple(known)), given


@for_each("seed", range(200), fast=range(25), rest_mark=pytest.mark.matrix)
def test_findings_and_steps_measure_disks_by_one_capacity(seed: int) -> None:
    """What a file gives outranks what brokers report, however it is given."""
    snapshot, given = sized_cluster(seed)
    plan = make_plan(snapshot, PlanOptions(with_frontier=False, capacities=given))
    sized = snapshot.with_capacities(given)
    found = {item.subject: item.evidence["used_ratio"] for item in evaluate_rules(sized, score_cluster(sized), [])
             if item.code == "broker_disk_full"}  # fmt: skip
    sizes = {broker.id: broker.capacity.disk_bytes or broker.log_dirs[0].total_bytes for broker in sized.brokers}
    shares = {broker: plan.document["before"]["disk"][str(broker)] / (size or 1) for broker, size in sizes.items()}
    assert found == {str(broker): pytest.approx(share) for broker, share in shares.items() if share >= 0.85}
    for args in said(plan.reasons, FactCode.BROKERS_NEARLY_FULL):
        if args["resource"] == "disk":
            assert args["capacity_share"] == pytest.approx(max(found.values()))
    urgent = {item.subject for item in urgent_findings(snapshot, plan) if item.code == "broker_disk_full"}
    assert urgent == found.keys()


def done(plan: Plan, snapshot: ClusterSnapshot) -> list[Partition]:
    """Rows once the plan is done, one by one: the leader's size and the ISR for what is new."""
    moves = {(move.topic, move.partition): move for move in plan.moves}
    return [
        row if move is None else _moved(row, move)
        for row in snapshot.each_partition()
        for move in (moves.get((row.topic, row.partition)),)
    ]


def _moved(row: Partition, move: Move) -> Partition:
    sizes, to = dict(zip(row.replicas, row.log_bytes, strict=True)), move.to_replicas
    size = None if row.leader is None else sizes[row.leader]
    size = max((known for known in sizes.values() if known is not None), default=None) if size is None else size
    return replace(
        row, replicas=to, leader=move.leader_to, log_dirs=(),
        log_bytes=tuple(sizes.get(broker, size) for broker in to),
        isr=None if row.isr is None else tuple(b for b in to if b in row.isr or b not in row.replicas),
        offline=tuple(broker for broker in row.offline if broker in to),
        observers=tuple(broker for broker in row.observers if broker in to),
        eligible=tuple(broker for broker in row.eligible if broker in to),
    )  # fmt: skip


@for_each("seed", range(400), fast=range(60), rest_mark=pytest.mark.matrix)
def test_what_the_plan_settles_is_over_once_it_is_done_and_nothing_else(seed: int) -> None:
    snapshot, options = unhealthy_cluster(seed)
    plan = make_plan(snapshot, options)
    findings = evaluate_rules(snapshot, score_cluster(snapshot), [], plan)
    after = carried_out(plan, snapshot)
    assert list(after.each_partition()) == done(plan, snapshot)
    left = {item.finding_key: item for item in evaluate_rules(after, score_cluster(after), [])}
    left |= {symptom.finding_key: symptom for item in list(left.values()) for symptom in item.symptoms}
    for item in findings:
        if item.actor is Actor.PLAN:
            assert plan.moves
            assert item.finding_key not in left, item
        elif plan.moves and item.actor is Actor.OPERATOR and item.code in PLACED and not item.symptoms:
            assert item.finding_key in left, item
