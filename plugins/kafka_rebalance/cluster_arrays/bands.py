"""Bands from options: lowest and highest load of each broker and resource.

``within`` is a band around the fair share; a ``Target`` replaces it and is relative to the plain mean. Counts may
always be rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_rebalance.options.values import Target
from kafka_rebalance.resources import COUNTED


def even_spread(rf: int, rack_size: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], int]:
    """Replicas of a partition on every rack, and the odd ones, at most one a rack: RF 5 on racks of 1, 3, 3 is ([1, 2,
    2], 0).
    """
    held = np.zeros(len(rack_size), dtype=np.int64)
    while True:
        open_racks = held < rack_size
        if not open_racks.any() or held.sum() + open_racks.sum() > rf:
            return held, int(min(rf - held.sum(), open_racks.sum()))
        held += open_racks


# Of float64 sums, as a share of the plain mean.
BAND_ROUNDING = 1e-9


# Shares of brokers that racks alone would fill with more than one replica of a partition. A broker holds at most one
# replica of a partition, a rack at most its even share: for each replication factor a matroid, in sum a polymatroid.
# Shares that exceed no set of brokers can be held by fractions (Edmonds 1970).


def within_what_brokers_hold(shares: Floats, rack: Longs, capacity: Floats, load_by_factor: Floats) -> Floats:
    """``shares`` if every set of brokers can hold its part, else the most even ones that fit."""
    if shares.sum() <= 0:
        return shares
    order = np.lexsort((-shares, rack))
    hold = BrokersHold.of(rack[order], load_by_factor)
    if hold.least_slack(shares[order], np.zeros(len(order), dtype=np.bool_))[0] >= -BAND_ROUNDING * shares.sum():
        return shares
    order = np.lexsort((-capacity, rack))
    result = np.empty_like(shares)
    result[order] = _most_even(BrokersHold.of(rack[order], load_by_factor), capacity[order])
    return result


@dataclass(frozen=True, slots=True, eq=False)
class BrokersHold:
    """Limits of sets of brokers for one resource; brokers by rack, the fullest first.

    linear    contribution after the brokers before it, odd replicas counted one a rack
    constant  factors whose odd replicas count as if all were held
    """

    rack: Longs
    index_in_rack: Longs
    linear: Floats
    constant: Floats

    @classmethod
    def of(cls, rack: Longs, load_by_factor: Floats) -> BrokersHold:
        """``rack`` ascending. O(B · 2^factors)."""
        size = np.bincount(rack).astype(np.int64)
        index_in_rack = np.arange(len(rack)) - (np.cumsum(size) - size)[rack]
        factors = [factor for factor in np.flatnonzero(load_by_factor).tolist() if factor > 0]
        adds, choices = np.zeros(len(rack)), []
        for factor in factors:
            held, odd = even_spread(factor, size)
            adds += load_by_factor[factor] * (index_in_rack < held[rack])
            if odd:
                one_a_rack = load_by_factor[factor] * (index_in_rack == held[rack])
                choices.append(((one_a_rack, 0.0), (np.zeros(len(rack)), load_by_factor[factor] * odd)))
        chosen = list(product(*choices))
        linear = np.stack([adds + sum((part for part, _ in some), np.zeros(len(rack))) for some in chosen])
        return cls(rack, index_in_rack, linear, np.array([sum(whole for _, whole in some) for some in chosen]))

    def least_slack(self, held: Floats, taken: Flags) -> tuple[float, Flags]:
        """Least slack of a set against ``held``, and the largest such set that contains ``taken``."""
        starts = np.flatnonzero(self.index_in_rack == 0)
        running = np.cumsum(self.linear - held, axis=1)
        slack = running - np.where(starts > 0, running[:, starts - 1], 0.0)[:, self.rack]
        fewest = np.bincount(self.rack, weights=taken).astype(np.int64)
        slack = np.where(self.index_in_rack + 1 >= fewest[self.rack], slack, np.inf)
        least = np.minimum(np.minimum.reduceat(slack, starts, axis=1), np.where(fewest > 0, np.inf, 0.0))
        totals = least.sum(axis=1) + self.constant
        choice = int(totals.argmin())
        is_end = slack[choice] <= least[choice][self.rack] + BAND_ROUNDING * held.mean()
        upto = np.maximum.reduceat(np.where(is_end, self.index_in_rack + 1, 0), starts)
        return float(totals[choice]), np.asarray(self.index_in_rack < upto[self.rack])

    def most(self, members: Flags) -> float:
        return float((self.linear[:, members].sum(axis=1) + self.constant).min()) if members.any() else 0.0


def _most_even(hold: BrokersHold, capacity: Floats) -> Floats:
    shares = np.zeros(len(capacity))
    taken = np.zeros(len(capacity), dtype=np.bool_)
    while not taken.all():
        members, level = _tightest_rack(hold, capacity, taken)
        shares[members & ~taken] = level * capacity[members & ~taken]
        taken |= members
    return shares


def _tightest_rack(hold: BrokersHold, capacity: Floats, taken: Flags) -> tuple[Flags, float]:
    already = hold.most(taken)
    members = np.ones(len(capacity), dtype=np.bool_)
    while True:
        level = (hold.most(members) - already) / float(capacity[members & ~taken].sum())
        slack, tightest = hold.least_slack(np.where(taken, 0.0, level * capacity), taken)
        is_tight = slack - already >= -BAND_ROUNDING * max(level * float(capacity.sum()), already)
        if is_tight or not (tightest & ~taken).any() or np.array_equal(tightest, members):
            return members if not (is_tight and (tightest & ~taken).any()) else tightest, level
        members = tightest


# Fair shares: the plain mean, unless racks keep a broker below or above it; replicas and leaders separately.
#
# Promises, in order
# 1. Shares of brokers that stay sum to the total (of what their racks can carry).
# 2. No set of brokers exceeds what it can hold with even racks and one replica of a partition a broker (Hall's
#    condition), so fractions of replicas meet all shares.
# 3. For replica loads the lowest level is maximal, then the second lowest, and so on; leader loads are level.
#
# Resources are independent, so all shares together may be out of reach (``planner.widening``). Example: 10 brokers on 3
# racks (4/3/3), RF 3: shares of 1/4 in the rack with 4, else 1/3.
#
# Fujishige's decomposition of a polymatroid (1980), the tightest set by Dinkelbach's method: O(K² log K).


def plain_mean(total: Floats, capacity: Floats, stays: Flags) -> Floats:
    """Total load / capacity of brokers that stay, 0 if none."""
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
    """Fair load, float64[B, D]. ``may_lead`` share the leaders' extra load; all do where none may."""
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
    """Rack indices; a broker without a rack is alone in one."""
    rack_codes, index = np.unique(rack[rack != ABSENT], return_inverse=True)
    racks = np.empty(len(rack), dtype=np.int32)
    racks[rack != ABSENT] = index
    alone = np.flatnonzero(rack == ABSENT)
    racks[alone] = len(rack_codes) + np.arange(len(alone))
    return racks


