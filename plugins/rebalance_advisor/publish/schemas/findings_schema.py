"""``findings.json`` as JSON Schema (2020-12): a list of findings, each with those that it explains."""

from __future__ import annotations

from typing import Any

from kafka_rebalance.findings.finding import CODES, Confidence, Severity, SubjectType
from rebalance_advisor.publish.schemas.plan_schema import DRAFT

_TEXT, _MAYBE_TEXT = {"type": "string"}, {"type": ["string", "null"]}
_FACT: dict[str, Any] = {
    "type": "object",
    "properties": {"code": _TEXT, "args": {"type": "object"}, "text": _TEXT},
    "required": ["code", "args", "text"],
    "additionalProperties": False,
}
_FINDING: dict[str, Any] = {
    "finding_key": _TEXT,
    "severity": {"enum": [severity.value for severity in Severity]},
    "subject_type": {"enum": [kind.value for kind in SubjectType]},
    "subject": _TEXT,
    "code": {"enum": list(CODES)},
    "evidence": {"type": "object", "additionalProperties": {"type": ["number", "string", "array", "null"]}},
    "recommendation": _FACT,
    "cost": {"anyOf": [_FACT, {"type": "null"}]},
    "gain": {"type": "number"},
    "confidence": {"enum": [confidence.value for confidence in Confidence]},
    "team": _MAYBE_TEXT,
    "channel": _MAYBE_TEXT,
    "tier": {"type": ["integer", "null"]},
    "muted_until": _MAYBE_TEXT,
    "mute_reason": _MAYBE_TEXT,
    "cost_bytes": {"type": "number", "minimum": 0},
    "cost_changes": {"type": "integer", "minimum": 0},
    "symptoms": {"type": "array", "items": {"$ref": "#/$defs/finding"}},
}
# Only where an earlier advisory was given.
_CHANGE = {"change": {"enum": ["new", "persisting", "reopened"]}}


def findings_schema() -> dict[str, Any]:
    """Codes may be added by a later release: who reads them must expect new ones."""
    finding = {
        "type": "object", "properties": _FINDING | _CHANGE, "required": list(_FINDING), "additionalProperties": False,
    }  # fmt: skip
    title = "findings.json of Kafka Rebalance Advisor"
    items = {"type": "array", "items": {"$ref": "#/$defs/finding"}}
    return {"$schema": DRAFT, "title": title, "$defs": {"finding": finding}} | items
