"""Where replicas go: release, evacuate, push, finish, pull, swap, polish, until nothing is outside or nothing helps.

A plan that is still far from its bound, or outside its bands, is annealed.

Leaders come afterwards: a leadership moves for nothing, so only what every replica carries counts here, unless no
partition has a second replica to lead it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Ints
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.replicas.anneal import anneal
from kafka_rebalance.planner.replicas.moving import INSIDE
from kafka_rebalance.planner.replicas.replica_sets import ReplicaSets
from kafka_rebalance.planner.replicas.steps import (
    evacuate,
    finish_round,
    polish_round,
    pull_round,
    push_round,
    release,
    swap_round,
)
from kafka_rebalance.planner.state import State, make_state
from kafka_rebalance.planner.working_bands import WorkingBands
from kafka_rebalance.resources import REPLICA_CARRIED

ANYWHERE = 1e300
# A step that moves fewer than one in so many brokers' replicas leaves it to the next harder one.
FEW = 20
# How well a replica's mixture must fit what its receiver lacks, 1 = in proportion.
FIT = 0.2
# Polishing goes on while a pass saves this share of the best one.
STILL_PAYS = 0.02
# Replicas of a cluster on which a pass of polishing takes a second: the first one saves all but a ten-thousandth of its
# bytes.
LARGE = 600_000
# Bands as wide as this (in means) or narrower are annealed for as long as may be, wider ones for less.
HARD = 0.06


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to search, in steps."""

    rounds: int = 40
    last_rounds: int = 120
    part: float = 0.4
    swap_tries: int = 2000
    polish_rounds: int = 4
    polish_tries: int = 40
    anneal_steps: int = 1_000_000
    program_steps: int = 24


def replica_columns(problem: Problem) -> list[int]:
    """Resources that replicas carry whoever leads; all of them where every partition has one replica."""
    if int(problem.target_rf.max(initial=1)) == 1:
        return list(range(len(problem.resources)))
    return [d for d, resource in enumerate(problem.resources) if resource in REPLICA_CARRIED]


def search_replicas(
    problem: Problem, sets: ReplicaSets, bands: WorkingBands, *, seed: int, effort: Effort, steps: dict[str, int]
) -> tuple[Ints, int]:
    """Replica sets inside the bands as far as found, and how many replicas found no lawful place."""
    state = _state_of(problem, sets, bands, seed)
    takers = np.flatnonzero(state.takes).astype(np.int32)
    if not len(takers):
        return state.replicas, int((state.replicas == problem.broker_count).sum())
    released = release(state, takers) if problem.moves_replicas else 0
    stranded = evacuate(state, takers)
    if stranded and released:  # brokers nearly full: what need not leave stands in the way of what must
        state, released = _state_of(problem, sets, bands, seed), 0
        stranded = evacuate(state, takers)
    steps["release"] = steps.get("release", 0) + released
    if problem.moves_replicas:
        _improve(state, takers, effort, steps)
        _polish(state, takers, effort)
    return state.replicas, stranded


def anneal_replicas(
    problem: Problem, sets: ReplicaSets, bands: WorkingBands, *, seed: int, effort: Effort, steps: dict[str, int]
) -> Ints:
    """Replica sets like the lawful ``sets``, cheaper or nearer to the bands in most cases, not in all."""
    state = _state_of(problem, sets, bands, seed)
    takers = np.flatnonzero(state.takes).astype(np.int32)
    count = int(effort.anneal_steps * min(1.0, (HARD / _band_width(state)) ** 3))
    steps["anneal"] = steps.get("anneal", 0) + anneal(state, takers, count, float(state.cost.mean()))
    _exhaust(state, takers, effort, steps)
    polish_round(state, takers, effort.polish_tries)
    return state.replicas


def _band_width(state: State) -> float:
    """Of the middle one of the bands, in means."""
    width = (state.high - state.low)[state.takes]
    return float(np.median(np.minimum(width, 1.0))) if len(width) else 1.0


def _state_of(problem: Problem, sets: ReplicaSets, bands: WorkingBands, seed: int) -> State:
    alone = int(problem.target_rf.max(initial=1)) == 1
    slot = np.full(problem.partition_count, 0 if alone else -1, dtype=np.int32)
    columns = replica_columns(problem)
    return make_state(
        problem, sets.replicas.copy(), sets.home, slot, columns, low=bands.low, high=bands.high, seed=seed
    )


def _polish(state: State, takers: Ints, effort: Effort) -> None:
    """Passes while they pay."""
    tries = max(effort.polish_tries, min(1000, 3_000_000 // max(1, len(state.position))))
    most = 0.0
    for _ in range(_passes(len(state.position), effort)):
        saved = polish_round(state, takers, tries)
        if saved <= STILL_PAYS * most:
            break
        most = max(most, saved)


def _passes(replicas: int, effort: Effort) -> int:
    return min(effort.polish_rounds, 1) if replicas > LARGE else effort.polish_rounds


def _improve(state: State, everybody: Ints, effort: Effort, steps: dict[str, int]) -> None:
    """Mixtures that fit first, then whatever relieves at the best price, then whatever still helps.

    Fetching comes last: what brokers below their bands lack mostly comes by itself when the others give, and fetched
    too early it is the wrong mixture, twice as dear.
    """
    far = np.maximum(state.load - state.high, 0.0).sum(axis=1)
    calm = np.flatnonzero(state.takes & (far <= INSIDE)).astype(np.int32)
    nobody = everybody[:0]
    stages: tuple[tuple[str, Callable[[], int]], ...] = (
        ("push", lambda: push_round(state, everybody, nobody, effort.part, FIT)),
        ("push", lambda: push_round(state, everybody, calm, effort.part, FIT)),
        ("finish", lambda: finish_round(state, everybody, everybody, 0.0)),
    )
    for name, step in stages:
        for _ in range(effort.rounds):
            made = step()
            steps[name] = steps.get(name, 0) + made
            if made <= len(everybody) // FEW:
                break
    _exhaust(state, everybody, effort, steps)


def _exhaust(state: State, everybody: Ints, effort: Effort, steps: dict[str, int]) -> None:
    """Rounds of the gentlest step that still helps more than a few, until none helps."""
    gentlest_first: tuple[tuple[str, Callable[[], int]], ...] = (
        ("finish", lambda: finish_round(state, everybody, everybody, 0.0)),
        ("pull", lambda: pull_round(state, everybody, 0.0, 0.0)),
        ("finish_hard", lambda: finish_round(state, everybody, everybody, ANYWHERE)),
        ("pull_hard", lambda: pull_round(state, everybody, ANYWHERE, 0.0)),
        ("swap", lambda: swap_round(state, everybody, effort.swap_tries)),
    )
    for _ in range(effort.last_rounds):
        before = sum(steps.values())
        for name, step in gentlest_first:
            made = step()
            steps[name] = steps.get(name, 0) + made
            if made > len(everybody) // FEW:
                break
        if sum(steps.values()) == before:
            return
