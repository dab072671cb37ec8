"""Replica sets before any balancing: what must go is marked, what is too many is dropped, what is missing is marked as
unplaced.

Entries with the unplaced index (B) are replicas that have to be placed: a growing replication factor, an offline log
dir, one of two replicas that break the rack rule, and one of those none of which may lead. Dropping replicas costs
nothing and may pay a broker's excess.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.broker_loads import Carried, sum_loads
from kafka_rebalance.cluster_arrays.even_spread import even_spread
from kafka_rebalance.cluster_arrays.fair_share import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.replicas.enough_brokers import require_enough_brokers
from kafka_rebalance.planner.replicas.leaderless_sets import send_for_leaders
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.planner.state import ReplicaSets


def start_sets(problem: Problem) -> ReplicaSets:
    """Replica sets of the wanted size. Raises InfeasibleError where a partition has no lawful set. O(P·W²)."""
    require_enough_brokers(problem)
    unplaced = problem.broker_count
    original = problem.replicas.copy()
    replicas = problem.replicas.copy()
    if problem.must_leave is not None:
        offline = problem.must_leave & (replicas >= 0) & ~problem.pinned[:, None]
        original[offline] = -2 - replicas[offline]
        replicas[offline] = unplaced
    _drop_surplus(problem, replicas)
    _ask_missing(problem, replicas, unplaced)
    _send_rack_breakers(problem, replicas, unplaced)
    send_for_leaders(problem, replicas, unplaced)
    return ReplicaSets(replicas, original)


def _broker_fullness(problem: Problem, replicas: Ints) -> Floats:
    """float64[B+1]: load over the top of its band, the worst resource; drained brokers and the void are fullest."""
    scale = resource_scale(problem)
    load = np.zeros((problem.broker_count + 1, len(problem.resources)))
    nobody = np.full(problem.partition_count, NOBODY, dtype=np.int32)
    carried = Carried(problem.follower_load, problem.leader_extra, np.zeros((0, 0)), -1)
    sum_loads(replicas, replicas, nobody, carried, load)
    with np.errstate(divide="ignore", invalid="ignore"):
        level = load[:-1] / np.where(np.isfinite(problem.band_high), problem.band_high, scale[None, :])
    worst = np.nan_to_num(level, nan=0.0, posinf=1e9).max(axis=1, initial=0.0)
    worst[~problem.stays] = 1e12
    return np.append(worst, 1e15)


def _drop_surplus(problem: Problem, replicas: Ints) -> None:
    """Drop replicas above the target, one a round: drained brokers first, then crowded racks, then full brokers.

    The last one that may lead is dropped last: whoever survives must not hand leadership to who may not have it.
    """
    while True:
        surplus = ((replicas >= 0).sum(axis=1) > problem.target_rf) & ~problem.pinned
        if not surplus.any():
            return
        rows = np.flatnonzero(surplus)
        fullness = _broker_fullness(problem, replicas)
        crowd = _rack_crowd(problem, replicas[rows])
        is_there = replicas[rows] >= 0
        badness = np.where(is_there, fullness[replicas[rows]] + 1e6 * crowd, -1.0)
        # Today's leader stays if it can: dropping it would cost a leader change.
        badness -= np.where(is_there & (replicas[rows] == problem.leader[rows, None]), 0.5, 0.0)
        able = _may_lead(problem, replicas, rows)
        badness -= np.where(able & (able.sum(axis=1, keepdims=True) == 1), 1e9, 0.0)
        worst = badness.argmax(axis=1)
        _remove_index(replicas, rows, worst.astype(np.int64))


def _may_lead(problem: Problem, replicas: Ints, rows: np.ndarray) -> Flags:
    """bool[rows, W]: replicas that may lead or go on leading; what is unplaced is on no broker."""
    takes, keeps = np.append(problem.takes_leaders, False), np.append(problem.keeps_leaders, False)
    held = replicas[rows]
    able: Flags = (held >= 0) & (takes[held] | (keeps[held] & (held == problem.leader[rows, None])))
    return able


def _remove_index(replicas: Ints, rows: np.ndarray, replica_indexes: np.ndarray) -> None:
    """Take one slot out of each row and close the gap."""
    width = replicas.shape[1]
    source = np.arange(width)[None, :] + (np.arange(width)[None, :] >= replica_indexes[:, None])
    padded = np.column_stack([replicas[rows], np.full(len(rows), NOBODY, dtype=np.int32)])
    replicas[rows] = np.take_along_axis(padded, source, axis=1)


def _rack_crowd(problem: Problem, replicas: Ints) -> Floats:
    """float64[rows, W]: other replicas of the same partition in the same rack, on brokers that stay."""
    racks = np.append(distinct_racks(problem.rack), [-3])  # the void is in no rack
    rack = np.where(replicas >= 0, racks[replicas], -2)
    stays = np.append(problem.stays, False)[replicas] & (replicas >= 0)
    rack = np.where(stays, rack, -2)
    crowd = np.zeros(replicas.shape)
    for j in range(replicas.shape[1]):
        crowd += (rack == rack[:, j : j + 1]) & stays & stays[:, j : j + 1]
    return np.where(stays, crowd - 1, 0.0)


def _ask_missing(problem: Problem, replicas: Ints, unplaced: int) -> None:
    for j in range(replicas.shape[1]):
        missing = (replicas[:, j] < 0) & (j < problem.target_rf) & ~problem.pinned
        replicas[missing, j] = unplaced


def _send_rack_breakers(problem: Problem, replicas: Ints, unplaced: int) -> None:
    """Of replicas that break the rack rule, the ones on the fullest brokers must be placed anew."""
    if not problem.moves_replicas:
        return
    racks = distinct_racks(problem.rack)
    sets = problem.sets
    sizes = sets.rack_sizes(racks, problem.stays)
    fullness = _broker_fullness(problem, replicas)
    for rf, chosen in product(np.unique(problem.target_rf[~problem.pinned]).tolist(), range(len(sizes))):
        rows = np.flatnonzero((problem.target_rf == rf) & (sets.of_partition == chosen) & ~problem.pinned)
        while len(rows):
            breaks = _rack_breakers(problem, replicas[rows], even_spread(rf, sizes[chosen]), racks)
            rows, breaks = rows[breaks.any(axis=1)], breaks[breaks.any(axis=1)]
            badness = np.where(breaks, fullness[replicas[rows]], -1.0)
            badness -= np.where(replicas[rows] == problem.leader[rows, None], 0.5, 0.0)
            # The only one that may lead goes only where no other breaks the rule.
            able = _may_lead(problem, replicas, rows)
            badness[breaks & able & (able.sum(axis=1, keepdims=True) == 1)] = -0.75
            if len(rows):
                replicas[rows, badness.argmax(axis=1)] = unplaced


def _rack_breakers(problem: Problem, replicas: Ints, spread: tuple[np.ndarray, int], racks: Ints) -> Flags:
    """bool[rows, W]: replicas on brokers that stay, in a rack that holds more than an even spread gives it."""
    held, odd = spread
    crowd = _rack_crowd(problem, replicas) + 1
    on_broker = (replicas >= 0) & (replicas < problem.broker_count)
    index = np.where(on_broker, replicas, 0)
    on_broker &= problem.stays[index]
    share = held[racks[index]]
    breaks: Flags = on_broker & (crowd > share + (1 if odd else 0))
    # Racks that hold an odd replica: no more of them than there are odd replicas.
    is_odd = on_broker & (crowd > share)
    odd_racks = (is_odd / np.maximum(crowd, 1)).sum(axis=1)
    breaks |= is_odd & (odd_racks > odd + 0.5)[:, None]
    return breaks
