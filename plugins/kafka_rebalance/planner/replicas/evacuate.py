"""Emptying drained brokers and the void: every replica there must go, wherever hard rules let it."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.compiled import kernel
from kafka_rebalance.planner.problem import Floats, Ints
from kafka_rebalance.planner.replicas.moving import move, weigh
from kafka_rebalance.planner.replicas.receivers import OTHERS_TRIED, brokers_lacking, lacking_receiver, roomy_receiver
from kafka_rebalance.planner.state import State


@kernel
def _place(state: State, p: int, j: int, weight: Floats, need: Floats, everybody: Ints) -> int:
    """Where a replica that must leave goes: to who needs it, to who has room, to anybody; -1 = nowhere."""
    target = lacking_receiver(state, p, j, weight, brokers_lacking(state, everybody), need, 0.0)
    if target < 0:
        target = roomy_receiver(state, p, j, weight, everybody, 0.0, OTHERS_TRIED)
    if target < 0:
        target = roomy_receiver(state, p, j, weight, everybody, 0.0, everybody.shape[0])
    if target < 0:
        target = roomy_receiver(state, p, j, weight, everybody, 1e300, everybody.shape[0])
    return target


@kernel
def evacuate(state: State, everybody: Ints) -> int:
    """Heaviest replicas first. Returns how many found no place. O(leaving · brokers)."""
    width = state.replicas.shape[1]
    weight, need = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    stranded = 0
    for source in range(state.load.shape[0]):
        if not state.leaves[source] or state.filled[source] == 0:
            continue
        slots = state.items[state.start[source] : state.start[source] + state.filled[source]].copy()
        size = np.empty(slots.shape[0])
        for i in range(slots.shape[0]):
            size[i] = -state.follower[slots[i] // width].max()
        for i in np.argsort(size):
            p = slots[i] // width
            j = slots[i] - p * width
            weigh(state, p, j, source, weight)
            target = _place(state, p, j, weight, need, everybody)
            if target < 0:
                stranded += 1
            else:
                move(state, p, j, target, weight)
    return stranded
