"""The planner on cluster models, beside a peer's results, scored by the neutral scorer that lies beside the models.

    python -m tests.benchmarks.bench_planner --models FOLDER [--only NAME …]

FOLDER holds ``NAME.json.gz`` models, ``score.py`` and ``cruise_control.json``. For each model: (a) the band that Cruise
Control's ``+det`` run reached, (b) ±9 % on every resource. CPU seconds are user + system of the planner alone, second
call in this process; reading, waves and files are not counted. The last column is how far the figures that ``verify``
recomputes are from the scorer's, relative.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.dumps import read_input
from tests.benchmarks.verify_beside_scorer import SCORERS, farthest_apart

EDGE = (0.91, 1.09)


def main(argv: list[str] | None = None) -> int:
    """Print one line a model and band."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    arguments = parser.parse_args(argv)
    peers = {
        row["model"]: row
        for row in json.loads((arguments.models / "cruise_control.json").read_text())
        if row["variant"] == "+det"
    }
    sys.stdout.write(
        "model            band  cpu_s  peer_cpu_s  bytes/peer  bytes/bound  moves/peer  leaders/peer  outside  "
        "topic_excess(allowed)  racks  verify-scorer\n"
    )
    for path in sorted(arguments.models.glob("*.json.gz")):
        name = path.name.removesuffix(".json.gz")
        if arguments.only and name not in arguments.only:
            continue
        snapshot, peer = read_input(path), peers.get(name)
        if peer is not None:
            _line(name, "peer", path, snapshot, PlanOptions(targets=peer_targets(peer), with_frontier=False), peer)
        _line(name, "9 %", path, snapshot, PlanOptions(within=0.09, with_frontier=False), peer)
    return 0


def peer_targets(peer: dict[str, Any]) -> dict[str, Target]:
    """Its min and max over mean, widened to 0.91..1.09 where it did better."""
    low, high = peer["after_min_over_mean"], peer["after_max_over_mean"]
    return {
        ours: Target(low=min(low[theirs], EDGE[0]), high=max(high[theirs], EDGE[1]))
        for ours, theirs in SCORERS.items()
        if theirs in high
    }


def _line(
    name: str, band: str, path: Path, snapshot: ClusterSnapshot, options: PlanOptions, peer: dict[str, Any] | None
) -> None:
    plan_request = build_request(snapshot, options)
    problem = plan_request.problem(options.band)
    solve(problem)
    started = time.process_time()
    solution = solve(problem)
    cpu_s = time.process_time() - started
    plan = make_plan(snapshot, options)
    document = to_document(plan)
    scored = _score(path, document)
    after, before = scored["stats_after"], scored["stats_before"]
    bound = solution.bounds.bytes.value
    peer_bytes = None if peer is None else peer["bytes_moved"]
    outside = _outside(options.targets, after)
    allowed = max(before["topic_excess_replicas"], peer["topic_excess_replicas"][1] if peer else 0)
    moved = scored["bytes_moved"]
    sys.stdout.write(
        f"{name:<16} {band:>5} {cpu_s:6.2f} {_number(peer, 'optimiser_cpu_s'):>11} "
        f"{_ratio(moved, peer_bytes):>11} {_ratio(moved, bound):>12} "
        f"{_ratio(scored['n_replica_moves'], None if peer is None else peer['replica_moves']):>11} "
        f"{_ratio(scored['n_leader_moves'], None if peer is None else peer['leader_changes']):>13} "
        f"{','.join(outside) or '-':>8} "
        f"{after['topic_excess_replicas']:>9}({allowed}) {after['rack_violating_partitions']:>11} "
        f"{farthest_apart(document, snapshot, scored):>13.0e}"
        f"{'  ERRORS ' + str(scored['errors'][:2]) if scored['n_errors'] else ''}\n"
    )
    sys.stdout.flush()


def _outside(targets: Mapping[str, Target], after: dict[str, Any]) -> list[str]:
    """Resources that end outside the band asked for; counts may be rounded."""
    results = []
    for name, target in targets.items():
        stats = after[SCORERS[name]]
        slack = 1 / max(stats["mean"], 1e-12) if name in ("replicas", "leaders") else 1e-6
        if stats["max_over_mean"] > target.high + slack or stats["min"] / stats["mean"] < (target.low or 0) - slack:
            results.append(name)
    return results


def _score(path: Path, plan: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "plan.json"
        file.write_text(json.dumps(plan))
        completed = subprocess.run(
            [sys.executable, path.parent / "score.py", path, file], capture_output=True, text=True, check=True
        )
    result: dict[str, Any] = json.loads(completed.stdout)
    return result


def _number(row: dict[str, Any] | None, name: str) -> str:
    return "-" if row is None else f"{row[name]:.2f}"


def _ratio(value: float, base: float | None) -> str:
    return "-" if not base else f"{value / base:.4f}"


if __name__ == "__main__":
    sys.exit(main())
