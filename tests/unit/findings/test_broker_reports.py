"""Clusters of public bug reports, renamed: expected findings, plan, and forbidden statements.

Each is one case of a class. ``test_elections.py`` counts elections and leaders on random clusters, too.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.broker_rules import Way
from kafka_rebalance.findings.finding import Finding, Severity
from kafka_rebalance.findings.rules import evaluate_rules
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import TopicLeaders
from kafka_rebalance.plans.check import PlanStatus, check_plan
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict, plan_id, to_document
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from kafka_rebalance.verify.files import check_shell_blocks
from rebalance_advisor.dumps import read_input
from rebalance_advisor.publish.plan_files import render_commands
from tests.facts_said import said
from tests.unit.verify.hand_claims import faults_of

REPORTS = Path(__file__).parents[2] / "data" / "broker_findings"


def reading(name: str) -> ClusterSnapshot:
    return read_input(REPORTS / name)


def by_code(snapshot: ClusterSnapshot) -> dict[str, Finding]:
    """By code and subject, without explained ones."""
    return {
        f"{finding.code} {finding.subject}": finding
        for finding in evaluate_rules(snapshot, score_cluster(snapshot), [])
    }


def planned(snapshot: ClusterSnapshot, **options: object) -> Plan:
    """A plan that its verifier accepts."""
    plan = make_plan(snapshot, PlanOptions(with_frontier=False, **options))  # type: ignore[arg-type]
    assert verify_plan(document_of(plan), snapshot).faults == ()
    return plan


def document_of(plan: Plan) -> dict[str, object]:
    return json.loads(json.dumps(to_document(plan)))


def test_min_isr_above_the_replicas_is_critical_and_equal_to_them_high() -> None:
    reported = by_code(reading("min-isr-above-replicas"))
    for topic in ("__consumer_offsets", "ledger"):
        above = reported[f"below_min_isr {topic}"]
        assert above.severity is Severity.CRITICAL
        args = above.recommendation.args
        assert (args["topic"], args["min_insync_replicas"]) == (topic, 2)
        assert args["serving_brokers"] >= 3  # the words name --replication-factor 3
    tight = reported["min_isr_at_replication_factor invoices"]
    assert (tight.severity, tight.evidence["partitions_at_min_isr"]) == (Severity.HIGH, 3)


@pytest.mark.parametrize(
    ("factor", "include", "exclude", "is_refused"),
    [
        (2, (), (), True),
        (2, (".*",), (), True),
        (2, ("__consumer_offsets",), (), False),
        (2, ("__.*",), (), False),
        (2, ("ledger|__consumer_offsets",), (), False),
        (2, (), ("__.*",), False),
        (2, ("ledger",), (), False),
        (3, (), (), False),  # above min.insync.replicas
        (1, (), (), False),  # its present leaders
    ],
)
def test_an_internal_topic_gets_no_factor_that_leaves_it_nothing_to_lose_unless_that_is_ordered(
    factor: int, include: tuple[str, ...], exclude: tuple[str, ...], is_refused: bool
) -> None:
    snapshot = reading("min-isr-above-replicas")
    options = {"replication_factor": factor, "include_topics": include, "exclude_topics": exclude}
    if is_refused:
        with pytest.raises(UsageError, match=r"--replication-factor 2.*__consumer_offsets.*--exclude-topic") as refusal:
            planned(snapshot, **options)
        assert "one failure stops its writes" in str(refusal.value)
    else:
        assert planned(snapshot, **options).verdict is Verdict.REBALANCE or factor == 1


@pytest.mark.parametrize(
    ("factor", "warning"),
    [
        (1, (True, "invoices")),
        (2, (True, "invoices")),
        (2, (False, "ledger")),
        (3, None),  # ledger comes to 3 over 2; invoices stay as they are
    ],
)
def test_a_plan_whose_factor_is_not_above_min_isr_warns(factor: int, warning: tuple[bool, str] | None) -> None:
    plan = planned(reading("min-isr-above-replicas"), replication_factor=factor, exclude_topics=("__.*",))
    warnings = [(args["is_below"], args["first"][0]) for args in said(plan.reasons, FactCode.FACTOR_AT_MIN_ISR)]
    assert warning in warnings if warning else not warnings


def test_a_reassignment_to_a_dead_broker_is_to_be_cancelled() -> None:
    snapshot = reading("destination-died")
    (stuck,) = [finding for finding in evaluate_rules(snapshot, score_cluster(snapshot), [], planned(snapshot))
                if finding.code == "reassignment_stuck"]  # fmt: skip
    assert [symptom.code for symptom in stuck.symptoms] == [
        "dead_broker",
        "not_fixable_by_moving",
        "reassignment_running",
    ]
    document = str(stuck.evidence["cancel_json"])
    assert stuck.recommendation.args["cancel_json"] == document
    assert json.loads(document) == {
        "version": 1,
        "partitions": [
            {"topic": "parcels", "partition": 0, "replicas": [2, 4]},
            {"topic": "parcels", "partition": 1, "replicas": [4, 1]},
        ],
    }


@pytest.mark.parametrize("removed", [frozenset[int](), frozenset({4})])
def test_a_dead_broker_that_is_being_filled_is_not_nothing_to_do(removed: frozenset[int]) -> None:
    plan = planned(reading("destination-died"), remove_brokers=removed)
    assert plan.verdict is Verdict.NOT_FIXABLE_BY_MOVING
    (args,) = said(plan.reasons[:1], FactCode.REASSIGNMENT_FILLS_BROKER)
    assert (args["broker"], args["state"], args["is_gone"], args["partitions"]) == (4, "dead", True, 2)
    assert args["first"] == ("parcels-0", "parcels-1")
    assert args["cancel_json"].startswith('{"version":1,"partitions":[')


def test_a_broker_that_is_to_be_removed_while_it_is_filled_is_told_and_the_plan_starts_beside() -> None:
    snapshot = reading("destination-removed")
    plan = planned(snapshot, remove_brokers=frozenset({4}))
    assert [(move.topic, move.partition) for move in plan.moves] == [("parcels", 3)]
    (args,) = said(plan.reasons[:1], FactCode.REASSIGNMENT_FILLS_BROKER)
    assert (args["broker"], args["state"], args["is_gone"]) == (4, "draining", False)
    text, document = render_commands(plan), document_of(plan)
    assert text.count("--execute --additional --throttle") == len(plan.waves) + len(plan.rollback.waves)
    assert faults_of(check_shell_blocks, document, text.encode()) == []
    assert faults_of(check_shell_blocks, document, text.replace(" --additional --", " --").encode()) == ["commands"]
    checked = check_plan(document, snapshot)
    assert (checked.status, len(checked.warnings)) == (PlanStatus.VALID, 2)
    alone = document | {"seen": document["seen"] | {"reassigning": []}}
    assert faults_of(check_shell_blocks, alone, text.encode()) == ["commands"]


def test_a_verdict_that_leaves_out_what_is_being_filled_is_refused() -> None:
    snapshot = reading("destination-died")
    forged = document_of(planned(snapshot)) | {"verdict": "nothing_to_do"}
    faults = verify_plan(forged | {"plan_id": plan_id(forged)}, snapshot).faults
    assert [fault.code for fault in faults] == ["verdict"], faults


def test_partitions_that_an_aborted_move_left_with_more_replicas_are_named_and_come_back() -> None:
    snapshot = reading("mixed-replica-counts")
    mixed = by_code(snapshot)["mixed_replication_factor bookings"]
    args = mixed.recommendation.args
    assert (args["topic"], args["replication_factor"]) == ("bookings", 4)
    assert args["differing"] == (("bookings-2", 6), ("bookings-5", 7))
    assert mixed.cost_bytes == 0
    plan = planned(snapshot, include_topics=("bookings",), replication_factor=4)
    by_partition = {move.partition: move for move in plan.moves}
    assert {2, 5} <= by_partition.keys()
    assert all(len(move.to_replicas) == 4 for move in plan.moves)
    assert set(by_partition[2].to_replicas) <= {3, 5, 7, 2}  # its ISR
    assert set(by_partition[5].to_replicas) <= {6, 8, 2, 3, 1}


def test_a_topic_that_one_broker_leads_is_named_with_the_option_that_spreads_it() -> None:
    snapshot = reading("topic-on-one-broker")
    clicks = by_code(snapshot)["topic_on_few_brokers clicks"]
    assert (clicks.severity, clicks.evidence["traffic_ratio"], clicks.evidence["partitions_ratio"]) == (
        Severity.LOW, None, 0.25,
    )  # fmt: skip
    args = clicks.recommendation.args
    assert (args["leading_brokers"], args["led_partitions"], args["brokers"]) == ((1,), 12, 4)
    assert (args["topic"], args["leaders_each"]) == ("clicks", 3)
    plan = planned(snapshot, min_topic_leaders=(TopicLeaders("clicks", 3),))
    moved = {move.partition: move.leader_to for move in plan.moves if move.topic == "clicks"}
    led = [moved.get(number, 1) for number in range(12)]
    assert sorted(led) == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]


def test_lists_that_all_begin_with_one_broker_are_no_reason_to_elect_it() -> None:
    snapshot = reading("preferred-all-on-one")
    reported = by_code(snapshot)
    assert "preferred_leaders_off preferred-all-on-one" not in reported
    uneven = reported["preferred_order_uneven preferred-all-on-one"]
    assert (uneven.severity, uneven.evidence["leaders_once_elected"]) == (Severity.MEDIUM, 12)
    args = uneven.recommendation.args
    assert (args["first_replicas"], args["partitions"], args["broker"]) == (12, 12, 0)
    assert args["times_share_once_elected"] == 3
    assert (args["is_automatic"], args["reordered_by_plan"]) == (True, 0)
    assert not {finding.recommendation.args.get("way") for finding in reported.values()} & {
        Way.ELECT_ALL,
        Way.ELECT_THESE,
    }
    plan = planned(snapshot)
    beside = {finding.code: finding for finding in evaluate_rules(snapshot, score_cluster(snapshot), [], plan)}
    assert beside["preferred_order_uneven"].recommendation.args["reordered_by_plan"] == 8


def test_preferred_leaders_that_are_out_of_sync_are_waited_for() -> None:
    reported = by_code(reading("preferred-out-of-sync"))
    off = reported["preferred_leaders_off preferred-out-of-sync"]
    assert (off.evidence["elected_partitions"], off.evidence["waiting_partitions"], off.gain) == (0, 4, 0)
    assert off.recommendation.args["way"] == Way.WAIT
    assert off.recommendation.args["awaited"] == (fact(FactCode.IN_SYNC_AGAIN, broker=2, partitions=4),)
    piled = reported["leaders_piled_up 3"]  # which no election explains
    assert piled.recommendation.args["way"] == Way.WAIT


def test_preferred_leaders_on_a_dead_broker_are_its_symptoms() -> None:
    reported = by_code(reading("preferred-on-dead-broker"))
    dead = reported["dead_broker 2"]
    assert {symptom.code for symptom in dead.symptoms} >= {
        "preferred_leaders_off",
        "leaders_piled_up",
        "under_replicated",
    }
    assert not {symptom.recommendation.args.get("way") for symptom in dead.symptoms} & {Way.ELECT_ALL, Way.ELECT_THESE}
    assert "preferred_leaders_off preferred-on-dead-broker" not in reported
