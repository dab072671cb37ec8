"""Making a plan cheaper without making it worse.

For every moved replica, dearest first:
1. it returns home, if that takes nobody farther from its bands;
2. it returns home, and a replica that is away from home anyway moves on to mend what that breaks, which costs nothing;
3. it returns home, and a cheaper one goes in its place.

A pass looks at a fixed number of partners per moved replica: O(moved · tries · W).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_rebalance.arrays import Floats, Ints, Longs
from kafka_rebalance.kernels.decorators import inner_kernel
from kafka_rebalance.planner.replicas.moving import (
    below,
    copies_needed,
    draw,
    fits_limit,
    is_home,
    keeps_racks_even,
    may_hold,
    move,
    outside,
    relief,
    weigh,
)
from kafka_rebalance.planner.replicas.pull import may_swap, swap_gain
from kafka_rebalance.planner.replicas.receivers import need_of, useful_part
from kafka_rebalance.planner.sorting import smallest_first
from kafka_rebalance.planner.state import State
from kafka_rebalance.planner.tolerances import BAND_TOLERANCE, GAIN_TOLERANCE


class Away(NamedTuple):
    """Replica slots away from home when the pass began, by the broker they were on."""

    slots: Ints
    start: Longs


class Journal(NamedTuple):
    """Moves made while mending, to be undone if they do not suffice."""

    slots: Ints
    sources: Ints
    length: Longs  # [1]


@inner_kernel
def replicas_away(state: State) -> Away:
    """Index of what has moved. O(P·W)."""
    width = state.replicas.shape[1]
    brokers = state.load.shape[0]
    start = np.zeros(brokers + 1, np.int64)
    for slot in range(state.position.shape[0]):
        b = state.replicas[slot // width, slot % width]
        if state.position[slot] >= 0 and not is_home(state, slot // width, b):
            start[b + 1] += 1
    for b in range(brokers):
        start[b + 1] += start[b]
    slots = np.empty(start[brokers], np.int32)
    filled = start[:-1].copy()
    for slot in range(state.position.shape[0]):
        b = state.replicas[slot // width, slot % width]
        if state.position[slot] >= 0 and not is_home(state, slot // width, b):
            slots[filled[b]] = slot
            filled[b] += 1
    return Away(slots, start)


@inner_kernel
def _dearest_first(state: State, away: Away) -> Longs:
    cost = np.empty(away.slots.shape[0])
    for i in range(cost.shape[0]):
        cost[i] = -state.cost[away.slots[i] // state.replicas.shape[1]]
    return smallest_first(cost)


@inner_kernel
def _free_home(state: State, p: int, j: int) -> int:
    """A broker that held ``p``, to which slot ``j`` may return; -1 = none."""
    for i in range(state.home.shape[1]):
        b = state.home[p, i]
        if b >= 0 and may_hold(state, p, j, b) and keeps_racks_even(state, p, j, b):
            return int(b)
    return -1


@inner_kernel
def _may_go(state: State, slot: int, target: int, weight: Floats) -> bool:
    """Hard rules let the replica move to ``target``."""
    width = state.replicas.shape[1]
    p = slot // width
    j = slot - p * width
    if not (may_hold(state, p, j, target) and keeps_racks_even(state, p, j, target)):
        return False
    return fits_limit(state, p, target, weight)


@inner_kernel
def _is_away(state: State, slot: int) -> bool:
    width = state.replicas.shape[1]
    p = slot // width
    return not is_home(state, p, state.replicas[p, slot - p * width])


@inner_kernel
def _best_fill(state: State, broker: int, weight: Floats, away: Away, tries: int) -> int:
    """The away replica of another broker that would bring ``broker`` nearest to its bands, harming nobody; or -1.

    What it brings beyond what is lacking counts against it: elsewhere those bytes would be of use.
    """
    width = state.replicas.shape[1]
    best, best_score = -1, GAIN_TOLERANCE
    need = np.empty(weight.shape[0])
    need_of(state, broker, need)
    for _ in range(tries):
        slot = away.slots[draw(state, away.slots.shape[0])]
        p = slot // width
        source = state.replicas[p, slot - p * width]
        if source == broker:
            continue
        weigh(state, p, slot - p * width, source, weight)
        gain = relief(state, broker, weight, 1.0)
        score = gain * useful_part(weight, need) if gain > GAIN_TOLERANCE else 0.0
        if score <= best_score or relief(state, source, weight, -1.0) < -GAIN_TOLERANCE or is_home(state, p, source):
            continue
        if _may_go(state, slot, broker, weight):
            best, best_score = slot, score
    return best


@inner_kernel
def _best_shed(state: State, broker: int, weight: Floats, away: Away, takers: Ints, tries: int) -> tuple[int, int]:
    """An away replica of ``broker`` and a receiver with room, so that ``broker`` comes nearest to its bands; or -1."""
    width = state.replicas.shape[1]
    first, count = away.start[broker], away.start[broker + 1] - away.start[broker]
    best, best_target, best_gain = -1, -1, GAIN_TOLERANCE
    for _ in range(tries if count > 0 else 0):
        slot = away.slots[first + draw(state, count)]
        p = slot // width
        if state.replicas[p, slot - p * width] != broker or is_home(state, p, broker):
            continue
        weigh(state, p, slot - p * width, broker, weight)
        gain = relief(state, broker, weight, -1.0)
        target = takers[draw(state, takers.shape[0])]
        if gain <= best_gain or target == broker or relief(state, target, weight, 1.0) < -GAIN_TOLERANCE:
            continue
        if _may_go(state, slot, target, weight):
            best, best_target, best_gain = slot, target, gain
    return best, best_target


@inner_kernel
def _mend(state: State, broker: int, away: Away, takers: Ints, journal: Journal, tries: int) -> bool:
    """Bring ``broker`` back inside its bands with replicas that are away from home anyway: that costs nothing."""
    width = state.replicas.shape[1]
    weight = np.empty(state.load.shape[1])
    for _ in range(state.params.polish.mending_steps):
        if outside(state, broker) <= BAND_TOLERANCE:
            return True
        if below(state, broker) > BAND_TOLERANCE:
            slot = _best_fill(state, broker, weight, away, tries)
            target = broker
        else:
            slot, target = _best_shed(state, broker, weight, away, takers, tries)
        if slot < 0 or journal.length[0] >= journal.slots.shape[0]:
            return False
        p = slot // width
        journal.slots[journal.length[0]] = slot
        journal.sources[journal.length[0]] = state.replicas[p, slot - p * width]
        journal.length[0] += 1
        move(state, p, slot - p * width, target, weight)
    return outside(state, broker) <= BAND_TOLERANCE


@inner_kernel
def _go_home(state: State, slot: int, home: int, away: Away, takers: Ints, journal: Journal, tries: int) -> bool:
    """The replica returns home, others that are away anyway move on to mend what that breaks; undone if they cannot."""
    width = state.replicas.shape[1]
    p = slot // width
    j = slot - p * width
    left = state.replicas[p, j]
    weight = np.empty(state.load.shape[1])
    weigh(state, p, j, home, weight)
    if not fits_limit(state, p, home, weight):
        return False
    breaks_home = relief(state, home, weight, 1.0) < -GAIN_TOLERANCE
    weigh(state, p, j, left, weight)
    breaks_left = relief(state, left, weight, -1.0) < -GAIN_TOLERANCE
    move(state, p, j, home, weight)
    journal.length[0] = 0
    is_fine = not breaks_left or _mend(state, left, away, takers, journal, tries)
    if is_fine and (not breaks_home or _mend(state, home, away, takers, journal, tries)):
        return True
    for i in range(journal.length[0] - 1, -1, -1):
        undone = journal.slots[i]
        move(state, undone // width, undone % width, journal.sources[i], weight)
    move(state, p, j, left, weight)
    return False


@inner_kernel
def _send_cheaper(state: State, p: int, j: int, home: int, tries: int) -> float:
    """``p`` returns home and a cheaper replica goes from there in its place; returns what that saves."""
    width = state.replicas.shape[1]
    left = state.replicas[p, j]
    back, out = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    weigh(state, p, j, left, back)
    best, best_saved = -1, state.params.polish.least_saving * state.cost[p]
    for _ in range(min(tries, state.filled[home])):
        slot = state.items[state.start[home] + draw(state, state.filled[home])]
        q = slot // width
        if q == p or state.cost[q] >= state.cost[p]:
            continue
        weigh(state, q, slot - q * width, home, out)
        if swap_gain(state, left, home, back, out) < -GAIN_TOLERANCE:
            continue
        saved = state.cost[p] - copies_needed(state, q, home, left)
        if saved > best_saved and may_swap(state, p * width + j, slot):
            best, best_saved = slot, saved
    if best < 0:
        return 0.0
    move(state, p, j, home, back)
    move(state, best // width, best % width, left, back)
    return float(best_saved)


@inner_kernel
def polish_round(state: State, takers: Ints, tries: int) -> float:
    """One pass over everything that has moved. Returns the cost saved."""
    width = state.replicas.shape[1]
    away = replicas_away(state)
    room = 2 * state.params.polish.mending_steps
    journal = Journal(np.empty(room, np.int32), np.empty(room, np.int32), np.zeros(1, np.int64))
    saved = 0.0
    for i in _dearest_first(state, away):
        slot = away.slots[i]
        p = slot // width
        j = slot - p * width
        if is_home(state, p, state.replicas[p, j]):
            continue
        home = _free_home(state, p, j)
        if home < 0:
            continue
        if _go_home(state, slot, home, away, takers, journal, tries):
            saved += state.cost[p]
        else:
            saved += _send_cheaper(state, p, j, home, tries)
    return saved
