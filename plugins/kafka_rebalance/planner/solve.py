"""One problem in, one solution out: replica sets, leaders, cost, bounds."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Flags, Ints
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.planner.bounds.lower_bounds import lower_bounds
from kafka_rebalance.planner.linear_program.arcs import is_small
from kafka_rebalance.planner.linear_program.programs import with_programs
from kafka_rebalance.planner.placed import Placed, better, place
from kafka_rebalance.planner.replicas.replica_search import Effort, anneal_replicas, search_replicas
from kafka_rebalance.planner.replicas.replica_sets import ReplicaSets, start_sets
from kafka_rebalance.planner.solution import Solution
from kafka_rebalance.planner.topic_spread import topic_excess
from kafka_rebalance.planner.working_bands import WorkingBands, working_bands

FULL = Effort()
# A plan farther from its bound than this share is annealed, as is one outside its bands.
FAR = 0.01


def solve(problem: Problem, *, seed: int = 0, effort: Effort = FULL) -> Solution:
    """The cheapest plan found that meets the rules and bands, and what nobody can beat.

    Raises InfeasibleError where hard rules cannot be met, naming the smallest cause and what would help.
    """
    steps: dict[str, int] = {}
    bands = working_bands(problem, problem.band_low, problem.band_high)
    bounds = lower_bounds(problem)
    if not problem.moves_replicas:
        best = place(problem, problem.replicas, bands, steps)
    else:
        sets = start_sets(problem)
        replicas, stranded = search_replicas(problem, sets, bands, seed=seed, effort=effort, steps=steps)
        if stranded:
            raise _stranded(problem, replicas)
        best = place(problem, replicas, bands, steps)
        if effort.program_steps and is_small(problem):
            if not best.is_near(bounds.bytes.value):
                best, bounds = with_programs(problem, sets, bands, best, bounds, seed=seed, effort=effort, steps=steps)
        elif effort.anneal_steps and not best.is_near(bounds.bytes.value, FAR):
            best = _annealed(problem, sets, bands, best, seed, effort, steps)
    return Solution(
        replicas=best.replicas,
        leader=best.leader,
        cost=best.cost,
        bounds=bounds,
        band_low=problem.band_low,
        band_high=problem.band_high,
        before=broker_loads(problem, problem.replicas, problem.leader),
        after=best.after,
        topic_excess=(topic_excess(problem.topic, problem.replicas, problem.stays), best.topic_excess),
        steps=steps,
    )


def _annealed(
    problem: Problem,
    sets: ReplicaSets,
    bands: WorkingBands,
    found: Placed,
    seed: int,
    effort: Effort,
    steps: dict[str, int],
) -> Placed:
    """The better of what was found and what that becomes by annealing."""
    warm = ReplicaSets(found.replicas, sets.home)
    replicas = anneal_replicas(problem, warm, bands, seed=seed, effort=effort, steps=steps)
    other = place(problem, replicas, bands, steps)
    allowed = max(found.topic_excess, topic_excess(problem.topic, problem.replicas, problem.stays))
    return better(found, other, allowed)


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
