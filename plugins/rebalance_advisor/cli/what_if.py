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

from kafka_rebalance.errors import UsageError
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

    tell_of_first_compile(command)
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
    from rebalance_advisor.publish.what_if_words import NOTE, what_if_lines

    document, lines = {"note": NOTE} | with_texts(what_if_document(found, seed)), what_if_lines(found)
    with taken_back_on_interrupt():
        folder = write_what_if(out, document, lines)
    if as_json:
        write_json(sys.stdout, document | {"folder": str(folder)})
    else:
        write_lines(sys.stdout, *lines, f"written to {folder}")
