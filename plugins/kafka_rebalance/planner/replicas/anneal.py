"""Making a plan cheaper by chance: small changes, worse ones too while it is warm (Metropolis), fewer as it cools.

What is judged: bytes copied, what is outside the bands at a price that rises, and the spread of topics. A step tries
one change: a displaced replica goes elsewhere, or back to its original broker; it goes back and another one from there
takes its place; two displaced ones change places; another replica leaves its original broker. Deterministic: steps are
counted, and the chance is the state's own.

Polishing cannot give up one good move for two better ones; this can, and it brings back inside what is outside by a
little. Example: 100 brokers of which two leave, ±3 %: from 5.7 % above the bound to 3.7 %.

Complexity: O(W + D) a step whatever the size of the cluster; 5·P·W bytes for the index of what is displaced.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import Floats, Ints, Longs
from kafka_rebalance.kernels.decorators import inner_kernel, kernel
from kafka_rebalance.planner.replicas.kernels import (
    band_improvement,
    copies_needed,
    draw,
    fits_limit,
    is_original,
    keeps_racks_even,
    may_hold,
    may_swap,
    move,
    replica_load,
    swap_gain,
)
from kafka_rebalance.planner.state import State
from kafka_rebalance.planner.tolerances import FRACTIONS
from kafka_rebalance.planner.topic_spread import excess_change


class Displaced(NamedTuple):
    """Replica indexes that are displaced, and some that were: the index is cleaned as it is used."""

    replica_indexes: Ints  # int32[P·W]
    is_listed: npt.NDArray[np.int8]  # int8[P·W]
    length: Longs  # [1]


class Heat(NamedTuple):
    """How bold a step may be; all in mean bytes per broker."""

    temperature: float
    outside_price: float
    topic_price: float


@inner_kernel
def _list_displaced(state: State, displaced: Displaced, replica_index: int) -> None:
    p = replica_index // state.replicas.shape[1]
    if displaced.is_listed[replica_index] == 0 and not is_original(
        state, p, state.replicas[p, replica_index % state.replicas.shape[1]]
    ):
        displaced.replica_indexes[displaced.length[0]] = replica_index
        displaced.is_listed[replica_index] = 1
        displaced.length[0] += 1


@inner_kernel
def _draw_displaced(state: State, displaced: Displaced) -> int:
    """A slot that is away from home; -1 = the one drawn is home again."""
    if displaced.length[0] == 0:
        return -1
    i = draw(state, displaced.length[0])
    replica_index = displaced.replica_indexes[i]
    p = replica_index // state.replicas.shape[1]
    if not is_original(state, p, state.replicas[p, replica_index % state.replicas.shape[1]]):
        return int(replica_index)
    displaced.length[0] -= 1
    displaced.replica_indexes[i] = displaced.replica_indexes[displaced.length[0]]
    displaced.is_listed[replica_index] = 0
    return -1


@inner_kernel
def _is_borne(state: State, heat: Heat, change: float) -> bool:
    if change <= 0:
        return True
    if change > state.params.anneal.hopeless * heat.temperature:
        return False
    return bool(draw(state, FRACTIONS) < np.exp(-change / heat.temperature) * FRACTIONS)


@inner_kernel
def _try_move(state: State, displaced: Displaced, heat: Heat, replica_index: int, target: int, weight: Floats) -> int:
    """Returns 1 if the replica went to ``target``."""
    width = state.replicas.shape[1]
    p = replica_index // width
    j = replica_index - p * width
    source = state.replicas[p, j]
    if source == target or not may_hold(state, p, j, target) or not keeps_racks_even(state, p, j, target):
        return 0
    replica_load(state, p, j, source, weight)
    change = copies_needed(state, p, source, target) - heat.outside_price * band_improvement(
        state, source, weight, -1.0
    )
    replica_load(state, p, j, target, weight)
    change -= heat.outside_price * band_improvement(state, target, weight, 1.0)
    if change > state.params.anneal.hopeless * heat.temperature + heat.topic_price:
        return 0
    change += heat.topic_price * excess_change(state.topics, state.replicas, p, source, target)
    if not fits_limit(state, p, target, weight) or not _is_borne(state, heat, change):
        return 0
    move(state, p, j, target, weight)
    _list_displaced(state, displaced, replica_index)
    return 1


@inner_kernel
def _try_swap(state: State, displaced: Displaced, heat: Heat, one: int, two: int, going: Floats, coming: Floats) -> int:
    """Returns 1 if the two replicas changed places."""
    width = state.replicas.shape[1]
    p, q = one // width, two // width
    i, j = one - p * width, two - q * width
    left, right = state.replicas[p, i], state.replicas[q, j]
    if p == q or left == right:
        return 0
    replica_load(state, p, i, left, going)
    replica_load(state, q, j, right, coming)
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
    _list_displaced(state, displaced, one)
    _list_displaced(state, displaced, two)
    return 1


@inner_kernel
def _original_of(state: State, replica_index: int) -> int:
    """A broker that holds the partition today, lost it, and may hold it again; -1 = none."""
    width = state.replicas.shape[1]
    p = replica_index // width
    first = draw(state, state.original.shape[1])
    for i in range(state.original.shape[1]):
        b = state.original[p, (first + i) % state.original.shape[1]]
        if b >= 0 and may_hold(state, p, replica_index - p * width, b):
            return int(b)
    return -1


@inner_kernel
def _any_index_of(state: State, broker: int) -> int:
    if state.filled[broker] == 0:
        return -1
    return int(state.items[state.start[broker] + draw(state, state.filled[broker])])


@inner_kernel
def _leave(state: State, displaced: Displaced, heat: Heat, receivers: Ints, near: int, weight: Floats) -> int:
    """Something else leaves its broker: one that gives already (slot ``near`` came from it), or any."""
    source = receivers[draw(state, receivers.shape[0])]
    if near >= 0 and draw(state, 2) == 0:
        source = max(_original_of(state, near), 0)
    replica_index = _any_index_of(state, source)
    return (
        0
        if replica_index < 0
        else _try_move(state, displaced, heat, replica_index, receivers[draw(state, receivers.shape[0])], weight)
    )


@inner_kernel
def _step(state: State, displaced: Displaced, heat: Heat, receivers: Ints, left: Floats, right: Floats) -> int:
    """Tries one change. Returns 1 if it was made."""
    kind, replica_index, other = draw(state, 100), _draw_displaced(state, displaced), -1
    if kind >= state.params.anneal.substitute:
        return _leave(state, displaced, heat, receivers, replica_index, left)
    if replica_index < 0:
        return 0
    if kind < state.params.anneal.elsewhere:
        return _try_move(state, displaced, heat, replica_index, receivers[draw(state, receivers.shape[0])], left)
    if kind < state.params.anneal.change_places:
        other = _draw_displaced(state, displaced)
    else:
        original = _original_of(state, replica_index)
        if original >= 0 and kind < state.params.anneal.go_home:
            return _try_move(state, displaced, heat, replica_index, original, left)
        if original >= 0:
            other = _any_index_of(state, original)
    return 0 if other < 0 else _try_swap(state, displaced, heat, replica_index, other, left, right)


@kernel
def anneal(state: State, receivers: Ints, steps: int, unit: float) -> int:
    """Try ``steps`` changes while it cools; ``unit`` = mean cost of a replica. Returns how many were made."""
    count = state.position.shape[0]
    displaced = Displaced(np.empty(count, np.int32), np.zeros(count, np.int8), np.zeros(1, np.int64))
    for replica_index in range(count):
        if state.position[replica_index] >= 0:
            _list_displaced(state, displaced, replica_index)
    left, right = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    numbers = state.params.anneal
    made = 0
    for i in range(steps):
        done = i / steps
        temperature = numbers.warm * (numbers.cold / numbers.warm) ** done * unit
        heat = Heat(temperature, numbers.outside_price + numbers.outside_rise * done, numbers.topic_price * unit)
        made += _step(state, displaced, heat, receivers, left, right)
    return made
