"""Each broker's fair share, by filling racks with water (written apart from the planner's decomposition).

All racks rise together, level (load / capacity) by level, until some set of racks cannot hold more: a rack holds at
most one replica of a partition where racks suffice, else an even part of them. That set is frozen, the rest rises on,
until the whole load is placed. At each step only the fullest racks can be the tight ones, so one sort finds them. Where
a broker would then hold a partition twice, brokers rise instead of racks (``single_replicas.py``).

Example: 10 brokers on racks of 4, 3, 3, RF 3, 30 partitions: at level 7.5 the rack of 4 holds its 30 replicas and
stops; the others rise to 10. Complexity: O(K² log K) for K racks, after O(P).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Floats
from kafka_rebalance.verify.cluster.rack_counts import rack_counts
from kafka_rebalance.verify.cluster.single_replicas import filled, pieces_of

_STEPS = 100
_TIGHT = 1e-12


def fair_share_of(
    cluster: ClusterArrays,
    target_rf: npt.NDArray[np.int64],
    per_replica: Floats,
    broker_capacity: Floats,
) -> Floats:
    """float64[B]: fair load of brokers with capacity ``broker_capacity`` (0: takes no part); ``per_replica`` is
    float64[P]: what each replica of a partition carries.
    """
    brokers_in = np.bincount(cluster.rack, weights=broker_capacity > 0).astype(np.int64)
    rack_capacity = np.bincount(cluster.rack, weights=broker_capacity).astype(np.float64)
    used = np.flatnonzero(rack_capacity > 0)
    if len(used) == 0:
        return np.zeros(len(broker_capacity))
    base = np.zeros(len(used))
    extra = np.zeros(len(used) + 1)
    for rf in np.unique(target_rf).tolist():
        everywhere, odd = rack_counts(rf, brokers_in[used])
        weight = float(per_replica[target_rf == rf].sum())
        base += weight * everywhere
        extra += weight * np.minimum(odd, np.arange(len(used) + 1))
    level = np.zeros(len(rack_capacity))
    level[used] = _levels(rack_capacity[used], base, extra)
    share = level[cluster.rack] * broker_capacity
    takes_part = np.flatnonzero(broker_capacity > 0)
    classes = {rf: float(per_replica[target_rf == rf].sum()) for rf in np.unique(target_rf).tolist() if rf > 0}
    rack = np.unique(cluster.rack[takes_part], return_inverse=True)[1]
    share[takes_part] = filled(share[takes_part], broker_capacity[takes_part], rack, pieces_of(rack, classes))
    return np.asarray(share)


def _levels(capacity: Floats, base: Floats, extra: Floats) -> Floats:
    levels = np.zeros(len(capacity))
    rising = np.arange(len(capacity))
    frozen = 0
    while len(rising):
        level = _highest_level(capacity[rising], base[rising], extra[frozen:] - extra[frozen])
        held = np.sort(level * capacity[rising] - base[rising])[::-1]
        slack = (extra[frozen + 1 :] - extra[frozen]) - np.cumsum(held)
        tight = np.flatnonzero(slack <= _TIGHT * max(float(capacity[rising].sum()) * level, 1e-300))
        count = int(tight[-1]) + 1 if len(tight) else len(rising)
        order = np.argsort(-(level * capacity[rising] - base[rising]), kind="stable")[:count]
        levels[rising[order]] = level
        rising = np.delete(rising, order)
        frozen += count
    return levels


def _highest_level(capacity: Floats, base: Floats, extra: Floats) -> float:
    """The highest common level at which no set of racks is over-full: bisection, then the exact level of that set."""
    low, high = 0.0, float((base.sum() + extra[len(capacity)]) / capacity.sum())
    if _fits(high, capacity, base, extra)[0]:
        return high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        fits, _ = _fits(middle, capacity, base, extra)
        low, high = (middle, high) if fits else (low, middle)
    members = _fits(high, capacity, base, extra)[1]
    return float((base[members].sum() + extra[len(members)]) / capacity[members].sum())


def _fits(level: float, capacity: Floats, base: Floats, extra: Floats) -> tuple[bool, npt.NDArray[np.intp]]:
    order = np.argsort(-(level * capacity - base), kind="stable")
    over = np.cumsum((level * capacity - base)[order]) - extra[1 : len(capacity) + 1]
    worst = int(np.argmax(over))
    return bool(over[worst] <= _TIGHT * max(level * float(capacity.sum()), 1e-300)), order[: worst + 1]