def _rack_holding(load_by_factor: Floats, rack_size: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Load that each rack holds anyway, and most that j racks hold beyond it (float64[K+1])."""
    racks = np.arange(len(rack_size) + 1)
    fixed, curve = np.zeros(len(rack_size)), np.zeros(len(rack_size) + 1)
    for rf, load in enumerate(load_by_factor.tolist()):
        held, odd = even_spread(rf, rack_size)
        fixed += load * held
        curve += load * np.minimum(odd, racks)
    return fixed, curve


def _rack_levels(rack_capacity: Floats, fixed: Floats, curve: Floats) -> Floats:
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
    """Largest set of racks with the lowest holding per capacity, and that level."""
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


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    low: Floats
    high: Floats


def band_of(
    *,
    resources: tuple[str, ...],
    shares: Floats,
    total: Floats,
    capacity: Floats,
    stays: Flags,
    within: Mapping[str, float | None],
    targets: Mapping[str, Target],
) -> Bands:
    """Drained brokers get [0, 0]; ``within`` None or missing: no band."""
    mean = plain_mean(total, capacity, stays)
    low = np.zeros_like(shares)
    high = np.full_like(shares, np.inf)
    for d, resource in enumerate(resources):
        target = targets.get(resource)
        if target is not None:
            level = mean[d] * capacity[:, d]
            low[:, d], high[:, d] = _target_band(target, level, is_count=resource in COUNTED)
        elif (width := within.get(resource)) is not None:
            low[:, d], high[:, d] = _share_band(width, shares[:, d], is_count=resource in COUNTED)
    low[~stays] = 0.0
    high[~stays] = 0.0
    return Bands(low, high)


def _share_band(within: float, share: Floats, *, is_count: bool) -> tuple[Floats, Floats]:
    low, high = share * (1 - within), share * (1 + within)
    if is_count:
        low, high = np.minimum(low, np.floor(share + BAND_ROUNDING)), np.maximum(high, np.ceil(share - BAND_ROUNDING))
    return np.maximum(low, 0.0), high


def _target_band(target: Target, level: Floats, *, is_count: bool) -> tuple[Floats, Floats]:
    low = np.zeros_like(level) if target.low is None else target.low * level
    high = np.full_like(level, np.inf) if target.high is None else target.high * level
    # Off the very edge, where rounding decides.
    low, high = low + BAND_ROUNDING * (low > 0), np.maximum(high - BAND_ROUNDING, 0.0)
    if is_count:
        # The mean rounded either way.
        is_empty = np.ceil(low - BAND_ROUNDING) > np.floor(high + BAND_ROUNDING)
        low = np.where(is_empty, np.minimum(low, np.floor(level + BAND_ROUNDING)), low)
        high = np.where(is_empty, np.maximum(high, np.ceil(level - BAND_ROUNDING)), high)
    return low, high
