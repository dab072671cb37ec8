from __future__ import annotations

from typing import Any

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import START_BLOCKERS
from kafka_rebalance.render import render
from kafka_rebalance.snapshot.codec import gap_document
from kafka_rebalance.snapshot.coverage import CoverageGap
from rebalance_advisor.publish.report import (
    TOP_FINDINGS,
    describe_size,
    first_screen,
    format_time,
    if_nothing_is_done,
    loss_lines,
    provenance,
)


def outcome(resource: str, skew: float) -> dict[str, Any]:
    return {"resource": resource, "skew_before": skew}


def advisory(**more: Any) -> dict[str, Any]:
    plan = {
        "moves": [1], "steps": [], "resources": [outcome("disk", 1.2), outcome("in", 1.05), outcome("out", 2.0)],
        "left_out": {}, "reasons": [],
        "verdict": "rebalance", "expires_at": None, "lower_bound": [], "robustness": None,
        "cost": {"replica_moves": 1, "bytes": None, "leader_changes": 0, "seconds": None},
    }  # fmt: skip
    size = dict.fromkeys(("brokers", "racks", "topics", "partitions", "replicas", "groups"), 1000)
    return {
        "plan": plan, "findings": [], "coverage": [], "captured_at": "2026-11-20T12:00:59Z", "size": size, "loads": {},
    } | more  # fmt: skip


def finding(subject: str, severity: str = "high") -> dict[str, Any]:
    return {
        "severity": severity, "subject_type": "broker", "subject": subject, "code": "dead_broker", "evidence": {},
        "actor": "operator",
        "recommendation": {"code": "members_too_slow", "args": {}}, "cost": None,
        "team": None, "channel": None, "tier": None,
        "muted_until": None, "symptoms": [],
    }  # fmt: skip


def test_what_is_uneven_stays_so_the_worst_first_and_when_disks_are_full_is_not_invented() -> None:
    assert if_nothing_is_done(advisory()) == [
        "the most loaded brokers stay at out 2.00 ×, disk 1.20 × the mean",
        "the growth of disks is not known yet: that takes snapshots of several days",
    ]


def test_a_known_growth_is_told_first() -> None:
    reason = fact(FactCode.NO_DISK_FILLS, horizon_days=90)
    lines = if_nothing_is_done(advisory(outlook=[reason.document()]))
    assert lines[0] == render(reason)
    assert len(lines) == 2


def test_without_moves_nothing_is_threatened() -> None:
    still = advisory()
    still["plan"]["moves"] = []
    assert if_nothing_is_done(still) == []


def test_five_findings_stand_first_and_the_others_below() -> None:
    screen = first_screen(advisory(findings=[finding(str(number)) for number in range(9)]))
    assert [row["subject"] for row in screen["findings"]] == [str(number) for number in range(TOP_FINDINGS)]
    assert len(screen["others"]) == 9 - TOP_FINDINGS
    assert (screen["captured_at"], screen["expires_at"]) == ("2026-11-20 12:00 UTC", "")
    assert screen["size"].startswith("1,000 brokers in 1,000 racks")


def test_no_time_is_no_time() -> None:
    assert format_time(None) == ""


@pytest.mark.parametrize("code", sorted(START_BLOCKERS))
def test_what_was_found_is_settled_before_a_plan_starts(code: str) -> None:
    line = first_screen(advisory(findings=[finding("9"), finding("t") | {"code": code, "subject_type": "topic"}]))[
        "start"
    ]
    assert line == f"Not safe to start before this is settled: {code.replace('_', ' ')} (topic t)."


def test_what_the_plan_repairs_stops_no_start_and_what_was_not_read_is_named() -> None:
    symptom = finding("t") | {"code": "under_replicated"}
    safe = first_screen(advisory(findings=[finding("9") | {"symptoms": [symptom]}]))["start"]
    assert safe.startswith("Safe to start")
    assert safe.endswith("what the plan mends.")
    assert first_screen(advisory(findings=[symptom | {"actor": "plan"}]))["start"] == safe
    running, configs = fact(FactCode.LACKS_REASSIGNMENTS), fact(FactCode.LACKS_CONFIGS, kind="topic")
    late = fact(FactCode.AS_REPORTED, text="timed out")
    gaps = [
        CoverageGap("cluster", "", fact(FactCode.LACKS_PARTS, parts=(running, fact(FactCode.LACKS_RACKS))), late),
        CoverageGap("cluster", "", configs, late),
        CoverageGap("topic", "t", running, late),
    ]
    line = first_screen(advisory(coverage=[gap_document(gap) for gap in gaps]))["start"]
    assert line == f"{safe} Not seen: {'; '.join(sorted((render(running), render(configs))))}."


def test_what_was_left_out_and_not_read_stands_at_the_end() -> None:
    lacking, late = fact(FactCode.LACKS_LOG_DIRS), fact(FactCode.AS_REPORTED, text="timed out")
    document = advisory(
        coverage=[gap_document(CoverageGap("broker", "3", lacking, late))],
        loads={"cpu_percent": fact(FactCode.LOAD_MISSING).document()},
    )
    document["plan"] |= {
        "left_out": {"cpu": {"code": "figure_not_measured", "args": {"figure": "cpu_percent"}}},
        "robustness": {"trials": 20, "noise": 0.3, "verdict_stands": 20},
    }
    robust = fact(FactCode.VERDICT_HOLDS, verdict="rebalance", trials=20, noise=0.3, verdict_stands=20)
    assert provenance(document) == {
        "rests_on": [
            f"CPU: {render(fact(FactCode.LOAD_MISSING))}",
            "cpu is left out: CPU is not measured",
            f"not read: {render(lacking)} of broker 3 (timed out)",
        ],
        "also_measured": [],
        "robustness": render(robust),
    }


def test_the_worst_losses_are_a_line_each_where_they_matter() -> None:
    """Above a capacity its resource is named; else the leaders, where they are half as many again as even."""

    def worst(leaders: int, load: float | None) -> dict[str, Any]:
        stands = None if load is None else {"lost": "3", "broker": 7, "resource": "out", "load": load, "capacity": 10.0}
        return {"takeover": {"lost": "3", "broker": 7, "leaders": leaders, "even_leaders": 100}, "load": stands}

    def lines(broker: Any, rack: Any = None) -> list[str]:
        return loss_lines({"after_failure": {"before": {"broker": broker, "rack": rack}}})

    assert lines(worst(1500, None)) == ["if broker 3 fails, broker 7 takes over 1,500 leaders; even would be 100"]
    assert lines(worst(1500, 12.0), worst(150, 10.0)) == [
        "if broker 3 fails, broker 7 carries 1.20 × its capacity (out)"
    ]
    assert lines(worst(150, 10.0)) == lines(None) == loss_lines({"after_failure": None}) == loss_lines({}) == []


def test_the_size_names_one_group_and_many() -> None:
    size = {"brokers": 4, "racks": 3, "topics": 6, "partitions": 1029, "replicas": 78, "groups": 1}
    text = "4 brokers in 3 racks, 6 topics, 1,029 partitions, 78 replicas, 1 group"
    assert describe_size(size) == text
