"""``evidence``: figures, and the keys ``symptoms``, ``cost_bytes``, ``cost_changes``, which no rule uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kafka_rebalance.findings.finding import Confidence, Finding, Severity, SubjectType

_COSTS = ("cost_bytes", "cost_changes")
_ENUMS = {"severity": Severity, "subject_type": SubjectType, "confidence": Confidence}
_OF_SYMPTOM = (
    "code", "severity", "subject_type", "subject", "gain", "confidence", "team", "channel", "tier",
)  # fmt: skip


def packed(finding: Finding) -> dict[str, Any]:
    document: dict[str, Any] = dict(finding.evidence)
    document |= {name: getattr(finding, name) for name in _COSTS if getattr(finding, name)}
    if finding.symptoms:
        document["symptoms"] = [_symptom(symptom) for symptom in finding.symptoms]
    return document


def numbers(document: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: document[name] for name in sorted(document) if name not in _COSTS and name != "symptoms"}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in kept.items()}


def _symptom(finding: Finding) -> dict[str, Any]:
    row = {name: getattr(finding, name) for name in _OF_SYMPTOM}
    cost = None if finding.cost is None else finding.cost.document()
    row |= {"recommendation": finding.recommendation.document(), "cost": cost}
    return {**row, **{name: row[name].value for name in _ENUMS}, "evidence": packed(replace(finding, symptoms=()))}
