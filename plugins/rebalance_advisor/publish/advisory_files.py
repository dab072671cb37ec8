from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import visible_json
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.render import render_document, with_texts
from rebalance_advisor.publish.digest import render_digest
from rebalance_advisor.publish.folders import replace_folder
from rebalance_advisor.publish.plan_files import plan_files
from rebalance_advisor.publish.report import render_report

_OWN_FILES = ("plan", "findings", "groups", "topics")


def advisory_files(advisory: Mapping[str, Any], plan: Plan, gates: Sequence[object] = ()) -> dict[str, bytes]:
    texts = {
        "report.html": render_report(advisory, gates),
        "digest.md": render_digest(advisory),
        "findings.json": _json(with_texts(advisory["findings"])),
        "groups.json": _json(with_texts(advisory["groups"])),
        "topics.json": _json(with_texts(advisory["topics"])),
        "advisory.json": _json(with_texts({key: value for key, value in advisory.items() if key not in _OWN_FILES})),
    }
    return {name: text.encode() for name, text in texts.items()} | plan_files(plan)


def write_advisory(folder: Path, advisory: Mapping[str, Any], plan: Plan) -> Path:
    return replace_folder(folder, advisory_files(advisory, plan), plan.plan_id)


def _json(document: Any) -> str:
    return visible_json(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)) + "\n"


@dataclass(frozen=True, slots=True)
class EarlierFindings:
    findings: list[dict[str, Any]]
    closed: list[str]


def read_earlier_findings(plan: Path | None) -> EarlierFindings | None:
    """Beside ``plan`` (file or folder); None without findings. Raises InvalidInputError."""
    if plan is None:
        return None
    from rebalance_advisor.dumps.input_file import read_json

    folder = plan if plan.is_dir() else plan.parent
    file, advisory = folder / "findings.json", folder / "advisory.json"
    if not file.is_file():
        return None
    findings = read_json(file)
    if not isinstance(findings, list) or not all(
        isinstance(finding, dict) and isinstance(finding.get("finding_key"), str) and _has_text(finding)
        for finding in findings
    ):
        raise InvalidInputError.at(str(file), "is no list of findings", "expected an earlier advisory's findings.json")
    document = read_json(advisory) if advisory.is_file() else {}
    closed = document.get("closed_findings", []) if isinstance(document, dict) else []
    if not isinstance(closed, list) or not all(isinstance(key, str) for key in closed):
        raise InvalidInputError.at(f"{advisory}, closed_findings", "is no list of texts")
    return EarlierFindings(findings, closed)


def _has_text(finding: dict[str, Any]) -> bool:
    try:
        render_document(finding["recommendation"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return True
