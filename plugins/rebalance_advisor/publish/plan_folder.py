"""A plan alone as a folder: its files, and report and digest without findings."""

from __future__ import annotations

from pathlib import Path

from kafka_rebalance.advisory import advisory_document
from kafka_rebalance.model import ClusterSnapshot
from kafka_rebalance.plan import Plan
from rebalance_advisor.publish.digest import render_digest
from rebalance_advisor.publish.plan_files import write_plan_files
from rebalance_advisor.publish.report import render_report


def write_plan_folder(folder: Path, snapshot: ClusterSnapshot, plan: Plan) -> None:
    """Everything is rendered before the first file is written; ``plan.json`` comes last of the plan's files."""
    advisory = advisory_document(snapshot, plan, (), ())
    texts = {"report.html": render_report(advisory), "digest.md": render_digest(advisory)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    write_plan_files(folder, plan)
