"""Working arrays of the search within a budget: where replicas are, who leads, what is spent, and how uneven it is.

Everything that is judged is kept as it changes. Loads are shares of all load of their resource, so that
``outside`` summed over resources is the imbalance itself (``plans.dead_band``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.fair_share import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.kernels.by_reference import ByReference
from kafka_rebalance.planner.params import BudgetSearchParams


@dataclass(frozen=True, eq=False, kw_only=True)
class BudgetState(ByReference):
    """B brokers, P partitions, W = longest replica list, D resources. ``original`` holds -2 - broker where a replica
    may not return to (an offline dir), as in the search without a budget.
    """

    replicas: Ints  # int32[P, W]
    leads: Ints  # int32[P], which replica leads
    original: Ints  # int32[P, W], where replicas are today
    first_leader: Ints  # int32[P], today's leader
    rows: Longs  # partitions that may be touched
    moves_replicas: bool
    follower: Floats  # float64[P, D]
    extra: Floats  # float64[P, D]
    own: Floats  # float64[P, W]: disk of today's replica beyond the leader's, by original index; or float64[0, 0]
    disk_column: int  # -1 where disk is not among the D
    load: Floats  # float64[B, D]
    low: Floats
    high: Floats
    limit: Floats
    peak: Floats  # float64[B]: disk while both copies exist
    rack: Ints  # int32[B]
    stays: Flags
    takes: Flags  # bool[B]
    set_of: Ints  # int32[P]: row of ``in_set``
    in_set: Flags  # bool[S, B]: brokers that the partitions of each set may be on
    leaders_here: Flags  # bool[B]: may receive leadership
    keeps_leaders: Flags
    size: Floats  # float64[P]: bytes of one new copy
    outside: Floats  # float64[2, D]: load above and below the bands
    smooth: Floats  # float64[1]: what the lesser of the two counts beside the greater
    spent: Floats  # float64[3]: bytes, replica moves, leader changes
    allowed: Floats  # float64[3], inf where there is no limit
    copied: Floats  # float64[2, B]: bytes that each broker receives, and that it sends as today's leader
    most_copied: Floats  # float64[1]: of each of them; inf where there is no limit
    over_copied: Floats  # float64[1]: what brokers receive and send beyond it
    changed: Longs  # int64[P]: partitions that are not as they were, ``count`` of them
    place: Longs  # int64[P]: where in ``changed``, -1 = not
    count: Longs  # int64[1]
    log: Longs  # int64[16, 4]: steps since they were last accepted: kind, partition, slot, what was before
    logged: Longs  # int64[1]
    scratch: Floats  # float64[3, D]: what a step comes to
    random: npt.NDArray[np.uint64]  # uint64[1]
    params: BudgetSearchParams


def make_budget_state(
    problem: Problem, replicas: Ints, leader: Ints, *, seed: int, params: BudgetSearchParams
) -> BudgetState:
    """State of ``replicas`` int32[P, W] led by ``leader`` int32[P], which are copied. O(P·W·D)."""
    whole = broker_loads(problem, replicas, leader)
    total = whole.sum(axis=0)
    scale = np.where(total > 0, total, 1.0)
    original = problem.replicas.copy()
    if problem.must_leave is not None:
        offline = problem.must_leave & (original >= 0) & ~problem.pinned[:, None]
        original[offline] = -2 - original[offline]
    load = np.ascontiguousarray(whole / scale)
    low, high = _judged(problem.band_low / scale, problem, 0.0), _judged(problem.band_high / scale, problem, np.inf)
    disk = problem.column("disk")
    count = problem.partition_count
    state = BudgetState(
        replicas=np.ascontiguousarray(replicas.astype(np.int32)).copy(),
        leads=_slot_of(replicas, leader),
        original=np.ascontiguousarray(original),
        first_leader=np.ascontiguousarray(problem.leader),
        rows=np.flatnonzero(~problem.pinned & (leader >= 0)),
        moves_replicas=problem.moves_replicas,
        follower=np.ascontiguousarray(problem.follower_load / scale),
        extra=np.ascontiguousarray(problem.leader_extra / scale),
        own=_own(problem, disk, scale),
        disk_column=-1 if disk is None else disk,
        load=load,
        low=low,
        high=high,
        limit=np.ascontiguousarray(problem.limit / scale),
        peak=_peaks(problem, replicas, disk, scale),
        rack=distinct_racks(problem.rack).astype(np.int32),
        stays=problem.stays.copy(),
        takes=problem.takes_replicas.copy(),
        set_of=np.ascontiguousarray(problem.sets.of_partition),
        in_set=np.ascontiguousarray(problem.sets.brokers),
        leaders_here=problem.takes_leaders.copy(),
        keeps_leaders=problem.keeps_leaders.copy(),
        size=np.ascontiguousarray(problem.move_bytes),
        outside=np.stack([np.maximum(load - high, 0.0).sum(axis=0), np.maximum(low - load, 0.0).sum(axis=0)]),
        smooth=np.zeros(1),
        spent=np.zeros(3),
        allowed=_allowed(problem),
        copied=np.zeros((2, problem.broker_count)),
        most_copied=np.array([np.inf if problem.budget.max_broker_bytes is None else problem.budget.max_broker_bytes]),
        over_copied=np.zeros(1),
        changed=np.zeros(count, dtype=np.int64),
        place=np.full(count, -1, dtype=np.int64),
        count=np.zeros(1, dtype=np.int64),
        log=np.zeros((16, 4), dtype=np.int64),
        logged=np.zeros(1, dtype=np.int64),
        scratch=np.zeros((3, load.shape[1])),
        random=np.array([seed * 2 + 88172645463325253], dtype=np.uint64),
        params=params,
    )
    _count_spent(problem, state)
    return state


def leaders_of(state: BudgetState) -> Ints:
    """int32[P]: the broker that leads."""
    return np.asarray(state.replicas[np.arange(len(state.leads)), state.leads])


def _judged(bands: Floats, problem: Problem, elsewhere: float) -> Floats:
    """Brokers that leave are not judged."""
    return np.ascontiguousarray(np.where(problem.stays[:, None], bands, elsewhere))


def _slot_of(replicas: Ints, leader: Ints) -> Ints:
    is_leader = (replicas == leader[:, None]) & (replicas >= 0)
    return np.where(is_leader.any(axis=1), is_leader.argmax(axis=1), 0).astype(np.int32)


def _own(problem: Problem, disk: int | None, scale: Floats) -> Floats:
    if problem.own_disk is None or disk is None:
        return np.zeros((0, 0))
    beyond = (problem.own_disk - problem.follower_load[:, disk : disk + 1]) / scale[disk]
    return np.ascontiguousarray(np.where(problem.replicas >= 0, beyond, 0.0))


def _peaks(problem: Problem, replicas: Ints, disk: int | None, scale: Floats) -> Floats:
    """Today's replicas and the new ones: nothing is deleted before a copy is complete."""
    if disk is None:
        return np.zeros(problem.broker_count)
    peak = broker_loads(problem, problem.replicas, problem.leader)[:, disk]
    rows, slots = np.nonzero(_is_new(problem, replicas))
    np.add.at(peak, replicas[rows, slots], problem.follower_load[rows, disk])
    return np.asarray(peak / scale[disk])


