"""``plan --balance-log-dirs 10%`` and ``plan --remove-log-dir BROKER:/path``: between dirs of their own broker.

DIR gets ``log_dirs.json``, each wave and its way back in Kafka's own JSON, and ``commands.md``. ``verify DIR INPUT``
recomputes it, ``check DIR SNAPSHOT`` tells how far it is.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from kafka_rebalance.errors import AdvisorError, UsageError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import BrokerId, Share
from rebalance_advisor.cli.exit_codes import EXIT_CANNOT_TELL, EXIT_DONE
from rebalance_advisor.cli.input_arguments import argument_of
from rebalance_advisor.cli.interrupt import taken_back_on_interrupt
from rebalance_advisor.cli.plan_input import read_plan_input
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.publish.folders.whole_folder import replace_folder
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.terminal import write_json, write_lines
from rebalance_advisor.version import advisor_version

if TYPE_CHECKING:
    from kafka_rebalance.log_dir_plans.plan import LogDirPlan

BALANCE, REMOVE = "--balance-log-dirs", "--remove-log-dir"


def add_log_dir_options(parser: argparse.ArgumentParser) -> None:
    """Both may be given; no replica changes its broker."""
    group = parser.add_argument_group("disks within a broker, instead of a plan between brokers")
    words = "no disk's used share further than this from its broker's, e.g. 10%% for ten points of a hundred"
    group.add_argument(BALANCE, type=argument_of(Share), metavar="10%", help=words)
    words = "a dir of a broker that is to be empty, as 3:/data/2 …"
    group.add_argument(REMOVE, type=_removed, action="append", default=[], metavar="BROKER:PATH", help=words)


def asks_for_log_dirs(arguments: argparse.Namespace) -> bool:
    """One of the two was given."""
    return arguments.balance_log_dirs is not None or bool(arguments.remove_log_dir)


def run_log_dirs(arguments: argparse.Namespace, request: RunRequest) -> int:
    """Raises UsageError for what moves something between brokers, InfeasibleError where a dir cannot be emptied."""
    from kafka_rebalance.log_dir_plans.make import make_log_dir_plan
    from kafka_rebalance.log_dir_plans.request import LogDirRequest
    from kafka_rebalance.verify.log_dirs import check_log_dir_plan
    from rebalance_advisor.publish.log_dir_files import JSON_FILE, log_dir_files

    require_log_dirs_alone(arguments, request)
    given = read_plan_input(arguments, request, Progress())
    asked = LogDirRequest(
        within=arguments.balance_log_dirs,
        removed=frozenset(arguments.remove_log_dir),
        throttle_bytes_per_s=request.options.throttle_bytes_per_s,
        partitions_per_wave=request.options.partitions_per_wave,
    )
    plan = make_log_dir_plan(given.snapshot, asked, advisor_version=advisor_version())
    files = log_dir_files(plan)
    beside = {name: content for name, content in files.items() if name != JSON_FILE}
    if wrong := check_log_dir_plan(plan.document(), given.snapshot, beside):
        raise AdvisorError(f"the plan did not pass its own verification and is not written: {wrong[0]}")
    with taken_back_on_interrupt():
        folder = replace_folder(arguments.out, files, plan.plan_id)
    if arguments.json:
        shown = (
            "plan_id",
            "verdict",
            "reasons",
            "replica_moves",
            "dir_bytes",
            "lower_bound_bytes",
            "seconds",
            "brokers",
        )
        document = plan.document()
        write_json(sys.stdout, {name: document[name] for name in shown} | {"folder": str(folder)})
    else:
        write_lines(sys.stdout, *log_dir_lines(plan), f"written to {folder}")
    return EXIT_CANNOT_TELL if plan.verdict == "cannot_tell" else EXIT_DONE


def require_log_dirs_alone(arguments: argparse.Namespace, request: RunRequest) -> None:
    """Only the throttle and the size of a wave are asked beside it."""
    defaults = PlanOptions()
    options = replace(
        request.options,
        throttle_bytes_per_s=defaults.throttle_bytes_per_s,
        partitions_per_wave=defaults.partitions_per_wave,
        with_frontier=True,
    )
    is_alone = options == defaults and not request.own_scenarios and arguments.capacity is None
    if not is_alone or arguments.previous is not None or request.load or arguments.new_topic:
        problem = "only moves replicas between log dirs of their own broker"
        hint = "leave all but --throttle and --partitions-per-wave out: what is to change its broker is another plan"
        raise UsageError.at(REMOVE if arguments.remove_log_dir else BALANCE, problem, hint)


def log_dir_lines(plan: LogDirPlan) -> list[str]:
    """The verdict, why, and each disk before and after."""
    from kafka_rebalance.render import render_all

    first, *others = render_all(plan.reasons)
    lines = [f"{plan.verdict}: {first}", *(f"  {reason}" for reason in others)]
    for broker in plan.brokers:
        for place in broker.places:
            paths = " and ".join(place.paths)
            if place.total_bytes and place.used_before is not None and place.used_after is not None:
                before, after = place.used_before / place.total_bytes, place.used_after / place.total_bytes
                lines.append(f"  broker {broker.broker} {paths}: {before:.1%} used → {after:.1%}")
            else:
                lines.append(f"  broker {broker.broker} {paths}: {place.held_before:,} bytes → {place.held_after:,}")
    return lines


def _removed(text: str) -> tuple[int, str]:
    """``3:/data/2``."""
    broker, _, path = text.partition(":")
    if not path:
        raise argparse.ArgumentTypeError(f"{text!r} is no dir of a broker: give BROKER:PATH, e.g. 3:/data/2")
    return argument_of(BrokerId)(broker), path
