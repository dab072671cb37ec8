"""``plan A B C … --out DIR``: plan clusters in parallel, each in its own folder of DIR.

A folder is named after INPUT without ``.json`` and ``.gz``. DIR also gets ``fleet.json`` and ``fleet.txt``. The exit
code is the gravest of 1 (no plan), 2, 4, 3, 0.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_assignors.visible_text import visible
from kafka_rebalance.amounts import format_bytes, format_seconds
from kafka_rebalance.errors import UsageError
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.render import render
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.cli.arguments import read_plan_input
from rebalance_advisor.cli.exit_codes import EXIT_CANNOT_TELL, EXIT_DONE, EXIT_INFEASIBLE, exit_code_of
from rebalance_advisor.cli.interrupt import taken_back_on_interrupt
from rebalance_advisor.publish.folders import MARKER, check_folder, replace_file
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.terminal import write_json, write_lines

# From mild to grave.
_GRAVITY = (EXIT_DONE, EXIT_INFEASIBLE, EXIT_CANNOT_TELL, 2, 1)
_HEAD = ("cluster", "verdict", "bytes", "replicas", "leaders", "waves", "time", "highest over mean", "why")
_NONE = "-"


@dataclass(frozen=True, slots=True)
class FleetRow:
    """``skew``: resource → highest / mean, before and after. ``words``: the plan's first reason, or the error."""

    name: str
    input: str
    exit_code: int
    words: str
    folder: str | None = None
    plan_id: str | None = None
    verdict: str | None = None
    bytes: int | None = None
    replica_moves: int | None = None
    leader_changes: int | None = None
    waves: int | None = None
    seconds: float | None = None
    skew: Mapping[str, Sequence[float]] | None = None

    @classmethod
    def of_plan(cls, name: str, source: str, plan: Plan, folder: str) -> FleetRow:
        cost, why = plan.cost, render(plan.reasons[0]) if plan.reasons else ""
        return cls(
            name, source, exit_code_of(plan.verdict), why, folder, plan.plan_id,
            plan.verdict.value, cost.bytes, cost.replica_moves, cost.leader_changes, len(plan.waves), cost.seconds,
            {outcome.resource: [outcome.skew_before, outcome.skew_after] for outcome in plan.resources},
        )  # fmt: skip

    @classmethod
    def failed(cls, name: str, source: str, exit_code: int, error: str) -> FleetRow:
        return cls(name, source, exit_code, error)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> FleetRow:
        return cls(**document)

    def document(self) -> dict[str, Any]:
        return asdict(self)


def worst_exit_code(rows: Sequence[FleetRow]) -> int:
    """Unknown codes (a killed child) count as bad input."""
    codes = [row.exit_code if row.exit_code in _GRAVITY else 1 for row in rows]
    return max(codes, key=_GRAVITY.index, default=EXIT_DONE)


def fleet_lines(rows: Sequence[FleetRow]) -> list[str]:
    cells = [list(_HEAD), *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEAD))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]


def _cells(row: FleetRow) -> list[str]:
    if row.verdict is None:
        return [visible(row.name), "no plan", *[_NONE] * (len(_HEAD) - 3), visible(row.words)]
    time = "unknown" if row.seconds is None else format_seconds(row.seconds)
    counts = (f"{count or 0:,}" for count in (row.replica_moves, row.leader_changes, row.waves))
    verdict = row.verdict.replace("_", " ")
    return [visible(row.name), verdict, format_bytes(row.bytes), *counts, time, _worst_skew(row), visible(row.words)]


def _worst_skew(row: FleetRow) -> str:
    if not row.skew:
        return _NONE
    resource = max(row.skew, key=lambda name: (row.skew or {})[name][0])
    before, after = row.skew[resource]
    return f"{resource} {before:.3f} → {after:.3f}"


JSON_FILE, TEXT_FILE = "fleet.json", "fleet.txt"
# -P: do not import from the working folder
_CHILD = (sys.executable, "-P", "-m", "rebalance_advisor.cli.fleet_child")