def _is_new(problem: Problem, replicas: Ints) -> Flags:
    is_new: Flags = replicas >= 0
    for j in range(problem.replicas.shape[1]):
        is_new = is_new & (replicas != problem.replicas[:, j : j + 1])
    return is_new


def _allowed(problem: Problem) -> Floats:
    budget = problem.budget
    limits = (budget.max_bytes, budget.max_replica_moves, budget.max_leader_changes)
    return np.array([np.inf if limit is None else float(limit) for limit in limits])


def _count_spent(problem: Problem, state: BudgetState) -> None:
    """What the start costs already, and which partitions it changes."""
    rows = state.rows
    is_new = _is_new(problem, state.replicas)[rows]
    copies = is_new.sum(axis=1)
    at, j = np.nonzero(is_new)
    np.add.at(state.copied[0], state.replicas[rows[at], j], state.size[rows[at]])
    leaders, sent = state.first_leader[rows], copies * state.size[rows]
    np.add.at(state.copied[1], leaders[leaders >= 0], sent[leaders >= 0])
    state.over_copied[0] = np.maximum(state.copied - state.most_copied[0], 0.0).sum()
    is_led_anew = leaders_of(state)[rows] != state.first_leader[rows]
    state.spent[:] = (
        float((copies * state.size[rows]).sum()), float(copies.sum()), float(is_led_anew.sum())
    )  # fmt: skip
    changed = rows[(copies > 0) | (is_led_anew & (state.first_leader[rows] != NOBODY))]
    state.changed[: len(changed)] = changed
    state.place[changed] = np.arange(len(changed))
    state.count[0] = len(changed)
