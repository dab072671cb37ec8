"""What people read in the two questions: the plan in short, then the exact commands with where their files are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_rebalance.plans.plan import Plan
from rebalance_advisor.airflow.publishing.published_files import PublishedFiles
from rebalance_advisor.publish.escape import markdown_line
from rebalance_advisor.publish.plan_files import plan_files
from rebalance_advisor.publish.plan_words import plan_lines

_PLACEHOLDER = "BOOTSTRAP=broker:9092"
_FOLDERS = ("waves/", "elections/", "rollback/")


def plan_in_short(plan: Plan, address: str) -> str:
    """Markdown: the verdict, what it costs, and where the rest is."""
    lines = [f"- {markdown_line(line)}" for line in plan_lines(plan)]
    until = f" It holds until {plan.expires_at}." if plan.expires_at else ""
    where = f"Report: `{address}/report.html`, moves: `{address}/moves.csv`."
    what = (
        "Approved, it is checked again on a fresh reading; then the commands are shown. Nothing here writes to Kafka: "
        "you run the commands, and say so."
    )
    return "\n".join(
        [f"Plan `{plan.plan_id[:12]}` of {markdown_line(plan.cluster)}.{until} {where}", "", *lines, "", what]
    )


def commands_in_full(
    plan: Plan, published: PublishedFiles, pinned: Mapping[str, str], bootstrap: str | None, warnings: Sequence[str]
) -> str:
    """Markdown: the commands of the stored plan, with the way to its files, their sums and the cluster's address.

    ``pinned``: the sha-256 of each file that was approved. The commands compare the files with it before they run.
    """
    text = plan_files(plan)["commands.md"].decode("utf-8")
    if bootstrap is not None:
        text = text.replace(_PLACEHOLDER, f"BOOTSTRAP={bootstrap}", 1)
    run = {name: sha for name, sha in sorted(pinned.items()) if name.startswith(_FOLDERS)}
    files = [f"- `{published.address}/{name}`" for name in run]
    sums = [f"{sha}  {name}" for name, sha in run.items()]
    check = [
        "# Stop where a file is not as it was approved:",
        "sha256sum --check --quiet <<'APPROVED'",
        *sums,
        "APPROVED",
    ]
    told = [f"- {markdown_line(warning)}" for warning in warnings]
    head = ["The plan still holds. Its files:", "", *files, ""]
    if told:
        head += ["Changed since it was made:", "", *told, ""]
    return "\n".join([*head, "```sh", published.way_there, *check, "```", "", text])
