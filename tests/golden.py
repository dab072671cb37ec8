"""Record and compare what plans decide, without a word of how they say it: for refactoring.

``python -m tests.golden --record FILE`` writes one line for each plan of 270 random clusters with all kinds of options,
of the demo's dumps and of each ``INPUT`` given; ``--compare FILE`` makes them again and prints each that differs.
The lines hold moves, waves, costs, bounds, proofs, frontier and verdict; reasons and explanations are words.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.dumps.any_input import read_input
from stack.demo.cluster import write_demo_cluster
from tests.properties.any_cluster import any_case
from tests.properties.clusters_with_everything import cluster_with_everything
from tests.properties.unhealthy_clusters import unhealthy_cluster

WORDS = ("reason", "worse_without", "words", "reasons", "explanations", "preconditions", "left_out", "proof", "why")
OTHER = ("plan_id", "format_version", "trace", "continues")
Case = tuple[str, ClusterSnapshot, PlanOptions]


def decided(value: Any) -> Any:
    """Return the document without its words, version and hash."""
    if isinstance(value, dict):
        return {key: decided(part) for key, part in value.items() if key not in WORDS + OTHER}
    return [decided(part) for part in value] if isinstance(value, list) else value


def cases(inputs: list[Path]) -> Iterator[Case]:
    for seed in range(150):
        yield f"everything-{seed}", *cluster_with_everything(seed)
    for seed in range(80):
        case = any_case(seed)
        yield f"any-{seed}", case.snapshot, case.options
    for seed in range(40):
        yield f"unhealthy-{seed}", *unhealthy_cluster(seed)
    with tempfile.TemporaryDirectory() as folder:
        yield "demo", read_input(write_demo_cluster(Path(folder) / "demo")), PlanOptions()
    for path in inputs:
        snapshot = read_input(path)
        yield path.name, snapshot, PlanOptions()
        yield f"{path.name} within 15 %", snapshot, PlanOptions(within=0.15, with_frontier=False)


def lines(inputs: list[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each case's decisions, and of every third one those of the plan that continues it."""
    for number, (name, snapshot, options) in enumerate(cases(inputs)):
        try:
            document = to_document(make_plan(snapshot, options, seed=number % 3))
        except AdvisorError as error:
            yield name, {"refused": type(error).__name__}
            continue
        yield name, decided(document)
        if number % 3 == 0 and document["moves"]:
            later = replace(options, with_frontier=False)
            yield f"{name} again", decided(to_document(make_plan(snapshot, later, seed=1, previous=document)))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden")
    parser.add_argument("inputs", nargs="*", type=Path)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--compare", type=Path)
    given = parser.parse_args()
    known = json.loads(given.compare.read_text()) if given.compare else {}
    made, different = {}, 0
    for name, document in lines(given.inputs):
        made[name] = {field: _digest(value) for field, value in document.items()}
        before = known.get(name, {})
        fields = [field for field in made[name].keys() | before.keys() if made[name].get(field) != before.get(field)]
        if given.compare and fields:
            different += 1
            print(f"{name}: {', '.join(sorted(fields))}")
    if given.record:
        given.record.write_text(json.dumps(made, indent=0))
    print(f"{len(made)} plans, {different} differ" if given.compare else f"{len(made)} plans recorded")
    return 1 if different or (given.compare and known.keys() != made.keys()) else 0


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main())
