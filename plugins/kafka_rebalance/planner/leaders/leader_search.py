"""Leaders for several resources at once: brokers outside their bands hand over or fetch leaderships.

Promises, in order
1. Hard rules hold: only replicas that may lead, never above a hard limit.
2. No broker is pushed out of its band while the broker at hand can be helped otherwise.
3. Most relief per leader change first; a change that proves needless is taken back.

When no single step helps, a chain of two does: a leadership goes to a broker that passes another one on, also back to
where the first came from.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats, Longs
from kafka_rebalance.kernels.decorators import inner_kernel, kernel
from kafka_rebalance.planner.leaders.leader_state import (
    LeaderState,
    band_violation,
    hand_over,
    is_free,
    leader_band_improvement,
    leader_outside,
    switch_cost,
)
from kafka_rebalance.planner.sorting import in_place, largest_first, smallest_first
from kafka_rebalance.planner.tolerances import BAND_TOLERANCE, GAIN_TOLERANCE, HOWEVER_FAR, SUM_TOLERANCE


@inner_kernel
def _worth(state: LeaderState, p: int, replica_index: int, worst: float) -> float:
    """Relief of both brokers per leader change; -1 if it helps nobody or takes the receiver out of its bands."""
    source, target = state.replicas[p, state.replica_index[p]], state.replicas[p, replica_index]
    arrives = leader_band_improvement(state, target, p, 1.0)
    gain = arrives + leader_band_improvement(state, source, p, -1.0)
    if arrives < -worst - GAIN_TOLERANCE or gain <= GAIN_TOLERANCE:
        return -1.0
    roomy = 1.0 - state.params.load_discount * (state.load[target, 0] - state.load[source, 0])
    return float(
        gain * roomy * (1.0 if switch_cost(state, p, replica_index) > 0 else state.params.worth_of_free_change)
    )


@inner_kernel
def _best_index(state: LeaderState, p: int, worst: float) -> tuple[int, float]:
    best, best_worth = -1, 0.0
    for replica_index in range(state.replicas.shape[1]):
        if is_free(state, p, replica_index):
            worth = _worth(state, p, replica_index, worst)
            if worth > best_worth:
                best, best_worth = replica_index, worth
    return best, best_worth


@inner_kernel
def _give_from(state: LeaderState, broker: int, worst: float) -> int:
    """Hand over leaderships of a broker above its bands, best first. Returns hand-overs."""
    led = state.items[state.start[broker] : state.start[broker] + state.filled[broker]].copy()
    worth = np.empty(led.shape[0])
    replica_indexes = np.empty(led.shape[0], np.int32)
    for i in range(led.shape[0]):
        replica_indexes[i], worth[i] = _best_index(state, led[i], worst)
    made = 0
    ranking = largest_first(worth)
    for rank in range(led.shape[0]):
        i = in_place(ranking, rank)
        if replica_indexes[i] < 0 or leader_outside(state, broker, 1) <= BAND_TOLERANCE:
            break
        if (
            is_free(state, led[i], replica_indexes[i])
            and _worth(state, led[i], replica_indexes[i], worst) >= state.params.least_of_rank * worth[i]
        ):
            hand_over(state, led[i], replica_indexes[i])
            made += 1
    return made


@inner_kernel
def _fetch_to(state: LeaderState, broker: int, worst: float) -> int:
    """Fetch leaderships for a broker below its bands, best first. Returns hand-overs."""
    width = state.replicas.shape[1]
    held = state.held[state.held_start[broker] : state.held_start[broker + 1]]
    worth = np.empty(held.shape[0])
    for i in range(held.shape[0]):
        p = held[i] // width
        worth[i] = _fetch_worth(state, p, held[i] - p * width, worst)
    made = 0
    ranking = largest_first(worth)
    for rank in range(held.shape[0]):
        i = in_place(ranking, rank)
        if worth[i] <= 0 or leader_outside(state, broker, -1) <= BAND_TOLERANCE:
            break
        p = held[i] // width
        if _fetch_worth(state, p, held[i] - p * width, worst) >= state.params.least_of_rank * worth[i]:
            hand_over(state, p, held[i] - p * width)
            made += 1
    return made


@inner_kernel
def _fetch_worth(state: LeaderState, p: int, replica_index: int, worst: float) -> float:
    if not is_free(state, p, replica_index):
        return -1.0
    if leader_band_improvement(state, state.replicas[p, state.replica_index[p]], p, -1.0) < -worst - GAIN_TOLERANCE:
        return -1.0
    return _worth(state, p, replica_index, HOWEVER_FAR)


@inner_kernel
def _swap_gain(state: LeaderState, p: int, middle: int, q: int) -> float:
    """Relief of both when ``middle`` takes ``p`` from its leader and gives it ``q``."""
    source = state.replicas[p, state.replica_index[p]]
    gain = 0.0
    for d in range(state.load.shape[1]):
        change = state.extra[p, d] - state.extra[q, d]
        gain += band_violation(state, middle, d, 0.0) - band_violation(state, middle, d, change)
        gain += band_violation(state, source, d, 0.0) - band_violation(state, source, d, -change)
    return gain


@inner_kernel
def _exchange_gain(state: LeaderState, p: int, middle: int, q: int) -> float:
    """Relief of ``middle`` alone when it leads ``p`` in place of ``q``."""
    gain = 0.0
    for d in range(state.load.shape[1]):
        change = state.extra[p, d] - state.extra[q, d]
        gain += band_violation(state, middle, d, 0.0) - band_violation(state, middle, d, change)
    return gain


@inner_kernel
def best_passed_on(state: LeaderState, p: int, middle: int, lacks: Floats) -> tuple[int, int]:
    """What ``middle`` passes on when it takes ``p``, and to which replica, so that most is relieved; -1 = nothing.

    Where that is the leader of ``p``, the two swap. ``lacks`` float64[B]: how far brokers are below their bands. A
    leadership relieves no receiver by more, so most pairs need no look at the receiver's loads.
    """
    source = state.replicas[p, state.replica_index[p]]
    given = leader_band_improvement(state, source, p, -1.0)
    best, best_index, best_gain = -1, -1, BAND_TOLERANCE
    for i in range(state.start[middle], state.start[middle] + state.filled[middle]):
        q = state.items[i]
        kept = _exchange_gain(state, p, middle, q)
        for replica_index in range(state.replicas.shape[1]):
            if replica_index == state.replica_index[q] or not state.may_lead[q, replica_index]:
                continue
            target = state.replicas[q, replica_index]
            if target == source:
                gain = _swap_gain(state, p, middle, q)
            elif kept + given + lacks[target] <= best_gain - SUM_TOLERANCE:
                continue
            else:
                gain = kept + (given + leader_band_improvement(state, target, q, 1.0))
            if gain > best_gain and is_free(state, q, replica_index):
                best, best_index, best_gain = q, replica_index, gain
    return best, best_index


@inner_kernel
def _pass_on(state: LeaderState, p: int, first: int, lacks: Floats) -> bool:
    """``p`` goes to its replica ``first``, whose broker passes on what helps most in sum, if anything does."""
    middle = state.replicas[p, first]
    state.pairs_left[0] -= state.filled[middle] * state.replicas.shape[1]
    best, best_index = best_passed_on(state, p, middle, lacks)
    if best < 0:
        return False
    back = state.replica_index[best]
    hand_over(state, best, best_index)
    if not is_free(state, p, first):
        hand_over(state, best, back)
        return False
    hand_over(state, p, first)
    return True


@inner_kernel
def _chain_from(state: LeaderState, broker: int) -> bool:
    """A chain of two hand-overs, or a swap, that relieves a broker which no single one helps."""
    lacks = np.empty(state.load.shape[0])
    for b in range(lacks.shape[0]):
        lacks[b] = leader_outside(state, b, -1)
    for i in range(state.start[broker], state.start[broker] + state.filled[broker]):
        p = state.items[i]
        if state.pairs_left[0] <= 0:
            return False
        for replica_index in range(state.replicas.shape[1]):
            if (
                replica_index != state.replica_index[p]
                and state.may_lead[p, replica_index]
                and _pass_on(state, p, replica_index, lacks)
            ):
                return True
    return False


@inner_kernel
def _farthest_first(state: LeaderState) -> Longs:
    far = np.empty(state.load.shape[0])
    for b in range(far.shape[0]):
        far[b] = -leader_outside(state, b, 0)
    order = smallest_first(far)
    found = 0
    while found < order.shape[0] and far[order[found]] < -BAND_TOLERANCE:
        found += 1
    return order[:found]


@kernel
def search_leaders(state: LeaderState, max_rounds: int) -> tuple[int, int]:
    """Search, and give back what proves needless. Returns hand-overs and how many were undone."""
    return _search(state, max_rounds), _undo_needless(state)


@inner_kernel
def _search(state: LeaderState, max_rounds: int) -> int:
    """Rounds of giving, fetching and chains until all is inside or nothing helps. Returns hand-overs."""
    made = 0
    for _ in range(max_rounds):
        before = made
        outside = _farthest_first(state)
        for b in outside:
            made += _give_from(state, b, 0.0)
            made += _fetch_to(state, b, 0.0)
        if made - before > outside.shape[0] // state.params.brokers_per_change:
            continue
        for b in _farthest_first(state):
            helped = _give_from(state, b, HOWEVER_FAR) + _fetch_to(state, b, HOWEVER_FAR)
            if helped == 0 and leader_outside(state, b, 0) > BAND_TOLERANCE and _chain_from(state, b):
                helped = 2
            made += helped
        if made == before:
            break
    return made


@inner_kernel
def _undo_needless(state: LeaderState) -> int:
    """Give leaderships back to today's leader where nobody's distance from the bands grows. Returns how many."""
    undone = 0
    for p in range(state.replica_index.shape[0]):
        if state.replicas[p, state.replica_index[p]] == state.original[p]:
            continue
        for replica_index in range(state.replicas.shape[1]):
            if state.replicas[p, replica_index] == state.original[p] and is_free(state, p, replica_index):
                source, target = state.replicas[p, state.replica_index[p]], state.original[p]
                if (
                    leader_band_improvement(state, source, p, -1.0) + leader_band_improvement(state, target, p, 1.0)
                    >= -GAIN_TOLERANCE
                ):
                    hand_over(state, p, replica_index)
                    undone += 1
                break
    return undone
