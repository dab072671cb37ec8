"""Who leads: today's leader where that keeps every broker inside its bands, another replica where not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.leaders.candidates import count_band, first_leaders
from kafka_rebalance.planner.leaders.even_counts import even_out_counts
from kafka_rebalance.planner.leaders.leader_search import search_leaders
from kafka_rebalance.planner.leaders.leader_state import LeaderLoads, LeaderState, make_leader_state
from kafka_rebalance.planner.may_lead import candidates
from kafka_rebalance.planner.params import DEFAULTS, LeaderParams, SolveParams
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.planner.statistics import NOTHING_DONE, SearchStatistics
from kafka_rebalance.planner.tolerances import BAND_TOLERANCE
from kafka_rebalance.planner.working_bands import WorkingBands
from kafka_rebalance.resources import LEADER_CARRIED


def leader_columns(problem: Problem) -> list[int]:
    """Resources that depend on who leads."""
    return [d for d, resource in enumerate(problem.resources) if resource in LEADER_CARRIED]


@dataclass(frozen=True, slots=True, eq=False)
class ChosenLeaders:
    """``replica_index`` int32[P]: which replica leads each partition."""

    replica_index: Ints
    statistics: SearchStatistics = NOTHING_DONE


def choose_leaders(
    problem: Problem, replicas: Ints, bands: WorkingBands, params: SolveParams = DEFAULTS
) -> ChosenLeaders:
    """Who leads the sets ``replicas`` int32[P, W]. O(P·W) a round.

    Where leaders alone may change, even counts are found exactly first, and mended for rates where those need it; the
    better of that and of the search alone is kept: nearer to its bands, then fewer changes.
    """
    may_lead = candidates(problem, replicas)
    replica_index = first_leaders(problem, replicas, may_lead)
    columns = leader_columns(problem)
    if problem.elects_preferred or not columns:
        return ChosenLeaders(replica_index)
    state = leader_state_of(problem, replicas, replica_index, may_lead, bands, params.leaders)
    if problem.moves_replicas or not _even_out(problem, state, bands, params.bounds.count_tolerance):
        return ChosenLeaders(state.replica_index, _search(state))
    if _band_violation(state) <= BAND_TOLERANCE:
        return ChosenLeaders(state.replica_index)
    done = _search(state)
    other = leader_state_of(problem, replicas, replica_index, may_lead, bands, params.leaders)
    done += _search(other)
    return ChosenLeaders(min(state, other, key=_worth).replica_index, done)


def go_on_leading(
    problem: Problem, replicas: Ints, leader: Ints, bands: WorkingBands, params: SolveParams = DEFAULTS
) -> ChosenLeaders:
    """Who leads the sets ``replicas`` int32[P, W] where ``leader`` int32[P] led sets much like them: he goes on where
    he is there and may, and the search goes on from there. O(P·W) a round.
    """
    may_lead = candidates(problem, replicas)
    replica_index = first_leaders(problem, replicas, may_lead)
    goes_on = may_lead & (replicas == leader[:, None])
    replica_index = np.where(goes_on.any(axis=1), goes_on.argmax(axis=1), replica_index).astype(np.int32)
    if problem.elects_preferred or not leader_columns(problem):
        return ChosenLeaders(replica_index)
    state = leader_state_of(problem, replicas, replica_index, may_lead, bands, params.leaders)
    return ChosenLeaders(state.replica_index, _search(state))


def _search(state: LeaderState) -> SearchStatistics:
    made, undone = search_leaders(state, state.params.rounds)
    return SearchStatistics(leaders_changed=made, leaders_undone=undone)


def _even_out(problem: Problem, state: LeaderState, bands: WorkingBands, tolerance: float) -> bool:
    """Even counts with the fewest changes, if counts are balanced at all."""
    d = problem.column("leaders")
    if d is None or np.isfinite(problem.limit[:, leader_columns(problem)]).any():
        return False
    low, high = count_band(bands.low[:, d], bands.high[:, d], tolerance)
    if (low > high).any():
        return False
    even_out_counts(state, low, high)
    return True


def _band_violation(state: LeaderState) -> float:
    """Distance of all loads from their bands."""
    return float(np.maximum(np.maximum(state.load - state.high, state.low - state.load), 0.0).sum())


def _worth(state: LeaderState) -> tuple[float, int]:
    """How far outside, in steps that matter, and leader changes: the smaller the better."""
    leader = state.replicas[np.arange(len(state.replica_index)), state.replica_index]
    return round(_band_violation(state), 6), int((leader != state.original).sum())


def leader_state_of(
    problem: Problem, replicas: Ints, replica_index: Ints, may_lead: Flags, bands: WorkingBands, params: LeaderParams
) -> LeaderState:
    """Loads of the given leaders, what brokers carry as followers included."""
    columns = leader_columns(problem)
    scale = resource_scale(problem)[columns]
    extra = np.ascontiguousarray(problem.leader_extra[:, columns] / scale)
    load = _loads(replicas, replica_index, problem.follower_load[:, columns] / scale, extra, problem.broker_count)
    return make_leader_state(
        replicas,
        replica_index.copy(),
        problem.leader,
        may_lead,
        extra,
        LeaderLoads(
            load,
            np.ascontiguousarray(bands.low[:, columns] / scale),
            np.ascontiguousarray(bands.high[:, columns] / scale),
            np.ascontiguousarray(problem.limit[:, columns] / scale),
        ),
        params,
    )


def _loads(replicas: Ints, replica_index: Ints, follower: Floats, extra: Floats, brokers: int) -> Floats:
    load = np.zeros((brokers, follower.shape[1]))
    leader = replicas[np.arange(len(replicas)), replica_index]
    for d in range(follower.shape[1]):
        load[:, d] = np.bincount(leader, weights=extra[:, d], minlength=brokers)
        for j in range(replicas.shape[1]):
            there = replicas[:, j] >= 0
            load[:, d] += np.bincount(replicas[there, j], weights=follower[there, d], minlength=brokers)
    return load
