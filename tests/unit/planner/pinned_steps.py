"""Effects of every search step on tiny clusters, as text for the pinned answers.

Each step runs alone from the emptied cluster, and all of them in the search's order. A line has the step's result,
its moves (``partition: from → to``, ``-`` for the void) and the state of the random numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kafka_assignors.arrays import Ints
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.params import (
    HOWEVER_FAR,
    FetchParams,
    HandOverParams,
    ReceiverParams,
    ReplicaKernelParams,
    ReplicaSearchParams,
    SolveParams,
)
from kafka_rebalance.planner.replicas import search
from kafka_rebalance.planner.replicas.search import anneal, replica_columns, start_sets
from kafka_rebalance.planner.state import ReplicaSets, State, WorkingBands, make_state
from tests.unit.planner.pinned_text import number, numbers

# Few tries and misses, so that limits are reached; 16 replicas, as in even clusters, count as many.
PARAMS = SolveParams(
    replicas=ReplicaSearchParams(
        kernels=ReplicaKernelParams(
            fetch=FetchParams(sampled=30),
            hand_over=HandOverParams(misses_borne=1),
            receivers=ReceiverParams(many_replicas=16, lacking_tried=3, lacking_tried_by_many=1, others_tried=2),
        ),
        small_topic=6,
    )
)
Step = Callable[[State, Ints], float]
STEPS: dict[str, Step] = {
    "release": search.release,
    "evacuate": search.evacuate,
    "push": lambda state, takers: search.push_round(state, takers, takers[:0], 0.4, 0.2),
    "push on": lambda state, takers: search.push_round(state, takers, takers, 1.0, 0.2),
    "finish": lambda state, takers: search.finish_round(state, takers, takers, 0.0),
    "pull": lambda state, takers: search.pull_round(state, takers, 0.0, 0.0),
    "finish hard": lambda state, takers: search.finish_round(state, takers, takers, HOWEVER_FAR),
    "pull hard": lambda state, takers: search.pull_round(state, takers, HOWEVER_FAR, 0.0),
    "swap": lambda state, takers: search.swap_round(state, takers, 40),
    "polish": lambda state, takers: search.polish_round(state, takers, 12),
    "anneal": lambda state, takers: anneal(state, takers, 150, float(state.cost.mean())),
    "warm up": lambda state, takers: anneal(state, takers, 60, 4 * float(state.cost.mean())),
}
IN_ORDER = ("release", "evacuate", "push", "push on", "finish", "pull", "finish hard", "pull hard", "swap", "polish")
ALONE = ("push", "push on", "finish", "finish hard", "pull", "pull hard", "swap", "anneal")
POLISHED = ("evacuate", "warm up", "polish", "anneal", "polish", "swap")


def start(problem: Problem) -> State:
    """State before the first step; exact bands, so that loads can meet their ends."""
    sets = start_sets(problem)
    fresh = ReplicaSets(sets.replicas.copy(), sets.original)
    leads = int(problem.target_rf.max(initial=1)) == 1 or problem.partition_count % 3 == 0
    columns = list(range(len(problem.resources))) if leads else replica_columns(problem)
    leader_index = np.full(problem.partition_count, 0 if leads else -1, dtype=np.int32)
    bands = WorkingBands(problem.band_low, problem.band_high)
    return make_state(problem, fresh, leader_index, columns, bands, seed=7, params=PARAMS)


def taken(state: State, name: str) -> str:
    """Take the step and describe it."""
    before = state.replicas.copy()
    takers = np.flatnonzero(state.takes).astype(np.int32)
    returned = STEPS[name](state, takers)
    void = state.load.shape[0] - 1
    moved = [
        f"{p}: {_name(before[p, j], void)} → {_name(state.replicas[p, j], void)}"
        for p, j in np.argwhere(before != state.replicas).tolist()
    ]
    return f"{number(returned)}; {', '.join(moved)}; {int(state.random[0]) % 10**6}"


def _name(broker: int, void: int) -> str:
    return "-" if broker == void else str(broker)


def ledgers(state: State) -> dict[str, object]:
    """State that moves keep up beside the placement."""
    held = [
        sorted(state.items[state.start[b] : state.start[b] + state.filled[b]].tolist())
        for b in range(state.load.shape[0])
    ]
    return {
        "load": numbers(state.load), "peak": numbers(state.peak), "held": held,
        "topics": state.topics.table.tolist(),
    }  # fmt: skip


def searched(problem: Problem) -> dict[str, object]:
    """The search's steps in order, down to the last ledger."""
    state = start(problem)
    return {**{name: taken(state, name) for name in IN_ORDER}, **ledgers(state)}


def step_by_step(problem: Problem) -> dict[str, object]:
    """Each step alone, after evacuation."""
    lines: dict[str, object] = {}
    for name in ALONE:
        state = start(problem)
        search.evacuate(state, np.flatnonzero(state.takes).astype(np.int32))
        lines[name] = taken(state, name)
    return lines


def polished(problem: Problem) -> dict[str, object]:
    """Randomly displaced replicas, then polished."""
    state = start(problem)
    return {f"{i} {name}": taken(state, name) for i, name in enumerate(POLISHED)} | ledgers(state)
