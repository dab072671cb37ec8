"""One problem in, one solution out: replica sets, leaders, cost, bounds."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.planner.bounds.lower_bounds import lower_bounds
from kafka_rebalance.planner.leading.choose import choose_leaders
from kafka_rebalance.planner.loads import broker_loads
from kafka_rebalance.planner.problem import Flags, Ints, Problem
from kafka_rebalance.planner.replicas.replica_search import Effort, search_replicas
from kafka_rebalance.planner.replicas.replica_sets import start_sets
from kafka_rebalance.planner.solution import PlanCost, Solution
from kafka_rebalance.planner.topic_spread import topic_excess
from kafka_rebalance.planner.working_bands import working_bands

FULL = Effort()


def solve(problem: Problem, *, seed: int = 0, effort: Effort = FULL) -> Solution:
    """The cheapest plan found that meets the rules and bands, and what nobody can beat.

    Raises InfeasibleError where hard rules cannot be met, naming the smallest cause and what would help.
    """
    steps: dict[str, int] = {}
    bands = working_bands(problem, problem.band_low, problem.band_high)
    replicas = problem.replicas
    if problem.moves_replicas:
        sets = start_sets(problem)
        replicas, stranded = search_replicas(problem, sets, bands, seed=seed, effort=effort, steps=steps)
        if stranded:
            raise _stranded(problem, replicas)
    slot = choose_leaders(problem, replicas, bands, steps)
    replicas, leader = in_kafka_order(problem, replicas, slot)
    return Solution(
        replicas=replicas,
        leader=leader,
        cost=plan_cost(problem, replicas, leader),
        bounds=lower_bounds(problem),
        band_low=problem.band_low,
        band_high=problem.band_high,
        before=broker_loads(problem, problem.replicas, problem.leader),
        after=broker_loads(problem, replicas, leader),
        topic_excess=(
            topic_excess(problem.topic, problem.replicas, problem.stays),
            topic_excess(problem.topic, replicas, problem.stays),
        ),
        steps=steps,
    )


def plan_cost(problem: Problem, replicas: Ints, leader: Ints) -> PlanCost:
    """Cost of going from today's placement to ``replicas`` led by ``leader``."""
    is_copy = replicas >= 0
    for j in range(problem.replicas.shape[1]):
        is_copy &= replicas != problem.replicas[:, j : j + 1]
    copies = is_copy.sum(axis=1)
    changes = int((leader != problem.leader).sum())
    return PlanCost(float((copies * problem.move_bytes).sum()), int(copies.sum()), changes)


def in_kafka_order(problem: Problem, replicas: Ints, slot: Ints) -> tuple[Ints, Ints]:
    """Rows in Kafka's order: leader first, survivors in today's order, new ones; untouched rows stay."""
    rows = np.arange(len(replicas))
    leader = replicas[rows, slot]
    width = replicas.shape[1]
    rank = np.full(replicas.shape, width, dtype=np.int64)
    for j in range(width):
        rank = np.where((replicas == problem.replicas[:, j : j + 1]) & (replicas >= 0), j, rank)
    rank = rank * (2 * width) + np.arange(width)
    rank[replicas < 0] = 1 << 20
    rank[rows, slot] = -1
    ordered = np.take_along_axis(replicas, np.argsort(rank, axis=1), axis=1)
    same_set = (np.sort(replicas, axis=1) == np.sort(problem.replicas, axis=1)).all(axis=1)
    untouched = same_set & (leader == problem.leader)
    ordered[untouched] = problem.replicas[untouched]
    return np.ascontiguousarray(ordered), leader


def _stranded(problem: Problem, replicas: Ints) -> InfeasibleError:
    row = int(np.flatnonzero((replicas == problem.broker_count).any(axis=1) | _on_leaving(problem, replicas))[0])
    return InfeasibleError(
        f"a replica of {problem.name_of(row)} finds no broker with room for it",
        "add a broker or disk, or exclude fewer brokers",
    )


def _on_leaving(problem: Problem, replicas: Ints) -> Flags:
    on_broker = (replicas >= 0) & (replicas < problem.broker_count)
    leaving: Flags = on_broker & ~problem.stays[np.where(on_broker, replicas, 0)]
    return np.asarray(leaving.any(axis=1))
