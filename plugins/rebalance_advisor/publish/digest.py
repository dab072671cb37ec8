"""Ten lines of Markdown for chat and mail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from kafka_assignors.visible_text import visible
from kafka_rebalance.amounts import counted, listed
from kafka_rebalance.render import render_document
from kafka_rebalance.render.steps import step_lines
from rebalance_advisor.publish.escape import markdown_line, markdown_text
from rebalance_advisor.publish.report import (
    VERDICT_TEXTS,
    Document,
    describe_change,
    describe_size,
    key_figures,
    loss_lines,
    start_of,
    top_lines,
    uncovered_by,
    unmuted_findings,
)

TOP_LINES = 4


def render_digest(advisory: Document) -> str:
    plan = advisory["plan"]
    uncovered = uncovered_by(advisory)
    verdict_text = VERDICT_TEXTS[plan["verdict"]] + (f" (does not cover {uncovered})" if uncovered else "")
    others = [
        finding["evidence"]["balancers"] for finding in advisory["findings"] if finding["code"] == "other_balancer"
    ]
    verdict_text += f"; {listed(others[0])} may work against it" if others and plan["moves"] else ""
    verdict = markdown_text(f"{advisory['cluster'].strip(' ')}: {verdict_text}")
    lines = [f"**{verdict}**"]
    taken = f"snapshot {advisory['captured_at'] or 'without a time'}; {describe_size(advisory['size'])}"
    lines.append(markdown_line(taken))
    if plan["moves"]:
        lines.append(", ".join(f"{figure['value']} {figure['name']}" for figure in key_figures(plan)))
        lines += [
            f"{outcome['resource']}: highest over mean {outcome['skew_before']:.2f} → {outcome['skew_after']:.2f}"
            for outcome in sorted(
                plan["resources"], key=lambda resource: resource["skew_after"] - resource["skew_before"]
            )[:2]
        ]
    elif plan["reasons"]:
        lines.append(markdown_line(render_document(plan["reasons"][0])))
    risks = loss_lines(plan)[:1]
    lines += [markdown_line(line) for line in risks]
    lines += [f"- {markdown_line(line)}" for line in top_lines(advisory["findings"], TOP_LINES - len(risks))]
    until = markdown_text(f", holds until {plan['expires_at']}") if plan["expires_at"] else ""
    since = describe_change(advisory)
    lines.append(f"plan `{plan['plan_id'][:12]}`{until}" + (f"; since the advisory before: {since}" if since else ""))
    return "\n".join(lines) + "\n"


def closing_paths(folder: Path) -> list[str]:
    named = {
        "report.html": "report: {} (read this first)",
        "plan.json": "plan:   {}",
        # only for plans with moves
        "commands.md": "to do:  {} (Kafka's own commands, wave after wave, and the way back)",
    }
    return [template.format(folder / name) for name, template in named.items() if (folder / name).is_file()]


def _more_findings(findings: Sequence[Document], shown_count: int) -> list[str]:
    unmuted = unmuted_findings(findings)
    left = unmuted[shown_count - (len(unmuted) < len(findings)) :]
    if not left:
        return []
    counts = Counter(finding["severity"] for finding in left)
    kinds = ", ".join(f"{count:,} {severity}" for severity, count in counts.items())
    return [f"... and {counted(len(left), 'more finding')} ({kinds}), in the report"]


def describe_ending(advisory: Document) -> list[str]:
    plan = advisory["plan"]
    line = f"Verdict: {plan['verdict'].replace('_', ' ')}"
    if uncovered := uncovered_by(advisory):
        line += f" (does not cover {uncovered})"
    if plan["moves"]:
        line += ": " + ", ".join(f"{figure['value']} {figure['name']}" for figure in key_figures(plan))
    elif plan["reasons"]:
        line += f": {render_document(plan['reasons'][0])}"
    lines = [line, *(f"  {step}" for step in step_lines(plan))]
    if plan["moves"]:
        lines.append(f"  {start_of(advisory)}")
    lines += [f"  {finding}" for finding in top_lines(advisory["findings"], 2 * TOP_LINES)]
    lines += [f"  {more}" for more in _more_findings(advisory["findings"], 2 * TOP_LINES)]
    if since := describe_change(advisory):
        lines.append(f"  since the advisory before: {since}")
    return [visible(line) for line in lines]
