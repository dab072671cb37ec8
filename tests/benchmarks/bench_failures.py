"""After a failure, on cluster models: every single broker and every rack lost, as a model stands and with new orders.

Prints Markdown. *today*: as the model stands; *order*: followers in another order, nothing else; *plan*: a plan at
±10 % with new orders. ``leaders``: the most that one broker takes over ÷ even over all that could take any, of the loss
that is spread worst (of those that bring each at least ``LEAST_EVEN``); ``load``: the highest load over capacity, of
any broker after any loss; ``possible``: brokers of which some order spreads the leaders within 1.1 × even, by a maximum
flow that knows nothing of the planner, and ``reached``: of how many of these the order does.
``python -m tests.benchmarks.bench_failures --models FOLDER [NAME …]``
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.draft import Draft, draft_of, empty_draft, outcome_of
from kafka_rebalance.plans.failures import (
    Loss,
    could_take,
    in_service,
    losses_of,
    standing,
    with_follower_order,
    worst_loss,
)
from kafka_rebalance.plans.request import PlanRequest, build_request
from kafka_rebalance.scoring.placement_scores import moved_loads, successors
from rebalance_advisor.dumps.any_input import read_input

# Below so many leaders for each one more or less is a large ratio, and no order of lists could help.
LEAST_EVEN = 3
NEAR_EVEN = 1.1
ALL_LISTS = 10**9


def main() -> None:
    """A row for each model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    limit = f"within {NEAR_EVEN:g} × even: possible | reached"
    head = [f"{what}, {kind}: today | order | plan" for what in ("leaders", "load") for kind in ("broker", "rack")]
    print("| model | lists reordered | " + " | ".join(head) + f" | {limit} | CPU s of the order |")
    print("|---" * 17 + "|")
    for path in sorted(arguments.models.glob("*.json.gz")):
        name = path.name.removesuffix(".json.gz")
        if not arguments.names or name in arguments.names:
            print(row_of(name, path), flush=True)


def row_of(name: str, path: Path) -> str:
    """Three placements, four figures each."""
    plan_request = build_request(read_input(path), PlanOptions(max_reorders=ALL_LISTS))
    started = time.process_time()
    ordered = with_follower_order(plan_request, empty_draft(plan_request))
    seconds = time.process_time() - started
    solution = solve(plan_request.problem(plan_request.options.band))
    planned = with_follower_order(plan_request, draft_of(plan_request, solution.replicas, solution.leader))
    columns = [figures(plan_request, draft) for draft in (empty_draft(plan_request), ordered, planned)]
    cells = [text for kind in zip(*columns, strict=True) for text in kind]
    possible, reached = near_even(plan_request, ordered)
    spread = f"{possible:,} | {reached:,}"
    return f"| {name} | {len(ordered):,} | " + " | ".join(cells) + f" | {spread} | {seconds:.2f} |"


def near_even(plan_request: PlanRequest, ordered: Draft) -> tuple[int, int]:
    """Brokers that lead enough: of how many the leaders can be spread so far by some order, and are by this one."""
    serves, possible, reached = in_service(plan_request), 0, 0
    placed = standing(plan_request, ordered, outcome_of(plan_request, ordered).after_by_resource, serves)
    stays = plan_request.brokers.arrays.keeps_leaders & serves
    able = placed.able & stays[placed.replicas] & (placed.replicas != placed.leader[:, None])
    for broker in np.flatnonzero(stays).tolist():
        rows = np.flatnonzero((placed.leader == broker) & able.any(axis=1))
        held = able[rows]
        even = -(-len(rows) // max(len(np.unique(placed.replicas[rows][held])), 1))
        most = int(NEAR_EVEN * even)
        if even >= LEAST_EVEN and can_be_spread(placed.replicas[rows], held, most, len(stays)):
            possible += 1
            standby = placed.replicas[rows, held.argmax(axis=1)]
            reached += int(np.bincount(standby).max() <= most)
    return possible, reached


def can_be_spread(lists: np.ndarray, able: np.ndarray, most: int, brokers: int) -> bool:
    """Whether each row has a standby with none standing by for more than ``most``: a flow that fills all rows."""
    count = len(lists)
    row, column = np.nonzero(able)
    source, sink = count + brokers, count + brokers + 1
    tails = np.concatenate([np.full(count, source), row, count + np.arange(brokers)])
    heads = np.concatenate([np.arange(count), count + lists[row, column], np.full(brokers, sink)])
    capacity = np.concatenate([np.ones(count + len(row)), np.full(brokers, most)]).astype(np.int32)
    network = csr_array((capacity, (tails, heads)), shape=(sink + 1, sink + 1))
    return int(maximum_flow(network, source, sink).flow_value) == count


def figures(plan_request: PlanRequest, draft: Draft) -> list[str]:
    """Leaders ÷ even of brokers and of racks, then load ÷ capacity of both."""
    serves = in_service(plan_request)
    placed = standing(plan_request, draft, outcome_of(plan_request, draft).after_by_resource, serves)
    leaders, loads = [], []
    for loss in losses_of(plan_request, serves).values():
        heirs = successors(placed.replicas, placed.able, placed.leader, loss.group)
        leaders.append(f"{worst_ratio(moved(placed.leader, heirs, loss), could_take(placed, loss)):.2f}")
        highest = worst_loss(plan_request, placed, loss, serves).load
        loads.append("" if highest is None else f"{highest.ratio:.3f} {highest.resource}")
    return leaders + loads


def moved(leader: np.ndarray, heirs: np.ndarray, loss: Loss) -> np.ndarray:
    """Leaders that each broker takes over, by loss."""
    return moved_loads(leader, heirs, loss.group, np.ones(len(heirs)), len(loss.names))


def worst_ratio(leaders: np.ndarray, could: np.ndarray) -> float:
    """The most that one broker takes over, over what each would on average, rounded up."""
    even = np.ceil(leaders.sum(axis=1) / np.maximum(could, 1))
    counts = even >= LEAST_EVEN
    return float((leaders.max(axis=1)[counts] / even[counts]).max(initial=0.0))


if __name__ == "__main__":
    main()
