"""Write the whole advisory for INPUT as files: findings, groups, topics, plan.json with its files, report and digest.

INPUT is a snapshot, a cluster model, a reassignment JSON (each plain or .gz), or a folder of dumps of Kafka's tools.
Exit codes: 0 done (also when nothing has to be done), 1 bad input, 2 wrong usage, 3 the hard rules cannot be met, 4 too
little was seen for a verdict.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebalance_advisor.cli.arguments import (
    VERDICT_TONES,
    add_planning_arguments,
    age_s,
    read_plan_input,
    requested,
    with_reading_age,
)
from rebalance_advisor.cli.exit_codes import exit_code_of
from rebalance_advisor.cli.interrupt import taken_back_on_interrupt
from rebalance_advisor.cli.parser import CommonOptions
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.own_strategies.error_summary import error_summary
from rebalance_advisor.own_strategies.limits import limits_of
from rebalance_advisor.own_strategies.targets import Kind, targets_here
from rebalance_advisor.publish.advisory_files import read_earlier_findings
from rebalance_advisor.terminal import write_json, write_lines

if TYPE_CHECKING:
    from kafka_rebalance.snapshot.model import ClusterSnapshot

COMMON = CommonOptions(
    usage="INPUT --out DIR [options]",
    flags=(
        "--out", "--previous", "--balance-within", "--remove-broker", "--exclude-topic", "--capacity", "--throttle",
        "--max-hours", "--owners", "--mutes", "--json", "--verbose",
    ),
    examples=(
        ("findings, plan and report", "cluster.json --out advisory/"),
        ("with what is new, persisting or resolved since yesterday", "later.json --previous advisory/ --out later/"),
        ("for the load of a week", "cluster.json --history snapshots/ --load p95 --out advisory/"),
        ("with the team that owns each finding", "cluster.json --owners teams.toml --out advisory/"),
    ),
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_planning_arguments(
        parser, made="the advisory's files go: absent, empty, or an advisory", printed="verdict and findings"
    )
    parser.add_argument(
        "--readers", type=Path, metavar="FILE",
        help="JSON of Flink jobs and MirrorMaker connectors: advisory.json says how unevenly they read",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    request = requested(arguments)
    if request.own_scenarios:
        from rebalance_advisor.cli.what_if import run_what_if

        return run_what_if(arguments, request, command="advise")
    targets = targets_here(request.own_strategies, Kind.ASSIGNOR)
    from kafka_rebalance.advisory.advise import advise
    from kafka_rebalance.advisory.advisory import with_changes
    from rebalance_advisor.compiling.first_compile import tell_of_first_compile
    from rebalance_advisor.own_strategies.registering import described, own_strategies
    from rebalance_advisor.publish.advisory_files import write_advisory
    from rebalance_advisor.publish.digest import describe_ending
    from rebalance_advisor.stage_times import watch_of
    from rebalance_advisor.version import advisor_version

    tell_of_first_compile(has_helper=True)
    say = Progress()
    given, earlier = read_plan_input(arguments, request, say), read_earlier_findings(arguments.previous)
    readers = _fixed_readers(arguments.readers, given.snapshot)
    limits = limits_of(request.own_strategy_s, request.own_strategy_bytes)
    strategies = described(targets, limits)
    with own_strategies(strategies, limits):
        advice = advise(
            given.snapshot, given.request.advice, previous=given.previous, hourly=given.hourly,
            advisor_version=advisor_version(), progress=say, watch=watch_of(is_verbose=arguments.verbose),
        )  # fmt: skip
    write_lines(sys.stderr, *error_summary(advice.groups, [strategy.name for strategy in strategies]))
    document = advice.document() | readers
    if earlier is not None:
        document = with_changes(document, earlier.findings, earlier.closed)
    say("writing")
    with taken_back_on_interrupt():
        folder = write_advisory(arguments.out, document, advice.plan)
    _print_outcome(document, describe_ending(document), given.snapshot.captured_at, folder, as_json=arguments.json)
    return exit_code_of(advice.plan.verdict)


def _fixed_readers(path: Path | None, snapshot: ClusterSnapshot) -> dict[str, Any]:
    if path is None:
        return {}
    from kafka_rebalance.groups.fixed_readers import read_fixed_readers, score_fixed_readers
    from rebalance_advisor.dumps.input_file import read_json

    fixed_readers = read_fixed_readers(read_json(path), str(path))
    return {"readers": [asdict(score_fixed_readers(readers, snapshot)) for readers in fixed_readers]}


def _print_outcome(
    document: dict[str, Any], summary: list[str], captured_at: datetime | None, folder: Path, *, as_json: bool
) -> None:
    from kafka_rebalance.render import with_texts
    from rebalance_advisor.publish.digest import closing_paths
    from rebalance_advisor.publish.report import uncovered_by

    now = datetime.now(UTC)
    if as_json:
        plan = document["plan"]
        outcome = {name: plan[name] for name in ("plan_id", "verdict", "reasons", "cost", "lower_bound")}
        outcome |= {
            "findings": with_texts(document["findings"]),
            "folder": str(folder),
            "not_covered": uncovered_by(document),
        }
        outcome |= {"reading_age_s": age_s(captured_at, now), "resolved": with_texts(document.get("resolved"))}
        write_json(sys.stdout, outcome)
        return
    lines = with_reading_age(summary, captured_at, now)
    write_lines(sys.stdout, *lines, *closing_paths(folder), tones=VERDICT_TONES)