def run_fleet(arguments: argparse.Namespace, request: RunRequest) -> int:
    names = fleet_names(arguments.inputs)
    require_fleet(arguments, request, names)
    asks = [_ask(arguments, request, name, source) for name, source in names.items()]
    with ThreadPoolExecutor(min(len(asks), _processors())) as pool:
        rows = list(pool.map(_row, asks))
    lines, document = fleet_lines(rows), {"clusters": [row.document() for row in rows]}
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    replace_file(out / JSON_FILE, text.encode("utf-8", "backslashreplace"))
    replace_file(out / TEXT_FILE, "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))
    if arguments.json:
        write_json(sys.stdout, document | {"folder": str(out)})
    else:
        write_lines(sys.stdout, *lines, f"written to {out}")
    return worst_exit_code(rows)


def fleet_names(inputs: Sequence[Path]) -> dict[str, Path]:
    names: dict[str, Path] = {}
    for source in inputs:
        name = source.resolve().name
        for ending in (".gz", ".json"):
            name = name.removesuffix(ending)
        if name in names:
            problem = f"has the same name as {names[name]}: both plans would go to {name!r}"
            raise UsageError.at(str(source), problem, "give files of different names")
        if not name or name in (JSON_FILE, TEXT_FILE, MARKER):
            raise UsageError.at(str(source), f"{name!r} cannot be the name of a plan's folder", "rename it")
        names[name] = source
    return names


def require_fleet(arguments: argparse.Namespace, request: RunRequest, names: Mapping[str, Path]) -> None:
    for flag, given in (
        ("--previous", arguments.previous), ("--history", arguments.history), ("--scenario", request.own_scenarios),
    ):  # fmt: skip
        if given:
            raise UsageError.at(flag, "is about one cluster", f"{len(names)} were given: call plan for each")
    out: Path = arguments.out
    if (out / MARKER).exists():
        raise UsageError.at(str(out), "holds the plan of one cluster", "give a folder for the fleet beside it")
    for name in names:
        check_folder(out / name)


def _ask(arguments: argparse.Namespace, request: RunRequest, name: str, source: Path) -> dict[str, Any]:
    return {
        "name": name,
        "input": str(source),
        "out": str(arguments.out / name),
        "capacity": None if arguments.capacity is None else str(arguments.capacity),
        "max_input_bytes": arguments.max_input_bytes,
        "strict": getattr(arguments, "strict", False),
        "request": {key: value for key, value in request.document().items() if value is not None},
    }


def _row(ask: dict[str, Any]) -> FleetRow:
    done = subprocess.run(_CHILD, input=json.dumps(ask), capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return FleetRow.from_document(json.loads(done.stdout.splitlines()[-1]))
    last_line = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
    ended = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
    return FleetRow.failed(ask["name"], ask["input"], 1, f"its process ended with {ended}: {last_line[0]}")


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if TYPE_CHECKING:
    from kafka_rebalance.plans.hours_outside import HoursOutside
    from kafka_rebalance.plans.state import Watch


@dataclass(frozen=True, slots=True)
class Made:
    plan: Plan
    snapshot: ClusterSnapshot
    folder: Path
    hours: HoursOutside | None


def plan_into_folder(
    arguments: argparse.Namespace,
    request: RunRequest,
    say: Callable[[str], None],
    *,
    is_one_of_many: bool = False,
    watch: Watch | None = None,
) -> Made:
    from kafka_rebalance.advisory.advisory import advisory_document
    from kafka_rebalance.plans.hours_outside import hours_outside
    from kafka_rebalance.plans.searches import PlanQuestion, planned
    from kafka_rebalance.plans.state import ignore
    from rebalance_advisor.compiling.first_compile import tell_of_first_compile
    from rebalance_advisor.publish.plan_files import write_plan_folder
    from rebalance_advisor.version import advisor_version

    tell_of_first_compile()
    given = read_plan_input(arguments, request, say, is_one_of_many=is_one_of_many)
    question = PlanQuestion(
        given.snapshot, given.request.options, given.request.seed, given.previous, advisor_version()
    )
    plan = planned(question, progress=say, watch=watch or ignore).plan
    hours = hours_outside(given.snapshot, plan, given.hourly)
    say("writing")
    with taken_back_on_interrupt():
        advisory = advisory_document(given.snapshot, plan, (), (), hours=hours)
        folder = write_plan_folder(arguments.out, advisory, plan)
    return Made(plan, given.snapshot, folder, hours)
