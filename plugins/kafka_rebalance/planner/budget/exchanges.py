"""Improving by exchange within the budget: by chance at first, only for the better at last (Metropolis).

A step tries one change: a replica goes elsewhere; another one leads; two replicas change places; one that has moved
goes home and another one moves in its stead. Steps are counted, and the chance is the state's own: the same seed, the
same plan. Complexity: O(W·D) a step, whatever the size of the cluster.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.kernels.decorators import inner_kernel
from kafka_rebalance.planner.budget.budget_state import BudgetState
from kafka_rebalance.planner.budget.changes import (
    accept,
    hand_over,
    imbalance_of,
    is_borne,
    is_lawful,
    is_within_budget,
    lead_home,
    relocate,
    send_home,
    take_back,
)
from kafka_rebalance.planner.replicas.moving import draw
from kafka_rebalance.planner.tolerances import FRACTIONS


@inner_kernel
def _drawn_row(state: BudgetState) -> int:
    return int(state.rows[draw(state, state.rows.shape[0])])


@inner_kernel
def _drawn_slot(state: BudgetState, p: int) -> int:
    """A slot that holds a replica."""
    held = 0
    for j in range(state.replicas.shape[1]):
        if state.replicas[p, j] >= 0:
            held = j + 1
    return draw(state, held)


@inner_kernel
def _try_step(state: BudgetState) -> bool:
    """Another place for one replica, or another leader."""
    p = _drawn_row(state)
    j = _drawn_slot(state, p)
    if not state.moves_replicas or draw(state, 100) < state.params.leader_steps:
        return hand_over(state, p, j)
    return relocate(state, p, j, draw(state, state.load.shape[0]))


@inner_kernel
def _try_swap(state: BudgetState) -> bool:
    """Two replicas change places, or two partitions their leaders' brokers."""
    p, q = _drawn_row(state), _drawn_row(state)
    if p == q:
        return False
    j, i = _drawn_slot(state, p), _drawn_slot(state, q)
    if not state.moves_replicas:
        return hand_over(state, p, j) and hand_over(state, q, i)
    one, two = state.replicas[p, j], state.replicas[q, i]
    return one != two and relocate(state, p, j, two) and relocate(state, q, i, one)


@inner_kernel
def _try_exchange(state: BudgetState) -> bool:
    """One that has changed is as it was, and another one does the same, or any other step."""
    if state.count[0] == 0:
        return _try_step(state)
    p = state.changed[draw(state, state.count[0])]
    j = _drawn_slot(state, p)
    target, leads = state.replicas[p, j], state.leads[p] == j
    if draw(state, 2) == 0:
        if not lead_home(state, p):
            return False
    elif not send_home(state, p):
        return False
    if draw(state, 2) == 0:
        return _try_step(state)
    q = _drawn_row(state)
    i = _drawn_slot(state, q)
    if leads and draw(state, 2) == 0:
        return hand_over(state, q, i)
    return q != p and state.moves_replicas and relocate(state, q, i, target)


@inner_kernel
def exchange(state: BudgetState, steps: int, warm: float, cold: float) -> int:
    """``steps`` tries, from temperature ``warm`` to ``cold`` and then none. Returns how many changed something."""
    if state.rows.shape[0] == 0:
        return 0
    made = 0
    steepness = np.log(cold / warm) if steps > 0 else 0.0
    was = imbalance_of(state)
    for step in range(steps):
        done = step / steps
        temperature = warm * np.exp(steepness * done / state.params.cooling) if done < state.params.cooling else 0.0
        kind = draw(state, 100)
        if kind < state.params.single_steps:
            is_tried = _try_step(state)
        elif kind < state.params.swaps:
            is_tried = _try_swap(state)
        else:
            is_tried = _try_exchange(state)
        if is_tried and is_within_budget(state):
            now = imbalance_of(state)
            if is_borne(now - was, temperature, draw(state, FRACTIONS)) and is_lawful(state):
                accept(state)
                was = now
                made += 1
                continue
        take_back(state)
        was = imbalance_of(state)
    return made
