"""Scores of a snapshot, and effects of losses. Loads, capacities and shares are the planner's, so scores equal a plan's
"before".

Example: broker 0 leads four partitions listed [0, 1, 2]: broker 1 takes over four, two each would be even.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.bands import fair_shares
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.cluster_arrays.snapshot_arrays import Wanted, assemble, build_broker_arrays, build_partition_arrays
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.resources import ONLY_LEADERS, REPLICA_CARRIED, RESOURCES, TABLE
from kafka_rebalance.scoring.placement_scores import BrokerLoads, left_leaderless, moved_loads, scores_of, successors
from kafka_rebalance.scoring.scores import ClusterScores
from kafka_rebalance.snapshot.model import ClusterSnapshot


def score_cluster(snapshot: ClusterSnapshot) -> ClusterScores:
    options = PlanOptions()
    brokers = build_broker_arrays(snapshot, options)
    partitions = build_partition_arrays(snapshot, brokers, options)
    if not brokers.brokers:
        return ClusterScores((), (), (), dict(partitions.left_out))
    problem = assemble(brokers.arrays, partitions.placement, Wanted(within=None, resources=RESOURCES))
    known = {
        row.name: 1 - float(np.isnan(snapshot.load(row.load)).mean())
        for row in TABLE
        if row.load is not None and len(partitions.size)
    }
    loads = BrokerLoads(
        broker_ids=problem.broker_ids,
        rack=tuple(broker.rack for broker in brokers.brokers),
        stays=problem.stays,
        resources=problem.resources,
        load=broker_loads(problem, problem.replicas, problem.leader),
        capacity=problem.capacity,
        has_capacity=np.array([name in brokers.arrays.capacity for name in problem.resources], dtype=np.bool_),
        fair_share=_fair_shares(problem),
        sources=partitions.sources,
        known_shares=known,
    )
    return scores_of(loads, partitions.left_out)


def _fair_shares(problem: Problem) -> Floats:
    """Fair shares as load; ``nan`` for drained brokers, and for leader loads on brokers that may not lead."""
    may_lead = problem.keeps_leaders | problem.takes_leaders
    only_leaders = np.array([name in ONLY_LEADERS for name in problem.resources], dtype=np.bool_)
    may_carry = problem.stays[:, None] & (may_lead[:, None] | ~only_leaders[None, :])
    shares = fair_shares(
        rack=problem.rack,
        capacity=problem.capacity,
        may_carry=may_carry,
        may_lead=may_lead,
        target_rf=problem.target_rf,
        follower_load=problem.follower_load,
        leader_extra=problem.leader_extra,
    )
    if not may_lead[problem.stays].all():
        # These differ for followers and leaders: no single mean.
        of_both = [name not in REPLICA_CARRIED and name not in ONLY_LEADERS for name in problem.resources]
        may_carry = may_carry & ~np.array(of_both, dtype=np.bool_)[None, :]
    return np.where(may_carry, shares, np.nan)


@dataclass(frozen=True, slots=True)
class FailureScore:
    """``leaderless``: without a successor; ``taken_by`` takes over ``most_taken``; ``even_taken``: mean over brokers
    that could take any.
    """

    lost_type: str
    lost: str
    leaders: int
    leaderless: int
    taken_by: int | None
    most_taken: int
    even_taken: int


def score_failures(snapshot: ClusterSnapshot) -> tuple[FailureScore, ...]:
    """Losses of responsive brokers, then racks if several; worst first. Empty where the ISR is unknown."""
    table = snapshot.partitions
    if table.in_sync is None or not len(table) or not snapshot.brokers:
        return ()
    responsive = np.array([broker.state.is_responsive for broker in snapshot.brokers], dtype=np.bool_)
    replicas, able, leader = _cells(snapshot, responsive)
    single = np.where(responsive, np.arange(len(responsive)), ABSENT).astype(np.int32)
    names = [str(broker.id) for broker in snapshot.brokers]
    scores = _scores(snapshot, (replicas, able, leader), single, "broker", names)
    racks = sorted({broker.rack for broker in snapshot.brokers if broker.rack is not None})
    if len(racks) > 1:
        group = [ABSENT if broker.rack is None else racks.index(broker.rack) for broker in snapshot.brokers]
        scores += _scores(snapshot, (replicas, able, leader), np.array(group, dtype=np.int32), "rack", racks)
    return tuple(scores)


def _cells(snapshot: ClusterSnapshot, responsive: Flags) -> tuple[Ints, Flags, Ints]:
    table = snapshot.partitions
    ids = np.array([broker.id for broker in snapshot.brokers], dtype=np.int64)
    order = np.argsort(ids)

    def position(brokers: Ints) -> Ints:
        place = np.minimum(np.searchsorted(ids[order], brokers), len(ids) - 1)
        return np.where(ids[order][place] == brokers, order[place], ABSENT).astype(np.int32)

    counts = table.replica_counts
    row, column = table.row_of_replica, np.arange(len(table.replicas)) - np.repeat(table.offsets[:-1], counts)
    replicas = np.full((len(table), int(counts.max(initial=1))), ABSENT, dtype=np.int32)
    able = np.zeros(replicas.shape, dtype=np.bool_)
    replicas[row, column] = position(table.replicas)
    able[row, column] = table.in_sync
    return replicas, able & (replicas != ABSENT) & responsive[replicas], position(table.leader)


def _scores(
    snapshot: ClusterSnapshot, cells: tuple[Ints, Flags, Ints], group: Ints, lost_type: str, names: list[str]
) -> list[FailureScore]:
    replicas, able, leader = cells
    heirs = successors(replicas, able, leader, group)
    taken = moved_loads(leader, heirs, group, np.ones(len(leader)), len(names)).astype(np.int64)
    left = left_leaderless(leader, heirs, group, len(names))
    could = _could_take(replicas, able, leader, group, len(names))
    scores = []
    for lost in sorted(set(group[group != ABSENT].tolist())):
        moved, most = int(taken[lost].sum()), int(taken[lost].argmax())
        scores.append(
            FailureScore(
                lost_type=lost_type, lost=names[lost], leaders=moved + int(left[lost]), leaderless=int(left[lost]),
                taken_by=snapshot.brokers[most].id if moved else None, most_taken=int(taken[lost][most]),
                even_taken=-(-moved // max(1, int(could[lost]))),
            )
        )  # fmt: skip
    return sorted(scores, key=lambda score: (-score.leaderless, score.even_taken - score.most_taken, score.lost))


def _could_take(replicas: Ints, able: Flags, leader: Ints, group: Ints, groups: int) -> Ints:
    """Count brokers with an in-sync replica of what the lost ones lead."""
    mine = np.where(leader != ABSENT, group[leader], ABSENT)
    others = able & (mine != ABSENT)[:, None] & (group[replicas] != mine[:, None])
    pairs = np.unique(np.repeat(mine, replicas.shape[1])[others.ravel()] * len(group) + replicas[others])
    return np.bincount(pairs // len(group), minlength=groups).astype(np.int32)
