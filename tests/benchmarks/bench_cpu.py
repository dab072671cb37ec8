"""CPU seconds of plans of small and middling clusters, without and with the frontier, kernels warm.

    python -m tests.benchmarks.bench_cpu [--size BROKERSxREPLICAS …] [--no-frontier]

One line of a Markdown table for each size and band: seconds of plan and frontier, bytes over the bound, bytes, and how
many points the frontier has. Clusters are skewed ones of ``bench_scale``: three replicas a partition, disk, rates in
and out, replicas and leaders.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.frontier import with_frontier
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.model import ClusterSnapshot
from tests.benchmarks.bench_scale import Size, skewed_snapshot

SIZES = ("6x500", "10x1000", "12x3000", "30x3000", "60x10000", "100x30000")
TOLERANCES = (0.10, 0.03)
REPLICAS_PER_PARTITION = 3


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", action="append", default=[], metavar="BROKERSxREPLICAS")
    parser.add_argument("--no-frontier", action="store_true")
    arguments = parser.parse_args(argv)
    sys.stdout.write(
        "| brokers × replicas | band | plan, CPU s | its frontier, CPU s | bytes / bound | bytes | points |\n"
        "|---|---|---|---|---|---|---|\n"
    )
    timed(_snapshot("30x3000"), 0.05, has_frontier=True)  # kernels are compiled, or loaded
    for size in arguments.size or SIZES:
        snapshot = _snapshot(size)
        for within in TOLERANCES:
            plan, search_s, frontier_s = timed(snapshot, within, has_frontier=not arguments.no_frontier)
            bound = next((proved.value for proved in plan.lower_bound if proved.cost == "bytes"), 0.0)
            ratio = f"{(plan.cost.bytes or 0) / bound:.4f}" if bound else "-"
            sys.stdout.write(
                f"| {size.replace('x', ' × ')} | ±{within:.0%} | {search_s:.1f} | {frontier_s:.1f} | {ratio} "
                f"| {plan.cost.bytes or 0:,} | {len(plan.frontier)} |\n"
            )
            sys.stdout.flush()
    return 0


def _snapshot(size: str) -> ClusterSnapshot:
    brokers, replicas = map(int, size.split("x"))
    return skewed_snapshot(Size(size, brokers, replicas // REPLICAS_PER_PARTITION, racks=3))


def timed(snapshot: ClusterSnapshot, within: float, *, has_frontier: bool) -> tuple[Plan, float, float]:
    """The plan, CPU seconds of its search, waves and words, and those of its frontier."""
    options = PlanOptions(within=within, with_frontier=False)
    started = time.process_time()
    plan = make_plan(snapshot, options)
    searched = time.process_time()
    if has_frontier:
        plan = with_frontier(plan, build_request(snapshot, options), seed=0)
    return plan, searched - started, time.process_time() - searched


if __name__ == "__main__":
    sys.exit(main())
