"""What each option of cost adds to the plan without it: CPU seconds, the plan's costs, the imbalance that it leaves.

    python -m tests.benchmarks.bench_options [--only demo|BROKERSxPARTITIONSxRACKS …] [--option NAME …] [--stages]

Clusters are the demo's (12 brokers × 3,300 partitions) and ``generated`` skewed ones, bands ±10 %, no frontier.
CPU seconds are this process's, kernels warm: waves are counted, verification is not. ``times`` is how many times the
CPU of the plan without the option. Imbalance is the share of load outside bands, summed over resources.
``--stages`` adds the CPU seconds of each stage.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.dead_band import imbalance
from kafka_rebalance.plans.draft import bands_of
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, TraceStep, to_document
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.plans.state import Watch
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from rebalance_advisor.dumps import read_input
from stack.demo.cluster import write_demo_cluster
from tests.benchmarks.bench_scale import Size, skewed_snapshot

DEMO = "demo"
SIZES = ("12x1000x3", DEMO, "30x3000x3")
DEFAULT = "default"
OPTIONS = {
    DEFAULT: PlanOptions(),
    "prefer moves": PlanOptions(prefer="moves"),
    "prefer time": PlanOptions(prefer="time"),
    "prefer leaders": PlanOptions(prefer="leaders"),
    "max-leader-changes 50": PlanOptions(max_leader_changes=50),
    "max-moves 50": PlanOptions(max_moves=50),
    "max-hours 0.1": PlanOptions(max_hours=0.1),
    "max-move-bytes 100GB": PlanOptions(max_move_bytes=100_000_000_000),
}
HEAD = "| cluster | option | CPU s | times | GB | moves | leader changes | bounds | minutes | imbalance | verify |\n"


def main(argv: list[str] | None = None) -> int:
    """Print the table; 1 where a plan is not right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="CLUSTER")
    parser.add_argument("--option", action="append", default=[], choices=list(OPTIONS))
    parser.add_argument("--stages", action="store_true")
    arguments = parser.parse_args(argv)
    chosen = [DEFAULT, *(name for name in OPTIONS if name in (arguments.option or OPTIONS) and name != DEFAULT)]
    _warm_up(chosen)
    sys.stdout.write(HEAD + "|---" * (HEAD.count("|") - 1) + "|\n")
    all_right = True
    for shape in arguments.only or SIZES:
        snapshot, default_s = _cluster(shape), 0.0
        for name in chosen:
            watched: list[tuple[str, float]] = []
            started = time.process_time()
            plan = make_plan(snapshot, _whole(name), watch=_watch(watched))
            cpu_s = time.process_time() - started
            default_s = default_s or cpu_s
            all_right &= _line(f"{shape} | {name} | {cpu_s:.2f} | {cpu_s / default_s:.1f}", snapshot, plan)
            if arguments.stages:
                _stages(watched, started)
    return 0 if all_right else 1


def _cluster(shape: str) -> ClusterSnapshot:
    if shape == DEMO:
        with tempfile.TemporaryDirectory() as folder:
            return read_input(write_demo_cluster(Path(folder) / DEMO))
    brokers, partitions, racks = map(int, shape.split("x"))
    return skewed_snapshot(Size(shape, brokers, partitions, racks))


def _whole(name: str) -> PlanOptions:
    return replace(OPTIONS[name], within=0.10, with_frontier=False)


def _warm_up(names: list[str]) -> None:
    """Compile, or load, the kernels of each option: on a cluster for which each limit is too little."""
    snapshot = skewed_snapshot(Size("warm-up", 12, 500, 3))
    for name in names:
        make_plan(snapshot, _whole(name))
    make_plan(snapshot, replace(_whole(DEFAULT), max_leader_changes=5))


def _watch(watched: list[tuple[str, float]]) -> Watch:
    def watch(step: TraceStep) -> None:
        watched.append((step.stage, time.process_time()))

    return watch


def _line(cells: str, snapshot: ClusterSnapshot, plan: Plan) -> bool:
    wrong = verify_plan(to_document(plan), snapshot).wrong
    cost, bounds = plan.cost, {bound.cost: bound.value for bound in plan.lower_bound}
    least = (
        f"{(bounds.get('bytes') or 0) / 1e9:.0f} GB, {bounds.get('replica_moves') or 0:.0f} moves, "
        f"{bounds.get('leader_changes') or 0:.0f} leaders"
    )
    text = "right" if not wrong else "; ".join(map(str, wrong[:2]))
    sys.stdout.write(
        f"| {cells} | {(cost.bytes or 0) / 1e9:.1f} | {cost.replica_moves} | {cost.leader_changes} | {least} "
        f"| {(cost.seconds or 0) / 60:.1f} | {_imbalance(snapshot, plan):.5f} | {text} |\n"
    )
    sys.stdout.flush()
    return not wrong


def _imbalance(snapshot: ClusterSnapshot, plan: Plan) -> float:
    """What the plan leaves outside the bands."""
    problem = build_request(snapshot, PlanOptions(within=0.10)).problem(0.10)
    after = {outcome.resource: outcome.after for outcome in plan.resources}
    load = np.array([[after[name][broker] for name in problem.resources] for broker in problem.broker_ids.tolist()])
    return imbalance(bands_of(problem), load, problem.stays)


def _stages(watched: list[tuple[str, float]], started: float) -> None:
    for stage, ended in watched:
        if ended - started >= 0.05:
            sys.stdout.write(f"    {stage}: {ended - started:.2f} s\n")
        started = ended


if __name__ == "__main__":
    sys.exit(main())
