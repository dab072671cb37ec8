"""Sets none of whose replicas may lead: one replica has to make room for somebody who may.

Example: t-0 has its replicas on brokers 1 and 2, which are both to be demoted. Broker 3, in the rack of broker 2, takes
replicas and leadership: the replica on 2 is sent away, and only a broker that may lead can take it in
(``moving.may_hold``).
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Ints, Longs
from kafka_rebalance.cluster_arrays.fair_share import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.may_lead import can_be_led, candidates


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
