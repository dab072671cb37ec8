"""Making a plan cheaper without making it worse: take moves back, send smaller replicas instead."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.planner.compiled import kernel
from kafka_rebalance.planner.moving import (
    TINY,
    copies_needed,
    draw,
    fits_limit,
    is_home,
    keeps_racks_even,
    may_hold,
    move,
    relief,
    weigh,
)
from kafka_rebalance.planner.problem import Ints
from kafka_rebalance.planner.pull import may_swap, swap_gain
from kafka_rebalance.planner.state import State


@kernel
def _free_home(state: State, p: int, j: int) -> int:
    """A broker that held ``p``, to which slot ``j`` may return; -1 = none."""
    for i in range(state.home.shape[1]):
        b = state.home[p, i]
        if b >= 0 and may_hold(state, p, j, b) and keeps_racks_even(state, p, j, b):
            return int(b)
    return -1


@kernel
def _go_home(state: State, p: int, j: int, home: int) -> bool:
    weight = np.empty(state.load.shape[1])
    weigh(state, p, j, state.replicas[p, j], weight)
    gain = relief(state, state.replicas[p, j], weight, -1.0)
    weigh(state, p, j, home, weight)
    if gain + relief(state, home, weight, 1.0) < -TINY or not fits_limit(state, p, home, weight):
        return False
    move(state, p, j, home, weight)
    return True


@kernel
def _send_cheaper(state: State, p: int, j: int, home: int, tries: int) -> float:
    """``p`` returns home and a cheaper replica goes from there in its place; returns what that saves."""
    width = state.replicas.shape[1]
    away = state.replicas[p, j]
    back, out = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    weigh(state, p, j, away, back)
    best, best_saved = -1, 1e-3 * state.cost[p]
    whole = state.filled[home] <= tries
    for t in range(min(tries, state.filled[home])):
        slot = state.items[state.start[home] + (t if whole else draw(state, state.filled[home]))]
        q = slot // width
        if q == p or state.cost[q] >= state.cost[p]:
            continue
        saved = state.cost[p] - copies_needed(state, q, home, away)
        if saved <= best_saved:
            continue
        weigh(state, q, slot - q * width, home, out)
        if swap_gain(state, away, home, back, out) >= -TINY and may_swap(state, p * width + j, slot):
            best, best_saved = slot, saved
    if best < 0:
        return 0.0
    move(state, p, j, home, back)
    move(state, best // width, best % width, away, back)
    return float(best_saved)


@kernel
def moved_partitions(state: State) -> Ints:
    """Partitions with a replica away from home, dearest first."""
    partitions = state.replicas.shape[0]
    chosen = np.empty(partitions, np.int32)
    found = 0
    for p in range(partitions):
        for j in range(state.replicas.shape[1]):
            b = state.replicas[p, j]
            if b >= 0 and not is_home(state, p, b):
                chosen[found] = p
                found += 1
                break
    chosen = chosen[:found]
    return chosen[np.argsort(-state.cost[chosen])]


@kernel
def polish_round(state: State, tries: int) -> float:
    """Every moved replica: home if nothing gets worse, else a cheaper one in its place. Returns the cost saved."""
    saved = 0.0
    for p in moved_partitions(state):
        for j in range(state.replicas.shape[1]):
            b = state.replicas[p, j]
            if b < 0 or is_home(state, p, b):
                continue
            home = _free_home(state, p, j)
            if home < 0 or state.position[p * state.replicas.shape[1] + j] < 0:
                continue
            if _go_home(state, p, j, home):
                saved += state.cost[p]
            else:
                saved += _send_cheaper(state, p, j, home, tries)
    return saved
