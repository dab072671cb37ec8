"""Shares of brokers that racks alone would fill with more than one replica of a partition, level by level.

A broker holds one replica of a partition at most, a rack as many as an even spread gives it. What sets of brokers can
hold is then the rank function of a matroid for each replication factor, and their sum a polymatroid: what gives no set
of brokers too much can be held, all at once, by fractions of replicas (Edmonds 1970).

Example: one rack of three brokers, RF 2, 30 partitions of 1 GB, the first disk ten times as large as the others: of 60
GB it can hold 30, and the others 15 each, not 50, 5 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Longs
from kafka_rebalance.cluster_arrays.even_spread import even_spread
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING


def within_what_brokers_hold(shares: Floats, rack: Longs, capacity: Floats, load_by_factor: Floats) -> Floats:
    """``shares`` float64[B] where no set of brokers is given more than it can hold, else the most even ones that fit.

    ``rack`` int64[B] from 0, ``capacity`` float64[B] above 0, ``load_by_factor`` float64[factors]: load of one replica
    of each partition of that replication factor.
    """
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
    """What sets of brokers can hold of one resource: brokers in order of rack, the fullest of each rack first.

    rack, place  int64[B]: the rack, and where in it the broker stands
    linear       float64[choices, B]: what the broker adds to those before it, odd replicas counted one a rack
    constant     float64[choices]: of the replication factors whose odd replicas are counted as if all were held
    """

    rack: Longs
    place: Longs
    linear: Floats
    constant: Floats

    @classmethod
    def of(cls, rack: Longs, load_by_factor: Floats) -> BrokersHold:
        """``rack`` ascending. O(B · 2^factors) for as many factors as leave odd replicas."""
        size = np.bincount(rack).astype(np.int64)
        place = np.arange(len(rack)) - (np.cumsum(size) - size)[rack]
        factors = [factor for factor in np.flatnonzero(load_by_factor).tolist() if factor > 0]
        adds, choices = np.zeros(len(rack)), []
        for factor in factors:
            held, odd = even_spread(factor, size)
            adds += load_by_factor[factor] * (place < held[rack])
            if odd:
                one_a_rack = load_by_factor[factor] * (place == held[rack])
                choices.append(((one_a_rack, 0.0), (np.zeros(len(rack)), load_by_factor[factor] * odd)))
        chosen = list(product(*choices))
        linear = np.stack([adds + sum((part for part, _ in some), np.zeros(len(rack))) for some in chosen])
        return cls(rack, place, linear, np.array([sum(whole for _, whole in some) for some in chosen]))

    def least_slack(self, held: Floats, taken: Flags) -> tuple[float, Flags]:
        """What a set can hold less what it is to hold (``held`` float64[B]), and that set, where that is least.

        Of sets that have all of ``taken`` (the first of each rack) in them, the largest. O(choices · B).
        """
        starts = np.flatnonzero(self.place == 0)
        running = np.cumsum(self.linear - held, axis=1)
        slack = running - np.where(starts > 0, running[:, starts - 1], 0.0)[:, self.rack]
        # A rack's part is no broker, or the brokers up to one; never fewer than those taken already.
        fewest = np.bincount(self.rack, weights=taken).astype(np.int64)
        slack = np.where(self.place + 1 >= fewest[self.rack], slack, np.inf)
        least = np.minimum(np.minimum.reduceat(slack, starts, axis=1), np.where(fewest > 0, np.inf, 0.0))
        totals = least.sum(axis=1) + self.constant
        choice = int(totals.argmin())
        is_end = slack[choice] <= least[choice][self.rack] + BAND_ROUNDING * held.mean()
        upto = np.maximum.reduceat(np.where(is_end, self.place + 1, 0), starts)
        return float(totals[choice]), np.asarray(self.place < upto[self.rack])

    def most(self, members: Flags) -> float:
        """What the brokers ``members`` (the first of each rack) can hold together."""
        return float((self.linear[:, members].sum(axis=1) + self.constant).min()) if members.any() else 0.0


def _most_even(hold: BrokersHold, capacity: Floats) -> Floats:
    """float64[B]: tightest sets of brokers first, the rest shares what is left. The largest of a rack stand first."""
    shares = np.zeros(len(capacity))
    taken = np.zeros(len(capacity), dtype=np.bool_)
    while not taken.all():
        members, level = _tightest(hold, capacity, taken)
        shares[members & ~taken] = level * capacity[members & ~taken]
        taken |= members
    return shares


def _tightest(hold: BrokersHold, capacity: Floats, taken: Flags) -> tuple[Flags, float]:
    """The set around ``taken`` whose holding beyond it per capacity is lowest (the largest such), and that level."""
    already = hold.most(taken)
    members = np.ones(len(capacity), dtype=np.bool_)
    while True:
        level = (hold.most(members) - already) / float(capacity[members & ~taken].sum())
        slack, found = hold.least_slack(np.where(taken, 0.0, level * capacity), taken)
        is_tight = slack - already >= -BAND_ROUNDING * max(level * float(capacity.sum()), already)
        if is_tight or not (found & ~taken).any() or np.array_equal(found, members):
            return members if not (is_tight and (found & ~taken).any()) else found, level
        members = found
