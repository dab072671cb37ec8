"""A plan made better by the cost that comes first: above all quicker, by what the busiest broker receives or sends.

Promises, in order
1. The plan stays inside its bands, topics are crowded no worse, and rules hold.
2. The first cost never rises above what it was, or above its bound and the slack where that is more.
3. As long as the first cost is beyond the slack of its bound, it is what is lowered; after that the next one is, as far
   as the first stays within.

How: some partitions at a time are decided anew (``part_program``): those that move, those that the linear program of
flows moves where nobody may be busier than the bound and the slack, and such as hardly care. Example (10 brokers, two
of which lead nearly everything): these two send 146 and 126 GB of a plan's 300. Where the program knows who sends,
copies of what others lead go instead, and nobody is busy with more than some 45 GB.

Complexity: a program for each step; steps and nodes are counted. Source: Shaw 1998, as ``neighbourhoods``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kafka_rebalance.arrays import Flags, Floats
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.linear_program.arcs import Arcs, arcs_of
from kafka_rebalance.planner.linear_program.flow_program import relax_flows
from kafka_rebalance.planner.linear_program.rounding import has_capacity
from kafka_rebalance.planner.params import DEFAULTS, SolveParams, SteeringParams
from kafka_rebalance.planner.scales import mean_bytes, resource_scale
from kafka_rebalance.planner.steering.costs import CostTotals, Placing, costs_of, flows_of, is_copy
from kafka_rebalance.planner.steering.part_program import Goal, Part, decided_anew
from kafka_rebalance.planner.tolerances import BAND_TOLERANCE

ANY = CostTotals(np.inf, np.inf, np.inf, np.inf)


def steered(
    problem: Problem,
    found: Placing,
    least: CostTotals,
    order: Sequence[str],
    slack: float,
    *,
    seed: int,
    params: SolveParams = DEFAULTS,
) -> Placing:
    """``found``, which is inside its bands, or a better plan. ``least``: bounds; ``order``: names of ``CostTotals``."""
    best, spent, limits = found, costs_of(problem, found), params.steering
    if goal_of(spent, least, order, slack, limits) is None:
        return found
    preference = preferences(problem, least.busiest * (1 + slack), params)
    rng, since = np.random.default_rng(seed), 0
    for _ in range(limits.steps):
        goal = goal_of(spent, least, order, slack, limits)
        if goal is None or since >= limits.patience:
            break
        other = decided_anew(problem, best, part_of(problem, best, preference, rng, limits), goal, limits)
        since += 1
        if other is None or not is_lawful(problem, other):
            continue
        costs = costs_of(problem, other)
        worth = tuple(value * (1 - limits.least_saving) for value in worth_of(spent, least, order, slack))
        if worth_of(costs, least, order, slack) < worth:
            best, spent, since = other, costs, 0
    return best


def goal_of(
    spent: CostTotals, least: CostTotals, order: Sequence[str], slack: float, params: SteeringParams
) -> Goal | None:
    """What the next part is decided for: the first of ``order`` that is beyond the slack of its bound, those before it
    held where they may be. None where each is within.
    """
    scale = {name: max(getattr(least, name), params.least_saving * getattr(spent, name), 1e-300) for name in order}
    most = ANY
    for name in order:
        allowed = getattr(least, name) * (1 + slack)
        if getattr(spent, name) > allowed:
            weight = {other: params.others / scale[other] / len(order) for other in order}
            weight[name] = 1.0 / scale[name]
            return Goal(CostTotals(**weight), most)
        most = replace(most, **{name: allowed})
    return None


def worth_of(costs: CostTotals, least: CostTotals, order: Sequence[str], slack: float) -> tuple[float, ...]:
    """The smaller the better: each cost in turn as far as it is beyond its slack, then as it is."""
    beyond = tuple(max(getattr(costs, name), getattr(least, name) * (1 + slack)) for name in order)
    return beyond + tuple(getattr(costs, name) for name in order)


def preferences(problem: Problem, most_busy: float, params: SolveParams = DEFAULTS) -> Floats:
    """float64[P]: how much a partition is wanted in a part. At least 1 where the linear program moves it that copies
    fewest bytes with nobody busier than ``most_busy``; else the less, the more its moving would cost for each byte.
    """
    arcs = arcs_of(problem, params.linear_program.arcs)
    size = problem.move_bytes[arcs.row] / max(mean_bytes(problem), 1e-300)
    flowing = relax_flows(problem, arcs, np.where(arcs.is_kept, 0.0, size), most=most_busy)
    if flowing is None:
        return np.ones(problem.partition_count)
    regret = _least_regret(problem, arcs, flowing.regret, arcs.is_kept)
    regret += _least_regret(problem, arcs, flowing.regret, ~arcs.is_kept)
    rank = np.argsort(np.argsort(regret / np.maximum(problem.move_bytes, 1.0), kind="stable"), kind="stable")
    differs = np.abs(flowing.share - arcs.is_kept) > params.linear_program.arcs.unused_share
    is_moved = np.bincount(arcs.row[differs], minlength=problem.partition_count) > 0
    return np.asarray(np.exp(-rank / params.steering.undecided_partitions) + is_moved)


def _least_regret(problem: Problem, arcs: Arcs, regret: Floats, some: Flags) -> Floats:
    """float64[P]: the least of a partition's arcs among ``some`` bool[A], inf where it has none."""
    least = np.full(problem.partition_count, np.inf)
    np.minimum.at(least, arcs.row[some], regret[some])
    return least


def part_of(
    problem: Problem, plan: Placing, preference: Floats, rng: np.random.Generator, params: SteeringParams
) -> Part:
    """What is open in one step: what moves first, then as ``preference`` float64[P] and a draw have it."""
    is_moved = is_copy(problem, plan.replicas).any(axis=1)
    wanted = np.where(preference >= 1, 1 + preference, preference * rng.random(problem.partition_count))
    wanted = np.where(problem.pinned, -1.0, wanted + is_moved * 3.0)
    free = int((~problem.pinned).sum())
    ranked = np.argsort(-wanted, kind="stable")[:free]
    count = min(params.partitions, free)
    others = rng.permutation(ranked[count:])[: params.led]
    return Part(np.sort(ranked[:count]), np.sort(others), _open_brokers(problem, plan, rng, params))


def _open_brokers(problem: Problem, plan: Placing, rng: np.random.Generator, params: SteeringParams) -> Flags:
    """All of them where they are few; else those that receive least, as a draw has it."""
    if int(problem.takes_replicas.sum()) <= params.most_brokers:
        return problem.takes_replicas
    received = flows_of(problem, plan).received
    busy = received / max(float(received.max(initial=0.0)), 1e-300) + rng.random(problem.broker_count)
    chosen = np.zeros(problem.broker_count, dtype=np.bool_)
    chosen[np.argsort(np.where(problem.takes_replicas, busy, np.inf), kind="stable")[: params.most_brokers]] = True
    return chosen


def is_lawful(problem: Problem, plan: Placing) -> bool:
    """Inside all bands, with room for both copies of what moves."""
    after = broker_loads(problem, plan.replicas, plan.leader)
    outside = np.maximum(after - problem.band_high, 0.0) + np.maximum(problem.band_low - after, 0.0)
    is_inside = (outside[problem.stays] / resource_scale(problem) <= BAND_TOLERANCE).all()
    return bool(is_inside) and has_capacity(problem, plan.replicas)
