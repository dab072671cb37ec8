"""``--survive`` on cluster models: what the worst loss of a broker and of a rack leads to, before and after each plan.

Prints Markdown. Each broker can send so much that all others together, after the loss of the largest group, would carry
what leaders send at ``--level`` of it. *today*, *plan* (±10 %, nothing to survive), *survive* (the same plan, changed
until every loss is survived): highest load over capacity of any broker after any loss, and the moves that it takes.
``python -m tests.benchmarks.bench_survive --models FOLDER [NAME …]``
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.planner.survive import Allowance, survive
from kafka_rebalance.plans.draft import Draft, draft_of, empty_draft, outcome_of
from kafka_rebalance.plans.failures import in_service, losses_of, standing, with_follower_order, worst_loss
from kafka_rebalance.plans.request import PlanRequest, build_request
from kafka_rebalance.plans.survival import loss_state_of
from kafka_rebalance.resources import BOUNDED
from kafka_rebalance.snapshot.model import Capacity
from rebalance_advisor.dumps.any_input import read_input

LEVEL = 0.8
KINDS = ("broker", "rack")


def main() -> None:
    """Two rows for each model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--level", type=float, default=LEVEL)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    head = "today | plan | survive | replica moves: plan | more | leaders: plan | more | orders | CPU s"
    print(f"| model | lost | {head} |")
    print("|---" * 11 + "|")
    for path in sorted(arguments.models.glob("*.json.gz")):
        name = path.name.removesuffix(".json.gz")
        if not arguments.names or name in arguments.names:
            for kind in KINDS:
                print(row_of(name, path, kind, arguments.level), flush=True)


def row_of(name: str, path: Path, kind: str, level: float) -> str:
    """One kind of loss on one model."""
    plan_request = sized(build_request(read_input(path), PlanOptions(survive=kind)), kind, level)
    if kind not in losses_of(plan_request, in_service(plan_request)):
        return f"| {name} | {kind} | one rack |" + " |" * 8
    problem = plan_request.problem(0.1)
    solution = solve(problem)
    planned = with_follower_order(plan_request, draft_of(plan_request, solution.replicas, solution.leader))
    started = time.process_time()
    state = survive(loss_state_of(plan_request, problem, planned), Allowance()).state
    seconds = time.process_time() - started
    draft = draft_of(plan_request, state.lists[plan_request.rows], state.leader[plan_request.rows])
    ratios = [highest(plan_request, item, kind) for item in (empty_draft(plan_request), planned, draft)]
    copies, leaders = int(planned.copies.sum()), int(planned.changes_leader.sum())
    cells = (
        *ratios, f"{copies:,}", f"{int(draft.copies.sum()) - copies:+,}", f"{leaders:,}",
        f"{int(draft.changes_leader.sum()) - leaders:+,}", f"{int(draft.is_reorder.sum()):,}", f"{seconds:.1f}",
    )  # fmt: skip
    return f"| {name} | {kind} | " + " | ".join(cells) + " |"


def sized(plan_request: PlanRequest, kind: str, level: float) -> PlanRequest:
    """The same cluster with brokers that can send so much that a loss may be survived, and no other known capacity."""
    losses = losses_of(plan_request, in_service(plan_request))
    group = losses.get(kind, losses["broker"]).group.tolist()
    largest = max(group.count(number) for number in set(group) if number >= 0)
    outcome = outcome_of(plan_request, empty_draft(plan_request))
    sent = float(outcome.before_by_resource["out"].sum())
    count = sum(number >= 0 for number in group)
    rate = sent / (count - largest) / level
    capacities = {broker.id: Capacity(out_bytes_per_s=rate) for broker in plan_request.brokers.brokers}
    options = replace(plan_request.options, capacities=capacities)
    return build_request(plan_request.snapshot, options)


def highest(plan_request: PlanRequest, draft: Draft, kind: str) -> str:
    """Load over capacity, and of what."""
    serves = in_service(plan_request)
    placed = standing(plan_request, draft, outcome_of(plan_request, draft).after_by_resource, serves)
    load = worst_loss(plan_request, placed, losses_of(plan_request, serves)[kind], serves).load
    return "" if load is None or load.resource not in BOUNDED else f"{load.ratio:.3f} {load.resource}"


if __name__ == "__main__":
    main()
