"""Is PLAN still valid and worth it on a newer SNAPSHOT?

Exit codes: 0 valid, 10 stale, 11 not worth it, 12 harmful or in conflict; 1 bad input or not a plan of ours (its
hash is wrong), 2 wrong usage. ``--json`` gives each reason a code, which scripts may rely on; the words may change.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rebalance_advisor.cli.input_arguments import add_input_options
from rebalance_advisor.cli.plan_arguments import read_sealed_plan
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.publish.folders.version_folders import plan_path
from rebalance_advisor.terminal import write_json, write_lines

WORDS = {0: "valid", 10: "stale", 11: "not worth it", 12: "harmful or in conflict"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``rebalance-advisor check``."""
    parser.add_argument("plan", metavar="PLAN", type=plan_path)
    parser.add_argument("snapshot", metavar="SNAPSHOT", type=Path)
    parser.add_argument("--json", action="store_true", help="print the status as JSON")
    add_input_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read both, compare, report; the status is the exit code."""
    from kafka_rebalance.plans.check import check_plan
    from rebalance_advisor.dumps import read_input

    say = Progress()
    document = read_sealed_plan(arguments.plan)
    say("reading")
    result = check_plan(document, read_input(arguments.snapshot, max_bytes=arguments.max_input_bytes))
    code = int(result.status)
    if arguments.json:
        reasons = [{"code": reason.code.value, "words": reason.words} for reason in result.because]
        outcome = {"status": WORDS[code], "reasons": reasons, "done": result.done, "left": result.left}
        write_json(sys.stdout, outcome)
    else:
        write_lines(sys.stdout, f"plan {str(document['plan_id'])[:12]} is {WORDS[code]}")
        write_lines(sys.stdout, *(f"  {reason.code.value}: {reason.words}" for reason in result.because))
    return code
