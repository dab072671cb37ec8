"""Search for replica sets, from today's or from any given ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_rebalance.cluster_arrays.bands import distinct_racks, even_spread
from kafka_rebalance.cluster_arrays.problem import Carried, Problem, sum_loads
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.planner.params import BAND_TOLERANCE, DEFAULTS, FRACTIONS, HOWEVER_FAR, SolveParams
from kafka_rebalance.planner.replicas.kernels import (
    band_improvement,
    copies_needed,
    draw,
    fits_limit,
    is_original,
    keeps_racks_even,
    may_hold,
    may_swap,
    move,
    replica_load,
    swap_gain,
)
from kafka_rebalance.planner.replicas.kernels import evacuate as _evacuate
from kafka_rebalance.planner.replicas.kernels import finish_round as _finish_round
from kafka_rebalance.planner.replicas.kernels import polish_round as _polish_round
from kafka_rebalance.planner.replicas.kernels import pull_round as _pull_round
from kafka_rebalance.planner.replicas.kernels import push_round as _push_round
from kafka_rebalance.planner.replicas.kernels import release as _release
from kafka_rebalance.planner.replicas.kernels import swap_round as _swap_round
from kafka_rebalance.planner.scales import can_be_led, candidates, resource_scale
from kafka_rebalance.planner.solution import NOTHING_DONE, SearchStatistics
from kafka_rebalance.planner.state import ReplicaSets, State, WorkingBands, excess_change, make_state
from kafka_rebalance.resources import REPLICA_CARRIED

# Annealing (Metropolis) of bytes copied, distance from bands at a rising price, and topic spread.
#
# A step tries one change: a displaced replica goes elsewhere or home; goes home in exchange for another one from there;
# two displaced ones swap; or another replica leaves home. Polishing cannot trade one good move for two better ones.


class Displaced(NamedTuple):
    """Displaced replicas, and some that were: cleaned on use."""

    replica_indexes: Ints
    is_listed: npt.NDArray[np.int8]
    length: Longs


class Heat(NamedTuple):
    temperature: float
    outside_price: float
    topic_price: float


@inner_kernel
def _list_displaced(state: State, displaced: Displaced, replica_index: int) -> None:
    p = replica_index // state.replicas.shape[1]
    if displaced.is_listed[replica_index] == 0 and not is_original(
        state, p, state.replicas[p, replica_index % state.replicas.shape[1]]
    ):
        displaced.replica_indexes[displaced.length[0]] = replica_index
        displaced.is_listed[replica_index] = 1
        displaced.length[0] += 1


@inner_kernel
def _draw_displaced(state: State, displaced: Displaced) -> int:
    """-1 = the one drawn is home again."""
    if displaced.length[0] == 0:
        return -1
    i = draw(state, displaced.length[0])
    replica_index = displaced.replica_indexes[i]
    p = replica_index // state.replicas.shape[1]
    if not is_original(state, p, state.replicas[p, replica_index % state.replicas.shape[1]]):
        return int(replica_index)
    displaced.length[0] -= 1
    displaced.replica_indexes[i] = displaced.replica_indexes[displaced.length[0]]
    displaced.is_listed[replica_index] = 0
    return -1


@inner_kernel
def _is_borne(state: State, heat: Heat, change: float) -> bool:
    if change <= 0:
        return True
    if change > state.params.anneal.hopeless * heat.temperature:
        return False
    return bool(draw(state, FRACTIONS) < np.exp(-change / heat.temperature) * FRACTIONS)


@inner_kernel
def _try_move(state: State, displaced: Displaced, heat: Heat, replica_index: int, target: int, weight: Floats) -> int:
    width = state.replicas.shape[1]
    p = replica_index // width
    j = replica_index - p * width
    source = state.replicas[p, j]
    if source == target or not may_hold(state, p, j, target) or not keeps_racks_even(state, p, j, target):
        return 0
    replica_load(state, p, j, source, weight)
    change = copies_needed(state, p, source, target) - heat.outside_price * band_improvement(
        state, source, weight, -1.0
    )
    replica_load(state, p, j, target, weight)
    change -= heat.outside_price * band_improvement(state, target, weight, 1.0)
    if change > state.params.anneal.hopeless * heat.temperature + heat.topic_price:
        return 0
    change += heat.topic_price * excess_change(state.topics, state.replicas, p, source, target)
    if not fits_limit(state, p, target, weight) or not _is_borne(state, heat, change):
        return 0
    move(state, p, j, target, weight)
    _list_displaced(state, displaced, replica_index)
    return 1


@inner_kernel
def _try_swap(
    state: State, displaced: Displaced, heat: Heat, left_index: int, right_index: int, going: Floats, coming: Floats
) -> int:
    width = state.replicas.shape[1]
    p, q = left_index // width, right_index // width
    i, j = left_index - p * width, right_index - q * width
    left, right = state.replicas[p, i], state.replicas[q, j]
    if p == q or left == right:
        return 0
    change = copies_needed(state, p, left, right) + copies_needed(state, q, right, left)
    change -= heat.outside_price * swap_gain(state, left_index, right_index, going, coming)
    if change > state.params.anneal.hopeless * heat.temperature + 2 * heat.topic_price:
        return 0
    change += heat.topic_price * excess_change(state.topics, state.replicas, p, left, right)
    change += heat.topic_price * excess_change(state.topics, state.replicas, q, right, left)
    if not _is_borne(state, heat, change) or not may_swap(state, left_index, right_index):
        return 0
    move(state, p, i, right, going)
    move(state, q, j, left, going)
    _list_displaced(state, displaced, left_index)
    _list_displaced(state, displaced, right_index)
    return 1


@inner_kernel
def _original_of(state: State, replica_index: int) -> int:
    """-1 = it may not hold the partition again."""
    width = state.replicas.shape[1]
    p = replica_index // width
    first = draw(state, state.original.shape[1])
    for i in range(state.original.shape[1]):
        b = state.original[p, (first + i) % state.original.shape[1]]
        if b >= 0 and may_hold(state, p, replica_index - p * width, b):
            return int(b)
    return -1


@inner_kernel
def _any_index_of(state: State, broker: int) -> int:
    if state.filled[broker] == 0:
        return -1
    return int(state.items[state.start[broker] + draw(state, state.filled[broker])])


@inner_kernel
def _evict(state: State, displaced: Displaced, heat: Heat, receivers: Ints, near: int, weight: Floats) -> int:
    source = receivers[draw(state, receivers.shape[0])]
    if near >= 0 and draw(state, 2) == 0:
        source = max(_original_of(state, near), 0)
    replica_index = _any_index_of(state, source)
    return (
        0
        if replica_index < 0
        else _try_move(state, displaced, heat, replica_index, receivers[draw(state, receivers.shape[0])], weight)
    )


@inner_kernel
def _step(state: State, displaced: Displaced, heat: Heat, receivers: Ints, left: Floats, right: Floats) -> int:
    percent, replica_index, other = draw(state, 100), _draw_displaced(state, displaced), -1
    shares = state.params.anneal
    swap_from = shares.relocate_percent
    return_from = swap_from + shares.swap_percent
    substitute_from = return_from + shares.return_percent
    if percent >= substitute_from + shares.substitute_percent:
        return _evict(state, displaced, heat, receivers, replica_index, left)
    if replica_index < 0:
        return 0
    if percent < swap_from:
        return _try_move(state, displaced, heat, replica_index, receivers[draw(state, receivers.shape[0])], left)
    if percent < return_from:
        other = _draw_displaced(state, displaced)
    else:
        original = _original_of(state, replica_index)
        if original >= 0 and percent < substitute_from:
            return _try_move(state, displaced, heat, replica_index, original, left)
        if original >= 0:
            other = _any_index_of(state, original)
    return 0 if other < 0 else _try_swap(state, displaced, heat, replica_index, other, left, right)


@kernel
def anneal(state: State, receivers: Ints, steps: int, unit: float) -> int:
    """Make changes, return how many. ``unit``: mean cost of a replica."""
    count = state.position.shape[0]
    displaced = Displaced(np.empty(count, np.int32), np.zeros(count, np.int8), np.zeros(1, np.int64))
    for replica_index in range(count):
        if state.position[replica_index] >= 0:
            _list_displaced(state, displaced, replica_index)
    left, right = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    numbers = state.params.anneal
    made = 0
    for i in range(steps):
        done = i / steps
        temperature = numbers.warm * (numbers.cold / numbers.warm) ** done * unit
        heat = Heat(temperature, numbers.outside_price + numbers.outside_rise * done, numbers.topic_price * unit)
        made += _step(state, displaced, heat, receivers, left, right)
    return made


# One compiled entry for all steps: each entry compiles all code below it again.


_RELEASE, _EVACUATE, _PUSH, _FINISH, _PULL, _SWAP, _POLISH = range(7)


@kernel
def _take(step: int, state: State, takers: Ints, receivers: Ints, amount: float, least: float) -> float:
    if step == _RELEASE:
        return float(_release(state))
    if step == _EVACUATE:
        return float(_evacuate(state, takers))
    if step == _PUSH:
        return float(_push_round(state, takers, receivers, amount, least))
    if step == _FINISH:
        return float(_finish_round(state, takers, receivers, amount))
    if step == _PULL:
        return float(_pull_round(state, receivers, amount, least))
    if step == _SWAP:
        return float(_swap_round(state, receivers, int(amount)))
    return float(_polish_round(state, receivers, int(amount)))


def release(state: State, takers: Ints) -> int:
    return int(_take(_RELEASE, state, takers, takers, 0.0, 0.0))


def evacuate(state: State, takers: Ints) -> int:
    return int(_take(_EVACUATE, state, takers, takers, 0.0, 0.0))


def push_round(state: State, takers: Ints, receivers: Ints, part: float, least: float) -> int:
    return int(_take(_PUSH, state, takers, receivers, part, least))


def finish_round(state: State, takers: Ints, receivers: Ints, worst: float) -> int:
    return int(_take(_FINISH, state, takers, receivers, worst, 0.0))


def pull_round(state: State, receivers: Ints, worst: float, least: float) -> int:
    return int(_take(_PULL, state, receivers, receivers, worst, least))


def swap_round(state: State, receivers: Ints, tries: int) -> int:
    return int(_take(_SWAP, state, receivers, receivers, float(tries), 0.0))


def polish_round(state: State, receivers: Ints, tries: int) -> float:
    return _take(_POLISH, state, receivers, receivers, float(tries), 0.0)


# Release, evacuate, push, finish, pull, swap, polish, until nothing is outside or nothing helps. Leaders follow later
# at no cost, so only loads that every replica carries count, unless all partitions have one replica.


@dataclass(frozen=True, slots=True, eq=False)
class SearchedSets:
    """``stranded``: replicas without a lawful place."""

    replicas: Ints
    stranded: int
    statistics: SearchStatistics


def replica_columns(problem: Problem) -> list[int]:
    """Resources that any replica carries; all if every partition has one replica."""
    if int(problem.target_rf.max(initial=1)) == 1:
        return list(range(len(problem.resources)))
    return [d for d, resource in enumerate(problem.resources) if resource in REPLICA_CARRIED]


def search_replicas(
    problem: Problem, sets: ReplicaSets, bands: WorkingBands, *, seed: int, params: SolveParams = DEFAULTS
) -> SearchedSets:
    state = _state_of(problem, sets, bands, seed, params)
    receivers = np.flatnonzero(state.takes).astype(np.int32)
    if not len(receivers):
        return SearchedSets(state.replicas, int((state.replicas == problem.broker_count).sum()), NOTHING_DONE)
    released = release(state, receivers) if problem.moves_replicas else 0
    stranded = evacuate(state, receivers)
    if stranded and released:  # nearly full brokers: optional moves block forced ones
        state, released = _state_of(problem, sets, bands, seed, params), 0
        stranded = evacuate(state, receivers)
    done = SearchStatistics(released=released)
    if problem.moves_replicas:
        done += _improve(state, receivers, params)
        _polish(state, receivers, params)
    return SearchedSets(state.replicas, stranded, done)


def anneal_replicas(
    problem: Problem, sets: ReplicaSets, bands: WorkingBands, *, seed: int, params: SolveParams = DEFAULTS
) -> SearchedSets:
    state = _state_of(problem, sets, bands, seed, params)
    receivers = np.flatnonzero(state.takes).astype(np.int32)
    if not len(receivers):
        return SearchedSets(state.replicas, 0, NOTHING_DONE)
    width = max(_band_width(state), BAND_TOLERANCE)  # a band of 0 % has no width
    count = int(params.effort.anneal_steps * min(1.0, (params.replicas.narrow_band / width) ** 3))
    done = SearchStatistics(annealed=anneal(state, receivers, count, float(state.cost.mean())))
    done += _exhaust(state, receivers, params)
    polish_round(state, receivers, params.effort.polish_tries)
    return SearchedSets(state.replicas, 0, done)


def _band_width(state: State) -> float:
    width = (state.high - state.low)[state.takes]
    return float(np.median(np.minimum(width, 1.0)))


def _state_of(problem: Problem, sets: ReplicaSets, bands: WorkingBands, seed: int, params: SolveParams) -> State:
    alone = int(problem.target_rf.max(initial=1)) == 1
    replica_index = np.full(problem.partition_count, 0 if alone else -1, dtype=np.int32)
    fresh = ReplicaSets(sets.replicas.copy(), sets.original)
    return make_state(problem, fresh, replica_index, replica_columns(problem), bands, seed=seed, params=params)


def _polish(state: State, receivers: Ints, params: SolveParams) -> None:
    limits, replicas = params.replicas, len(state.position)
    tries = max(params.effort.polish_tries, min(limits.most_polish_tries, limits.least_polish_work // max(1, replicas)))
    passes = params.effort.polish_rounds
    if replicas > limits.many_replicas:
        passes = min(passes, 1)
    most = 0.0
    for _ in range(passes):
        saved = polish_round(state, receivers, tries)
        if saved <= limits.least_pass_saving * most:
            break
        most = max(most, saved)


def _improve(state: State, takers: Ints, params: SolveParams) -> SearchStatistics:
    """Fetching comes last: too early, it costs twice as much."""
    far = np.maximum(state.load - state.high, 0.0).sum(axis=1)
    calm = np.flatnonzero(state.takes & (far <= BAND_TOLERANCE)).astype(np.int32)
    no_brokers = takers[:0]
    part, fit = params.effort.part, params.replicas.least_fit
    stages: tuple[Callable[[], SearchStatistics], ...] = (
        lambda: SearchStatistics(pushed=push_round(state, takers, no_brokers, part, fit)),
        lambda: SearchStatistics(pushed=push_round(state, takers, calm, part, fit)),
        lambda: SearchStatistics(finished=finish_round(state, takers, takers, 0.0)),
    )
    done = NOTHING_DONE
    for step in stages:
        for _ in range(params.effort.rounds):
            made = step()
            done += made
            if made.total <= len(takers) // params.replicas.brokers_per_move:
                break
    return done + _exhaust(state, takers, params)


def _exhaust(state: State, takers: Ints, params: SolveParams) -> SearchStatistics:
    tries = params.effort.swap_tries
    gentlest_first: tuple[Callable[[], SearchStatistics], ...] = (
        lambda: SearchStatistics(finished=finish_round(state, takers, takers, 0.0)),
        lambda: SearchStatistics(pulled=pull_round(state, takers, 0.0, 0.0)),
        lambda: SearchStatistics(finished_hard=finish_round(state, takers, takers, HOWEVER_FAR)),
        lambda: SearchStatistics(pulled_hard=pull_round(state, takers, HOWEVER_FAR, 0.0)),
        lambda: SearchStatistics(swapped=swap_round(state, takers, tries)),
    )
    done = NOTHING_DONE
    for _ in range(params.effort.last_rounds):
        before = done.total
        for step in gentlest_first:
            made = step()
            done += made
            if made.total > len(takers) // params.replicas.brokers_per_move:
                break
        if done.total == before:
            break
    return done


def require_enough_brokers(problem: Problem) -> None:
    """Raises InfeasibleError if a partition has too few lawful brokers, or a drained broker holds pinned replicas."""
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
    row = int(lacking.argmax())
    factor, may, short = int(problem.target_rf[row]), int(lawful[row]), int(lacking[row])
    alike = int(((lacking > 0) & (problem.target_rf == factor) & (lawful == may)).sum())
    is_confined = bool(problem.is_confined[row])
    return InfeasibleError(
        fact(
            FactCode.TOO_FEW_BROKERS,
            replication_factor=factor,
            brokers=may,
            lacking=short,
            partitions=alike,
            partition=problem.name_of(row),
            is_confined=is_confined,
        ),
        fact(FactCode.ADD_BROKERS, brokers=short, is_confined=is_confined, or_replication_factor=may or None),
    )


def _require_touchable(problem: Problem) -> None:
    is_pinned_replica = (problem.replicas >= 0) & problem.pinned[:, None]
    on_leaving = is_pinned_replica & ~problem.stays[np.where(is_pinned_replica, problem.replicas, 0)]
    if not on_leaving.any():
        return
    rows, columns = np.nonzero(on_leaving)
    gone = int(problem.replicas[rows[0], columns[0]])
    partitions = rows[problem.replicas[rows, columns] == gone]
    broker = int(problem.broker_ids[gone])
    raise InfeasibleError(
        fact(
            FactCode.IMMOVABLE_ON_LEAVING_BROKER,
            broker=broker,
            partitions=len(partitions),
            partition=problem.name_of(int(partitions[0])),
        ),
        fact(FactCode.LET_MOVE, broker=broker, partitions=len(partitions)),
    )


# Sets without a possible leader: one replica is unplaced, and only a broker that may lead can take it (``may_hold``).


def send_for_leaders(problem: Problem, replicas: Ints, unplaced: int) -> None:
    """Unplace one replica of each such set. An unplaced one will lead, if a rack without a replica takes it."""
    if not problem.moves_replicas or problem.takes_leaders[problem.stays].all():
        return
    on_broker = (replicas >= 0) & (replicas < problem.broker_count)
    kept = np.where(on_broker & np.append(problem.stays, False)[replicas], replicas, ABSENT)
    able = candidates(problem, kept).any(axis=1)
    rows = np.flatnonzero(~able & can_be_led(problem) & ~problem.pinned)
    has_place, is_in_open_rack = _racks_of(problem, rows, kept[rows])
    has_to_go = (replicas[rows] == unplaced) | (on_broker[rows] & (kept[rows] < 0))
    may_go = np.where(has_place[:, None], ~has_to_go.any(axis=1, keepdims=True), is_in_open_rack) & (kept[rows] >= 0)
    sent = may_go.any(axis=1)
    replicas[rows[sent], may_go[sent].argmax(axis=1)] = unplaced


def _racks_of(problem: Problem, row: Longs, replicas: Ints) -> tuple[Flags, Flags]:
    racks = distinct_racks(problem.rack)
    sizes = problem.sets.rack_sizes(racks, problem.takes_replicas & problem.takes_leaders)
    is_open = (sizes > 0)[problem.sets.of_partition[row]]
    is_there = replicas >= 0
    rack = np.where(is_there, racks[replicas], 0)
    used = np.zeros((len(replicas), is_open.shape[1]), dtype=np.bool_)
    rows, columns = np.nonzero(is_there)
    used[rows, rack[rows, columns]] = True
    return np.asarray((is_open & ~used).any(axis=1)), np.asarray(is_there & np.take_along_axis(is_open, rack, axis=1))


# Sets before balancing: surplus dropped, missing and forced replicas unplaced (index B).


def start_sets(problem: Problem) -> ReplicaSets:
    """Sets before the search. Raises InfeasibleError where a partition has no lawful set. O(P·W²)."""
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
    """Highest load over the top of a band; drained 1e12, unplaced (index B) 1e15."""
    scale = resource_scale(problem)
    load = np.zeros((problem.broker_count + 1, len(problem.resources)))
    nobody = np.full(problem.partition_count, ABSENT, dtype=np.int32)
    carried = Carried(problem.follower_load, problem.leader_extra, np.zeros((0, 0)), -1)
    sum_loads(replicas, replicas, nobody, carried, load)
    with np.errstate(divide="ignore", invalid="ignore"):
        level = load[:-1] / np.where(np.isfinite(problem.band_high), problem.band_high, scale[None, :])
    worst = np.nan_to_num(level, nan=0.0, posinf=1e9).max(axis=1, initial=0.0)
    worst[~problem.stays] = 1e12
    return np.append(worst, 1e15)


def _drop_surplus(problem: Problem, replicas: Ints) -> None:
    """From drained brokers, crowded racks, full brokers; the last possible leader goes last."""
    while True:
        surplus = ((replicas >= 0).sum(axis=1) > problem.target_rf) & ~problem.pinned
        if not surplus.any():
            return
        rows = np.flatnonzero(surplus)
        fullness = _broker_fullness(problem, replicas)
        crowd = _rack_crowd(problem, replicas[rows])
        is_there = replicas[rows] >= 0
        badness = np.where(is_there, fullness[replicas[rows]] + 1e6 * crowd, -1.0)
        # Dropping today's leader would cost a leader change.
        badness -= np.where(is_there & (replicas[rows] == problem.leader[rows, None]), 0.5, 0.0)
        able = _may_lead(problem, replicas, rows)
        badness -= np.where(able & (able.sum(axis=1, keepdims=True) == 1), 1e9, 0.0)
        worst = badness.argmax(axis=1)
        _remove_index(replicas, rows, worst.astype(np.int64))


def _may_lead(problem: Problem, replicas: Ints, rows: np.ndarray) -> Flags:
    takes, keeps = np.append(problem.takes_leaders, False), np.append(problem.keeps_leaders, False)
    members = replicas[rows]
    able: Flags = (members >= 0) & (takes[members] | (keeps[members] & (members == problem.leader[rows, None])))
    return able


def _remove_index(replicas: Ints, rows: np.ndarray, replica_indexes: np.ndarray) -> None:
    width = replicas.shape[1]
    source = np.arange(width)[None, :] + (np.arange(width)[None, :] >= replica_indexes[:, None])
    padded = np.column_stack([replicas[rows], np.full(len(rows), ABSENT, dtype=np.int32)])
    replicas[rows] = np.take_along_axis(padded, source, axis=1)


def _rack_crowd(problem: Problem, replicas: Ints) -> Floats:
    racks = np.append(distinct_racks(problem.rack), [-3])
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
            # The only possible leader goes only if no other breaks the rule.
            able = _may_lead(problem, replicas, rows)
            badness[breaks & able & (able.sum(axis=1, keepdims=True) == 1)] = -0.75
            if len(rows):
                replicas[rows, badness.argmax(axis=1)] = unplaced


def _rack_breakers(problem: Problem, replicas: Ints, spread: tuple[np.ndarray, int], racks: Ints) -> Flags:
    quota, odd = spread
    crowd = _rack_crowd(problem, replicas) + 1
    on_broker = (replicas >= 0) & (replicas < problem.broker_count)
    index = np.where(on_broker, replicas, 0)
    on_broker &= problem.stays[index]
    share = quota[racks[index]]
    breaks: Flags = on_broker & (crowd > share + (1 if odd else 0))
    # At most as many racks with an odd replica as there are odd ones.
    is_odd = on_broker & (crowd > share)
    odd_racks = (is_odd / np.maximum(crowd, 1)).sum(axis=1)
    breaks |= is_odd & (odd_racks > odd + 0.5)[:, None]
    return breaks
