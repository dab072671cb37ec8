"""Findings with their owners, and those that are muted behind all others.

Promises: no finding is lost, nor its severity or words changed; the first owner that matches counts; a mute holds in
readings before its end alone, and never in one without a time. Symptoms have owners of their own; they are quiet where
the finding that explains them is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from kafka_rebalance.findings.finding import Finding, rank
from kafka_rebalance.options.ownership import MuteRule, OwnerRule


def with_owners(
    findings: Iterable[Finding], owners: Sequence[OwnerRule], mutes: Sequence[MuteRule], at: datetime | None
) -> tuple[Finding, ...]:
    """The findings of a reading taken ``at`` that time, ranked anew. O(findings × rules)."""
    return rank([_muted(_owned_with_symptoms(finding, owners), mutes, at) for finding in findings])


def _owned_with_symptoms(finding: Finding, owners: Sequence[OwnerRule]) -> Finding:
    symptoms = tuple(_owned(symptom, owners) for symptom in finding.symptoms)
    return replace(_owned(finding, owners), symptoms=symptoms)


def _owned(finding: Finding, owners: Sequence[OwnerRule]) -> Finding:
    for owner in owners:
        if owner.covers(finding.subject_type, finding.subject):
            return replace(finding, team=owner.team, channel=owner.channel, tier=owner.tier)
    return finding


def _muted(finding: Finding, mutes: Sequence[MuteRule], at: datetime | None) -> Finding:
    holding = [
        mute
        for mute in mutes
        if at is not None and at < mute.until and mute.covers(finding.code, finding.subject_type, finding.subject)
    ]
    longest = max(holding, key=lambda mute: mute.until, default=None)
    return finding if longest is None else replace(finding, muted_until=longest.until, mute_reason=longest.reason)
