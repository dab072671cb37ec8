"""The findings that lie beside an earlier plan, where that plan is part of an advisory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.render import render_document


@dataclass(frozen=True, slots=True)
class EarlierFindings:
    """``findings`` as in findings.json; ``closed``: keys of what had been resolved up to then."""

    findings: list[dict[str, Any]]
    closed: list[str]


def read_earlier_findings(plan: Path | None) -> EarlierFindings | None:
    """Beside ``plan``, a file or the folder that holds it; None where there are none.

    Raises InvalidInputError for files that are no findings of ours.
    """
    if plan is None:
        return None
    from rebalance_advisor.dumps.files.input_file import read_json

    folder = plan if plan.is_dir() else plan.parent
    file, advisory = folder / "findings.json", folder / "advisory.json"
    if not file.is_file():
        return None
    findings = read_json(file)
    if not isinstance(findings, list) or not all(
        isinstance(finding, dict) and isinstance(finding.get("finding_key"), str) and _has_words(finding)
        for finding in findings
    ):
        raise InvalidInputError.at(str(file), "is no list of findings", "expected an earlier advisory's findings.json")
    told = read_json(advisory) if advisory.is_file() else {}
    closed = told.get("closed_findings", []) if isinstance(told, dict) else []
    if not isinstance(closed, list) or not all(isinstance(key, str) for key in closed):
        raise InvalidInputError.at(f"{advisory}, closed_findings", "is no list of texts")
    return EarlierFindings(findings, closed)


def _has_words(finding: dict[str, Any]) -> bool:
    try:
        render_document(finding["recommendation"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return True
