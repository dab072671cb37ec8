"""Candidates: placement, cost, loads, order of preference."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_assignors.arrays import ABSENT, Floats, Ints
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.planner.leaders import choose_leaders
from kafka_rebalance.planner.params import BAND_TOLERANCE, DEFAULTS, SolveParams
from kafka_rebalance.planner.scales import bytes_per_move, can_be_led, candidates, resource_scale
from kafka_rebalance.planner.solution import NOTHING_DONE, PlanCost, SearchStatistics
from kafka_rebalance.planner.state import WorkingBands, topic_excess


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """``charged``: for moves beside their bytes. ``statistics`` include rejected placements."""

    replicas: Ints
    leader: Ints
    cost: PlanCost
    after: Floats
    band_violation: float
    topic_excess: int
    misled: int = 0
    statistics: SearchStatistics = NOTHING_DONE
    charged: float = 0.0

    @property
    def price(self) -> float:
        return self.cost.bytes + self.charged

    def is_near(self, bound: float, gap: float = DEFAULTS.gaps.near) -> bool:
        return self.band_violation <= 0 and self.price <= bound * (1 + gap)

    @property
    def worth(self) -> tuple[int, bool, float, float, int, int]:
        """Sort key. Outside the bands, a hundredth of a mean is not worth bytes."""
        cost = self.cost
        return (
            self.misled,
            self.band_violation > 0,
            round(self.band_violation, 2),
            self.price,
            cost.replica_moves,
            cost.leader_changes,
        )


def place(
    problem: Problem,
    replicas: Ints,
    bands: WorkingBands,
    params: SolveParams = DEFAULTS,
    *,
    replica_index: Ints | None = None,
    done: SearchStatistics = NOTHING_DONE,
) -> Placed:
    if replica_index is None:
        chosen = choose_leaders(problem, replicas, bands, params)
        replica_index, done = chosen.replica_index, done + chosen.statistics
    replicas, leader = in_kafka_order(problem, replicas, replica_index)
    after = broker_loads(problem, replicas, leader)
    outside = np.maximum(after - problem.band_high, 0.0) + np.maximum(problem.band_low - after, 0.0)
    cost = plan_cost(problem, replicas, leader)
    share = outside[problem.stays] / resource_scale(problem)
    return Placed(
        replicas=replicas,
        leader=leader,
        cost=cost,
        after=after,
        band_violation=round(float(share[share > BAND_TOLERANCE].sum()), 6),
        topic_excess=topic_excess(problem.topic, replicas, problem.stays),
        misled=_misled(problem, replicas, leader),
        statistics=done,
        charged=cost.replica_moves * bytes_per_move(problem, params.costs.worth_per_move),
    )


def _misled(problem: Problem, replicas: Ints, leader: Ints) -> int:
    """Leaders that may not lead, where another set has one that may."""
    if problem.takes_leaders[problem.stays].all():
        return 0
    able = candidates(problem, replicas)
    leads = (able & (replicas == leader[:, None])).any(axis=1)
    return int((~leads & can_be_led(problem) & ~problem.pinned).sum())


def better(incumbent: Placed, other: Placed, allowed: int) -> Placed:
    """The better one; a topic spread above ``allowed`` needs ``incumbent`` outside its bands."""
    is_spread = other.topic_excess <= allowed or incumbent.band_violation > 0 or incumbent.misled > other.misled
    chosen = other if is_spread and other.worth < incumbent.worth else incumbent
    done = incumbent.statistics + other.statistics
    return chosen if chosen.statistics == done else replace(chosen, statistics=done)


def plan_cost(problem: Problem, replicas: Ints, leader: Ints) -> PlanCost:
    is_copy = replicas >= 0
    for j in range(problem.replicas.shape[1]):
        is_copy &= replicas != problem.replicas[:, j : j + 1]
    copies = is_copy.sum(axis=1)
    changes = int(((leader != problem.leader) & (problem.leader != ABSENT)).sum())
    return PlanCost(float((copies * problem.move_bytes).sum()), int(copies.sum()), changes)


def in_kafka_order(problem: Problem, replicas: Ints, replica_index: Ints) -> tuple[Ints, Ints]:
    """Leader, survivors in today's order, new ones; untouched rows stay."""
    rows = np.arange(len(replicas))
    leader = replicas[rows, replica_index]
    width = replicas.shape[1]
    rank = np.full(replicas.shape, width, dtype=np.int64)
    for j in range(width):
        rank = np.where((replicas == problem.replicas[:, j : j + 1]) & (replicas >= 0), j, rank)
    rank = rank * (2 * width) + np.arange(width)
    rank[replicas < 0] = 1 << 20
    rank[rows, replica_index] = -1
    ordered = np.take_along_axis(replicas, np.argsort(rank, axis=1), axis=1)
    same_set = (np.sort(replicas, axis=1) == np.sort(problem.replicas, axis=1)).all(axis=1)
    untouched = same_set & (leader == problem.leader)
    ordered[untouched] = problem.replicas[untouched]
    return np.ascontiguousarray(ordered), leader
