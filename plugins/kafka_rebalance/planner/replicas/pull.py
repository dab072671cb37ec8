"""Search, second half: brokers below their bands fetch replicas, and stuck ones exchange them."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats, Ints
from kafka_rebalance.kernels.decorators import inner_kernel
from kafka_rebalance.planner.replicas.moving import (
    band_improvement,
    below,
    copies_needed,
    draw,
    fits_limit,
    is_original,
    keeps_racks_even,
    may_hold,
    move,
    outside,
    replica_load,
)
from kafka_rebalance.planner.replicas.push import worst_first
from kafka_rebalance.planner.replicas.receivers import service
from kafka_rebalance.planner.sorting import in_place, ranking_of
from kafka_rebalance.planner.state import State
from kafka_rebalance.planner.tolerances import BAND_TOLERANCE, GAIN_TOLERANCE


@inner_kernel
def _may_fetch(state: State, replica_index: int, target: int, weight: Floats) -> bool:
    width = state.replicas.shape[1]
    p = replica_index // width
    j = replica_index - p * width
    if not (may_hold(state, p, j, target) and keeps_racks_even(state, p, j, target)):
        return False
    replica_load(state, p, j, state.replicas[p, j], weight)
    return fits_limit(state, p, target, weight)


@inner_kernel
def _sample(state: State, target: int, receivers: Ints, replica_indexes: Ints, weight: Floats) -> int:
    """Replicas of other brokers that ``target`` may hold; returns how many were found."""
    found = 0
    for _ in range(replica_indexes.shape[0]):
        source = receivers[draw(state, receivers.shape[0])]
        if source != target and state.filled[source] > 0:
            replica_index = state.items[state.start[source] + draw(state, state.filled[source])]
            if _may_fetch(state, replica_index, target, weight):
                replica_indexes[found] = replica_index
                found += 1
    return found


@inner_kernel
def pull_to(state: State, target: int, receivers: Ints, worst: float, least: float) -> int:
    """Fetch for a broker below its bands replicas of the mixture that it lacks, from a sample. Returns moves."""
    weight, need = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    width = state.replicas.shape[1]
    replica_indexes = np.empty(state.params.fetch.sampled, np.int32)
    replica_indexes = replica_indexes[: _sample(state, target, receivers, replica_indexes, weight)]
    fit = np.empty(replica_indexes.shape[0])
    bonus = state.params.fetch.away_bonus
    for i in range(replica_indexes.shape[0]):
        p = replica_indexes[i] // width
        source = state.replicas[p, replica_indexes[i] - p * width]
        replica_load(state, p, replica_indexes[i] - p * width, source, weight)
        fit[i] = -service(state, target, weight, need) - (0.0 if is_original(state, p, source) else bonus)
    moves = 0
    ranking = ranking_of(fit)
    for rank in range(fit.shape[0]):
        i = in_place(ranking, rank)
        if fit[i] > -least or below(state, target) <= BAND_TOLERANCE:
            break
        if _helps(state, replica_indexes[i], target, weight, worst) and _may_fetch(
            state, replica_indexes[i], target, weight
        ):
            move(state, replica_indexes[i] // width, replica_indexes[i] % width, target, weight)
            moves += 1
    return moves


@inner_kernel
def _helps(state: State, replica_index: int, target: int, weight: Floats, worst: float) -> bool:
    width = state.replicas.shape[1]
    p = replica_index // width
    source = state.replicas[p, replica_index - p * width]
    if source == target:
        return False
    replica_load(state, p, replica_index - p * width, source, weight)
    given = band_improvement(state, source, weight, -1.0)
    if given < -worst - GAIN_TOLERANCE:
        return False
    gain = band_improvement(state, target, weight, 1.0)
    return gain > GAIN_TOLERANCE and gain + given > GAIN_TOLERANCE


@inner_kernel
def pull_round(state: State, receivers: Ints, worst: float, least: float) -> int:
    """Visit every taker below its bands once, farthest out first. Returns moves."""
    moves = 0
    for b in worst_first(state):
        if state.takes[b] and below(state, b) > BAND_TOLERANCE:
            moves += pull_to(state, b, receivers, worst, least)
    return moves


@inner_kernel
def swap_gain(state: State, left: int, right: int, going: Floats, coming: Floats) -> float:
    """Relief of both brokers when ``left`` gives ``going`` for ``coming``."""
    total = 0.0
    for d in range(going.shape[0]):
        change = coming[d] - going[d]
        total += _nearer(state, left, d, change) + _nearer(state, right, d, -change)
    return total


@inner_kernel
def _nearer(state: State, broker: int, d: int, change: float) -> float:
    now = state.load[broker, d]
    top, bottom = state.high[broker, d], state.low[broker, d]
    before = max(now - top, 0.0) + max(bottom - now, 0.0)
    return float(before - max(now + change - top, 0.0) - max(bottom - now - change, 0.0))


@inner_kernel
def may_swap(state: State, left_index: int, right_index: int) -> bool:
    """Both replicas may take the other's place; hard limits hold on both sides."""
    width = state.replicas.shape[1]
    p, q = left_index // width, right_index // width
    i, j = left_index - p * width, right_index - q * width
    left, right = state.replicas[p, i], state.replicas[q, j]
    if not (may_hold(state, p, i, right) and may_hold(state, q, j, left)):
        return False
    if not (keeps_racks_even(state, p, i, right) and keeps_racks_even(state, q, j, left)):
        return False
    weight = np.empty(state.load.shape[1])
    replica_load(state, p, i, left, weight)
    if not fits_limit(state, p, right, weight):
        return False
    replica_load(state, q, j, right, weight)
    return fits_limit(state, q, left, weight)


@inner_kernel
def swap_at(state: State, left: int, receivers: Ints, tries: int) -> int:
    """The best of ``tries`` sampled exchanges with a broker outside its bands. Returns 1 if one was made."""
    width = state.replicas.shape[1]
    going, coming = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    best, best_left, best_right = 0.0, -1, -1
    for _ in range(tries):
        right = receivers[draw(state, receivers.shape[0])]
        if right == left or state.filled[right] == 0 or state.filled[left] == 0:
            continue
        left_index = state.items[state.start[left] + draw(state, state.filled[left])]
        right_index = state.items[state.start[right] + draw(state, state.filled[right])]
        p, q = left_index // width, right_index // width
        replica_load(state, p, left_index - p * width, left, going)
        replica_load(state, q, right_index - q * width, right, coming)
        gain = swap_gain(state, left, right, going, coming)
        if p == q or gain <= GAIN_TOLERANCE:
            continue
        cost = copies_needed(state, p, left, right) + copies_needed(state, q, right, left)
        gain /= max(cost, state.params.fetch.least_cost * (state.cost[p] + state.cost[q]))
        if gain > best and may_swap(state, left_index, right_index):
            best, best_left, best_right = gain, left_index, right_index
    if best_left < 0:
        return 0
    right = state.replicas[best_right // width, best_right % width]
    move(state, best_left // width, best_left % width, right, going)
    move(state, best_right // width, best_right % width, left, going)
    return 1


@inner_kernel
def swap_round(state: State, receivers: Ints, tries: int) -> int:
    """One exchange for every taker outside its bands. Returns exchanges."""
    swaps = 0
    for b in worst_first(state):
        if state.takes[b] and outside(state, b) > BAND_TOLERANCE:
            swaps += swap_at(state, b, receivers, tries)
    return swaps
