"""What each strategy would do with one group of INPUT, and what it costs when a pod dies or all of them restart.

INPUT is a snapshot or a folder of dumps, as for ``advise``. Exit codes: 0 done, 1 bad input or no such group, 2 wrong
usage.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, replace
from pathlib import Path

from kafka_assignors.errors import UnknownNameError
from rebalance_advisor.cli.arguments import add_input_options, read_given
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.terminal import write_json, write_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``rebalance-advisor group``."""
    parser.add_argument("input", metavar="INPUT", type=Path)
    parser.add_argument("group", metavar="GROUP", help="its id")
    parser.add_argument(
        "--to", metavar="STRATEGY", help="the way to this one of the table, as consumer/uniform (what is advised)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="draws the members that join (0)")
    parser.add_argument("--json", action="store_true", help="print every row of every scenario as JSON")
    add_input_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read, replay one group through every scenario, print."""
    from kafka_rebalance.advisory.advisory import rollover_steps
    from kafka_rebalance.findings.group_rules import findings_by_group, group_advice
    from kafka_rebalance.findings.rules import evaluate_rules
    from kafka_rebalance.groups.group_replay import EVERYTHING
    from kafka_rebalance.render import render, render_all, with_texts
    from kafka_rebalance.scoring.snapshot_scores import score_cluster
    from rebalance_advisor.compiling.first_compile import tell_of_first_compile
    from rebalance_advisor.publish.group_table import group_table

    tell_of_first_compile()
    say = Progress()
    say("reading")
    snapshot = read_given(arguments.input, arguments)
    found = [group for group in snapshot.groups if group.id == arguments.group]
    if not found:
        raise UnknownNameError.among("group", arguments.group, [group.id for group in snapshot.groups])
    say("replaying")
    alone = replace(snapshot, groups=tuple(found))
    (answer,) = replace(EVERYTHING, seed=arguments.seed).replays(alone)
    names = [score.assignor for score in answer.scores]
    if arguments.to is not None and arguments.to not in names:
        raise UnknownNameError.among("strategy", arguments.to, names)
    if arguments.json:
        rows = {name: [row.document() for row in getattr(answer, name)] for name in ("scores", "scenarios")}
        write_json(sys.stdout, with_texts(asdict(replace(answer, scores=(), scenarios=())) | rows))
        return 0
    # Of the whole cluster, as `advise` does: who else reads the group's topics is part of what is known of it.
    about = findings_by_group(evaluate_rules(snapshot, score_cluster(snapshot), [answer])).get(arguments.group, [])
    write_lines(sys.stdout, *group_table(answer, found[0], render(group_advice(answer, found[0], about))))
    steps = rollover_steps(answer, found[0], snapshot.kafka_version, arguments.to)
    write_lines(sys.stdout, *render_all(steps))
    return 0
