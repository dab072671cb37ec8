"""What people read in the two questions: the plan in short, then the exact commands with where their files are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kafka_rebalance.plans.plan import Plan
from rebalance_advisor.publish.escape import markdown_line
from rebalance_advisor.publish.plan_words import plan_lines

_PLACEHOLDER = "BOOTSTRAP=broker:9092"


def plan_in_short(plan: Plan, folder: Path) -> str:
    """Markdown: the verdict, what it costs, and where the rest is."""
    lines = [f"- {markdown_line(line)}" for line in plan_lines(plan)]
    until = f" It holds until {plan.expires_at}." if plan.expires_at else ""
    where = f"Report: `{folder / 'report.html'}`, moves: `{folder / 'moves.csv'}`."
    what = (
        "Approved, it is checked again on a fresh reading; then the commands are shown. Nothing here writes to Kafka: "
        "you run the commands, and say so."
    )
    return "\n".join(
        [f"Plan `{plan.plan_id[:12]}` of {markdown_line(plan.cluster)}.{until} {where}", "", *lines, "", what]
    )


def commands_in_full(folder: Path, bootstrap: str | None, warnings: Sequence[str]) -> str:
    """Markdown: ``commands.md`` as it was published, with the folder to go to and the cluster's address put in."""
    text = (folder / "commands.md").read_text(encoding="utf-8")
    if bootstrap is not None:
        text = text.replace(_PLACEHOLDER, f"BOOTSTRAP={bootstrap}", 1)
    files = [f"- `{folder / name}`" for name in sorted(_names(folder))]
    told = [f"- {markdown_line(warning)}" for warning in warnings]
    head = ["The plan still holds. Its files:", "", *files, ""]
    if told:
        head += ["Changed since it was made:", "", *told, ""]
    return "\n".join([*head, f"```sh\ncd '{folder}'\n```", "", text])


def _names(folder: Path) -> list[str]:
    parts = ("waves", "elections", "rollback")
    return [f"{part}/{file.name}" for part in parts for file in (folder / part).glob("*.json")]
