"""Each broker's fair share of each resource: the plain mean, unless racks keep a broker below or above it.

What replicas carry and what leaders carry on top are shared each for itself, and added up: a broker's share of CPU is
that of the replicas it can hold and of the leaders it is to have, the same ones that its other shares count.

Promises, in order
1. The shares of brokers that stay add up to the total (of what their racks can carry, level for level).
2. No set of brokers is given more than it can hold when every partition is spread evenly over racks and a broker holds
   one replica of it at most (Hall's condition): fractions of replicas can meet all shares at once.
3. Among all such shares of what replicas carry the lowest level is as high as possible, then the second lowest, and so
   on; what leaders carry is level among those that may lead.

Each resource by itself: a broker with ten times the others' disk and their network is asked for ten times the bytes at
the same rate, which replicas that are all alike cannot give. That is no fault of a share but a fact of the cluster: the
search comes as near as is possible, resource by resource (``planner.widening``), and the plan says so with the cause.

Example: 10 brokers on 3 racks (4/3/3), RF 3. Every rack must hold one replica of each partition, so a broker of the
rack with 4 has a fair share of 1/4 of the partitions and one of the others 1/3; the plain mean 0.3 cannot be met.

The racks that bind first are found as in Fujishige's decomposition of a polymatroid (1980), the tightest set by
Dinkelbach's method for a ratio: O(K² log K) per resource and tight set, after O(P·D). Only where a broker would be
given more than one replica of each partition it is done over, broker by broker (``broker_shares.py``).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.broker_shares import within_what_brokers_hold
from kafka_rebalance.cluster_arrays.even_spread import even_spread


def plain_mean(total: Floats, capacity: Floats, stays: Flags) -> Floats:
    """float64[D]: total load / capacity of the brokers that stay (0 where no broker stays)."""
    total_capacity: Floats = capacity[stays].sum(axis=0)
    return np.divide(total, total_capacity, out=np.zeros_like(total_capacity), where=total_capacity > 0)


def fair_shares(
    *,
    rack: Ints,
    capacity: Floats,
    may_carry: Flags,
    may_lead: Flags,
    target_rf: Ints,
    follower_load: Floats,
    leader_extra: Floats,
) -> Floats:
    """float64[B, D]: fair load of every broker and resource, 0 for brokers outside ``may_carry`` (bool[B, D]).

    ``may_carry`` says who shares a resource: brokers that stay, for leader-carried resources those that may lead;
    ``may_lead`` bool[B] who shares what leaders carry beyond their followers. Where none may, all do.
    """
    racks = distinct_racks(rack)
    factors = np.arange(int(target_rf.max(initial=1)) + 1)
    load_by_factor = np.stack([follower_load[target_rf == rf].sum(axis=0) for rf in factors])
    leader_total = leader_extra.sum(axis=0)
    shares = np.zeros_like(capacity)
    for d in range(capacity.shape[1]):
        carrying = np.where(may_carry[:, d], capacity[:, d], 0.0)
        shares[:, d] = _of_replicas(racks, carrying, load_by_factor[:, d])
        leading = np.where(may_lead, carrying, 0.0)
        leading = leading if leading.any() else carrying
        if leader_total[d] > 0 and leading.any():
            shares[:, d] += leading * (leader_total[d] / np.bincount(racks, weights=leading).sum())
    return shares


def _of_replicas(racks: Ints, capacity: Floats, load_by_factor: Floats) -> Floats:
    """float64[B]: shares of what each replica carries; brokers of capacity 0 have none."""
    rack_capacity = np.bincount(racks, weights=capacity).astype(np.float64)
    rack_size = np.bincount(racks, weights=capacity > 0).astype(np.int64)
    fixed, curve = _rack_holding(load_by_factor, rack_size)
    shares: Floats = _rack_levels(rack_capacity, fixed, curve)[racks] * capacity
    sharing = np.flatnonzero(capacity > 0)
    if len(sharing):
        _, rack = np.unique(racks[sharing], return_inverse=True)
        shares[sharing] = within_what_brokers_hold(shares[sharing], rack, capacity[sharing], load_by_factor)
    return shares


def distinct_racks(rack: Ints) -> Ints:
    """Rack index per broker in which every broker without a rack stands alone: it never violates a rack rule."""
    known, index = np.unique(rack[rack != NOBODY], return_inverse=True)
    racks = np.empty(len(rack), dtype=np.int32)
    racks[rack != NOBODY] = index
    alone = np.flatnonzero(rack == NOBODY)
    racks[alone] = len(known) + np.arange(len(alone))
    return racks


def _rack_holding(load_by_factor: Floats, rack_size: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Load that each rack holds anyway (float64[K]), and the most that j racks hold beyond it (float64[K+1])."""
    racks = np.arange(len(rack_size) + 1)
    fixed, curve = np.zeros(len(rack_size)), np.zeros(len(rack_size) + 1)
    for rf, load in enumerate(load_by_factor.tolist()):
        held, odd = even_spread(rf, rack_size)
        fixed += load * held
        curve += load * np.minimum(odd, racks)
    return fixed, curve


def _rack_levels(rack_capacity: Floats, fixed: Floats, curve: Floats) -> Floats:
    """Level (load per capacity) of each rack: tightest sets of racks first, the rest shares what is left."""
    levels = np.zeros(len(rack_capacity))
    left = np.flatnonzero(rack_capacity > 0)
    taken = 0
    while len(left):
        members, level = _tightest(
            rack_capacity[left], fixed[left], curve[taken : taken + len(left) + 1] - curve[taken]
        )
        levels[left[members]] = level
        taken += len(members)
        left = np.delete(left, members)
    return levels


def _tightest(capacity: Floats, fixed: Floats, curve: Floats) -> tuple[npt.NDArray[np.intp], float]:
    """The set of racks whose holding per capacity is lowest (the largest such set), and that level."""
    count = len(capacity)
    members = np.arange(count)
    level = float((fixed.sum() + curve[count]) / capacity.sum())
    while True:
        order = np.argsort(fixed - level * capacity, kind="stable")
        excess = np.cumsum((fixed - level * capacity)[order]) + curve[1 : count + 1]
        best = int(np.argmin(excess))
        if excess[best] >= -1e-12 * (abs(level) * capacity.sum() + 1e-300):
            return members, level
        members = order[: best + 1]
        level = float((fixed[members].sum() + curve[best + 1]) / capacity[members].sum())
