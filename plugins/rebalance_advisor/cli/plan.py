"""Make a plan for INPUT and write it with its files: waves, rollback, elections in Kafka's own JSON, commands, report.

INPUT is a snapshot, a cluster model, a reassignment JSON (each plain or .gz), or a folder of dumps of Kafka's tools.
Several INPUTs are planned in parallel: each plan goes to its own folder below --out, a table of all to fleet.txt, and
the exit code is the gravest.
Exit codes: 0 done (also when nothing has to be done), 1 bad input, 2 wrong usage, 3 the hard rules cannot be met,
4 too little was seen for a verdict. With --exit-code, 0 says that nothing has to be done; 20 a plan is ready, 21 urgent
(a partition or broker is down, or a disk is nearly full), 22 moving cannot fix what is uneven.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import Fact
from kafka_rebalance.plans.plan import Plan, Verdict
from kafka_rebalance.render.uncovered import describe_uncovered
from rebalance_advisor.cli.arguments import (
    VERDICT_TONES,
    add_planning_arguments,
    age_s,
    request_of,
    requested,
    with_reading_age,
)
from rebalance_advisor.cli.exit_codes import cron_code_of, exit_code_of
from rebalance_advisor.cli.fleet import Made, plan_into_folder
from rebalance_advisor.cli.log_dirs import add_log_dir_options, asks_for_log_dirs
from rebalance_advisor.cli.parser import CommonOptions
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.request.run_request import ALL, RunRequest
from rebalance_advisor.terminal import write_json, write_lines

EXIT_CODE = "--exit-code"
MOST_LINES = 15
COMMON = CommonOptions(
    usage="INPUT [INPUT ...] --out DIR [options]",
    flags=(
        "--out", "--balance-within", "--remove-broker", "--add-broker", "--exclude-topic", "--capacity", "--throttle",
        "--max-hours", "--max-move-bytes", "--exit-code", "--json", "--verbose",
    ),
    examples=(
        ("relieve what is full, repair what is broken, nothing else", "cluster.json --out plan/"),
        (
            "bring every broker to 0.9 to 1.1 times its share, in at most 6 hours",
            "cluster.json --out plan/ --balance-within 10% --max-hours 6 --throttle 50MiB",
        ),
        ("replace broker 3 by broker 12", "cluster.json --out plan/ --remove-broker 3 --add-broker 12:rack-a"),
        ("from cron: exit code 0 if nothing is to be done", "cluster.json --out plan/ --exit-code"),
    ),
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    made = "plan.json and its files go: absent, empty, or a plan"
    add_planning_arguments(parser, made=made, printed="the outcome", many=True)
    help_text = (
        "a topic to be made, as orders:12:3:20MB:500GB (rate and bytes of all of it); nothing else moves; repeatable"
    )
    parser.add_argument(
        "--new-topic",
        action="append",
        default=[],
        metavar="NAME:PARTITIONS:RF[:IN_BYTES_PER_S[:LOG_BYTES]]",
        help=help_text,
    )
    parser.add_argument(
        EXIT_CODE, action="store_true", help="for cron: 0 nothing to do, 20 a plan is ready, 21 urgent, 22 not fixable"
    )
    add_log_dir_options(parser)


def run(arguments: argparse.Namespace) -> int:
    if len(arguments.inputs) > 1:
        from rebalance_advisor.cli.fleet import run_fleet

        request = request_of(arguments)
        if arguments.new_topic or asks_for_log_dirs(arguments):
            option = "--new-topic" if arguments.new_topic else "a plan between log dirs"
            raise UsageError.at(option, "is about one cluster", "give one INPUT")
        _require_no_exit_code(arguments, "several INPUTs")
        _require_plan_alone(request)
        return run_fleet(arguments, request)
    arguments.input = arguments.inputs[0]
    request = requested(arguments)
    if asks_for_log_dirs(arguments):
        from rebalance_advisor.cli.log_dirs import run_log_dirs

        _require_no_exit_code(arguments, "a plan between log dirs")
        _require_plan_alone(request)
        return run_log_dirs(arguments, request)
    if arguments.new_topic:
        from rebalance_advisor.cli.new_topics import run_new_topics

        _require_no_exit_code(arguments, "--new-topic")
        _require_plan_alone(request)
        return run_new_topics(arguments, request)
    if request.own_scenarios:
        _require_no_exit_code(arguments, "--scenario")
        from rebalance_advisor.cli.what_if import run_what_if

        return run_what_if(arguments, request, command="plan")
    _require_plan_alone(request)
    from kafka_rebalance.findings.rules import urgent_findings
    from rebalance_advisor.stage_times import watch_of  # imported with the planner

    made = plan_into_folder(arguments, request, Progress(), watch=watch_of(is_verbose=arguments.verbose))
    urgent = urgent_findings(made.snapshot, made.plan)
    _print_outcome(made, [finding.recommendation for finding in urgent], arguments)
    if arguments.exit_code:
        return cron_code_of(made.plan.verdict, is_urgent=bool(urgent))
    return exit_code_of(made.plan.verdict)


def _require_no_exit_code(arguments: argparse.Namespace, other: str) -> None:
    if arguments.exit_code:
        raise UsageError.at(EXIT_CODE, f"is about the plan of one cluster, not {other}", "leave one of them out")


def _require_plan_alone(request: RunRequest) -> None:
    if request.owners or request.mutes:
        raise UsageError.at("--owners" if request.owners else "--mutes", "a plan alone has no findings", "use advise")
    if request.own_strategies:
        raise UsageError.at("--own-strategy", "says what groups are replayed with", "a plan has none: use advise")
    if request.clients:
        raise UsageError.at("--clients", "a plan alone replays no groups", "use advise")
    if request.heavy_keys:
        raise UsageError.at("--heavy-keys", "a plan alone has no findings", "use advise")
    if request.rack_byte_price is not None:
        raise UsageError.at("--rack-byte-price", "a plan alone has no findings", "use advise")
    if request.scenarios != ALL:
        raise UsageError.at("--scenarios", "a plan alone replays no groups", "use advise")


def _print_outcome(made: Made, urgent: Sequence[Fact], arguments: argparse.Namespace) -> None:
    plan, snapshot, folder, hours = made.plan, made.snapshot, made.folder, made.hours
    uncovered, now = describe_uncovered(snapshot.coverage), datetime.now(UTC)
    if arguments.json:
        document = plan.document
        fields = (
            "plan_id",
            "verdict",
            "reasons",
            "cost",
            "lower_bound",
            "steps",
            "resources",
            "left_out",
            "robustness",
        )
        outcome = {name: document[name] for name in fields}
        outcome |= {"waves": len(plan.waves), "moves": len(plan.moves), "folder": str(folder)}
        outcome |= {"not_covered": uncovered, "reading_age_s": age_s(snapshot.captured_at, now)}
        outcome |= {} if hours is None else {"hours_outside": hours.document()}
        write_json(sys.stdout, outcome)
        return
    from kafka_rebalance.render import render, render_all
    from kafka_rebalance.render.steps import brief_lines
    from rebalance_advisor.publish.plan_text import plan_lines

    urgent_texts = render_all(urgent)
    last = [] if hours is None else [f"  {render(hours.fact)}"]
    last += [f"written to {folder}", f"next: {next_command(plan, folder, arguments.input)}"]
    if arguments.verbose:
        first, *others = plan_lines(plan, uncovered)
        lines = [first, *(f"  urgent: {text}" for text in urgent_texts), *others]
    else:
        lines = brief_lines(plan.document, urgent=urgent_texts, uncovered=uncovered, most=MOST_LINES - len(last))
    write_lines(sys.stdout, *with_reading_age(lines, snapshot.captured_at, now), *last, tones=VERDICT_TONES)


def next_command(plan: Plan, folder: Path, source: Path) -> str:
    given = shlex.quote(str(source))
    if plan.moves:
        file = shlex.quote(str(folder / "commands.md"))
        return f"less {file}   (Kafka's own commands, wave after wave, and the way back)"
    if plan.verdict is Verdict.CANNOT_TELL:
        command = f"rebalance-advisor snapshot --bootstrap HOST:9092 --previous {given} --out later.json"
        return f"{command}   (measures rates; docs/connect.md lists the rights that it needs)"
    return f"rebalance-advisor advise {given} --out advisory/   (findings, also those that moving cannot fix)"
