"""Who leads: today's leader where that keeps every broker inside its bands, another replica where not."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.leaders.candidates import candidates, count_band, first_leaders
from kafka_rebalance.planner.leaders.even_counts import even_out_counts
from kafka_rebalance.planner.leaders.leader_search import search_leaders
from kafka_rebalance.planner.leaders.leader_state import LeaderState, make_leader_state
from kafka_rebalance.planner.replicas.moving import INSIDE
from kafka_rebalance.planner.state import resource_scale
from kafka_rebalance.planner.working_bands import WorkingBands
from kafka_rebalance.resources import LEADER_CARRIED

LEADER_ROUNDS = 200


def leader_columns(problem: Problem) -> list[int]:
    """Resources that depend on who leads."""
    return [d for d, resource in enumerate(problem.resources) if resource in LEADER_CARRIED]


def choose_leaders(problem: Problem, replicas: Ints, bands: WorkingBands, steps: dict[str, int]) -> Ints:
    """int32[P]: the slot in ``replicas`` that leads each partition. O(P·W) a round.

    Where leaders alone may change, even counts are found exactly first, and mended for rates where those need it; the
    better of that and of the search alone is kept: nearer to its bands, then fewer changes.
    """
    may_lead = candidates(problem, replicas)
    slot = first_leaders(problem, replicas, may_lead)
    columns = leader_columns(problem)
    if problem.elects_preferred or not columns:
        return slot
    state = leader_state_of(problem, replicas, slot, may_lead, bands, columns)
    if problem.moves_replicas or not _even_out(problem, state, bands):
        _search(state, steps)
        return state.slot
    if _strays(state) <= INSIDE:
        return state.slot
    _search(state, steps)
    other = leader_state_of(problem, replicas, slot, may_lead, bands, columns)
    _search(other, steps)
    return min(state, other, key=_worth).slot


def _search(state: LeaderState, steps: dict[str, int]) -> None:
    made, undone = search_leaders(state, LEADER_ROUNDS)
    steps["leaders"] = steps.get("leaders", 0) + made
    steps["leaders_undone"] = steps.get("leaders_undone", 0) + undone


def _even_out(problem: Problem, state: LeaderState, bands: WorkingBands) -> bool:
    """Even counts with the fewest changes, if counts are balanced at all."""
    d = problem.column("leaders")
    if d is None or np.isfinite(problem.limit[:, leader_columns(problem)]).any():
        return False
    low, high = count_band(bands.low[:, d], bands.high[:, d])
    if (low > high).any():
        return False
    even_out_counts(state, low, high)
    return True


def _strays(state: LeaderState) -> float:
    """Distance of all loads from their bands."""
    return float(np.maximum(np.maximum(state.load - state.high, state.low - state.load), 0.0).sum())


def _worth(state: LeaderState) -> tuple[float, int]:
    """How far outside, in steps that matter, and leader changes: the smaller the better."""
    leader = state.replicas[np.arange(len(state.slot)), state.slot]
    return round(_strays(state), 6), int((leader != state.home).sum())


def leader_state_of(
    problem: Problem, replicas: Ints, slot: Ints, may_lead: Flags, bands: WorkingBands, columns: list[int]
) -> LeaderState:
    """Loads of the given leaders, what brokers carry as followers included."""
    scale = resource_scale(problem)[columns]
    extra = np.ascontiguousarray(problem.leader_extra[:, columns] / scale)
    load = _loads(replicas, slot, problem.follower_load[:, columns] / scale, extra, problem.broker_count)
    return make_leader_state(
        replicas,
        slot.copy(),
        problem.leader,
        may_lead,
        extra,
        load,
        np.ascontiguousarray(bands.low[:, columns] / scale),
        np.ascontiguousarray(bands.high[:, columns] / scale),
        np.ascontiguousarray(problem.limit[:, columns] / scale),
    )


def _loads(replicas: Ints, slot: Ints, follower: Floats, extra: Floats, brokers: int) -> Floats:
    load = np.zeros((brokers, follower.shape[1]))
    leader = replicas[np.arange(len(replicas)), slot]
    for d in range(follower.shape[1]):
        load[:, d] = np.bincount(leader, weights=extra[:, d], minlength=brokers)
        for j in range(replicas.shape[1]):
            there = replicas[:, j] >= 0
            load[:, d] += np.bincount(replicas[there, j], weights=follower[there, d], minlength=brokers)
    return load
