"""Gaps of a snapshot for tests that do not look at the reason."""

from __future__ import annotations

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.coverage import CoverageGap


def gap_of(subject_type: str, subject: str, what: FactCode, text: str = "not allowed") -> CoverageGap:
    """Return the gap of something without arguments, with ``text`` as another program's reason."""
    return CoverageGap(subject_type, subject, fact(what), fact(FactCode.AS_REPORTED, text=text))
