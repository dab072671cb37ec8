"""Arcs: which partition may have a replica on which broker, what it weighs there and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Longs
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.may_lead import can_be_led
from kafka_rebalance.planner.params import DEFAULTS, ArcParams
from kafka_rebalance.planner.replicas.replica_search import replica_columns
from kafka_rebalance.planner.scales import move_costs


@dataclass(frozen=True, slots=True, eq=False)
class Arcs:
    """A arcs of the partitions that may be touched.

    row, broker int64[A]; is_kept bool[A]: a replica is there today; weight float64[A, D] absolute, for the resources
    ``columns``; cost float64[A] in the search's units, 0 where kept; fixed float64[B, D]: load of all other partitions,
    and copied float64[B]: disk of those of their replicas that are not there today.
    """

    columns: list[int]
    row: Longs
    broker: Longs
    is_kept: Flags
    weight: Floats
    cost: Floats
    fixed: Floats
    copied: Floats

    def only(self, some: Flags) -> Arcs:
        """Those of ``some`` bool[A]."""
        return replace(
            self,
            row=self.row[some],
            broker=self.broker[some],
            is_kept=self.is_kept[some],
            weight=self.weight[some],
            cost=self.cost[some],
        )


def is_small(problem: Problem, params: ArcParams = DEFAULTS.linear_program.arcs) -> bool:
    """The program of this problem is worth its time."""
    return problem.partition_count * problem.broker_count <= params.most_arcs


def arcs_of(problem: Problem, params: ArcParams = DEFAULTS.linear_program.arcs) -> Arcs:
    """All lawful arcs. O(P·B)."""
    columns = replica_columns(problem)
    held, barred = np.zeros((2, problem.partition_count, problem.broker_count), dtype=np.bool_)
    rows, replica_indexes = np.nonzero(problem.replicas >= 0)
    brokers = problem.replicas[rows, replica_indexes]
    held[rows, brokers] = True
    if problem.must_leave is not None:
        barred[rows, brokers] = problem.must_leave[rows, replica_indexes]
    carried = problem.follower_load[:, columns]
    if int(problem.target_rf.max(initial=1)) == 1:
        carried = carried + problem.leader_extra[:, columns]
    receivers = (problem.takes_replicas & problem.sets.brokers)[problem.sets.of_partition]
    allowed = np.where(held, problem.stays[None, :] & ~barred, receivers)
    # Who gets an only replica leads it, and may do so unless another broker could.
    allowed &= held | ((problem.target_rf > 1) | ~can_be_led(problem))[:, None] | problem.takes_leaders[None, :]
    row, broker = np.nonzero(allowed & ~problem.pinned[:, None])
    is_kept = held[row, broker]
    weight, beyond = carried[row], disk_beyond(problem)
    disk = problem.column("disk")
    if beyond is not None and disk in columns:
        weight[:, columns.index(disk)] += beyond[row, broker]
        carried_there = carried[rows].copy()
        carried_there[:, columns.index(disk)] += beyond[rows, brokers]
    else:
        carried_there = carried[rows]
    fixed = np.zeros((problem.broker_count, len(columns)))
    pinned = problem.pinned[rows]
    np.add.at(fixed, brokers[pinned], carried_there[pinned])
    cost = move_costs(problem, params.cost_per_move)[row]
    cost = cost + params.cost_of_crowding * _crowding(problem, params)[problem.topic[row], broker]
    return Arcs(
        columns, row, broker, is_kept, weight, np.where(is_kept, 0.0, cost), fixed, np.zeros(problem.broker_count)
    )


def _crowding(problem: Problem, params: ArcParams) -> Floats:
    """float64[T, B], mean costs of a copy where its topic's replicas are a share or more already, else 0."""
    topics = int(problem.topic.max(initial=-1)) + 1
    rows, replica_indexes = np.nonzero(problem.replicas >= 0)
    held = np.zeros((topics, problem.broker_count))
    np.add.at(held, (problem.topic[rows], problem.replicas[rows, replica_indexes]), 1.0)
    wanted = np.bincount(problem.topic, weights=problem.target_rf, minlength=topics)
    share = np.ceil(wanted / max(1, int(problem.stays.sum())))
    crowd = np.clip(held - share[:, None] + 1.0, 0.0, 3.0)
    return np.asarray(crowd * float(move_costs(problem, params.cost_per_move).mean()))


def disk_beyond(problem: Problem) -> Floats | None:
    """float64[P, B]: disk of today's replicas beyond the leader's."""
    if problem.own_disk is None:
        return None
    beyond = np.zeros((problem.partition_count, problem.broker_count))
    rows, replica_indexes = np.nonzero(problem.replicas >= 0)
    beyond[rows, problem.replicas[rows, replica_indexes]] = (
        problem.own_disk[rows, replica_indexes] - problem.move_bytes[rows]
    )
    return beyond
