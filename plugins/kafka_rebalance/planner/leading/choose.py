"""Who leads: today's leader where that keeps every broker inside its bands, another replica where not."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.planner.leading.leader_search import search_leaders, undo_needless
from kafka_rebalance.planner.leading.leader_state import LeaderState, make_leader_state
from kafka_rebalance.planner.problem import Flags, Floats, Ints, Problem
from kafka_rebalance.planner.state import resource_scale
from kafka_rebalance.planner.working_bands import WorkingBands

LEADER_ROUNDS = 200


def leader_columns(problem: Problem) -> list[int]:
    """Resources that depend on who leads."""
    return [d for d, resource in enumerate(problem.resources) if resource in ("out", "cpu", "leaders")]


def candidates(problem: Problem, replicas: Ints) -> Flags:
    """bool[P, W]: replicas that may lead. Pinned partitions keep their leader; so does a partition none may lead."""
    is_there = replicas >= 0
    is_today = is_there & (replicas == problem.leader[:, None])
    may_lead: Flags = is_there & (problem.takes_leaders[replicas] | (is_today & problem.keeps_leaders[replicas]))
    frozen = problem.pinned & is_today.any(axis=1)
    may_lead[frozen] = is_today[frozen]
    return may_lead


def first_leaders(problem: Problem, replicas: Ints, may_lead: Flags) -> Ints:
    """int32[P] slots: today's leader where it may go on, else the first replica that may, else the first."""
    is_today = (replicas == problem.leader[:, None]) & may_lead
    preferred = is_today if not problem.elects_preferred else may_lead
    slot: Ints = np.where(preferred.any(axis=1), preferred.argmax(axis=1), may_lead.argmax(axis=1)).astype(np.int32)
    return slot


def choose_leaders(problem: Problem, replicas: Ints, bands: WorkingBands, steps: dict[str, int]) -> Ints:
    """int32[P]: the slot in ``replicas`` that leads each partition. O(P·W) a round."""
    may_lead = candidates(problem, replicas)
    slot = first_leaders(problem, replicas, may_lead)
    columns = leader_columns(problem)
    if problem.elects_preferred or not columns:
        return slot
    state = leader_state_of(problem, replicas, slot, may_lead, bands, columns)
    steps["leaders"] = steps.get("leaders", 0) + search_leaders(state, LEADER_ROUNDS)
    steps["leaders_undone"] = steps.get("leaders_undone", 0) + undo_needless(state)
    return state.slot


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
