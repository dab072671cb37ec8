"""Each model with each cost first: all four costs beside their bounds and a peer's, and what ``verify`` says.

    python -m tests.benchmarks.bench_preferences --models FOLDER [--only NAME …] [--prefer COST …]

FOLDER as for ``bench_planner``; the bands are those that Cruise Control's ``+det`` run reached. A figure is the
cost over its bound, 1.000 where both are the same; ``-`` where nothing at all is needed. Last lines: the means.
CPU seconds: making the plan, waves and words included, kernels warm.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from kafka_rebalance.options.plan_options import PlanOptions, Preference
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from rebalance_advisor.dumps import read_input
from tests.benchmarks.bench_planner import peer_targets

COSTS = ("bytes", "replica_moves", "seconds", "leader_changes")
HEAD = "| model | first | bytes | moves | time | leaders | bytes / peer | moves / peer | CPU s | verify |\n"


def main(argv: list[str] | None = None) -> int:
    """Print the table; 1 where a plan is not right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--prefer", action="append", default=[], choices=[cost.value for cost in Preference])
    arguments = parser.parse_args(argv)
    peers = json.loads((arguments.models / "cruise_control.json").read_text())
    peer_of = {row["model"]: row for row in peers if row["variant"] == "+det"}
    sys.stdout.write(HEAD + "|---" * (HEAD.count("|") - 1) + "|\n")
    all_right, ratios = True, defaultdict(list)
    for name, peer in sorted(peer_of.items()):
        path = arguments.models / f"{name}.json.gz"
        if (arguments.only and name not in arguments.only) or not path.exists():
            continue
        snapshot = read_input(path)
        for first in arguments.prefer or list(Preference):
            right, figures = _line(name, snapshot, str(first), peer)
            all_right &= right
            for column, figure in figures.items():
                ratios[str(first), column].append(figure)
    for first in arguments.prefer or list(Preference):
        means = [_mean(ratios[str(first), column]) for column in (*COSTS, "bytes / peer", "moves / peer")]
        sys.stdout.write(f"| geometric mean | {first} | {' | '.join(means)} | | |\n")
    return 0 if all_right else 1


def _line(name: str, snapshot: ClusterSnapshot, first: str, peer: dict[str, Any]) -> tuple[bool, dict[str, float]]:
    options = PlanOptions(targets=peer_targets(peer), with_frontier=False, prefer=first)
    started = time.process_time()
    plan = make_plan(snapshot, options)
    cpu_s = time.process_time() - started
    wrong = verify_plan(to_document(plan), snapshot).wrong
    figures = _over_bounds(plan)
    figures["bytes / peer"] = (plan.cost.bytes or 0) / peer["bytes_moved"] if peer["bytes_moved"] else math.nan
    figures["moves / peer"] = plan.cost.replica_moves / peer["replica_moves"] if peer["replica_moves"] else math.nan
    cells = [_text(figures[column]) for column in (*COSTS, "bytes / peer", "moves / peer")]
    text = "right" if not wrong else "; ".join(map(str, wrong[:2]))
    sys.stdout.write(f"| {name} | {first} | {' | '.join(cells)} | {cpu_s:.2f} | {text} |\n")
    sys.stdout.flush()
    return not wrong, figures


def _over_bounds(plan: Plan) -> dict[str, float]:
    gaps = {bound.cost: bound.gap for bound in plan.lower_bound}
    return {cost: math.nan if (gap := gaps.get(cost)) is None else 1 + gap for cost in COSTS}


def _mean(values: list[float]) -> str:
    known = [value for value in values if value > 0]
    return _text(math.exp(sum(map(math.log, known)) / len(known)) if known else math.nan)


def _text(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"


if __name__ == "__main__":
    sys.exit(main())
