"""Make a plan for INPUT and write it with its files: waves, rollback, elections in Kafka's own JSON, commands, report.

INPUT is a snapshot, a cluster model, a reassignment JSON (each plain or .gz), or a folder of dumps of Kafka's tools.
Exit codes: 0 done (also when nothing has to be done), 1 bad input, 2 wrong usage, 3 the hard rules cannot be met,
4 too little was seen for a verdict.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_rebalance.errors import UsageError
from kafka_rebalance.plans.plan import Plan, to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.uncovered import uncovered_words
from rebalance_advisor.cli.exit_codes import exit_code_of
from rebalance_advisor.cli.interrupt import taken_back_on_interrupt
from rebalance_advisor.cli.plan_input import add_planning_arguments, read_plan_input, requested
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.cli.reading_age import age_s, with_reading_age
from rebalance_advisor.cli.what_if.command import run_what_if
from rebalance_advisor.request.option_table import ALL
from rebalance_advisor.terminal import write_json, write_lines

if TYPE_CHECKING:
    from kafka_rebalance.plans.explain.hours_outside import HoursOutside


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``rebalance-advisor plan``."""
    add_planning_arguments(parser, made="plan.json and its files go: absent, empty, or a plan", printed="the outcome")


def run(arguments: argparse.Namespace) -> int:
    """Read, plan, verify, write. A plan that does not pass its own verification is not written."""
    request = requested(arguments)
    if request.own_scenarios:
        return run_what_if(arguments, request, command="plan")
    if request.owners or request.mutes:
        raise UsageError.at("--owners" if request.owners else "--mutes", "a plan alone has no findings", "use advise")
    if request.own_strategies:
        raise UsageError.at("--own-strategy", "says what groups are replayed with", "a plan has none: use advise")
    if request.clients:
        raise UsageError.at("--clients", "a plan alone replays no groups", "use advise")
    if request.heavy_keys:
        raise UsageError.at("--heavy-keys", "a plan alone has no findings", "use advise")
    if request.scenarios != ALL:
        raise UsageError.at("--scenarios", "a plan alone replays no groups", "use advise")
    from kafka_rebalance.plans.builder import make_plan
    from kafka_rebalance.plans.explain.hours_outside import hours_outside
    from kafka_rebalance.plans.verified_plan import verified
    from rebalance_advisor.compiling.first_compile import tell_of_first_compile
    from rebalance_advisor.publish.plan_folder import write_plan_folder
    from rebalance_advisor.version import advisor_version

    tell_of_first_compile("plan")
    say = Progress()
    given = read_plan_input(arguments, request, say)
    plan = make_plan(
        given.snapshot, given.request.options, seed=given.request.seed, previous=given.previous,
        advisor_version=advisor_version(), progress=say,
    )  # fmt: skip
    say("verifying")
    plan = verified(plan, given.snapshot).plan
    hours = hours_outside(given.snapshot, plan, given.hourly)
    say("writing")
    with taken_back_on_interrupt():
        folder = write_plan_folder(arguments.out, given.snapshot, plan, hours)
    _tell(plan, given.snapshot, folder, hours, as_json=arguments.json)
    return exit_code_of(plan.verdict)


def _tell(plan: Plan, snapshot: ClusterSnapshot, folder: Path, hours: HoursOutside | None, *, as_json: bool) -> None:
    uncovered, now = uncovered_words(snapshot.coverage), datetime.now(UTC)
    if as_json:
        document = to_document(plan)
        shown = ("plan_id", "verdict", "reasons", "cost", "lower_bound", "resources", "left_out", "robustness")
        outcome = {name: document[name] for name in shown}
        outcome |= {"waves": len(plan.waves), "moves": len(plan.moves), "folder": str(folder)}
        outcome |= {"not_covered": uncovered, "reading_age_s": age_s(snapshot.captured_at, now)}
        outcome |= {} if hours is None else {"hours_outside": hours.document()}
        write_json(sys.stdout, outcome)
        return
    from rebalance_advisor.publish.plan_words import plan_lines

    lines = with_reading_age(plan_lines(plan, uncovered), snapshot.captured_at, now)
    lines += [] if hours is None else [hours.words]
    write_lines(sys.stdout, *lines, f"written to {folder}")
