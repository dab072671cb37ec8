"""Check whether PLAN is still valid and worth it on a newer SNAPSHOT.

Exit codes: 0 valid, 10 stale, 11 not worth it, 12 harmful or in conflict; 1 bad input or not a plan of ours (its hash
is wrong), 2 wrong usage; with --policy 13: valid, but the policy does not allow it. This machine's clock decides
whether a plan has expired and a policy's windows are open. ``--json`` gives each reason and each warning a stable code;
the texts may change.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from rebalance_advisor.cli.arguments import add_input_options, age_s, read_given, read_sealed_plan, with_reading_age
from rebalance_advisor.cli.history import add_window_options, window_request, with_window
from rebalance_advisor.cli.log_dirs import check_log_dirs, is_log_dir_plan
from rebalance_advisor.cli.policy import (
    add_policy_option,
    exit_code_with,
    policy_document,
    policy_lines,
    rules_broken_by,
)
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.publish.folders import plan_path
from rebalance_advisor.request.names_in_cluster import names_of, patterns_of_plan, require_quick
from rebalance_advisor.terminal import write_json, write_lines

WORDS = {0: "valid", 10: "stale", 11: "not worth it", 12: "harmful or in conflict"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", metavar="PLAN", type=plan_path)
    parser.add_argument("snapshot", metavar="SNAPSHOT", type=Path)
    parser.add_argument("--json", action="store_true", help="print the status as JSON")
    add_policy_option(parser)
    add_input_options(parser)
    add_window_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from kafka_rebalance.plans.check import ReasonCode, check_plan
    from kafka_rebalance.render import render_all, with_texts

    if is_log_dir_plan(arguments.plan):
        return check_log_dirs(arguments)
    say, request = Progress(), window_request(arguments)
    document = read_sealed_plan(arguments.plan)
    say("reading")
    snapshot, now = read_given(arguments.snapshot, arguments), datetime.now(UTC)
    snapshot, _ = with_window(snapshot, request, arguments.history, max_bytes=arguments.max_input_bytes, say=say)
    require_quick(patterns_of_plan(document), names_of(snapshot))
    result, broken = check_plan(document, snapshot, now=now), rules_broken_by(document, arguments.policy, now)
    code = int(result.status)
    if arguments.json:
        reasons, warnings = (
            [with_texts(reason.document()) for reason in rows] for rows in (result.because, result.warnings)
        )
        outcome = {"status": WORDS[code], "reasons": reasons, "done": result.done, "left": result.left}
        outcome |= {"warnings": warnings, "reading_age_s": age_s(snapshot.captured_at, now)}
        outcome |= {"policy": policy_document(broken)}
        write_json(sys.stdout, outcome)
    else:
        is_done = result.codes == (ReasonCode.ALL_DONE,)
        state = f"done: all {result.done:,} moves are there" if is_done else WORDS[code]
        first = f"plan {str(document['plan_id'])[:12]} is {state}"
        write_lines(sys.stdout, *with_reading_age([first], snapshot.captured_at, now))
        because = () if is_done else result.because
        blocks = (("  ", because), ("  warning: ", result.warnings))
        for head, rows in blocks:
            lines = (f"{head}{reason.code.value}: {'; '.join(render_all(reason.facts))}" for reason in rows)
            write_lines(sys.stdout, *lines)
        write_lines(sys.stdout, *policy_lines(broken))
    return exit_code_with(code, broken)
