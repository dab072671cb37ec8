"""An advisory as a folder: what machines execute, what people read, what dashboards load."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_rebalance.plan import Plan
from kafka_rebalance.visible_text import visible_json
from rebalance_advisor.publish.digest import render_digest
from rebalance_advisor.publish.plan_files import write_plan_files
from rebalance_advisor.publish.report import render_report


def write_advisory(folder: Path, advisory: Mapping[str, Any], plan: Plan) -> None:
    """Write ``plan.json`` with its files, findings, groups and topics as JSON, ``advisory.json``, report and digest.

    Everything is rendered before the first file is written, so that a fault in rendering leaves nothing half-written.
    """
    texts = {
        "report.html": render_report(advisory),
        "digest.md": render_digest(advisory),
        "findings.json": _json(advisory["findings"]),
        "groups.json": _json(advisory["groups"]),
        "topics.json": _json(advisory["topics"]),
        "advisory.json": _json({key: value for key, value in advisory.items() if key not in _OWN_FILES}),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_plan_files(folder, plan)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


_OWN_FILES = ("plan", "findings", "groups", "topics")


def _json(document: Any) -> str:
    return visible_json(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)) + "\n"
