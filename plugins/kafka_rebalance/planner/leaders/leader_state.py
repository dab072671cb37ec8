"""Who leads what, as arrays for the compiled leader search. A leadership moves without bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Ints, Longs
from kafka_rebalance.kernels.by_reference import ByReference
from kafka_rebalance.kernels.decorators import inner_kernel, kernel
from kafka_rebalance.planner.grouping import grouped_order
from kafka_rebalance.planner.params import DEFAULTS, LeaderParams


@dataclass(frozen=True, eq=False, kw_only=True)
class LeaderState(ByReference):
    """Working arrays; D leader-carried resources. Loads include what the brokers carry as followers."""

    replicas: Ints  # int32[P, W]
    replica_index: Ints  # int32[P], which replica leads
    original: Ints  # int32[P], today's leader: leading there costs nothing
    may_lead: Flags  # bool[P, W]
    extra: Floats  # float64[P, D]
    load: Floats  # float64[B, D]
    low: Floats
    high: Floats
    limit: Floats
    items: Ints  # partitions by the broker that leads them
    start: Longs  # int64[B+1]
    filled: Longs  # int64[B]
    position: Ints  # int32[P]
    held: Ints  # replica slots p·W + j by broker, for brokers that look for leaderships to fetch
    held_start: Longs  # int64[B+1]
    pairs_left: Longs  # int64[1]: chains that may still be looked at
    params: LeaderParams


@dataclass(frozen=True, slots=True, eq=False)
class LeaderLoads:
    """float64[B, D] each, in means: what brokers carry, and between what; ``limit`` is hard."""

    load: Floats
    low: Floats
    high: Floats
    limit: Floats


def make_leader_state(
    replicas: Ints,
    replica_index: Ints,
    original: Ints,
    may_lead: Flags,
    extra: Floats,
    loads: LeaderLoads,
    params: LeaderParams = DEFAULTS.leaders,
) -> LeaderState:
    """Index the partitions by leader and the replicas by broker. O(P·W)."""
    brokers = loads.load.shape[0]
    flat = replicas.ravel()
    is_there = flat >= 0
    held_start = np.zeros(brokers + 1, dtype=np.int64)
    np.cumsum(np.bincount(flat[is_there], minlength=brokers), out=held_start[1:])
    held = grouped_order(flat + 1, brokers + 1).astype(np.int32)[int((~is_there).sum()) :]
    leader = replicas[np.arange(len(replicas)), replica_index]
    items = np.zeros(len(held) + 1, dtype=np.int32)
    position = np.zeros(len(replicas), dtype=np.int32)
    count = np.zeros(brokers, dtype=np.int64)
    _index_leaders(leader, held_start, items, position, count)
    return LeaderState(
        replicas=np.ascontiguousarray(replicas),
        replica_index=replica_index,
        original=np.ascontiguousarray(original),
        may_lead=np.ascontiguousarray(may_lead),
        extra=extra,
        load=loads.load,
        low=loads.low,
        high=loads.high,
        limit=loads.limit,
        items=items,
        start=held_start,
        filled=count,
        position=position,
        held=held,
        held_start=held_start,
        pairs_left=np.array([max(params.least_chains, params.chains_per_replica * len(held))], dtype=np.int64),
        params=params,
    )


@kernel
def _index_leaders(leader: Ints, start: Longs, items: Ints, position: Ints, count: Longs) -> None:
    for p in range(leader.shape[0]):
        b = leader[p]
        place = start[b] + count[b]
        items[place] = p
        position[p] = place
        count[b] += 1


@inner_kernel
def hand_over(state: LeaderState, p: int, replica_index: int) -> None:
    """Replica ``replica_index`` of ``p`` leads from now on."""
    source, target = state.replicas[p, state.replica_index[p]], state.replicas[p, replica_index]
    state.filled[source] -= 1
    last = state.items[state.start[source] + state.filled[source]]
    state.items[state.position[p]] = last
    state.position[last] = state.position[p]
    place = state.start[target] + state.filled[target]
    state.items[place] = p
    state.position[p] = place
    state.filled[target] += 1
    state.replica_index[p] = replica_index
    for d in range(state.load.shape[1]):
        state.load[source, d] -= state.extra[p, d]
        state.load[target, d] += state.extra[p, d]


@inner_kernel
def switch_cost(state: LeaderState, p: int, replica_index: int) -> int:
    """Change of the number of leader changes when ``replica_index`` leads ``p``: -1, 0 or 1."""
    now, then = state.replicas[p, state.replica_index[p]], state.replicas[p, replica_index]
    return int(then != state.original[p]) - int(now != state.original[p])


@inner_kernel
def is_free(state: LeaderState, p: int, replica_index: int) -> bool:
    """``replica_index`` could lead ``p`` in place of today's, within hard limits."""
    if replica_index == state.replica_index[p] or not state.may_lead[p, replica_index]:
        return False
    target = state.replicas[p, replica_index]
    for d in range(state.load.shape[1]):  # noqa: SIM110  # all() over a generator does not compile
        if state.load[target, d] + state.extra[p, d] > state.limit[target, d]:
            return False
    return True


@inner_kernel
def band_violation(state: LeaderState, broker: int, d: int, change: float) -> float:
    """Distance from the band of resource ``d`` if the load changes by ``change``."""
    load = state.load[broker, d] + change
    return float(max(load - state.high[broker, d], 0.0) + max(state.low[broker, d] - load, 0.0))


@inner_kernel
def leader_band_improvement(state: LeaderState, broker: int, p: int, sign: float) -> float:
    """By how much ``broker`` comes closer to its bands when it gains (+1) or loses (-1) the leadership of ``p``."""
    total = 0.0
    for d in range(state.load.shape[1]):
        total += band_violation(state, broker, d, 0.0) - band_violation(state, broker, d, sign * state.extra[p, d])
    return total


@inner_kernel
def leader_outside(state: LeaderState, broker: int, sign: int) -> float:
    """How far a broker is above (sign 1), below (-1), or either way (0) outside its bands."""
    total = 0.0
    for d in range(state.load.shape[1]):
        if sign >= 0:
            total += max(state.load[broker, d] - state.high[broker, d], 0.0)
        if sign <= 0:
            total += max(state.low[broker, d] - state.load[broker, d], 0.0)
    return total
