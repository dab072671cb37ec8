"""Emptying drained brokers and the unplaced replicas: every replica there must go, wherever hard rules let it.

``release`` first takes off every broker what leaves its broker in any cheap plan, so that everything awkward finds its
place while there is capacity: the heaviest first, whichever broker gives it.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats, Ints, Longs
from kafka_rebalance.kernels.decorators import inner_kernel
from kafka_rebalance.planner.replicas.finish import leaving_cost, prices_of
from kafka_rebalance.planner.replicas.moving import (
    above,
    another_may_lead,
    fewest_in_rack,
    fits_limit,
    move,
    rack_share,
    replica_load,
)
from kafka_rebalance.planner.replicas.receivers import brokers_lacking, lacking_receiver, roomy_receiver
from kafka_rebalance.planner.sorting import smallest_first
from kafka_rebalance.planner.state import State
from kafka_rebalance.planner.tolerances import BAND_TOLERANCE, HOWEVER_FAR


@inner_kernel
def _release_from(state: State, source: int, weight: Floats) -> int:
    """Returns how many of a broker's replicas became unplaced."""
    width = state.replicas.shape[1]
    unplaced = state.load.shape[0] - 1
    prices = np.empty(state.load.shape[1])
    prices_of(state, source, prices)
    replica_indexes = state.items[state.start[source] : state.start[source] + state.filled[source]].copy()
    made = 0
    for replica_index in replica_indexes:
        p = replica_index // width
        replica_load(state, p, replica_index - p * width, source, weight)
        worth = 0.0
        for d in range(weight.shape[0]):
            worth += prices[d] * weight[d]
        is_sure = worth > state.params.hand_over.surely_leaves * leaving_cost(state, p, source)
        if is_sure and state.start[unplaced] + state.filled[unplaced] + 1 < state.start[unplaced + 1]:
            move(state, p, replica_index - p * width, unplaced, weight)
            made += 1
    return made


@inner_kernel
def release(state: State) -> int:
    """Mark as unplaced what the brokers above their bands must give up in any cheap plan. Returns how many."""
    weight = np.empty(state.load.shape[1])
    made = 0
    for b in range(state.load.shape[0] - 1):
        if not state.leaves[b] and above(state, b) > BAND_TOLERANCE:
            made += _release_from(state, b, weight)
    return made


@inner_kernel
def _back_to_original(state: State, p: int, j: int, weight: Floats) -> int:
    """A broker that holds ``p`` today and has lost it, also one that takes nothing new; -1 = none may have it back."""
    fewest = fewest_in_rack(state, p, j)
    for i in range(state.original.shape[1]):
        b = state.original[p, i]
        if b < 0 or state.leaves[b] or rack_share(state, p, j, state.rack[b]) > fewest:
            continue
        if not state.leads[b] and not another_may_lead(state, p, j):
            continue
        has_place = state.start[b] + state.filled[b] < state.start[b + 1]
        if has_place and not _holds(state, p, b) and fits_limit(state, p, b, weight):
            return int(b)
    return -1


@inner_kernel
def _holds(state: State, p: int, broker: int) -> bool:
    for i in range(state.replicas.shape[1]):  # noqa: SIM110  # any() over a generator does not compile
        if state.replicas[p, i] == broker:
            return True
    return False


@inner_kernel
def _place(state: State, p: int, j: int, weight: Floats, need: Floats, everybody: Ints) -> int:
    """Where a replica that must leave goes: to who needs it, who has room, its home, anybody; -1 = nowhere."""
    least = state.params.hand_over.least_service
    target = lacking_receiver(state, p, j, weight, brokers_lacking(state, everybody), need, least)
    if target < 0:
        target = roomy_receiver(state, p, j, weight, everybody, 0.0, state.params.receivers.others_tried)
    if target < 0:
        target = roomy_receiver(state, p, j, weight, everybody, 0.0, everybody.shape[0])
    if target < 0:
        target = _back_to_original(state, p, j, weight)
    if target < 0:
        target = roomy_receiver(state, p, j, weight, everybody, HOWEVER_FAR, everybody.shape[0])
    return target


@inner_kernel
def _leavers(state: State) -> Longs:
    """Slots of all that must leave, the heaviest first."""
    count = 0
    for b in range(state.load.shape[0]):
        if state.leaves[b]:
            count += state.filled[b]
    replica_indexes, size = np.empty(count, np.int64), np.empty(count)
    found = 0
    for b in range(state.load.shape[0]):
        if not state.leaves[b]:
            continue
        for i in range(state.start[b], state.start[b] + state.filled[b]):
            replica_indexes[found] = state.items[i]
            p = replica_indexes[found] // state.replicas.shape[1]
            heaviest = state.follower[p, 0]
            for d in range(1, state.follower.shape[1]):
                heaviest = max(heaviest, state.follower[p, d])
            size[found] = -heaviest
            found += 1
    order = smallest_first(size)
    for i in range(count):
        order[i] = replica_indexes[order[i]]
    return order


@inner_kernel
def evacuate(state: State, everybody: Ints) -> int:
    """Heaviest replicas first. Returns how many found no place. O(leaving · brokers)."""
    width = state.replicas.shape[1]
    weight, need = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    stranded = 0
    for replica_index in _leavers(state):
        p = replica_index // width
        j = replica_index - p * width
        replica_load(state, p, j, state.replicas[p, j], weight)
        target = _place(state, p, j, weight, need, everybody)
        if target < 0:
            stranded += 1
        else:
            move(state, p, j, target, weight)
    return stranded
