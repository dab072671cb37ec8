"""Making a plan cheaper by chance: small changes, worse ones too while it is warm (Metropolis), fewer as it cools.

What is judged: bytes copied, what is outside the bands at a price that rises, and the spread of topics. A step tries
one change: a replica that is away from home goes elsewhere, or home; it goes home and another one from there takes its
place; two that are away change places; another replica leaves home. Deterministic: steps are counted, and the chance
is the state's own.

Polishing cannot give up one good move for two better ones; this can, and it brings back inside what is outside by a
little. Example: 100 brokers of which two leave, ±3 %: from 5.7 % above the bound to 3.7 %.

Complexity: O(W + D) a step whatever the size of the cluster; 5·P·W bytes for the index of what is away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import Floats, Ints, Longs
from kafka_rebalance.kernels.decorators import inner_kernel, kernel
from kafka_rebalance.planner.replicas.moving import (
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
from kafka_rebalance.planner.replicas.pull import may_swap, swap_gain
from kafka_rebalance.planner.state import State
from kafka_rebalance.planner.topic_spread import excess_change

# Chances are drawn as one of so many.
FRACTIONS = 1 << 30


class Away(NamedTuple):
    """Slots that are away from home, and some that were: the index is cleaned as it is used."""

    slots: Ints  # int32[P·W]
    is_listed: npt.NDArray[np.int8]  # int8[P·W]
    length: Longs  # [1]


class Heat(NamedTuple):
    """How bold a step may be; all in mean bytes per broker."""

    temperature: float
    outside_price: float
    topic_price: float


@inner_kernel
def _list_away(state: State, away: Away, slot: int) -> None:
    p = slot // state.replicas.shape[1]
    if away.is_listed[slot] == 0 and not is_home(state, p, state.replicas[p, slot % state.replicas.shape[1]]):
        away.slots[away.length[0]] = slot
        away.is_listed[slot] = 1
        away.length[0] += 1


@inner_kernel
def _draw_away(state: State, away: Away) -> int:
    """A slot that is away from home; -1 = the one drawn is home again."""
    if away.length[0] == 0:
        return -1
    i = draw(state, away.length[0])
    slot = away.slots[i]
    p = slot // state.replicas.shape[1]
    if not is_home(state, p, state.replicas[p, slot % state.replicas.shape[1]]):
        return int(slot)
    away.length[0] -= 1
    away.slots[i] = away.slots[away.length[0]]
    away.is_listed[slot] = 0
    return -1


@inner_kernel
def _is_borne(state: State, heat: Heat, change: float) -> bool:
    if change <= 0:
        return True
    if change > state.params.anneal.hopeless * heat.temperature:
        return False
    return bool(draw(state, FRACTIONS) < np.exp(-change / heat.temperature) * FRACTIONS)


@inner_kernel
def _try_move(state: State, away: Away, heat: Heat, slot: int, target: int, weight: Floats) -> int:
    """Returns 1 if the replica went to ``target``."""
    width = state.replicas.shape[1]
    p = slot // width
    j = slot - p * width
    source = state.replicas[p, j]
    if source == target or not may_hold(state, p, j, target) or not keeps_racks_even(state, p, j, target):
        return 0
    weigh(state, p, j, source, weight)
    change = copies_needed(state, p, source, target) - heat.outside_price * relief(state, source, weight, -1.0)
    weigh(state, p, j, target, weight)
    change -= heat.outside_price * relief(state, target, weight, 1.0)
    if change > state.params.anneal.hopeless * heat.temperature + heat.topic_price:
        return 0
    change += heat.topic_price * excess_change(state.topics, state.replicas, p, source, target)
    if not fits_limit(state, p, target, weight) or not _is_borne(state, heat, change):
        return 0
    move(state, p, j, target, weight)
    _list_away(state, away, slot)
    return 1


@inner_kernel
def _try_swap(state: State, away: Away, heat: Heat, one: int, two: int, going: Floats, coming: Floats) -> int:
    """Returns 1 if the two replicas changed places."""
    width = state.replicas.shape[1]
    p, q = one // width, two // width
    i, j = one - p * width, two - q * width
    left, right = state.replicas[p, i], state.replicas[q, j]
    if p == q or left == right:
        return 0
    weigh(state, p, i, left, going)
    weigh(state, q, j, right, coming)
    change = copies_needed(state, p, left, right) + copies_needed(state, q, right, left)
    change -= heat.outside_price * swap_gain(state, left, right, going, coming)
    if change > state.params.anneal.hopeless * heat.temperature + 2 * heat.topic_price:
        return 0
    change += heat.topic_price * excess_change(state.topics, state.replicas, p, left, right)
    change += heat.topic_price * excess_change(state.topics, state.replicas, q, right, left)
    if not _is_borne(state, heat, change) or not may_swap(state, one, two):
        return 0
    move(state, p, i, right, going)
    move(state, q, j, left, going)
    _list_away(state, away, one)
    _list_away(state, away, two)
    return 1


@inner_kernel
def _home_of(state: State, slot: int) -> int:
    """A broker that holds the partition today, lost it, and may hold it again; -1 = none."""
    width = state.replicas.shape[1]
    p = slot // width
    first = draw(state, state.home.shape[1])
    for i in range(state.home.shape[1]):
        b = state.home[p, (first + i) % state.home.shape[1]]
        if b >= 0 and may_hold(state, p, slot - p * width, b):
            return int(b)
    return -1


@inner_kernel
def _any_slot_of(state: State, broker: int) -> int:
    if state.filled[broker] == 0:
        return -1
    return int(state.items[state.start[broker] + draw(state, state.filled[broker])])


@inner_kernel
def _leave(state: State, away: Away, heat: Heat, takers: Ints, near: int, weight: Floats) -> int:
    """Something else leaves its broker: one that gives already (slot ``near`` came from it), or any."""
    source = takers[draw(state, takers.shape[0])]
    if near >= 0 and draw(state, 2) == 0:
        source = max(_home_of(state, near), 0)
    slot = _any_slot_of(state, source)
    return 0 if slot < 0 else _try_move(state, away, heat, slot, takers[draw(state, takers.shape[0])], weight)


@inner_kernel
def _step(state: State, away: Away, heat: Heat, takers: Ints, left: Floats, right: Floats) -> int:
    """Tries one change. Returns 1 if it was made."""
    kind, slot, other = draw(state, 100), _draw_away(state, away), -1
    if kind >= state.params.anneal.substitute:
        return _leave(state, away, heat, takers, slot, left)
    if slot < 0:
        return 0
    if kind < state.params.anneal.elsewhere:
        return _try_move(state, away, heat, slot, takers[draw(state, takers.shape[0])], left)
    if kind < state.params.anneal.change_places:
        other = _draw_away(state, away)
    else:
        home = _home_of(state, slot)
        if home >= 0 and kind < state.params.anneal.go_home:
            return _try_move(state, away, heat, slot, home, left)
        if home >= 0:
            other = _any_slot_of(state, home)
    return 0 if other < 0 else _try_swap(state, away, heat, slot, other, left, right)


@kernel
def anneal(state: State, takers: Ints, steps: int, unit: float) -> int:
    """Try ``steps`` changes while it cools; ``unit`` = mean cost of a replica. Returns how many were made."""
    count = state.position.shape[0]
    away = Away(np.empty(count, np.int32), np.zeros(count, np.int8), np.zeros(1, np.int64))
    for slot in range(count):
        if state.position[slot] >= 0:
            _list_away(state, away, slot)
    left, right = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    numbers = state.params.anneal
    made = 0
    for i in range(steps):
        done = i / steps
        temperature = numbers.warm * (numbers.cold / numbers.warm) ** done * unit
        heat = Heat(temperature, numbers.outside_price + numbers.outside_rise * done, numbers.topic_price * unit)
        made += _step(state, away, heat, takers, left, right)
    return made
