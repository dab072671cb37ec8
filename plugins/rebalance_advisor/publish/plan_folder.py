"""A plan alone as a folder: its files, and report and digest without findings."""

from __future__ import annotations

from pathlib import Path

from kafka_rebalance.advisory.advisory import advisory_document
from kafka_rebalance.plans.hours_outside import HoursOutside
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.publish.digest import render_digest
from rebalance_advisor.publish.folders.whole_folder import replace_folder
from rebalance_advisor.publish.plan_files import plan_files
from rebalance_advisor.publish.report.page import render_report


def plan_folder_files(snapshot: ClusterSnapshot, plan: Plan, hours: HoursOutside | None = None) -> dict[str, bytes]:
    """Each file by its path in the folder."""
    advisory = advisory_document(snapshot, plan, (), (), hours=hours)
    texts = {"report.html": render_report(advisory), "digest.md": render_digest(advisory)}
    return {name: text.encode() for name, text in texts.items()} | plan_files(plan)


def write_plan_folder(folder: Path, snapshot: ClusterSnapshot, plan: Plan, hours: HoursOutside | None = None) -> Path:
    """Replace the folder whole, once everything is rendered; returns where its files are to be read."""
    return replace_folder(folder, plan_folder_files(snapshot, plan, hours), plan.plan_id)
