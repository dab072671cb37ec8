"""Replica sets that hard rules force: where copies change, where nobody leads, and on enough brokers."""

from __future__ import annotations

from itertools import product

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.broker_loads import Carried, sum_loads
from kafka_rebalance.cluster_arrays.even_spread import even_spread
from kafka_rebalance.cluster_arrays.fair_share import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.planner.may_lead import can_be_led, candidates
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.planner.state import ReplicaSets

# Are there brokers enough for the replicas that are wanted, and may what must be emptied be touched?
#
# Example: factor 3 where two brokers take replicas: one is lacking, for all partitions that want it.


def require_enough_brokers(problem: Problem) -> None:
    """Raises InfeasibleError where some partition has fewer lawful brokers than replicas, with how many are lacking,
    and where a broker must be emptied of what may not be touched. O(P·W).
    """
    sets = problem.sets
    open_to = problem.takes_replicas & sets.brokers
    is_open_here = open_to[sets.of_partition[:, None], np.maximum(problem.replicas, 0)]
    kept = (problem.replicas >= 0) & problem.stays[problem.replicas]
    barred = np.zeros(problem.partition_count, dtype=np.int64)
    if problem.must_leave is not None:
        kept &= ~problem.must_leave
        barred = (problem.must_leave & (problem.replicas >= 0) & is_open_here).sum(axis=1)
    keeps_closed = (kept & ~is_open_here).sum(axis=1)
    lawful = open_to.sum(axis=1)[sets.of_partition] + keeps_closed - barred
    lacking = np.where(problem.pinned, 0, problem.target_rf - lawful)
    if (lacking > 0).any():
        raise _too_few(problem, lacking, lawful)
    _require_touchable(problem)


def _too_few(problem: Problem, lacking: np.ndarray, lawful: np.ndarray) -> InfeasibleError:
    """The partition that lacks most stands for all that want as many and have as few."""
    row = int(lacking.argmax())
    wanted, may, short = int(problem.target_rf[row]), int(lawful[row]), int(lacking[row])
    alike = int(((lacking > 0) & (problem.target_rf == wanted) & (lawful == may)).sum())
    is_confined = bool(problem.is_confined[row])
    return InfeasibleError(
        fact(
            FactCode.TOO_FEW_BROKERS,
            replication_factor=wanted,
            brokers=may,
            lacking=short,
            partitions=alike,
            partition=problem.name_of(row),
            is_confined=is_confined,
        ),
        fact(FactCode.ADD_BROKERS, brokers=short, is_confined=is_confined, or_replication_factor=may or None),
    )


def _require_touchable(problem: Problem) -> None:
    """Raises InfeasibleError for the broker that must be emptied of what may not be touched, with how much that is."""
    there = (problem.replicas >= 0) & problem.pinned[:, None]
    on_leaving = there & ~problem.stays[np.where(there, problem.replicas, 0)]
    if not on_leaving.any():
        return
    rows, columns = np.nonzero(on_leaving)
    gone = int(problem.replicas[rows[0], columns[0]])
    held = rows[problem.replicas[rows, columns] == gone]
    broker = int(problem.broker_ids[gone])
    raise InfeasibleError(
        fact(
            FactCode.IMMOVABLE_ON_LEAVING_BROKER,
            broker=broker,
            partitions=len(held),
            partition=problem.name_of(int(held[0])),
        ),
        fact(FactCode.LET_MOVE, broker=broker, partitions=len(held)),
    )


# Sets none of whose replicas may lead: one replica has to make room for somebody who may.
#
# Example: t-0 has its replicas on brokers 1 and 2, which are both to be demoted. Broker 3, in the rack of broker 2,
# takes
# replicas and leadership: the replica on 2 is sent away, and only a broker that may lead can take it in
# (``moving.may_hold``).


def send_for_leaders(problem: Problem, replicas: Ints, unplaced: int) -> None:
    """Mark one replica of each such set as ``unplaced``, in ``replicas`` int32[P, W]. O(P·W + rows·racks).

    A set that has a replica to place anyhow is led by that one, if a rack without a replica takes it.
    """
    if not problem.moves_replicas or problem.takes_leaders[problem.stays].all():
        return
    on_broker = (replicas >= 0) & (replicas < problem.broker_count)
    kept = np.where(on_broker & np.append(problem.stays, False)[replicas], replicas, NOBODY)
    able = candidates(problem, kept).any(axis=1)
    rows = np.flatnonzero(~able & can_be_led(problem) & ~problem.pinned)
    has_place, is_in_open_rack = _racks_of(problem, rows, kept[rows])
    has_to_go = (replicas[rows] == unplaced) | (on_broker[rows] & (kept[rows] < 0))
    may_go = np.where(has_place[:, None], ~has_to_go.any(axis=1, keepdims=True), is_in_open_rack) & (kept[rows] >= 0)
    sent = may_go.any(axis=1)
    replicas[rows[sent], may_go[sent].argmax(axis=1)] = unplaced


def _racks_of(problem: Problem, row: Longs, replicas: Ints) -> tuple[Flags, Flags]:
    """bool[rows]: a rack without a replica has a broker that may take one and lead; bool[rows, W]: the replica stands
    in a rack that has such a broker.
    """
    racks = distinct_racks(problem.rack)
    sizes = problem.sets.rack_sizes(racks, problem.takes_replicas & problem.takes_leaders)
    is_open = (sizes > 0)[problem.sets.of_partition[row]]
    is_there = replicas >= 0
    rack = np.where(is_there, racks[replicas], 0)
    used = np.zeros((len(replicas), is_open.shape[1]), dtype=np.bool_)
    rows, columns = np.nonzero(is_there)
    used[rows, rack[rows, columns]] = True
    return np.asarray((is_open & ~used).any(axis=1)), np.asarray(is_there & np.take_along_axis(is_open, rack, axis=1))


# Replica sets before any balancing: what must go is marked, what is too many is dropped, what is missing is marked as
# unplaced.
#
# Entries with the unplaced index (B) are replicas that have to be placed: a growing replication factor, an offline log
# dir, one of two replicas that break the rack rule, and one of those none of which may lead. Dropping replicas costs
# nothing and may pay a broker's excess.


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
