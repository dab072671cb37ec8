"""Where replicas go: evacuate, push, pull, swap, polish, in that order, until nothing is outside or nothing helps.

Leaders come afterwards: a leadership moves for nothing, so only what every replica carries counts here, unless no
partition has a second replica to lead it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.planner.polish import polish_round
from kafka_rebalance.planner.problem import Ints, Problem
from kafka_rebalance.planner.pull import pull_round, swap_round
from kafka_rebalance.planner.push import evacuate, push_round
from kafka_rebalance.planner.replica_sets import ReplicaSets
from kafka_rebalance.planner.state import State, make_state
from kafka_rebalance.planner.working_bands import WorkingBands

ANYWHERE = 1e300


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to search, in steps."""

    rounds: int = 2000
    share_per_visit: float = 0.1
    pulls_per_visit: int = 12
    swap_tries: int = 2000
    polish_rounds: int = 2
    polish_tries: int = 100


def replica_columns(problem: Problem) -> list[int]:
    """Resources that replicas carry whoever leads; all of them where every partition has one replica."""
    if int(problem.target_rf.max(initial=1)) == 1:
        return list(range(len(problem.resources)))
    return [d for d, resource in enumerate(problem.resources) if resource in ("disk", "in", "replicas")]


def search_replicas(
    problem: Problem, sets: ReplicaSets, bands: WorkingBands, *, seed: int, effort: Effort, steps: dict[str, int]
) -> tuple[Ints, int]:
    """Replica sets inside the bands as far as found, and how many replicas found no lawful place."""
    alone = int(problem.target_rf.max(initial=1)) == 1
    slot = np.full(problem.partition_count, 0 if alone else -1, dtype=np.int32)
    state = make_state(
        problem,
        sets.replicas.copy(),
        sets.home,
        slot,
        replica_columns(problem),
        low=bands.low,
        high=bands.high,
        seed=seed,
    )
    takers = np.flatnonzero(state.takes).astype(np.int32)
    if not len(takers):
        return state.replicas, int((state.replicas == problem.broker_count).sum())
    stranded = evacuate(state, takers)
    if problem.moves_replicas:
        _improve(state, takers, effort, steps)
        for _ in range(effort.polish_rounds):
            if polish_round(state, effort.polish_tries) <= 0:
                break
    return state.replicas, stranded


def _improve(state: State, takers: Ints, effort: Effort, steps: dict[str, int]) -> None:
    """Rounds of the gentlest step that still helps."""

    def note(name: str, count: int) -> bool:
        steps[name] = steps.get(name, 0) + count
        return count > 0

    for _ in range(effort.rounds):
        if note("push", push_round(state, takers, 0.0, effort.share_per_visit)):
            continue
        if note("pull", pull_round(state, takers, 0.0, effort.pulls_per_visit)):
            continue
        if note("push_hard", push_round(state, takers, ANYWHERE, effort.share_per_visit)):
            continue
        if not note("swap", swap_round(state, takers, effort.swap_tries)):
            break
