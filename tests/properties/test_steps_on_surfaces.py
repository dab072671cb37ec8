"""Report, commands, terminal and rows show the steps of the plan's document: the same counts, bytes and order."""

from __future__ import annotations

import re
from dataclasses import asdict, replace

import pytest

from kafka_rebalance.advisory.advisory import advisory_document
from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.render.steps import brief_lines, step_figures, step_lines
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.publish.digest import describe_ending
from rebalance_advisor.publish.plan_files import plan_files
from rebalance_advisor.publish.plan_text import plan_lines
from rebalance_advisor.publish.report import render_report
from tests.properties.any_cluster import any_case
from tests.properties.test_steps import filling_cluster
from tests.sample import for_each

_REPORT_ROW = re.compile(r"<b>(\d+)\. [^<]+</b>")


def _check(snapshot: ClusterSnapshot, plan: Plan) -> None:
    figures, lines, cost = step_figures(plan.document), step_lines(plan.document), plan.cost
    assert [step.kind for step in figures] == [step.kind.value for step in plan.steps]
    if figures:
        assert sum(step.replica_moves for step in figures) == cost.replica_moves
        assert sum(step.leader_changes for step in figures) == cost.leader_changes
        assert sum(step.partitions for step in figures) == len(plan.moves)
        assert figures[-1].bytes_so_far == cost.bytes
    for step, claimed in zip(figures, plan.steps, strict=True):
        assert asdict(step).items() >= asdict(claimed.cost).items()
        assert tuple(range(step.first_wave, step.last_wave + 1)) == claimed.waves

    reported = plan_lines(plan)
    assert [line for line in reported if line.strip() in lines] == [f"  {line}" for line in lines]
    _check_brief(plan)
    advisory = advisory_document(snapshot, plan, (), ())
    assert describe_ending(advisory)[1 : 1 + len(lines)] == [f"  {line}" for line in lines]
    _check_report(render_report(advisory), plan)
    _check_commands(plan, lines)


def _check_brief(plan: Plan) -> None:
    """The few lines of the terminal: whole, with each step and its figures, and never more than there may be."""
    lines = brief_lines(plan.document, urgent=("a", "b"), uncovered="c", most=12)
    assert len(lines) <= 12
    assert not re.search(r"\bNone\b|\bnan\b|\binf\b|unknown the|in never", "\n".join(lines))
    rows = [line.split() for line in lines if re.match(r"  \d+\. ", line)]
    assert len(rows) == len(plan.steps)
    for text, step in zip(rows, plan.steps, strict=True):
        assert f"{step.cost.replica_moves:,}" in text
        assert f"{step.cost.leader_changes:,}" in text


def _check_report(report: str, plan: Plan) -> None:
    """Steps are rows in order, waves have a heading for each step, and every fact is a sentence."""
    assert "&#39;code&#39;: " not in report
    table = re.search(r'<table id="steps">(.*?)</table>', report, re.DOTALL)
    numbers = [] if table is None else [int(number) for number in _REPORT_ROW.findall(table[1])]
    assert numbers == list(range(1, len(plan.steps) + 1))
    waves = report[report.index('id="waves"') :] if plan.waves else ""
    assert len(re.findall('scope="rowgroup"', waves)) == len(plan.steps)


def _check_commands(plan: Plan, lines: list[str]) -> None:
    """Headings of steps and waves are in order, each wave below its step; each rollback names its step."""
    text = plan_files(plan)["commands.md"].decode()
    assert re.findall(r"^# Step (.*)$", text, re.MULTILINE) == lines
    forward = re.findall(r"^(?:# Step (\d+)\.|## Wave (\d+)$)", text, re.MULTILINE)
    expected = [
        part
        for number, step in enumerate(plan.steps, start=1)
        for part in ((number, 0), *((0, wave) for wave in step.waves))
    ]
    if plan.steps:
        assert [(int(step or 0), int(wave or 0)) for step, wave in forward] == expected
    step_of = {wave: number for number, step in enumerate(plan.steps, start=1) for wave in step.waves}
    undone = re.findall(r"\(undoes wave (\d+) of step (\d+), ", text)
    assert all(step_of[int(wave)] == int(step) for wave, step in undone)
    assert len(undone) == (len(plan.rollback.waves) if plan.steps and plan.rollback else 0)
    assert text.count("You may stop after this step") == max(0, len(plan.steps) - 1)


@pytest.mark.planned
@for_each("seed", range(150), fast=range(8), rest_mark=pytest.mark.matrix, whole_step=8)
def test_surfaces_agree_where_disks_fill_up(seed: int) -> None:
    snapshot = filling_cluster(seed)
    _check(snapshot, make_plan(snapshot, PlanOptions(with_frontier=False)))


@pytest.mark.planned
@for_each("seed", range(150), fast=range(8), rest_mark=pytest.mark.matrix)
def test_surfaces_agree_whatever_was_asked(seed: int) -> None:
    case = any_case(seed)
    try:
        plan = make_plan(case.snapshot, replace(case.options, with_frontier=False))
    except UsageError:  # the cluster contradicts the options
        return
    _check(case.snapshot, plan)
