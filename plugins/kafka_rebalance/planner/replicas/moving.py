"""The smallest steps of the search: what a replica weighs, whether it may go somewhere, and taking it there."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.kernels.decorators import inlined_kernel, inner_kernel
from kafka_rebalance.planner.state import State
from kafka_rebalance.planner.topic_spread import TopicSpread


@inner_kernel
def draw(state: State, bound: int) -> int:
    """Next pseudo-random integer in [0, bound): xorshift64, the same on every machine."""
    x = state.random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state.random[0] = x
    return int(np.int64((x >> np.uint64(33)) % np.uint64(bound)))


@inlined_kernel
def is_original(state: State, p: int, broker: int) -> bool:
    """``broker`` holds a replica of ``p`` today, so a replica there costs nothing."""
    for j in range(state.original.shape[1]):  # noqa: SIM110  # any() over a generator does not compile
        if state.original[p, j] == broker:
            return True
    return False


@inlined_kernel
def copies_needed(state: State, p: int, source: int, target: int) -> float:
    """Change of the plan's cost when a replica of ``p`` goes from source to target: -cost, 0 or cost."""
    change = 0.0
    if not is_original(state, p, target):
        change += state.cost[p]
    if not is_original(state, p, source):
        change -= state.cost[p]
    return change


@inlined_kernel
def replica_load(state: State, p: int, j: int, broker: int, weight: Floats) -> None:
    """Fill ``weight`` float64[D] with what replica slot ``j`` of ``p`` weighs on ``broker``."""
    for d in range(weight.shape[0]):
        weight[d] = state.follower[p, d]
    if state.has_leaders and state.leader_index[p] == j:
        for d in range(weight.shape[0]):
            weight[d] += state.extra[p, d]
    if state.own.shape[0] > 0:
        for i in range(state.original.shape[1]):
            if state.original[p, i] == broker:
                weight[state.disk_column] += state.own[p, i]


@inner_kernel
def outside(state: State, broker: int) -> float:
    """How far a broker is outside its bands, all resources added up."""
    total = 0.0
    for d in range(state.load.shape[1]):
        total += max(state.load[broker, d] - state.high[broker, d], 0.0)
        total += max(state.low[broker, d] - state.load[broker, d], 0.0)
    return total


@inner_kernel
def above(state: State, broker: int) -> float:
    """How far a broker is above its bands."""
    total = 0.0
    for d in range(state.load.shape[1]):
        total += max(state.load[broker, d] - state.high[broker, d], 0.0)
    return total


@inner_kernel
def below(state: State, broker: int) -> float:
    """How far a broker is below its bands."""
    total = 0.0
    for d in range(state.load.shape[1]):
        total += max(state.low[broker, d] - state.load[broker, d], 0.0)
    return total


@inner_kernel
def band_improvement(state: State, broker: int, weight: Floats, sign: float) -> float:
    """By how much ``broker`` comes closer to its bands (negative: farther) when its load changes by sign · weight."""
    total = 0.0
    for d in range(weight.shape[0]):
        now = state.load[broker, d]
        then = now + sign * weight[d]
        top = state.high[broker, d]
        bottom = state.low[broker, d]
        if now > top:
            total += now - top
        elif now < bottom:
            total += bottom - now
        if then > top:
            total -= then - top
        elif then < bottom:
            total -= bottom - then
    return total


@inner_kernel
def fits_limit(state: State, p: int, target: int, weight: Floats) -> bool:
    """Hard capacity, also while both copies exist; a broker that is above already may not gain."""
    if not state.has_limit:
        return True
    for d in range(weight.shape[0]):
        if weight[d] > 0 and state.load[target, d] + weight[d] > state.limit[target, d]:
            return False
    d = state.disk_column
    if d < 0 or is_original(state, p, target):
        return True
    return bool(state.peak[target] + state.follower[p, d] <= state.limit[target, d])


@inner_kernel
def another_may_lead(state: State, p: int, j: int) -> bool:
    """A replica of ``p`` other than slot ``j`` is where it may lead: somebody must."""
    for i in range(state.replicas.shape[1]):
        if i != j and state.replicas[p, i] >= 0 and state.leads[state.replicas[p, i]]:
            return True
    return False


