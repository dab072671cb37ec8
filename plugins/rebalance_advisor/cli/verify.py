"""Recompute all claims of PLAN from INPUT alone, and name each fault.

PLAN is a plan's folder, or its plan.json; every file of the plan beside it is judged as well, and none may be missing.
A plan.json without such a folder is verified alone, and the output says so. INPUT is the plan's own input. Exit codes:
0 all right, 1 faults or bad input, 2 wrong usage; with --policy 13: right, but the policy does not allow it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.verify import Verification
from rebalance_advisor.cli.arguments import add_input_options, read_given
from rebalance_advisor.cli.history import add_window_options, window_request, with_window
from rebalance_advisor.cli.log_dirs import is_log_dir_plan, verify_log_dirs
from rebalance_advisor.cli.policy import (
    Broken,
    add_policy_option,
    exit_code_with,
    policy_document,
    policy_lines,
    rules_broken_by,
)
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.input_bytes import ByteBudget, read_bytes
from rebalance_advisor.publish.folders import MARKER, plan_path
from rebalance_advisor.request.names_in_cluster import names_of, patterns_of_plan, require_quick
from rebalance_advisor.terminal import write_json, write_lines

EXIT_RIGHT, EXIT_FAULTS = 0, 1
_PLAN_KEYS = (b'"plan_id"', b'"moves"', b'"parameters"')
_FOLDERS = ("waves", "rollback", "elections")
_OWN_FILES = ("commands.md", "moves.csv", "report.html", "digest.md")
_OWN_JSON = ("advisory.json", "findings.json", "groups.json", "topics.json")
_PLAN = "plan.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", metavar="PLAN", type=plan_path)
    parser.add_argument("input", metavar="INPUT", type=Path)
    parser.add_argument("--json", action="store_true", help="print faults and recomputed bounds as JSON")
    add_policy_option(parser)
    add_input_options(parser)
    add_window_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from kafka_rebalance.verify import verify_folder

    if is_log_dir_plan(arguments.plan):
        return verify_log_dirs(arguments)
    say, request = Progress(), window_request(arguments)
    contents = _contents(arguments.plan)
    is_alone = len(contents) == 1 and not _is_plan_folder(arguments.plan)
    say("reading")
    snapshot = read_given(arguments.input, arguments)
    snapshot, _ = with_window(snapshot, request, arguments.history, max_bytes=arguments.max_input_bytes, say=say)
    say("verifying")
    require_quick(_patterns(contents[_PLAN]), names_of(snapshot))
    verification = verify_folder(contents, snapshot, is_alone=is_alone)
    # Only for a correct document: other figures may be missing.
    broken = rules_broken_by(json.loads(contents[_PLAN]), arguments.policy) if verification.is_right else None
    _print_outcome(verification, contents, broken, is_alone=is_alone, as_json=arguments.json)
    return exit_code_with(EXIT_RIGHT, broken) if verification.is_right else EXIT_FAULTS


def _patterns(plan: bytes) -> list[tuple[str, str]]:
    with suppress(ValueError, RecursionError):
        document = json.loads(plan)
        return list(patterns_of_plan(document)) if isinstance(document, dict) else []
    return []


def _is_plan_folder(path: Path) -> bool:
    folder = path.parent
    return path.is_dir() or (folder / MARKER).exists() or any((folder / name).is_dir() for name in _FOLDERS)


def _contents(path: Path) -> dict[str, bytes]:
    folder, plan = (path, path / _PLAN) if path.is_dir() else (path.parent, path)
    contents = {_PLAN: _read(plan)}
    if not any(key in contents[_PLAN] for key in _PLAN_KEYS):  # do not quote a foreign file
        raise InvalidInputError.at(str(plan), "is no plan", "give plan.json or the folder that holds it")
    beside = [folder / name for name in (*_OWN_FILES, *_OWN_JSON)]
    beside += [file for name in _FOLDERS for file in sorted((folder / name).glob("*.json"))]
    for file in beside:
        if file.is_file():
            contents[file.relative_to(folder).as_posix()] = _read(file)
    return contents


def _read(file: Path) -> bytes:
    if not file.is_file():
        problem = "is no file" if file.exists() else "does not exist"
        raise InvalidInputError.at(str(file), problem, "give plan.json or the folder that holds it")
    return read_bytes(file, ByteBudget())


def _print_outcome(
    verification: Verification, contents: Mapping[str, bytes], broken: Broken, *, is_alone: bool, as_json: bool
) -> None:
    if as_json:
        outcome = {
            "is_right": verification.is_right,
            "files_beside": None if is_alone else sorted(contents.keys() - {_PLAN}),
            "faults": [{"code": f.code, "place": f.location, "message": f.message} for f in verification.faults],
            "counts": dict(verification.counts),
            "bounds": dict(verification.bounds),
            "policy": policy_document(broken),
        }
        write_json(sys.stdout, outcome)
        return
    if verification.is_right:
        _tell_right(verification, json.loads(contents[_PLAN]))
    else:
        write_lines(sys.stdout, *map(str, verification.faults))
        more = sum(verification.counts.values()) - len(verification.faults)
        if more:
            write_lines(sys.stdout, f"and {more} more of the same kinds")
    if is_alone and not verification.is_of_another_snapshot:
        write_lines(sys.stdout, "files beside: not there, not judged")
    write_lines(sys.stdout, *policy_lines(broken))


def _tell_right(verification: Verification, document: dict[str, Any]) -> None:
    write_lines(sys.stdout, f"plan {document['plan_id'][:12]} is right: {len(document['moves']):,} moves")
    for name, value in verification.bounds.items():
        write_lines(sys.stdout, f"  {name}: at least {value:,.0f}, the plan takes {document['cost'][name]:,.0f}")
    write_lines(sys.stdout, *(f"  note: {note}" for note in verification.faults))
