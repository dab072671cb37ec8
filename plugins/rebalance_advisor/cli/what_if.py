"""``plan --scenario`` and ``advise --scenario``: the cluster today and after each scenario, in one table.

DIR gets ``what_if.json`` and ``what_if.txt``, and no file that Kafka's tools, ``verify`` or the pipeline would take for
a plan. Exit codes as for a plan: the gravest of all columns.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_rebalance.advisory.what_if import Level, Outcome, levels
from kafka_rebalance.amounts import amount_in_words, bytes_in_words, seconds_in_words
from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import Fact
from kafka_rebalance.render import render
from kafka_rebalance.scoring.assignment_scores import GroupScore
from rebalance_advisor.cli.arguments import read_plan_input
from rebalance_advisor.cli.exit_codes import EXIT_DONE, exit_code_of
from rebalance_advisor.cli.interrupt import taken_back_on_interrupt
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.publish.folders import replace_folder
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.terminal import write_json, write_lines

JSON_FILE, TEXT_FILE = "what_if.json", "what_if.txt"


def write_what_if(out: Path, document: Mapping[str, Any], lines: Sequence[str]) -> Path:
    """Replace the folder whole; returns where its files are to be read. Raises UsageError where it is not ours."""
    text = json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace")
    table = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
    return replace_folder(out, {JSON_FILE: text, TEXT_FILE: table}, hashlib.sha256(text).hexdigest())


if TYPE_CHECKING:
    from kafka_rebalance.advisory.what_if import Outcome


def require_what_if(arguments: argparse.Namespace, request: RunRequest, *, command: str) -> None:
    """Raises UsageError for what only an advisory, or a plan that is executed, has."""
    if arguments.previous is not None:
        raise UsageError.at("--previous", "a what-if continues no plan", "leave it or --scenario out")
    for flag, given in (("--owners", request.owners), ("--mutes", request.mutes)):
        if given:
            raise UsageError.at(flag, "a what-if has no findings", "leave it or --scenario out")
    if request.own_strategies:
        raise UsageError.at("--own-strategy", "is not led through scenarios of a file", "leave it or --scenario out")
    if request.clients and command == "plan":
        raise UsageError.at("--clients", "a plan alone replays no groups", "use advise")


def run_what_if(arguments: argparse.Namespace, request: RunRequest, *, command: str) -> int:
    """With a plan for each column (``plan``), or with the groups that each scenario changes (``advise``)."""
    require_what_if(arguments, request, command=command)
    from kafka_rebalance.advisory.what_if import outcomes, with_groups, with_plans
    from kafka_rebalance.groups.member_clients import with_clients
    from rebalance_advisor.compiling.first_compile import tell_of_first_compile
    from rebalance_advisor.version import advisor_version

    tell_of_first_compile()
    say = Progress()
    given = read_plan_input(arguments, request, say)
    request = given.request
    say("scoring")
    found = outcomes(with_clients(given.snapshot, request.clients), request.own_scenarios, seed=request.seed)
    if command == "plan":
        version = advisor_version()
        found = with_plans(found, request.options, seed=request.seed, advisor_version=version, progress=say)
    else:
        say("replaying groups")
        found = with_groups(found)
    say("writing")
    _write(arguments.out, found, request.seed, as_json=arguments.json)
    return max((exit_code_of(one.plan.verdict) for one in found if one.plan is not None), default=EXIT_DONE)


def _write(out: Path, found: tuple[Outcome, ...], seed: int, *, as_json: bool) -> None:
    from kafka_rebalance.advisory.what_if import what_if_document
    from kafka_rebalance.render import with_texts

    document, lines = {"note": NOTE} | with_texts(what_if_document(found, seed)), what_if_lines(found)
    with taken_back_on_interrupt():
        folder = write_what_if(out, document, lines)
    if as_json:
        write_json(sys.stdout, document | {"folder": str(folder)})
    else:
        write_lines(sys.stdout, *lines, f"written to {folder}")


NOTE = "what if: nothing here is a plan to execute; the cluster that it is for does not exist"
_SHOWN_BROKERS = 5
_SHOWN_GROUPS = 20
_NONE = "-"


def what_if_lines(found: Sequence[Outcome]) -> list[str]:
    """The note first: nobody shall take it for a plan."""
    rows = [["", *(one.name for one in found)], *_cluster_rows(found), *_plan_rows(found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [NOTE, *table, *(line for one in found for line in _group_lines(one))]


def _cluster_rows(found: Sequence[Outcome]) -> list[list[str]]:
    rows = [
        ["brokers in service", *(f"{one.brokers_in_service:,}" for one in found)],
        ["partitions without a leader", *(f"{one.partitions_without_leader:,}" for one in found)],
    ]
    by_outcome = [{level.resource: level for level in levels(one.scores)} for one in found]
    for resource in dict.fromkeys(resource for known in by_outcome for resource in known):
        row = [known.get(resource) for known in by_outcome]
        rows.append([f"{resource}: highest", *(_highest(level) for level in row)])
        if any(level is not None and level.capacity is not None for level in row):
            rows.append([f"{resource}: above capacity", *(_above(level) for level in row)])
        if any(level is not None and level.fullest_rack is not None for level in row):
            rows.append([f"{resource}: fullest rack", *(_rack(level) for level in row)])
    return rows


def _highest(level: Level | None) -> str:
    if level is None:
        return "unknown"
    load = amount_in_words(level.highest, level.unit)
    return f"{load} on {level.broker}, {level.over_mean:.3f} x mean"


def _above(level: Level | None) -> str:
    if level is None or level.capacity is None:
        return "unknown"
    shown = ", ".join(str(broker) for broker in level.above_capacity[:_SHOWN_BROKERS])
    more = len(level.above_capacity) - _SHOWN_BROKERS
    return (f"{shown} and {more} more" if more > 0 else shown) or "none"


def _rack(level: Level | None) -> str:
    if level is None or level.fullest_rack is None or level.fullest_rack_over_mean is None:
        return "unknown"
    return f"{level.fullest_rack}, {level.fullest_rack_over_mean:.3f} x mean"


def _plan_rows(found: Sequence[Outcome]) -> list[list[str]]:
    plans = [one.plan for one in found if one.plan is not None]
    if len(plans) != len(found):
        return []
    return [
        ["plan", *(f"what if: {plan.verdict.value.replace('_', ' ')}" for plan in plans)],
        ["plan: bytes", *(bytes_in_words(plan.cost.bytes) for plan in plans)],
        ["plan: replicas moved", *(f"{plan.cost.replica_moves:,}" for plan in plans)],
        ["plan: leader changes", *(f"{plan.cost.leader_changes:,}" for plan in plans)],
        ["plan: time", *(_seconds(plan.cost.seconds) for plan in plans)],
    ]


def _seconds(seconds: float | None) -> str:
    return "unknown" if seconds is None else seconds_in_words(seconds)


def _group_lines(one: Outcome) -> list[str]:
    """The first row of a group is that of its own strategy, where that is known."""
    first: dict[str, list[GroupScore]] = {}
    for row in one.groups:
        first.setdefault(row.group_id, []).append(row)
    most = sorted(first.values(), key=lambda rows: (-(rows[0].partitions_moved or 0), rows[0].group_id))
    lines = [_group_line(one.name, rows) for rows in most[:_SHOWN_GROUPS]]
    if len(most) > _SHOWN_GROUPS:
        lines.append(f"{one.name}: and {len(most) - _SHOWN_GROUPS} more groups, in what_if.json")
    return lines


def _group_line(name: str, rows: Sequence[GroupScore]) -> str:
    own, answered = rows[0], [row for row in rows if row.error is None]
    place = f"{name}: group {own.group_id} ({_words(own.subject)})"
    if not answered:
        return f"{place}: {_words(own.error)}"
    fewest = min(answered, key=lambda row: row.partitions_moved or 0)
    words = f"{place}: {_strategy(own)}"
    if fewest is own or (own.error is None and own.partitions_moved == fewest.partitions_moved):
        return words
    return f"{words}; fewest: {_strategy(fewest)}"


def _words(said: Fact | None) -> str:
    return "" if said is None else render(said)


def _strategy(row: GroupScore) -> str:
    if row.error is not None:
        return f"{row.assignor} refuses: {render(row.error)}"
    pause = "without end" if row.longest_pause_ms is None else seconds_in_words(row.longest_pause_ms / 1_000)
    skew = _NONE if row.skew_count is None else f"{row.skew_count:.2f}"
    return f"{row.assignor} moves {row.partitions_moved or 0:,}, skew {skew}, longest pause {pause}"
