"""Ways to place single partitions otherwise, each by itself: another leader, one other replica, or any list at all.

A list keeps as many racks as it has, in the same numbers; a replica goes only where it may be; who may not lead does
not. Leaders stand anywhere in a list: Kafka's order is made at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Ints, Longs
from kafka_rebalance.cluster_arrays.problem import Problem


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """K ways: partition ``rows`` int64[K] gets ``lists`` int32[K, W] led by ``leaders`` int32[K]."""

    rows: Longs
    lists: Ints
    leaders: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def taken(self, at: Longs | Flags | slice) -> Choices:
        """Some of them."""
        return Choices(self.rows[at], self.lists[at], self.leaders[at])


def joined(found: Sequence[Choices], width: int) -> Choices:
    """All of them, in order; W = ``width``."""
    if not found:
        return Choices(np.zeros(0, np.int64), np.zeros((0, width), np.int32), np.zeros(0, np.int32))
    return Choices(
        np.concatenate([choices.rows for choices in found]),
        np.concatenate([choices.lists for choices in found]),
        np.concatenate([choices.leaders for choices in found]),
    )


def other_leaders(problem: Problem, rows: Longs, lists: Ints, leader: Ints) -> Choices:
    """Each other replica of ``rows`` int64[K] that may lead; ``lists`` int32[P, W] led by ``leader``. O(K·W²)."""
    return lawful(problem, _led_by_each(rows, lists[rows]), lists, leader)


def other_replicas(problem: Problem, rows: Longs, lists: Ints, leader: Ints, broker: int) -> Choices:
    """``broker`` holds and leads each of ``rows`` in place of one replica. O(K·W²)."""
    mine = rows[~(lists[rows] == broker).any(axis=1)]
    found = []
    for column in range(lists.shape[1]):
        at = mine[lists[mine, column] >= 0]
        changed = lists[at].copy()
        changed[:, column] = broker
        found.append(Choices(at, changed, np.full(len(at), broker, dtype=np.int32)))
    return lawful(problem, joined(found, lists.shape[1]), lists, leader)


def all_choices(problem: Problem, rows: Longs, lists: Ints, leader: Ints, most: int) -> Choices | None:
    """Every lawful way to place each of ``rows`` but as it is; None where these may be more than ``most``."""
    if not problem.moves_replicas:
        return other_leaders(problem, rows, lists, leader) if len(rows) * lists.shape[1] <= most else None
    brokers = np.flatnonzero(problem.stays).tolist()
    factors = (lists[rows] >= 0).sum(axis=1)
    if sum(comb(len(brokers), factor) * factor for factor in factors.tolist()) > most:
        return None
    found = []
    for factor in np.unique(factors).tolist():
        mine = rows[factors == factor]
        for members in combinations(brokers, factor):
            changed = np.full((len(mine), lists.shape[1]), NOBODY, dtype=np.int32)
            changed[:, :factor] = members
            found.append(_led_by_each(mine, changed))
    return lawful(problem, joined(found, lists.shape[1]), lists, leader)


def lawful(problem: Problem, choices: Choices, lists: Ints, leader: Ints) -> Choices:
    """Those that differ from ``lists`` led by ``leader``, and that nothing forbids."""
    rows, changed, leaders = choices.rows, choices.lists, choices.leaders
    now, today, there = lists[rows], problem.replicas[rows], changed >= 0
    is_today = _held(today, changed)
    barred = np.zeros(changed.shape, dtype=np.bool_)
    if problem.must_leave is not None:
        barred = _held(np.where(problem.must_leave[rows], today, NOBODY), changed) & problem.moves_replicas
    open_to = problem.takes_replicas[changed] | (is_today & problem.stays[changed])
    open_to &= problem.sets.brokers[problem.sets.of_partition[rows][:, None], changed]
    is_kept = _held(now, changed)
    may = (~there | is_kept | (open_to & ~barred)).all(axis=1)
    may &= (_profile(problem, now) == _profile(problem, changed)).all(axis=1) | is_kept.all(axis=1)
    keeps = (leaders == problem.leader[rows]) & problem.keeps_leaders[leaders]
    may &= problem.takes_leaders[leaders] | keeps
    if problem.must_leave is not None:
        offline = problem.must_leave[rows] & (today == leaders[:, None])
        may &= ~offline.any(axis=1)
    may &= (leaders != leader[rows]) | ~(is_kept | ~there).all(axis=1)
    return choices.taken(may)


def _led_by_each(rows: Longs, lists: Ints) -> Choices:
    found = []
    for column in range(lists.shape[1]):
        at = np.flatnonzero(lists[:, column] >= 0)
        found.append(Choices(rows[at], lists[at], lists[at, column]))
    return joined(found, lists.shape[1])


def _held(lists: Ints, wanted: Ints) -> Flags:
    """bool[K, W]: cells of ``wanted`` that row k of ``lists`` holds."""
    return np.asarray((wanted[:, :, None] == lists[:, None, :]).any(axis=2) & (wanted >= 0))


def _profile(problem: Problem, lists: Ints) -> Longs:
    """int64[K, W]: how many replicas share a rack, sorted: [1, 1, 0] is two racks. Who has no rack has one alone."""
    alone = int(problem.rack.max(initial=NOBODY)) + 1 + np.arange(problem.broker_count)
    rack = np.where(problem.rack == NOBODY, alone, problem.rack)
    racks = np.where(lists >= 0, rack[lists], -1 - np.arange(lists.shape[1])[None, :])
    same = (racks[:, :, None] == racks[:, None, :]).sum(axis=2)
    # A rack of k replicas stands k times as k: sorted, that tells the numbers of all racks.
    return np.asarray(np.sort(np.where(lists >= 0, same, 0), axis=1))
