"""The report that a person reads in one minute: one self-contained HTML page, no network, prints to PDF.

Everything is rendered from the documents that are published (``plan.json``, ``findings.json``, ``groups.json``): the
page cannot say what they do not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from kafka_rebalance.advisory.finding_changes import PERSISTING, change_words
from kafka_rebalance.amounts import (
    amount_in_words,
    bytes_in_words,
    percent_in_words,
    ratio_in_words,
    seconds_in_words,
)
from kafka_rebalance.findings.words import listed
from kafka_rebalance.snapshot.model import CoverageGap
from kafka_rebalance.snapshot.uncovered import uncovered_words
from rebalance_advisor.publish.escape import html_value
from rebalance_advisor.publish.frontier_chart import frontier_chart, frontier_rows

if TYPE_CHECKING:
    from jinja2 import Template

TOP_FINDINGS = 12
TOP_GROUPS = 15
TOP_BROKERS = 16
VERDICT_WORDS = {
    "rebalance": "Rebalance: a plan is ready",
    "nothing_to_do": "Nothing to do",
    "cannot_tell": "Cannot tell whether anything has to move",
    "infeasible": "Infeasible: no placement satisfies the hard rules",
    "not_fixable_by_moving": "Moving cannot fix this",
}
_COST_NAMES = {
    "bytes": "bytes copied",
    "replica_moves": "replicas moved",
    "leader_changes": "leader changes",
    "seconds": "time",
}

_GAPS = "gaps_of_"

Document = Mapping[str, Any]


def render_report(advisory: Document) -> str:
    """HTML of one advisory document (``advisory.json``'s object: plan, findings, groups, size, coverage)."""
    plan = advisory["plan"]
    return _template().render(
        cluster=advisory["cluster"],
        captured_at=advisory["captured_at"],
        size_words=size_in_words(advisory["size"]),
        plan=plan,
        verdict_words=VERDICT_WORDS[plan["verdict"]],
        uncovered=uncovered_by(advisory),
        figures=key_figures(plan),
        hours_outside=advisory.get("hours_outside", {}).get("words", ""),
        findings=[
            dict(
                finding,
                evidence_words=evidence_in_words(finding["evidence"]),
                owner_words=owner_words(finding),
                symptom_words=symptom_words(finding),
                change=noteworthy_change(finding),
            )
            for finding in audible(advisory["findings"])
        ],
        muted=muted_words(advisory["findings"]),
        since=change_words(advisory),
        resolved=[_named(finding) for finding in advisory.get("resolved", ())],
        top_findings=TOP_FINDINGS,
        bounds=_bounds(plan),
        resources=[_resource(plan, outcome) for outcome in plan["resources"]],
        also_measured=[also_measured_words(score) for score in advisory.get("also_measured", ())],
        waves=_waves(plan),
        frontier=frontier_rows(plan["frontier"]),
        chart=frontier_chart(plan["frontier"]),
        groups=[group_row(group) for group in advisory["groups"]],
        top_groups=TOP_GROUPS,
        rests_on=rests_on(advisory),
    )


@cache
def _template() -> Template:
    """The page; every text that it prints passes ``html_value``, then Jinja's own escapes."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rebalance_advisor.publish"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=html_value,
    )
    return environment.get_template("report.html")


def size_in_words(size: Document) -> str:
    """``12 brokers in 3 racks, 150 topics, …``."""
    return (
        f"{size['brokers']} brokers in {size['racks']} racks, {size['topics']} topics, "
        f"{size['partitions']} partitions, {size['replicas']} replicas, {size['groups']} groups"
    )


def key_figures(plan: Document) -> list[dict[str, str]]:
    """The handful of numbers that decide whether to read on."""
    cost = plan["cost"]
    figures = [
        ("replicas moved", f"{cost['replica_moves']:,}"),
        ("copied", bytes_in_words(cost["bytes"])),
        ("leader changes", f"{cost['leader_changes']:,}"),
        ("at the throttle", seconds_in_words(cost["seconds"])),
    ]
    bound = next((proved for proved in plan["lower_bound"] if proved["cost"] == "bytes"), None)
    if bound is not None and bound["gap"] is not None:
        figures.append(("above what is provably needed", percent_in_words(bound["gap"])))
    return [{"name": name, "value": value} for name, value in figures]


def evidence_in_words(evidence: Document) -> str:
    """``disk bytes 1.2 TiB, over share 1.31 ×``: the unit is in each name."""
    return ", ".join(_evidence(name, value) for name, value in evidence.items())


def _evidence(name: str, value: Any) -> str:
    # What could not be read may be called after a log dir: its own underscores stay.
    words = f"gaps of {name[len(_GAPS) :]}" if name.startswith(_GAPS) else name.replace("_", " ")
    if value is None or isinstance(value, str | bool):
        return f"{words}: {'unknown' if value is None else value}"
    if name.endswith("bytes_per_s"):
        return f"{words.removesuffix(' bytes per s')}: {bytes_in_words(value)}/s"
    if name.endswith("bytes"):
        return f"{words.removesuffix(' bytes')}: {bytes_in_words(value)}"
    if name.endswith("seconds"):
        return f"{words.removesuffix(' seconds')}: {seconds_in_words(value)}"
    if name.endswith("ratio"):
        return f"{words.removesuffix(' ratio')}: {value:.2f}"
    return f"{words}: {value:,.2f}" if isinstance(value, float) and value % 1 else f"{words}: {value:,.0f}"


def group_row(group: Document) -> dict[str, str]:
    """One line of the consumers' table."""
    skew = group.get("skew_count")
    return {
        "group": group["group"],
        "type": group.get("type") or "unknown",
        "members": str(group["members"]),
        "idle": str(group["idle_members"]),
        "assignor": group["assignor"] or "unknown",
        "skew": ratio_in_words(skew),
        "advice": group.get("advice") or "",
    }


def rests_on(advisory: Document) -> list[str]:
    """What was measured, given or unknown, and what could not be read."""
    plan = advisory["plan"]
    lines = [f"{kind}: {words}" for kind, words in advisory["loads"].items()]
    lines += [f"{resource} is left out: {why}" for resource, why in plan["left_out"].items()]
    lines += [
        f"not read: {gap['what']} of {gap['subject_type']} {gap['subject']} ({gap['reason']})"
        for gap in advisory["coverage"]
    ]
    return lines


def uncovered_by(advisory: Document) -> str:
    """What the verdict does not cover; empty where all was seen."""
    return uncovered_words(CoverageGap(**gap) for gap in advisory["coverage"])


def also_measured_words(score: Document) -> str:
    """``leader_in: 12.0 MiB/s a broker, highest on broker 3: 1.58 × the mean``."""
    mean = amount_in_words(score["plain_mean"], score["unit"])
    highest = "" if score["worst_broker"] is None else f", highest on broker {score['worst_broker']}"
    return f"{score['resource']}: {mean} a broker{highest}: {ratio_in_words(score['skew'])} the mean"


def _bounds(plan: Document) -> list[dict[str, str]]:
    rows = []
    for bound in plan["lower_bound"]:
        name = bound["cost"]
        unit = "bytes" if name == "bytes" else "count"
        words = seconds_in_words if name == "seconds" else lambda value, unit=unit: amount_in_words(value, unit)
        rows.append(
            {
                "name": _COST_NAMES.get(name, name),
                "cost": words(plan["cost"].get(name)),
                "bound": words(bound["value"]),
                "gap": percent_in_words(bound["gap"]),
                "proof": bound["proof"],
            }
        )
    return rows


def _resource(plan: Document, outcome: Document) -> dict[str, Any]:
    """Bars of the brokers that are furthest from the mean, before or after."""
    name, unit = outcome["resource"], outcome["unit"]
    before, after = plan["before"][name], plan["after"][name]
    top = max([*before.values(), *after.values(), 1e-12])
    mean = sum(after.values()) / max(len(after), 1)
    worst = sorted(before, key=lambda broker: (-abs(before[broker] - mean), int(broker)))[:TOP_BROKERS]
    note = f"{len(worst)} of {len(before)} brokers, furthest from the mean" if len(before) > TOP_BROKERS else ""
    return {
        "name": name,
        "skew_before": ratio_in_words(outcome["skew_before"]),
        "skew_after": ratio_in_words(outcome["skew_after"]),
        "note": note,
        "mean_at": f"{100 * mean / top:.1f}",
        "bars": [
            {
                "broker": broker,
                "before_at": f"{100 * before[broker] / top:.1f}",
                "after_at": f"{100 * after.get(broker, 0.0) / top:.1f}",
                "words": f"{amount_in_words(before[broker], unit)} → {amount_in_words(after.get(broker), unit)}",
            }
            for broker in sorted(worst, key=int)
        ],
    }


def _waves(plan: Document) -> list[dict[str, str]]:
    return [
        {
            "name": f"{number:02d}",
            "moves": f"{len(wave['moves']):,}",
            "bytes": bytes_in_words(wave["bytes"]),
            "seconds": seconds_in_words(wave["seconds"]),
            "throttle": f"{bytes_in_words(wave['throttle_bytes_per_s'])}/s",
        }
        for number, wave in enumerate(plan["waves"], start=1)
    ]


def top_lines(findings: Sequence[Document], count: int) -> list[str]:
    """The worst findings, one line each: whole sentences with the numbers that matter; what is muted is counted last.

    At most ``count`` lines in all.
    """
    muted = muted_words(findings)
    lines = []
    for finding in audible(findings)[: count - bool(muted)]:
        owner, symptoms = owner_words(finding), symptom_words(finding)
        more = f" It explains {symptoms}." if symptoms else ""
        change = noteworthy_change(finding)
        severity = f"{finding['severity']}, {change}" if change else finding["severity"]
        lines.append(f"{severity}: {_named(finding)}{more}" + (f" ({owner})" if owner else ""))
    return [*lines, muted] if muted else lines


def audible(findings: Sequence[Document]) -> list[Document]:
    """Those that are not muted."""
    return [finding for finding in findings if finding["muted_until"] is None]


def owner_words(finding: Document) -> str:
    """``payments, #pay, tier 1``, as far as the cluster's owners say."""
    tier = None if finding["tier"] is None else f"tier {finding['tier']}"
    return ", ".join(part for part in (finding["team"], finding["channel"], tier) if part is not None)


def noteworthy_change(finding: Document) -> str:
    """``new`` or ``reopened``; nothing for what persists, or where nobody compared."""
    change = str(finding.get("change") or "")
    return "" if change == PERSISTING else change


def symptom_words(finding: Document) -> str:
    """``leaders piled up (broker 3, 6), broker rate over share (broker 3)``: what goes when this goes, worst first."""
    by_code: dict[tuple[str, str], list[str]] = {}
    for symptom in finding.get("symptoms", ()):
        by_code.setdefault((symptom["code"], symptom["subject_type"]), []).append(symptom["subject"])
    return ", ".join(f"{code.replace('_', ' ')} ({kind} {listed(names)})" for (code, kind), names in by_code.items())


def muted_words(findings: Sequence[Document]) -> str:
    """``3 muted, the first until 2026-12-31``; nothing where none is."""
    ends = sorted(finding["muted_until"] for finding in findings if finding["muted_until"] is not None)
    return f"{len(ends)} muted, the first until {ends[0][:10]} (findings.json)" if ends else ""


def _named(finding: Document) -> str:
    """The recommendation; with its subject before it where the sentence does not name it."""
    sentence = str(finding["recommendation"])
    # As a word of its own: a group's name is also part of its clients' ids.
    is_named = re.search(rf"(?<![\w.-]){re.escape(finding['subject'])}(?![\w-])", sentence)
    return sentence if is_named else f"{finding['subject_type']} {finding['subject']}: {sentence}"
