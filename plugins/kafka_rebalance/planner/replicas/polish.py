"""Making a plan cheaper without making it worse.

For every moved replica, dearest first:
1. it returns to its original broker, if that takes no broker farther from its bands;
2. it returns, and a replica that is displaced anyway moves on to mend what that breaks, which costs nothing;
3. it returns, and a cheaper one goes in its place.

A pass looks at a fixed number of partners per moved replica: O(moved · tries · W).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_rebalance.arrays import Floats, Ints, Longs
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
from kafka_rebalance.planner.replicas.pull import may_swap, swap_gain
from kafka_rebalance.planner.replicas.receivers import need_of, useful_part
from kafka_rebalance.planner.sorting import smallest_first
from kafka_rebalance.planner.state import State
from kafka_rebalance.planner.tolerances import BAND_TOLERANCE, GAIN_TOLERANCE


class Displaced(NamedTuple):
    """Replica indexes displaced when the pass began, by the broker they were on."""

    replica_indexes: Ints
    start: Longs


class Journal(NamedTuple):
    """Moves made while mending, to be undone if they do not suffice."""

    replica_indexes: Ints
    sources: Ints
    length: Longs  # [1]


@inner_kernel
def displaced_replicas(state: State) -> Displaced:
    """Index of what has moved. O(P·W)."""
    width = state.replicas.shape[1]
    brokers = state.load.shape[0]
    start = np.zeros(brokers + 1, np.int64)
    for replica_index in range(state.position.shape[0]):
        b = state.replicas[replica_index // width, replica_index % width]
        if state.position[replica_index] >= 0 and not is_original(state, replica_index // width, b):
            start[b + 1] += 1
    for b in range(brokers):
        start[b + 1] += start[b]
    replica_indexes = np.empty(start[brokers], np.int32)
    filled = start[:-1].copy()
    for replica_index in range(state.position.shape[0]):
        b = state.replicas[replica_index // width, replica_index % width]
        if state.position[replica_index] >= 0 and not is_original(state, replica_index // width, b):
            replica_indexes[filled[b]] = replica_index
            filled[b] += 1
    return Displaced(replica_indexes, start)


@inner_kernel
def _dearest_first(state: State, displaced: Displaced) -> Longs:
    cost = np.empty(displaced.replica_indexes.shape[0])
    for i in range(cost.shape[0]):
        cost[i] = -state.cost[displaced.replica_indexes[i] // state.replicas.shape[1]]
    return smallest_first(cost)


@inner_kernel
def _free_original(state: State, p: int, j: int) -> int:
    """A broker that held ``p``, to which slot ``j`` may return; -1 = none."""
    for i in range(state.original.shape[1]):
        b = state.original[p, i]
        if b >= 0 and may_hold(state, p, j, b) and keeps_racks_even(state, p, j, b):
            return int(b)
    return -1


@inner_kernel
def _may_go(state: State, replica_index: int, target: int, weight: Floats) -> bool:
    """Hard rules let the replica move to ``target``."""
    width = state.replicas.shape[1]
    p = replica_index // width
    j = replica_index - p * width
    if not (may_hold(state, p, j, target) and keeps_racks_even(state, p, j, target)):
        return False
    return fits_limit(state, p, target, weight)


@inner_kernel
def _best_fill(state: State, broker: int, weight: Floats, displaced: Displaced, tries: int) -> int:
    """The away replica of another broker that would bring ``broker`` nearest to its bands, harming nobody; or -1.

    What it brings beyond what is lacking counts against it: elsewhere those bytes would be of use.
    """
    width = state.replicas.shape[1]
    best, best_score = -1, GAIN_TOLERANCE
    need = np.empty(weight.shape[0])
    need_of(state, broker, need)
    for _ in range(tries):
        replica_index = displaced.replica_indexes[draw(state, displaced.replica_indexes.shape[0])]
        p = replica_index // width
        source = state.replicas[p, replica_index - p * width]
        if source == broker:
            continue
        replica_load(state, p, replica_index - p * width, source, weight)
        gain = band_improvement(state, broker, weight, 1.0)
        score = gain * useful_part(weight, need) if gain > GAIN_TOLERANCE else 0.0
        if (
            score <= best_score
            or band_improvement(state, source, weight, -1.0) < -GAIN_TOLERANCE
            or is_original(state, p, source)
        ):
            continue
        if _may_go(state, replica_index, broker, weight):
            best, best_score = replica_index, score
    return best


@inner_kernel
def _best_shed(
    state: State, broker: int, weight: Floats, displaced: Displaced, receivers: Ints, tries: int
) -> tuple[int, int]:
    """An away replica of ``broker`` and a receiver with room, so that ``broker`` comes nearest to its bands; or -1."""
    width = state.replicas.shape[1]
    first, count = displaced.start[broker], displaced.start[broker + 1] - displaced.start[broker]
    best, best_target, best_gain = -1, -1, GAIN_TOLERANCE
    for _ in range(tries if count > 0 else 0):
        replica_index = displaced.replica_indexes[first + draw(state, count)]
        p = replica_index // width
        if state.replicas[p, replica_index - p * width] != broker or is_original(state, p, broker):
            continue
        replica_load(state, p, replica_index - p * width, broker, weight)
        gain = band_improvement(state, broker, weight, -1.0)
        target = receivers[draw(state, receivers.shape[0])]
        if gain <= best_gain or target == broker or band_improvement(state, target, weight, 1.0) < -GAIN_TOLERANCE:
            continue
        if _may_go(state, replica_index, target, weight):
            best, best_target, best_gain = replica_index, target, gain
    return best, best_target


@inner_kernel
def _mend(state: State, broker: int, displaced: Displaced, receivers: Ints, journal: Journal, tries: int) -> bool:
    """Bring ``broker`` back inside its bands with replicas that are away from home anyway: that costs nothing."""
    width = state.replicas.shape[1]
    weight = np.empty(state.load.shape[1])
    for _ in range(state.params.polish.mending_steps):
        if outside(state, broker) <= BAND_TOLERANCE:
            return True
        if below(state, broker) > BAND_TOLERANCE:
            replica_index = _best_fill(state, broker, weight, displaced, tries)
            target = broker
        else:
            replica_index, target = _best_shed(state, broker, weight, displaced, receivers, tries)
        if replica_index < 0 or journal.length[0] >= journal.replica_indexes.shape[0]:
            return False
        p = replica_index // width
        journal.replica_indexes[journal.length[0]] = replica_index
        journal.sources[journal.length[0]] = state.replicas[p, replica_index - p * width]
        journal.length[0] += 1
        move(state, p, replica_index - p * width, target, weight)
    return outside(state, broker) <= BAND_TOLERANCE


@inner_kernel
def _return_to_original(
    state: State, replica_index: int, original: int, displaced: Displaced, receivers: Ints, journal: Journal, tries: int
) -> bool:
    """The replica returns home, others that are away anyway move on to mend what that breaks; undone if they cannot."""
    width = state.replicas.shape[1]
    p = replica_index // width
    j = replica_index - p * width
    left = state.replicas[p, j]
    weight = np.empty(state.load.shape[1])
    replica_load(state, p, j, original, weight)
    if not fits_limit(state, p, original, weight):
        return False
    breaks_original = band_improvement(state, original, weight, 1.0) < -GAIN_TOLERANCE
    replica_load(state, p, j, left, weight)
    breaks_left = band_improvement(state, left, weight, -1.0) < -GAIN_TOLERANCE
    move(state, p, j, original, weight)
    journal.length[0] = 0
    is_fine = not breaks_left or _mend(state, left, displaced, receivers, journal, tries)
    if is_fine and (not breaks_original or _mend(state, original, displaced, receivers, journal, tries)):
        return True
    for i in range(journal.length[0] - 1, -1, -1):
        undone = journal.replica_indexes[i]
        move(state, undone // width, undone % width, journal.sources[i], weight)
    move(state, p, j, left, weight)
    return False


@inner_kernel
def _send_cheaper(state: State, p: int, j: int, original: int, tries: int) -> float:
    """``p`` returns home and a cheaper replica goes from there in its place; returns what that saves."""
    width = state.replicas.shape[1]
    left = state.replicas[p, j]
    back, out = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    replica_load(state, p, j, left, back)
    best, best_saved = -1, state.params.polish.least_saving * state.cost[p]
    for _ in range(min(tries, state.filled[original])):
        replica_index = state.items[state.start[original] + draw(state, state.filled[original])]
        q = replica_index // width
        if q == p or state.cost[q] >= state.cost[p]:
            continue
        replica_load(state, q, replica_index - q * width, original, out)
        if swap_gain(state, left, original, back, out) < -GAIN_TOLERANCE:
            continue
        saved = state.cost[p] - copies_needed(state, q, original, left)
        if saved > best_saved and may_swap(state, p * width + j, replica_index):
            best, best_saved = replica_index, saved
    if best < 0:
        return 0.0
    move(state, p, j, original, back)
    move(state, best // width, best % width, left, back)
    return float(best_saved)


@inner_kernel
def polish_round(state: State, receivers: Ints, tries: int) -> float:
    """One pass over everything that has moved. Returns the cost saved."""
    width = state.replicas.shape[1]
    displaced = displaced_replicas(state)
    capacity = 2 * state.params.polish.mending_steps
    journal = Journal(np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.zeros(1, np.int64))
    saved = 0.0
    for i in _dearest_first(state, displaced):
        replica_index = displaced.replica_indexes[i]
        p = replica_index // width
        j = replica_index - p * width
        if is_original(state, p, state.replicas[p, j]):
            continue
        original = _free_original(state, p, j)
        if original < 0:
            continue
        if _return_to_original(state, replica_index, original, displaced, receivers, journal, tries):
            saved += state.cost[p]
        else:
            saved += _send_cheaper(state, p, j, original, tries)
    return saved
