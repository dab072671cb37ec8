"""Compare the cluster today and after a lost rack or broker, or after growth; nothing is executed.

INPUT is a snapshot, a cluster model, a reassignment JSON (each plain or .gz), or a folder of dumps of Kafka's tools.
--growth, --lose-rack and --lose-broker happen together, in this order; each --scenario is a column of its own. DIR gets
``what_if.json`` and ``what_if.txt``, and no file that Kafka's tools, ``verify`` or the pipeline would take for a plan.
Exit codes: 0 done, 1 bad input, 2 wrong usage; with --plan the gravest of all columns: 3 infeasible, 4 cannot tell.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kafka_rebalance.errors import UsageError
from rebalance_advisor.cli.arguments import add_input_options, add_option, read_plan_input, scenarios_in_files
from rebalance_advisor.cli.exit_codes import EXIT_DONE, exit_code_of
from rebalance_advisor.cli.interrupt import taken_back_on_interrupt
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.publish.folders import check_folder
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.request.what_if import WHAT_IF_OPTIONS, WhatIfRequest
from rebalance_advisor.terminal import write_json, write_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="INPUT", type=Path)
    for option in WHAT_IF_OPTIONS:
        add_option(parser, option)
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
    what_if = WhatIfRequest.from_mapping({option.name: getattr(arguments, option.name) for option in WHAT_IF_OPTIONS})
    scenarios = scenarios_in_files(arguments.scenario)
    if what_if.scenario is not None:
        if what_if.scenario.name in (scenario.name for scenario in scenarios):
            problem = f"{what_if.scenario.name!r} is the name of another column"
            raise UsageError.at("--scenario", problem, "give the scenario another")
        scenarios.insert(0, what_if.scenario)
    if not scenarios:
        raise UsageError("what-if: nothing happens; give --lose-rack, --lose-broker, --growth or --scenario")
    if arguments.out is not None:
        check_folder(arguments.out)
    request = RunRequest(seed=arguments.seed, own_scenarios=tuple(scenarios))
    return _compare(arguments, request, what_if, has_plans=arguments.plan, has_groups=arguments.groups)


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
    nothing = WhatIfRequest()
    return _compare(arguments, request, nothing, has_plans=command == "plan", has_groups=command == "advise")


def _compare(
    arguments: argparse.Namespace, request: RunRequest, what_if: WhatIfRequest, *, has_plans: bool, has_groups: bool
) -> int:
    from kafka_rebalance.advisory.what_if import outcomes, with_groups, with_plans
    from kafka_rebalance.groups.member_clients import with_clients
    from rebalance_advisor.compiling.first_compile import tell_of_first_compile
    from rebalance_advisor.publish.what_if_files import what_if_answer, what_if_lines, write_what_if
    from rebalance_advisor.version import advisor_version

    tell_of_first_compile()
    say = Progress()
    given = read_plan_input(arguments, request, say)
    request = given.request
    what_if.require_fit(given.snapshot)
    say("scoring")
    snapshot = given.snapshot.with_capacities(request.options.capacities)
    columns = outcomes(with_clients(snapshot, request.clients), request.own_scenarios, seed=request.seed)
    if has_plans:
        version = advisor_version()
        columns = with_plans(columns, request.options, seed=request.seed, advisor_version=version, progress=say)
    if has_groups:
        say("replaying groups")
        columns = with_groups(columns)
    document, lines = what_if_answer(columns, request.seed), what_if_lines(columns)
    if arguments.out is not None:
        with taken_back_on_interrupt():
            folder = write_what_if(arguments.out, document, lines)
        document, lines = document | {"folder": str(folder)}, [*lines, f"written to {folder}"]
    if arguments.json:
        write_json(sys.stdout, document)
    else:
        write_lines(sys.stdout, *lines)
    return max((exit_code_of(column.plan.verdict) for column in columns if column.plan is not None), default=EXIT_DONE)
