"""Findings in words, for report, digest and terminal: one line each, whose it is, what it explains, what is muted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_rebalance.advisory.finding_changes import NEW, PERSISTING, REOPENED
from kafka_rebalance.amounts import bytes_in_words, listed, seconds_in_words
from kafka_rebalance.render import render_document

Document = Mapping[str, Any]
_GAPS = "gaps_of_"


def evidence_in_words(evidence: Document) -> str:
    """``disk bytes 1.2 TiB, over share 1.31 ×``: the unit is in each name."""
    return ", ".join(_evidence(name, value) for name, value in evidence.items())


def _evidence(name: str, value: Any) -> str:
    # What could not be read may be called after a log dir: its own underscores stay.
    words = f"gaps of {name[len(_GAPS) :]}" if name.startswith(_GAPS) else name.replace("_", " ")
    if isinstance(value, list | tuple):
        return f"{words}: {listed(value)}"
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
        lines.append(f"{severity}: {named(finding)}{more}" + (f" ({owner})" if owner else ""))
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


def change_words(advisory: Document) -> str:
    """Return ``2 new, 11 persisting, 1 resolved``; empty where no earlier advisory was compared."""
    if "resolved" not in advisory:
        return ""
    changes = [finding["change"] for finding in advisory["findings"]]
    counts = {change: changes.count(change) for change in (NEW, REOPENED, PERSISTING)}
    counts["resolved"] = len(advisory["resolved"])
    return ", ".join(f"{count} {change}" for change, count in counts.items() if count) or "no findings, then and now"


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


def named(finding: Document) -> str:
    """The recommendation; with its subject before it where the sentence does not name it."""
    recommendation, kind = finding["recommendation"], finding["subject_type"]
    sentence = render_document(recommendation)
    is_named = str(recommendation["args"].get(kind)) == finding["subject"]
    return sentence if is_named else f"{kind} {finding['subject']}: {sentence}"
