"""Search, first step: brokers above their bands hand over replicas whose mixture of loads fits both sides.

Why the mixture: a broker is above its band in several resources at once, and whoever takes from it lacks several. The
fewest bytes are moved when all of them run out together. Taking the best relief per byte instead fills the receivers'
replica counts with tiny replicas first, and the bytes no longer fit; replicas that point where the excess points (the
cosine of the angle between the two) leave a rest as balanced as the whole.

A visit to one broker ranks its replicas once, O(n log n), and ends when a part of the excess is gone.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats, Ints, Longs
from kafka_rebalance.kernels.decorators import inner_kernel
from kafka_rebalance.planner.replicas.moving import above, move, outside, replica_load
from kafka_rebalance.planner.replicas.receivers import (
    alignment,
    brokers_lacking,
    lacking_receiver,
    roomy_receiver,
)
from kafka_rebalance.planner.sorting import in_place, ranking_of, smallest_first
from kafka_rebalance.planner.state import State
from kafka_rebalance.planner.tolerances import BAND_TOLERANCE


@inner_kernel
def worst_first(state: State) -> Longs:
    """Brokers outside their bands, farthest first."""
    far = np.empty(state.load.shape[0])
    for b in range(far.shape[0]):
        far[b] = -outside(state, b)
    order = smallest_first(far)
    found = 0
    while found < order.shape[0] and far[order[found]] < -BAND_TOLERANCE:
        found += 1
    return order[:found]


@inner_kernel
def overshoots(state: State, source: int, weight: Floats) -> bool:
    """Leaving would take more than is in excess of a resource that is, or leave too little of another."""
    for d in range(weight.shape[0]):
        now = state.load[source, d]
        then = now - weight[d]
        if (now > state.high[source, d] and then < state.high[source, d]) or then < state.low[source, d]:
            return True
    return False


@inner_kernel
def _rank(state: State, source: int, replica_indexes: Ints, fit: Floats, weight: Floats) -> None:
    """Fill ``fit`` with minus the alignment of each replica and the excess."""
    width = state.replicas.shape[1]
    excess = np.empty(weight.shape[0])
    for d in range(excess.shape[0]):
        excess[d] = max(state.load[source, d] - state.high[source, d], 0.0)
    for i in range(replica_indexes.shape[0]):
        p = replica_indexes[i] // width
        replica_load(state, p, replica_indexes[i] - p * width, source, weight)
        fit[i] = -alignment(weight, excess)


@inner_kernel
def push_from(state: State, source: int, lacking: Ints, receivers: Ints, part: float, least: float) -> int:
    """Hand over until ``part`` of the excess is gone, to ``lacking`` brokers, else to ``receivers``. Returns moves.

    Both sides must align with the replica by at least ``least``; brokers with room need not.
    """
    width = state.replicas.shape[1]
    weight, need = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    replica_indexes = state.items[state.start[source] : state.start[source] + state.filled[source]].copy()
    fit = np.empty(replica_indexes.shape[0])
    _rank(state, source, replica_indexes, fit, weight)
    stop = above(state, source) * (1.0 - part) + BAND_TOLERANCE
    moves, misses = 0, 0
    ranking = ranking_of(fit)
    for rank in range(fit.shape[0]):
        i = in_place(ranking, rank)
        if fit[i] > -least or misses > state.params.hand_over.misses_borne or above(state, source) <= stop:
            break
        p = replica_indexes[i] // width
        j = replica_indexes[i] - p * width
        replica_load(state, p, j, source, weight)
        target = -1
        if not overshoots(state, source, weight):
            target = lacking_receiver(state, p, j, weight, lacking, need, least)
            if target < 0 and receivers.shape[0] > 0:
                target = roomy_receiver(state, p, j, weight, receivers, 0.0, state.params.receivers.others_tried)
        if target < 0:
            misses += 1
            continue
        move(state, p, j, target, weight)
        moves += 1
    return moves


@inner_kernel
def push_round(state: State, everybody: Ints, receivers: Ints, part: float, least: float) -> int:
    """Visit every broker above its bands once, farthest out first. Returns moves.

    ``everybody`` are all brokers that take replicas: those that lack load are served first; ``receivers`` (may be
    empty) are those that take what no broker lacks.
    """
    moves = 0
    for b in worst_first(state):
        if above(state, b) > BAND_TOLERANCE:
            moves += push_from(state, b, brokers_lacking(state, everybody), receivers, part, least)
    return moves
