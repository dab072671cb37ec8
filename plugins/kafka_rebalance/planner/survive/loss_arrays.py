"""What a search for a placement that survives losses has to know, and what each placement comes to.

A loss takes a group of brokers (one, or a rack). What they lead goes to the first of each list that serves and is not
of the group; followers' loads stay. So broker b carries ``load[b] + taken[g, b]`` after the loss of group g.
B brokers, P partitions, D resources, R of them guarded (a capacity is known, and leading takes of it), G groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.broker_sets import BrokerSets


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LossArrays:
    """What does not change while a placement is looked for.

    group           int32[B]: who is lost together, NOBODY: never lost; ``groups`` of them
    serves          bool[B]: heard, may take over
    rack            int32[B], a number of its own for a broker without one
    guarded         int64[R]: columns among the D; ``capacity`` float64[B, R]
    follower, extra float64[P, D]: what every replica carries, and what the leader carries on top
    low, high, limit float64[B, D]; ``scale`` float64[D] makes resources comparable
    stays, takes_replicas, takes_leaders, keeps_leaders  bool[B]
    today           int32[P, W] lists as they are, led by ``today_leader`` int32[P]
    may_change      bool[P]; ``sets``: where partitions may be, None: anywhere
    size            float64[P]: bytes that a copy costs
    """

    group: Ints
    groups: int
    serves: Flags
    rack: Ints
    guarded: Longs
    capacity: Floats
    follower: Floats
    extra: Floats
    low: Floats
    high: Floats
    limit: Floats
    scale: Floats
    stays: Flags
    takes_replicas: Flags
    takes_leaders: Flags
    keeps_leaders: Flags
    today: Ints
    today_leader: Ints
    may_change: Flags
    sets: BrokerSets | None
    size: Floats

    @property
    def survives(self) -> Flags:
        """bool[G, B]: serves, and is not lost with the group."""
        return np.asarray(self.serves[None, :] & (self.group[None, :] != np.arange(self.groups)[:, None]))

    def heirs(self, lists: Ints, leader: Ints) -> tuple[Longs, Longs]:
        """int64[K] each: the group that is lost with the leader, and who takes over; NOBODY where nobody does."""
        group = np.where(leader >= 0, self.group[leader], NOBODY).astype(np.int64)
        able = (lists >= 0) & self.serves[lists] & (self.group[lists] != group[:, None])
        heir = np.where(able.any(axis=1), lists[np.arange(len(lists)), able.argmax(axis=1)], NOBODY)
        return group, np.where(group == NOBODY, NOBODY, heir).astype(np.int64)

    def may_lead(self, rows: Longs, leaders: Ints) -> Flags:
        """bool[K]: may be given the lead, or keep it."""
        keeps = (leaders == self.today_leader[rows]) & self.keeps_leaders[leaders]
        return np.asarray((leaders >= 0) & (self.takes_leaders[leaders] | keeps))

    def copies(self, rows: Longs, lists: Ints) -> Longs:
        """int64[K]: replicas of each list that are not where one is today."""
        today = self.today[rows]
        is_new = (lists[:, :, None] != today[:, None, :]).all(axis=2) & (lists >= 0)
        return np.asarray(is_new.sum(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """K changes to choose from, each on its own: ``rows`` int64[K] get ``lists`` int32[K, W] led by ``leaders``."""

    rows: Longs
    lists: Ints
    leaders: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def taken(self, at: Longs | Flags | slice) -> Change:
        """Some of them."""
        return Change(self.rows[at], self.lists[at], self.leaders[at])
