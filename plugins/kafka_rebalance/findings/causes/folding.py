"""One cause, one finding: what another finding explains is kept in it as a symptom, and is no line of its own.

A symptom has one cause, the first in the order of ``EXPLANATIONS`` that explains it; what explains the cause explains
its symptoms, too, so that they are all told in the last one. That one is as severe as the worst of them. No finding is
lost, and none stands in two places. Codes explain codes without a circle (a test), so every chain has an end.

Example: brokers 7 and 11 were restarted (``preferred_leaders_off``), so broker 3 leads half as much again as it should
(``leaders_piled_up``) and sends more than its share (``broker_rate_over_share``): one finding with two symptoms, since
both are gone once the preferred leaders are elected.

O(findings × explanations × causes of their codes).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kafka_rebalance.findings.causes.explanations import EXPLANATIONS, Explanation
from kafka_rebalance.findings.causes.without_cause import WithoutCause
from kafka_rebalance.findings.context import FindingContext
from kafka_rebalance.findings.finding import Finding, rank


def fold(
    context: FindingContext, findings: Sequence[Finding], explanations: Iterable[Explanation] = EXPLANATIONS
) -> list[Finding]:
    """The findings that nothing explains, with all that they explain."""
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    known = WithoutCause(context, tuple(findings))
    cause_of: dict[str, Finding] = {}
    for explanation in explanations:
        for cause in by_code.get(explanation.cause, ()):
            for symptom in by_code.get(explanation.symptom, ()):
                if symptom.finding_key not in cause_of and explanation.explains(known, cause, symptom):
                    cause_of[symptom.finding_key] = cause
    symptoms: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.finding_key in cause_of:
            symptoms.setdefault(_last(finding, cause_of).finding_key, []).append(finding)
    return [
        _with_symptoms(finding, symptoms.get(finding.finding_key, []))
        for finding in findings
        if finding.finding_key not in cause_of
    ]


def _last(finding: Finding, cause_of: dict[str, Finding]) -> Finding:
    while finding.finding_key in cause_of:
        finding = cause_of[finding.finding_key]
    return finding


def _with_symptoms(finding: Finding, symptoms: list[Finding]) -> Finding:
    if not symptoms:
        return finding
    worst = min((finding.severity, *(symptom.severity for symptom in symptoms)), key=lambda severity: severity.rank)
    return replace(finding, severity=worst, symptoms=rank(symptoms))
