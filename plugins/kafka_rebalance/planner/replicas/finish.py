"""Search, last step of pushing: what is still above a band goes at the best relief per cost, wherever it fits.

The prices of the covering problem say which resources are dear on this broker, so that the rest is covered by the
cheapest replicas; O(n log n) per visit.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats, Ints
from kafka_rebalance.kernels.decorators import inner_kernel
from kafka_rebalance.planner.replicas.covering import best_prices
from kafka_rebalance.planner.replicas.moving import above, band_improvement, is_original, move, replica_load
from kafka_rebalance.planner.replicas.push import worst_first
from kafka_rebalance.planner.replicas.receivers import brokers_lacking, lacking_receiver, roomy_receiver
from kafka_rebalance.planner.sorting import in_place, largest_first
from kafka_rebalance.planner.state import State
from kafka_rebalance.planner.tolerances import BAND_TOLERANCE, GAIN_TOLERANCE, NOT_COVERABLE


@inner_kernel
def leaving_cost(state: State, p: int, source: int) -> float:
    """What it costs that a replica leaves ``source``."""
    return float(
        state.cost[p] if is_original(state, p, source) else state.params.hand_over.cost_of_moving_on * state.cost[p]
    )


@inner_kernel
def prices_of(state: State, source: int, prices: Floats) -> None:
    """Prices of the resources that ``source`` has too much of: which replicas cover its excess at the least cost."""
    width = state.replicas.shape[1]
    count = state.filled[source]
    cost, weight = np.empty(count), np.empty((count, prices.shape[0]))
    excess = np.empty(prices.shape[0])
    for d in range(excess.shape[0]):
        excess[d] = max(state.load[source, d] - state.high[source, d], 0.0)  # no minus infinity without a top
    for i in range(count):
        replica_index = state.items[state.start[source] + i]
        p = replica_index // width
        cost[i] = leaving_cost(state, p, source)
        replica_load(state, p, replica_index - p * width, source, weight[i])
    scratch = np.empty((2, count))
    if best_prices(cost, weight, excess, prices, scratch, state.params.hand_over.covering_sweeps) >= NOT_COVERABLE:
        for d in range(prices.shape[0]):
            prices[d] = 1.0 if excess[d] > 0 else 0.0


@inner_kernel
def _priced_improvement(state: State, source: int, weight: Floats, prices: Floats) -> float:
    """What leaving is worth: excess covered at ``prices``, less what is taken below the band."""
    total = 0.0
    for d in range(weight.shape[0]):
        now = state.load[source, d]
        if now > state.high[source, d]:
            total += prices[d] * min(weight[d], now - state.high[source, d])
        low = state.low[source, d]
        if now - weight[d] < low:
            total -= min(low - now + weight[d], weight[d])
    return total


@inner_kernel
def _rank_leavers(
    state: State, source: int, prices: Floats, replica_indexes: Ints, worth: Floats, weight: Floats
) -> int:
    """Replicas whose leaving relieves ``source``, and their relief per cost; returns how many."""
    width = state.replicas.shape[1]
    found = 0
    for place in range(state.start[source], state.start[source] + state.filled[source]):
        replica_index = state.items[place]
        p = replica_index // width
        replica_load(state, p, replica_index - p * width, source, weight)
        gain = _priced_improvement(state, source, weight, prices)
        if gain > GAIN_TOLERANCE:
            replica_indexes[found] = replica_index
            worth[found] = gain / leaving_cost(state, p, source)
            found += 1
    return found


@inner_kernel
def finish_from(state: State, source: int, receivers: Ints, lacking: Ints, worst: float) -> int:
    """One visit: hand over what is worth most per cost until the broker is inside. Returns moves."""
    width = state.replicas.shape[1]
    weight, need = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    prices = np.empty(state.load.shape[1])
    prices_of(state, source, prices)
    replica_indexes = np.empty(state.filled[source], np.int32)
    worth = np.empty(state.filled[source])
    found = _rank_leavers(state, source, prices, replica_indexes, worth, weight)
    moves, misses = 0, 0
    ranking = largest_first(worth[:found])
    for rank in range(found):
        i = in_place(ranking, rank)
        if misses > state.params.hand_over.misses_borne or above(state, source) <= BAND_TOLERANCE:
            break
        p = replica_indexes[i] // width
        j = replica_indexes[i] - p * width
        replica_load(state, p, j, source, weight)
        target = -1
        gain = _priced_improvement(state, source, weight, prices)
        if gain >= state.params.hand_over.least_of_rank * worth[i] * leaving_cost(state, p, source):
            target = lacking_receiver(state, p, j, weight, lacking, need, 0.0)
            if target < 0:
                target = roomy_receiver(state, p, j, weight, receivers, worst, state.params.receivers.others_tried)
        if (
            target < 0
            or band_improvement(state, source, weight, -1.0) + band_improvement(state, target, weight, 1.0)
            <= GAIN_TOLERANCE
        ):
            misses += 1
            continue
        move(state, p, j, target, weight)
        moves += 1
    return moves


@inner_kernel
def finish_round(state: State, everybody: Ints, receivers: Ints, worst: float) -> int:
    """Visit every broker above its bands once, farthest out first. Returns moves."""
    moves = 0
    for b in worst_first(state):
        if above(state, b) > BAND_TOLERANCE:
            moves += finish_from(state, b, receivers, brokers_lacking(state, everybody), worst)
    return moves
