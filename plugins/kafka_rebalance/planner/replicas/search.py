"""The search for replica sets, from today's or from any other ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Ints
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.kernels.decorators import kernel
from kafka_rebalance.planner.params import DEFAULTS, SolveParams
from kafka_rebalance.planner.replicas.anneal import anneal
from kafka_rebalance.planner.replicas.kernels import evacuate as _evacuate
from kafka_rebalance.planner.replicas.kernels import finish_round as _finish_round
from kafka_rebalance.planner.replicas.kernels import polish_round as _polish_round
from kafka_rebalance.planner.replicas.kernels import pull_round as _pull_round
from kafka_rebalance.planner.replicas.kernels import push_round as _push_round
from kafka_rebalance.planner.replicas.kernels import release as _release
from kafka_rebalance.planner.replicas.kernels import swap_round as _swap_round
from kafka_rebalance.planner.state import ReplicaSets, State, make_state
from kafka_rebalance.planner.statistics import NOTHING_DONE, SearchStatistics
from kafka_rebalance.planner.tolerances import BAND_TOLERANCE, HOWEVER_FAR
from kafka_rebalance.planner.working_bands import WorkingBands
from kafka_rebalance.resources import REPLICA_CARRIED

# The steps of the search as Python calls them: one compiled entry for all, as most of their code is the same.
#
# Machine code is made for each entry with all below it, so that six entries would have what they share made six times.


_RELEASE, _EVACUATE, _PUSH, _FINISH, _PULL, _SWAP, _POLISH = range(7)


@kernel
def _take(step: int, state: State, everybody: Ints, receivers: Ints, amount: float, least: float) -> float:
    if step == _RELEASE:
        return float(_release(state))
    if step == _EVACUATE:
        return float(_evacuate(state, everybody))
    if step == _PUSH:
        return float(_push_round(state, everybody, receivers, amount, least))
    if step == _FINISH:
        return float(_finish_round(state, everybody, receivers, amount))
    if step == _PULL:
        return float(_pull_round(state, receivers, amount, least))
    if step == _SWAP:
        return float(_swap_round(state, receivers, int(amount)))
    return float(_polish_round(state, receivers, int(amount)))


def release(state: State, everybody: Ints) -> int:
    """Mark as unplaced what the brokers above their bands must give up in any cheap plan. Returns how many."""
    return int(_take(_RELEASE, state, everybody, everybody, 0.0, 0.0))


def evacuate(state: State, everybody: Ints) -> int:
    """Empty what must be emptied, heaviest replicas first. Returns how many found no place."""
    return int(_take(_EVACUATE, state, everybody, everybody, 0.0, 0.0))


def push_round(state: State, everybody: Ints, receivers: Ints, part: float, least: float) -> int:
    """Every broker above its bands hands over mixtures that fit. Returns moves."""
    return int(_take(_PUSH, state, everybody, receivers, part, least))


def finish_round(state: State, everybody: Ints, receivers: Ints, worst: float) -> int:
    """Every broker above its bands hands over what is worth most per cost. Returns moves."""
    return int(_take(_FINISH, state, everybody, receivers, worst, 0.0))


def pull_round(state: State, receivers: Ints, worst: float, least: float) -> int:
    """Every taker below its bands fetches. Returns moves."""
    return int(_take(_PULL, state, receivers, receivers, worst, least))


def swap_round(state: State, receivers: Ints, tries: int) -> int:
    """One exchange for every taker outside its bands. Returns exchanges."""
    return int(_take(_SWAP, state, receivers, receivers, float(tries), 0.0))


def polish_round(state: State, receivers: Ints, tries: int) -> float:
    """One pass over everything that has moved. Returns the cost saved."""
    return _take(_POLISH, state, receivers, receivers, float(tries), 0.0)


# Where replicas go: release, evacuate, push, finish, pull, swap, polish, until nothing is outside or nothing helps.
#
# A plan that is still far from its bound, or outside its bands, is annealed.
#
# Leaders come afterwards: a leadership moves for nothing, so only what every replica carries counts here, unless no
# partition has a second replica to lead it.


@dataclass(frozen=True, slots=True, eq=False)
class FoundSets:
    """Replica sets ``replicas`` int32[P, W]; ``stranded``: how many replicas found no lawful place."""

    replicas: Ints
    stranded: int
    statistics: SearchStatistics


def replica_columns(problem: Problem) -> list[int]:
    """Resources that replicas carry whoever leads; all of them where every partition has one replica."""
    if int(problem.target_rf.max(initial=1)) == 1:
        return list(range(len(problem.resources)))
    return [d for d, resource in enumerate(problem.resources) if resource in REPLICA_CARRIED]


def search_replicas(
    problem: Problem, sets: ReplicaSets, bands: WorkingBands, *, seed: int, params: SolveParams = DEFAULTS
) -> FoundSets:
    """Replica sets inside the bands as far as found."""
    state = _state_of(problem, sets, bands, seed, params)
    receivers = np.flatnonzero(state.takes).astype(np.int32)
    if not len(receivers):
        return FoundSets(state.replicas, int((state.replicas == problem.broker_count).sum()), NOTHING_DONE)
    released = release(state, receivers) if problem.moves_replicas else 0
    stranded = evacuate(state, receivers)
    if stranded and released:  # brokers nearly full: what need not leave stands in the way of what must
        state, released = _state_of(problem, sets, bands, seed, params), 0
        stranded = evacuate(state, receivers)
    done = SearchStatistics(released=released)
    if problem.moves_replicas:
        done += _improve(state, receivers, params)
        _polish(state, receivers, params)
    return FoundSets(state.replicas, stranded, done)


def anneal_replicas(
    problem: Problem, sets: ReplicaSets, bands: WorkingBands, *, seed: int, params: SolveParams = DEFAULTS
) -> FoundSets:
    """Replica sets like the lawful ``sets``, cheaper or nearer to the bands in most cases, not in all."""
    state = _state_of(problem, sets, bands, seed, params)
    receivers = np.flatnonzero(state.takes).astype(np.int32)
    if not len(receivers):
        return FoundSets(state.replicas, 0, NOTHING_DONE)
    width = max(_band_width(state), BAND_TOLERANCE)  # of a band of 0 % nothing is left
    count = int(params.effort.anneal_steps * min(1.0, (params.replicas.narrow_band / width) ** 3))
    done = SearchStatistics(annealed=anneal(state, receivers, count, float(state.cost.mean())))
    done += _exhaust(state, receivers, params)
    polish_round(state, receivers, params.effort.polish_tries)
    return FoundSets(state.replicas, 0, done)


def _band_width(state: State) -> float:
    """Of the middle one of the bands, in means."""
    width = (state.high - state.low)[state.takes]
    return float(np.median(np.minimum(width, 1.0)))


def _state_of(problem: Problem, sets: ReplicaSets, bands: WorkingBands, seed: int, params: SolveParams) -> State:
    alone = int(problem.target_rf.max(initial=1)) == 1
    replica_index = np.full(problem.partition_count, 0 if alone else -1, dtype=np.int32)
    fresh = ReplicaSets(sets.replicas.copy(), sets.original)
    return make_state(problem, fresh, replica_index, replica_columns(problem), bands, seed=seed, params=params)


def _polish(state: State, receivers: Ints, params: SolveParams) -> None:
    """Passes while they pay."""
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


def _improve(state: State, everybody: Ints, params: SolveParams) -> SearchStatistics:
    """Mixtures that fit first, then whatever relieves at the best price, then whatever still helps.

    Fetching comes last: what brokers below their bands lack mostly comes by itself when the others give, and fetched
    too early it is the wrong mixture, twice as dear.
    """
    far = np.maximum(state.load - state.high, 0.0).sum(axis=1)
    calm = np.flatnonzero(state.takes & (far <= BAND_TOLERANCE)).astype(np.int32)
    nobody = everybody[:0]
    part, fit = params.effort.part, params.replicas.least_fit
    stages: tuple[Callable[[], SearchStatistics], ...] = (
        lambda: SearchStatistics(pushed=push_round(state, everybody, nobody, part, fit)),
        lambda: SearchStatistics(pushed=push_round(state, everybody, calm, part, fit)),
        lambda: SearchStatistics(finished=finish_round(state, everybody, everybody, 0.0)),
    )
    done = NOTHING_DONE
    for step in stages:
        for _ in range(params.effort.rounds):
            made = step()
            done += made
            if made.total <= len(everybody) // params.replicas.brokers_per_move:
                break
    return done + _exhaust(state, everybody, params)


def _exhaust(state: State, everybody: Ints, params: SolveParams) -> SearchStatistics:
    """Rounds of the gentlest step that still helps more than a few, until none helps."""
    tries = params.effort.swap_tries
    gentlest_first: tuple[Callable[[], SearchStatistics], ...] = (
        lambda: SearchStatistics(finished=finish_round(state, everybody, everybody, 0.0)),
        lambda: SearchStatistics(pulled=pull_round(state, everybody, 0.0, 0.0)),
        lambda: SearchStatistics(finished_hard=finish_round(state, everybody, everybody, HOWEVER_FAR)),
        lambda: SearchStatistics(pulled_hard=pull_round(state, everybody, HOWEVER_FAR, 0.0)),
        lambda: SearchStatistics(swapped=swap_round(state, everybody, tries)),
    )
    done = NOTHING_DONE
    for _ in range(params.effort.last_rounds):
        before = done.total
        for step in gentlest_first:
            made = step()
            done += made
            if made.total > len(everybody) // params.replicas.brokers_per_move:
                break
        if done.total == before:
            break
    return done
