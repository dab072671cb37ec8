"""What every partition would choose at given prices, and what that puts on each broker: the inner minimum of the
Lagrangian (``lagrangian.py``) as one compiled pass, for those who look for better prices.

Brokers stand in the order of their groups (racks, or brokers alone), prices and loads in the units of the search.
Complexity: O(P · B · D) a pass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_rebalance.arrays import Floats, Ints, Longs
from kafka_rebalance.kernels.decorators import inner_kernel, kernel


class Choices(NamedTuple):
    """What partitions may choose from; B brokers in G groups, P partitions, D resources.

    follower, extra  float64[P, D]: what each replica carries, and the leader on top; cost float64[P] of a new copy
    kept             int32[P, W]: places of replicas that may stay, -1 = none; beyond float64[P, W]: their disk beyond
                     the leader's; disk: its column, -1 = none
    leader           int32[P]: place of today's leader, -1 = none
    closed, shut     float64[B]: inf where no replica may come, where nobody may begin to lead, else 0
    begin            int64[G + 1]: where each group begins
    factor           int64[P]: replicas wanted
    """

    follower: Floats
    extra: Floats
    cost: Floats
    kept: Ints
    beyond: Floats
    disk: int
    leader: Ints
    closed: Floats
    shut: Floats
    begin: Longs
    factor: Longs


@inner_kernel
def _add_prices(carried: Floats, p: int, price: Floats, total: Floats) -> None:
    """``total`` float64[B]: what partition ``p`` of ``carried`` float64[P, D] costs on each broker."""
    for b in range(price.shape[1]):
        total[b] = 0.0
    for d in range(price.shape[0]):
        amount = carried[p, d]
        if amount != 0:
            for b in range(price.shape[1]):
                total[b] += amount * price[d, b]


@inner_kernel
def _price_options(choices: Choices, price: Floats, p: int, option: Floats, led: Floats, kept: Floats) -> None:
    """``option``, ``led`` float64[B]: what a replica of partition ``p``, and its leader, would cost on each broker."""
    _add_prices(choices.follower, p, price, option)
    _add_prices(choices.extra, p, price, led)
    for j in range(kept.shape[0]):
        b = choices.kept[p, j]
        if b >= 0:
            beyond = 0.0 if choices.disk < 0 else choices.beyond[p, j] * price[choices.disk, b]
            kept[j] = option[b] + beyond
    for b in range(price.shape[1]):
        option[b] += choices.cost[p] + choices.closed[b]
    for j in range(kept.shape[0]):
        b = choices.kept[p, j]
        if b >= 0:
            option[b] = min(option[b], kept[j])
    leader = choices.leader[p]
    as_today = np.inf if leader < 0 else option[leader] + led[leader]
    for b in range(price.shape[1]):
        led[b] += option[b] + choices.shut[b]
    if leader >= 0:
        led[leader] = as_today


@inner_kernel
def _cheapest_of(begin: Longs, value: Floats, least: Floats, at: Longs) -> None:
    """The cheapest broker of each group, -1 where none can be."""
    for k in range(least.shape[0]):
        least[k] = np.inf
        at[k] = -1
        for b in range(begin[k], begin[k + 1]):
            if value[b] < least[k]:
                least[k] = value[b]
                at[k] = b


@inner_kernel
def _choose(least: Floats, chosen: Longs, count: int) -> float:
    """The ``count`` groups with the smallest ``least``, cheapest first; returns their sum, inf if there are fewer."""
    total, filled = 0.0, 0
    if count > least.shape[0]:
        return np.inf
    for k in range(least.shape[0]):
        i = filled
        if filled == count:
            if least[k] >= least[chosen[count - 1]]:
                continue
            i = count - 1
        else:
            filled += 1
        while i > 0 and least[chosen[i - 1]] > least[k]:
            chosen[i] = chosen[i - 1]
            i -= 1
        chosen[i] = k
    for i in range(count):
        total += least[chosen[i]]
    return total


@inner_kernel
def _best_leader(least: Floats, leading: Floats, dearest: float) -> int:
    """The group in which leading adds least, -1 = none."""
    best, leader = np.inf, -1
    for k in range(least.shape[0]):
        over = leading[k] - min(least[k], dearest)
        if over < best:
            best, leader = over, k
    return leader


@inner_kernel
def _giving_way(chosen: Longs, count: int, leader: int) -> int:
    """The group whose replica the leader's takes the place of: its own, else the dearest; -1 where nobody leads."""
    for i in range(count):
        if chosen[i] == leader:
            return leader
    return -1 if leader < 0 else int(chosen[count - 1])


@inner_kernel
def _add_load(carried: Floats, p: int, broker: int, load: Floats) -> None:
    for d in range(load.shape[0]):
        load[d, broker] += carried[p, d]


@kernel
def cheapest_placements(choices: Choices, price: Floats, load: Floats) -> float:
    """Σ of the cheapest placements at ``price`` float64[D, B]; fills ``load`` float64[D, B] with what they carry.

    A leader is one of the replicas: leading in a group pushes out the replica chosen there, else the dearest chosen.
    """
    brokers, groups = price.shape[1], choices.begin.shape[0] - 1
    option, led, kept = np.empty(brokers), np.empty(brokers), np.empty(choices.kept.shape[1])
    least, leading = np.empty(groups), np.empty(groups)
    at, leads_at, chosen = np.empty(groups, np.int64), np.empty(groups, np.int64), np.empty(groups, np.int64)
    load[:] = 0.0
    total = 0.0
    for p in range(choices.cost.shape[0]):
        _price_options(choices, price, p, option, led, kept)
        _cheapest_of(choices.begin, option, least, at)
        _cheapest_of(choices.begin, led, leading, leads_at)
        factor = choices.factor[p]
        value = _choose(least, chosen, factor)
        if value == np.inf:
            continue
        total += value
        dearest = least[chosen[factor - 1]]
        leader = _best_leader(least, leading, dearest)
        out = _giving_way(chosen, factor, leader)
        if leader >= 0:
            total += leading[leader] - min(least[leader], dearest)
            _add_load(choices.follower, p, leads_at[leader], load)
            _add_load(choices.extra, p, leads_at[leader], load)
        for i in range(factor):
            if chosen[i] != out:
                _add_load(choices.follower, p, at[chosen[i]], load)
    return total
