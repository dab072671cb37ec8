"""Compare the cluster today and after a lost rack or broker, or after growth; nothing is executed.

INPUT is a snapshot, a cluster model, a reassignment JSON (each plain or .gz), or a folder of dumps of Kafka's tools.
--growth, --lose-rack and --lose-broker happen together, in this order; each --scenario is a column of its own. DIR gets
``what_if.json`` and ``what_if.txt``, and no file that Kafka's tools, ``verify`` or the pipeline would take for a plan.
Exit codes: 0 done, 1 bad input, 2 wrong usage; with --plan the gravest of all columns: 3 infeasible, 4 cannot tell.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.advisory.what_if import Level, Outcome, levels
from kafka_rebalance.amounts import amount_in_words, bytes_in_words, seconds_in_words
from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import Fact
from kafka_rebalance.render import render
from kafka_rebalance.scenarios.changes import ALL_TOPICS, LARGEST_FACTOR, BrokersLost, Growth, RackLost
from kafka_rebalance.scenarios.scenario import Change, Scenario
from kafka_rebalance.scoring.assignment_scores import GroupScore
from kafka_rebalance.snapshot.ranges import LARGEST_INT32
from rebalance_advisor.cli.arguments import add_input_options, read_plan_input, scenarios_in_files
from rebalance_advisor.cli.exit_codes import EXIT_DONE, exit_code_of
from rebalance_advisor.cli.interrupt import taken_back_on_interrupt
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.publish.folders import check_folder, replace_folder
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.terminal import write_json, write_lines

JSON_FILE, TEXT_FILE = "what_if.json", "what_if.txt"
_GROWTH = re.compile(r"(?:(?P<topics>.+)=)?(?P<percent>[+-]?\d+(?:\.\d+)?)%")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="INPUT", type=Path)
    parser.add_argument("--lose-rack", action="append", default=[], metavar="RACK",
        help="every broker and member of this rack is dead; repeatable")  # fmt: skip
    parser.add_argument("--lose-broker", action="append", default=[], type=_broker_id, metavar="N",
        help="this broker is dead; repeatable")  # fmt: skip
    parser.add_argument("--growth", action="append", default=[], type=_growth, metavar="[RE=]20%",
        help="growth of rates and sizes, of all topics or of those whose name matches RE; repeatable")  # fmt: skip
    parser.add_argument("--scenario", action="append", default=[], type=Path, metavar="FILE",
        help="a scenario of docs/read-an-advisory.md as one more column; repeatable")  # fmt: skip
    parser.add_argument("--plan", action="store_true", help="make a plan for each column, too: takes longer")
    parser.add_argument("--groups", action="store_true", help="replay the consumer groups that change, too")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write the table and all figures into this folder")
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    parser.add_argument("--capacity", type=Path, metavar="FILE",
        help="what brokers can carry: CSV or Cruise Control's capacity JSON")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="draws members that join or leave (0)")
    add_input_options(parser)
    parser.set_defaults(previous=None, history=None)


def run(arguments: argparse.Namespace) -> int:
    brokers = tuple(dict.fromkeys(arguments.lose_broker))
    losses: list[Change] = [RackLost(rack) for rack in dict.fromkeys(arguments.lose_rack)]
    losses += [BrokersLost(brokers)] if brokers else []
    changes = (*arguments.growth, *losses)
    scenarios = scenarios_in_files(arguments.scenario)
    if changes:
        name = _name(arguments.growth, losses)
        if name in (scenario.name for scenario in scenarios):
            raise UsageError.at("--scenario", f"{name!r} is the name of another column", "give the scenario another")
        scenarios.insert(0, Scenario(name, changes))
    if not scenarios:
        raise UsageError("what-if: nothing happens; give --lose-rack, --lose-broker, --growth or --scenario")
    if arguments.out is not None:
        check_folder(arguments.out)
    request = RunRequest(seed=arguments.seed, own_scenarios=tuple(scenarios))
    return _compare(arguments, request, has_plans=arguments.plan, has_groups=arguments.groups)


def _name(growths: Sequence[Growth], losses: Sequence[Change]) -> str:
    grown = [f"growth {_percent(growth)}{_of_topics(growth)}" for growth in growths]
    lost = [f"rack {loss.rack}" for loss in losses if isinstance(loss, RackLost)]
    lost += [f"broker {broker}" for loss in losses if isinstance(loss, BrokersLost) for broker in loss.ids]
    return ", ".join([*grown, *([f"without {' and '.join(lost)}"] if lost else [])])


def _percent(growth: Growth) -> str:
    return f"{100 * (growth.rates - 1):.4g}%"


def _of_topics(growth: Growth) -> str:
    return "" if growth.topics == ALL_TOPICS else f" of {growth.topics}"


def _growth(text: str) -> Growth:
    found = _GROWTH.fullmatch(text)
    factor = 1 + float(found["percent"]) / 100 if found else -1.0
    if found is None or not 0 <= factor <= LARGEST_FACTOR:
        raise argparse.ArgumentTypeError(f"{text!r} is no growth; give 20%, or 'orders.*=20%' for some topics")
    try:
        return Growth(found["topics"] or ALL_TOPICS, factor, factor)
    except InvalidInputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _broker_id(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= LARGEST_INT32):
        raise argparse.ArgumentTypeError(f"{text!r} is no broker id; repeat --lose-broker for several brokers")
    return int(text)


def write_what_if(out: Path, document: Mapping[str, Any], lines: Sequence[str]) -> Path:
    """Replace the folder whole. Raises UsageError for a foreign one."""
    text = json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace")
    table = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
    return replace_folder(out, {JSON_FILE: text, TEXT_FILE: table}, hashlib.sha256(text).hexdigest())


if TYPE_CHECKING:
    from kafka_rebalance.advisory.what_if import Outcome


def require_what_if(arguments: argparse.Namespace, request: RunRequest, *, command: str) -> None:
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
    """Adds a plan a column (``plan``), or the changed groups (``advise``)."""
    require_what_if(arguments, request, command=command)
    return _compare(arguments, request, has_plans=command == "plan", has_groups=command == "advise")


def _compare(arguments: argparse.Namespace, request: RunRequest, *, has_plans: bool, has_groups: bool) -> int:
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
    if has_plans:
        version = advisor_version()
        found = with_plans(found, request.options, seed=request.seed, advisor_version=version, progress=say)
    if has_groups:
        say("replaying groups")
        found = with_groups(found)
    _write(arguments.out, found, request.seed, as_json=arguments.json)
    return max((exit_code_of(one.plan.verdict) for one in found if one.plan is not None), default=EXIT_DONE)


def _write(out: Path | None, found: tuple[Outcome, ...], seed: int, *, as_json: bool) -> None:
    from kafka_rebalance.advisory.what_if import what_if_document
    from kafka_rebalance.render import with_texts

    document, lines = {"note": NOTE} | with_texts(what_if_document(found, seed)), what_if_lines(found)
    if out is not None:
        with taken_back_on_interrupt():
            folder = write_what_if(out, document, lines)
        document, lines = document | {"folder": str(folder)}, [*lines, f"written to {folder}"]
    if as_json:
        write_json(sys.stdout, document)
    else:
        write_lines(sys.stdout, *lines)


NOTE = "what if: nothing here is a plan to execute; the cluster that it is for does not exist"
_SHOWN_BROKERS = 5
_SHOWN_GROUPS = 20
_NONE = "-"


def what_if_lines(found: Sequence[Outcome]) -> list[str]:
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
