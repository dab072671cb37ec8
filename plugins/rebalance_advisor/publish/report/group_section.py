"""Consumer groups on the page, ranked by trouble: what each strategy would do, and what a member's death costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_rebalance.amounts import ratio_in_words, seconds_in_words
from kafka_rebalance.findings.finding import Severity
from kafka_rebalance.render import render_document
from rebalance_advisor.publish.report.finding_words import audible

Document = Mapping[str, Any]
TOP_GROUPS = 15
_CRASH = "member_crashes"
_UNTROUBLED = len(Severity)


def group_section(advisory: Document) -> dict[str, Any]:
    """Rows of the groups that matter most, and how many there are besides."""
    groups = by_trouble(advisory["groups"], advisory["findings"])
    return {"rows": [group_row(group) for group in groups[:TOP_GROUPS]], "more": max(0, len(groups) - TOP_GROUPS)}


def by_trouble(groups: Sequence[Document], findings: Sequence[Document]) -> list[Document]:
    """Those of the worst findings first, their symptoms too; then by how uneven they read, by rate before by count."""
    worst: dict[str, int] = {}
    for finding in audible(findings):
        for told in (finding, *finding.get("symptoms", ())):
            if told["subject_type"] == "group":
                rank = Severity(told["severity"]).rank
                worst[told["subject"]] = min(rank, worst.get(told["subject"], rank))
    return sorted(
        groups,
        key=lambda group: (
            worst.get(group["group"], _UNTROUBLED),
            -(group.get("skew_rate") or 0.0),
            -(group.get("skew_count") or 0.0),
            group["group"],
        ),
    )


def group_row(group: Document) -> dict[str, Any]:
    """One group: today in a line, other strategies and a member's death below it."""
    return {
        "group": group["group"],
        "type": group.get("type") or "unknown",
        "members": f"{group['members']:,}",
        "idle": "unknown" if group["idle_members"] is None else f"{group['idle_members']:,}",
        "assignor": group["assignor"] or "unknown",
        "by_count": ratio_in_words(group.get("skew_count")),
        "by_rate": ratio_in_words(group.get("skew_rate")),
        "drain": _drain_words(group),
        "advice": "" if group.get("advice") is None else render_document(group["advice"]),
        "strategies": [_strategy(strategy) for strategy in group.get("strategies", ())],
        "death": death_words(group),
    }


def _drain_words(group: Document) -> str:
    if group.get("members_falling_behind"):
        return "never"
    seconds = group.get("drain_seconds")
    return "unknown" if seconds is None else seconds_in_words(seconds)


def _strategy(strategy: Document) -> dict[str, str]:
    if strategy.get("error"):
        return {"name": strategy["assignor"], "words": render_document(strategy["error"])}
    words = (
        f"{ratio_in_words(strategy['skew_count'])} by count, {ratio_in_words(strategy['skew_rate'])} by rate, "
        f"{strategy['partitions_moved'] or 0:,} partitions change their reader"
    )
    return {"name": strategy["assignor"], "words": words}


def death_words(group: Document) -> str:
    """``if one dies: 3 partitions unread for up to 50 s, 3 change their reader``; the worst of the members asked."""
    deaths = [
        scenario
        for scenario in group.get("scenarios", ())
        if scenario["scenario"] == _CRASH and not scenario["error"] and scenario["assignor"] == group["assignor"]
    ]
    if not deaths or deaths[0]["longest_pause_ms"] is None:
        return ""
    death = deaths[0]
    return (
        f"if one dies: {death['partitions_unread'] or 0:,} partitions unread for up to "
        f"{seconds_in_words(death['longest_pause_ms'] / 1000)}, {death['partitions_moved'] or 0:,} change their reader"
    )
