from __future__ import annotations

from typing import Any

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Finding
from kafka_rebalance.findings.rules import evaluate_rules
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot
from tests.unit.planner.sample_clusters import brokers, cluster, random_cluster, row

JOBS: dict[str, dict[str, Any]] = {
    "balance": {"within": 0.1},
    "nothing to do": {"dead_band": 50.0},
    "leaders only": {"leaders_only": True},
    "one topic": {"within": 0.1, "include_topics": ("topic-00",)},
    "fewer replicas": {"replication_factor": 2},
    "within a budget": {"within": 0.1, "max_moves": 4},
    "a broker goes": {"remove_brokers": frozenset({1})},
}
CODES = ("broker_disk_over_share", "broker_rate_over_share")


def findings_of(snapshot: ClusterSnapshot, plan: Plan | None) -> list[Finding]:
    return [finding for finding in evaluate_rules(snapshot, score_cluster(snapshot), [], plan) if finding.code in CODES]


def counted_again(plan: Plan, snapshot: ClusterSnapshot, broker: int) -> dict[str, float]:
    """By the plan's moves, with the first replica's size (in these clusters all are equal)."""
    size_of = {(row.topic, row.partition): float(row.log_bytes[0] or 0) for row in snapshot.each_partition()}
    sums = dict.fromkeys(("replicas_out", "bytes_out", "replicas_in", "bytes_in", "leaders_out", "leaders_in"), 0.0)
    for move in plan.moves:
        new, gone = set(move.to_replicas) - set(move.from_replicas), set(move.from_replicas) - set(move.to_replicas)
        if broker in new:
            sums["replicas_in"] += 1
            sums["bytes_in"] += size_of[move.topic, move.partition]
        if broker in gone:
            sums["replicas_out"] += 1
            sums["bytes_out"] += size_of[move.topic, move.partition]
        sums["leaders_out"] += broker == move.leader_from != move.leader_to
        sums["leaders_in"] += broker == move.leader_to != move.leader_from
    return sums


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("job", JOBS)
def test_every_number_of_the_plan_is_the_plans(job: str, seed: int) -> None:
    snapshot = random_cluster(seed, broker_count=6, topics=2)
    plan = make_plan(snapshot, PlanOptions(with_frontier=False, **JOBS[job]))
    findings = findings_of(snapshot, plan)
    assert findings
    outcome = {resource_outcome.resource: resource_outcome for resource_outcome in plan.resources}
    for finding in findings:
        broker, evidence = int(finding.subject), finding.evidence
        again = counted_again(plan, snapshot, broker)
        for name, value in again.items():
            assert evidence[f"plan_{name}"] == pytest.approx(value)
        for resource, name in (("disk", "disk_bytes"), ("in", "in_bytes_per_s"), ("out", "out_bytes_per_s")):
            reported = evidence.get(f"plan_after_{name}")
            assert reported is None or reported == outcome[resource].after[broker]
        told_outcome = finding.recommendation.args["outcome"]
        if not any(again.values()):
            assert told_outcome.code in (FactCode.PLAN_MOVES_NOTHING, FactCode.PLAN_LEAVES_BROKER)
        cost = finding.cost.args
        assert (cost["bytes_out"], cost["bytes_in"]) == (again["bytes_out"], again["bytes_in"])
        if finding.code == "broker_disk_over_share" and any(again.values()):
            disk = outcome.get("disk")
            wanted = (
                fact(FactCode.PLAN_LEAVES_RESOURCE, resource="disk")
                if disk is None
                else fact(
                    FactCode.PLAN_CHANGES_LOAD,
                    resource="disk",
                    before=disk.before[broker],
                    after=disk.after[broker],
                )
            )
            assert told_outcome == wanted


def test_what_leaves_less_what_comes_is_what_the_plan_takes_off_the_disk() -> None:
    snapshot = random_cluster(5, broker_count=6, topics=2)
    plan = make_plan(snapshot, PlanOptions(within=0.1, with_frontier=False))
    disk = next(resource_outcome for resource_outcome in plan.resources if resource_outcome.resource == "disk")
    results = [finding for finding in findings_of(snapshot, plan) if finding.code == "broker_disk_over_share"]
    assert results
    for finding in results:
        broker, evidence = int(finding.subject), finding.evidence
        net = float(evidence["plan_bytes_out"] or 0) - float(evidence["plan_bytes_in"] or 0)
        assert net == pytest.approx(disk.before[broker] - disk.after[broker])


def test_without_a_plan_the_finding_says_what_it_would_take() -> None:
    snapshot = random_cluster(0, broker_count=6, topics=2)
    findings = findings_of(snapshot, None)
    assert findings
    for finding in findings:
        assert not finding.recommendation.args["outcome"].code.startswith("plan_")
        assert not finding.cost.code.startswith("plan_")
        assert not [name for name in finding.evidence if name.startswith("plan_")]


def test_moves_of_unknown_size_are_said_to_be() -> None:
    rows = [row("t", p, [0, 1], None) for p in range(30)] + [row("u", p, [2, 3], None) for p in range(6)]
    rates = {LoadKind.IN_BYTES_PER_S: [1e6] * 36, LoadKind.OUT_BYTES_PER_S: [2e6] * 36}
    snapshot = cluster(rows, brokers(4), rates=rates)
    plan = make_plan(snapshot, PlanOptions(within=0.1, with_frontier=False))
    findings = findings_of(snapshot, plan)
    assert any(finding.cost.args["replicas_out"] and finding.cost.args["bytes_out"] is None for finding in findings)
    moved = [finding.evidence["plan_bytes_out"] for finding in findings if finding.evidence["plan_replicas_out"]]
    assert moved
    assert set(moved) == {None}


def test_elections_of_the_plan_are_promised_only_for_what_it_elects() -> None:
    rows = [row("t", p, [p % 4, (p + 1) % 4], leader=(p + 1) % 4 if p < 4 else p % 4) for p in range(24)]
    snapshot = cluster(rows, brokers(4))
    scores = score_cluster(snapshot)
    for options in (PlanOptions(preferred_election=True), PlanOptions(dead_band=50.0, with_frontier=False)):
        plan = make_plan(snapshot, options)
        (finding,) = [
            result for result in evaluate_rules(snapshot, scores, [], plan) if result.code == "preferred_leaders_off"
        ]
        assert finding.evidence["off_partitions"] == 4
        assert finding.evidence["plan_elected_partitions"] == len(plan.moves)
        assert finding.recommendation.args["elected_by_plan"] == len(plan.moves)
