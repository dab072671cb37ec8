"""What is decided on: verdict, age and coverage, the worst findings, the one action, and what if nothing is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_rebalance.amounts import ratio_in_words
from kafka_rebalance.render import render_document
from rebalance_advisor.publish.report.finding_words import (
    audible,
    change_words,
    evidence_in_words,
    muted_words,
    named,
    noteworthy_change,
    owner_words,
    symptom_words,
)
from rebalance_advisor.publish.report.verdict_words import (
    VERDICT_WORDS,
    key_figures,
    size_in_words,
    uncovered_by,
)

Document = Mapping[str, Any]
TOP_FINDINGS = 5
_PILED_UP = 1.5  # times even: below, what a broker takes over of a lost one is not worth a line
_WORTH_SAYING = 1.10  # times the mean: below, what stays uneven is not worth a line


def first_screen(advisory: Document) -> dict[str, Any]:
    """What the template prints above the fold, and the findings that did not fit there."""
    plan = advisory["plan"]
    findings = [_finding(finding) for finding in audible(advisory["findings"])]
    return {
        "verdict": VERDICT_WORDS[plan["verdict"]],
        "uncovered": uncovered_by(advisory),
        "captured_at": time_in_words(advisory["captured_at"]),
        "expires_at": time_in_words(plan["expires_at"]),
        "size": size_in_words(advisory["size"]),
        "figures": key_figures(plan) if plan["moves"] else [],
        "if_nothing": if_nothing_is_done(advisory),
        "hours_outside": render_document(advisory["hours_outside"]["fact"]) if "hours_outside" in advisory else "",
        "findings": findings[:TOP_FINDINGS],
        "others": findings[TOP_FINDINGS:],
        "muted": muted_words(advisory["findings"]),
        "since": change_words(advisory),
        "resolved": [named(finding) for finding in advisory.get("resolved", ())],
    }


def if_nothing_is_done(advisory: Document) -> list[str]:
    """What stays as it is or gets worse: disks that fill up where their growth is known, loads that stay uneven."""
    plan = advisory["plan"]
    lines = [render_document(line) for line in advisory.get("outlook", ())] + loss_lines(plan)
    if not plan["moves"]:
        return lines
    uneven = sorted(
        (outcome for outcome in plan["resources"] if outcome["skew_before"] >= _WORTH_SAYING),
        key=lambda outcome: -outcome["skew_before"],
    )
    if uneven:
        worst = ", ".join(f"{outcome['resource']} {ratio_in_words(outcome['skew_before'])}" for outcome in uneven[:3])
        lines.append(f"the most loaded brokers stay at {worst} the mean")
    if "outlook" not in advisory and any(outcome["resource"] == "disk" for outcome in plan["resources"]):
        lines.append("when a disk is full is not known: that takes readings of several days")
    return lines


def loss_lines(plan: Document) -> list[str]:
    """Of a broker and of a rack the loss that lifts another furthest above its capacity, or else the one whose leaders
    pile up most; nothing where each loss is spread evenly.
    """
    losses = (plan.get("after_failure") or {}).get("before", {})
    lines = []
    for kind in ("broker", "rack"):
        worst = losses.get(kind) or {"load": None, "takeover": None}
        load, takeover = worst["load"], worst["takeover"]
        if load is not None and load["load"] > load["capacity"]:
            over = ratio_in_words(load["load"] / load["capacity"])
            carried = f"broker {load['broker']} carries {over} its capacity ({load['resource']})"
            lines.append(f"if {kind} {load['lost']} fails, {carried}")
        elif takeover is not None and takeover["leaders"] > _PILED_UP * takeover["even_leaders"]:
            leaders, even = takeover["leaders"], takeover["even_leaders"]
            lines.append(
                f"if {kind} {takeover['lost']} fails, broker {takeover['broker']} takes over {leaders:,} leaders; even "
                f"would be {even:,}"
            )
    return lines


def time_in_words(text: str | None) -> str:
    """``2026-11-20T12:00:00Z`` → ``2026-11-20 12:00 UTC``; nothing for no time."""
    return "" if text is None else f"{text[:10]} {text[11:16]} UTC"


def _finding(finding: Document) -> dict[str, Any]:
    return dict(
        finding,
        recommendation_words=render_document(finding["recommendation"]),
        cost_words="" if finding["cost"] is None else render_document(finding["cost"]),
        evidence_words=evidence_in_words(finding["evidence"]),
        owner_words=owner_words(finding),
        symptom_words=symptom_words(finding),
        change=noteworthy_change(finding),
    )
