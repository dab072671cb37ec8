from __future__ import annotations

from typing import Any

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.render import render
from rebalance_advisor.publish.report import TOP_GROUPS, by_trouble, describe_death, group_row, group_section


def group(name: str, **more: Any) -> dict[str, Any]:
    return {
        "group": name, "type": "classic", "members": 3, "idle_members": 0, "assignor": "range", "skew_count": 1.0,
        "skew_rate": 1.0, "drain_seconds": None, "members_falling_behind": None, "strategies": [], "scenarios": [],
        "advice": None,
    } | more  # fmt: skip


def finding(subject: str, severity: str, kind: str = "group", **more: Any) -> dict[str, Any]:
    return {"subject_type": kind, "subject": subject, "severity": severity, "muted_until": None} | more


def crash(assignor: str = "range", **more: Any) -> dict[str, Any]:
    return {
        "scenario": "member_crashes", "assignor": assignor, "error": None, "partitions_unread": 3,
        "longest_pause_ms": 49_687, "partitions_moved": 4,
    } | more  # fmt: skip


def test_a_group_stands_where_its_worst_finding_is_symptoms_and_all() -> None:
    groups = [group("calm"), group("skewed", skew_rate=4.0), group("low"), group("high"), group("symptom")]
    findings = [
        finding("low", "low"), finding("high", "high"), finding("high", "info"), finding("calm", "high", "broker"),
        finding("3", "high", "broker", symptoms=[finding("symptom", "medium")]),
        finding("calm", "critical", muted_until="2026-12-01"),
    ]  # fmt: skip
    names = [row["group"] for row in by_trouble(groups, findings)]
    assert names == ["high", "symptom", "low", "skewed", "calm"]


def test_those_beyond_the_first_are_counted() -> None:
    section = group_section({"groups": [group(str(number)) for number in range(TOP_GROUPS + 4)], "findings": []})
    assert (len(section["rows"]), section["more"]) == (TOP_GROUPS, 4)


def test_a_death_is_told_of_todays_strategy_alone() -> None:
    text = "if one dies: 3 partitions unread for up to 50 s, 4 partitions change reader"
    assert describe_death(group("g", scenarios=[crash("sticky"), crash()])) == text
    for nothing in ([], [crash("sticky")], [crash(error="x")], [crash(longest_pause_ms=None)]):
        assert describe_death(group("g", scenarios=nothing)) == ""


def test_lag_that_never_goes_is_no_unknown_one() -> None:
    assert group_row(group("g"))["drain"] == "unknown"
    assert group_row(group("g", members_falling_behind=1))["drain"] == "never"
    assert group_row(group("g", drain_seconds=0.0))["drain"] == "0 s"


def test_a_strategy_that_failed_says_why() -> None:
    refusal = fact(FactCode.STRATEGY_REFUSES, error="Raised", message="")
    strategies = [
        {"assignor": "own", "error": refusal.document()},
        {"assignor": "range", "error": None, "skew_count": 1.5, "skew_rate": None, "partitions_moved": 12},
    ]
    assert [strategy["words"] for strategy in group_row(group("g", strategies=strategies))["strategies"]] == [
        render(refusal), "1.50 × by count, unknown by rate, 12 partitions change reader",
    ]  # fmt: skip


def test_tasks_of_a_streams_group_are_lines_of_its_own() -> None:
    reason = fact(FactCode.STREAMS_NEXT_TARGET, moved=0, restored=0, standbys_restored=0)
    assert group_row(group("g"))["tasks"] == []
    assert group_row(group("g", streams={"summary": [reason.document()]}))["tasks"] == [render(reason)]


def test_idle_members_that_are_not_known_are_unknown() -> None:
    assert group_row(group("g", idle_members=None))["idle"] == "unknown"
    assert group_row(group("g", idle_members=2))["idle"] == "2"
