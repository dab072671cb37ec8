"""An advisory as a folder: what machines execute, what people read, what dashboards load."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.render import with_texts
from kafka_rebalance.visible_text import visible_json
from rebalance_advisor.publish.digest import render_digest
from rebalance_advisor.publish.folders.whole_folder import replace_folder
from rebalance_advisor.publish.plan_files import plan_files
from rebalance_advisor.publish.report.page import render_report

_OWN_FILES = ("plan", "findings", "groups", "topics")


def advisory_files(advisory: Mapping[str, Any], plan: Plan) -> dict[str, bytes]:
    """``plan.json`` with its files, findings, groups and topics as JSON, ``advisory.json``, report and digest."""
    texts = {
        "report.html": render_report(advisory),
        "digest.md": render_digest(advisory),
        "findings.json": _json(with_texts(advisory["findings"])),
        "groups.json": _json(with_texts(advisory["groups"])),
        "topics.json": _json(with_texts(advisory["topics"])),
        "advisory.json": _json(with_texts({key: value for key, value in advisory.items() if key not in _OWN_FILES})),
    }
    return {name: text.encode() for name, text in texts.items()} | plan_files(plan)


def write_advisory(folder: Path, advisory: Mapping[str, Any], plan: Plan) -> Path:
    """Replace the folder whole, once everything is rendered; returns where its files are to be read."""
    return replace_folder(folder, advisory_files(advisory, plan), plan.plan_id)


def _json(document: Any) -> str:
    return visible_json(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)) + "\n"