@inner_kernel
def may_hold(state: State, p: int, j: int, target: int) -> bool:
    """``target`` takes replicas (and leadership, where no other replica may lead), is of the set that ``p`` may be on,
    holds no other replica of ``p``, is not barred, and has room in its list.
    """
    if not state.takes[target] or state.start[target] + state.filled[target] >= state.start[target + 1]:
        return False
    if state.has_sets and not state.in_set[state.set_of[p], target]:
        return False
    if not state.leads[target] and not another_may_lead(state, p, j):
        return False
    for i in range(state.replicas.shape[1]):
        if (i != j and state.replicas[p, i] == target) or state.original[p, i] == -2 - target:
            return False
    return True


@inner_kernel
def keeps_racks_even(state: State, p: int, j: int, target: int) -> bool:
    """Moving slot ``j`` to ``target`` leaves the replicas of ``p`` spread over racks no worse than now.

    The sum of squared counts per rack never grows, so what is even stays even.
    """
    to = state.rack[target]
    source = state.rack[state.replicas[p, j]]
    if to == source:
        return True
    there, here = 0, 0
    for i in range(state.replicas.shape[1]):
        b = state.replicas[p, i]
        if b >= 0:
            there += state.rack[b] == to
            here += state.rack[b] == source
    return there + 1 <= here


@inner_kernel
def rack_share(state: State, p: int, j: int, rack: int) -> int:
    """Replicas of ``p`` in ``rack`` that need not leave, slot ``j`` aside."""
    held = 0
    for i in range(state.replicas.shape[1]):
        b = state.replicas[p, i]
        if i != j and b >= 0 and state.rack[b] == rack and not state.leaves[b]:
            held += 1
    return held


@inner_kernel
def fewest_in_rack(state: State, p: int, j: int) -> int:
    """For a replica that must leave: the fewest replicas of ``p`` in any rack that could still take one."""
    fewest = 1 << 30
    chosen = state.set_of[p] if state.has_sets else 0
    for k in range(state.receivers_in_rack.shape[1]):
        open_brokers = state.receivers_in_rack[chosen, k]
        if open_brokers == 0:
            continue
        for i in range(state.replicas.shape[1]):
            b, barred = state.replicas[p, i], -2 - state.original[p, i]
            if i != j and b >= 0 and state.rack[b] == k and state.takes[b] and state.in_set[chosen, b]:
                open_brokers -= 1
            # An original broker that may not be returned to closes one broker more, unless that takes nothing anyway.
            is_open = barred >= 0 and state.takes[barred] and state.in_set[chosen, barred]
            if is_open and state.rack[barred] == k:
                open_brokers -= 1
        if open_brokers > 0:
            fewest = min(fewest, rack_share(state, p, j, k))
    return fewest


@inner_kernel
def _recount_topic(spread: TopicSpread, p: int, source: int, target: int) -> None:
    row = spread.row[spread.topic[p]]
    if row >= 0:
        spread.table[row, source] -= 1
        spread.table[row, target] += 1


@inner_kernel
def move(state: State, p: int, j: int, target: int, weight: Floats) -> None:
    """Take slot ``j`` of ``p`` to ``target``; ``weight`` is scratch space, float64[D]."""
    width = state.replicas.shape[1]
    source = state.replicas[p, j]
    replica_index = p * width + j
    last_place = state.start[source] + state.filled[source] - 1
    last = state.items[last_place]
    place = state.position[replica_index]
    state.items[place] = last
    state.position[last] = place
    state.filled[source] -= 1
    place = state.start[target] + state.filled[target]
    state.items[place] = replica_index
    state.position[replica_index] = place
    state.filled[target] += 1
    replica_load(state, p, j, source, weight)
    for d in range(weight.shape[0]):
        state.load[source, d] -= weight[d]
    replica_load(state, p, j, target, weight)
    for d in range(weight.shape[0]):
        state.load[target, d] += weight[d]
    if state.has_limit and state.disk_column >= 0:
        size = state.follower[p, state.disk_column]
        if not is_original(state, p, target):
            state.peak[target] += size
        if not is_original(state, p, source):
            state.peak[source] -= size
    _recount_topic(state.topics, p, source, target)
    state.replicas[p, j] = target
