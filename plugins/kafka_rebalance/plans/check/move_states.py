"""The plan's moves on today's cluster: done, left, changed by somebody else, or in conflict with what is there."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from kafka_rebalance.arrays import NOBODY
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.facts import FactCode
from kafka_rebalance.plans.check.planned import PlannedMove, PlannedState
from kafka_rebalance.plans.check.reasons import Reason, ReasonCode, reason
from kafka_rebalance.plans.request import PlanRequest


@dataclass(frozen=True, slots=True)
class LeftMove:
    """A move still to be made: problem row, target and leader as broker indices."""

    row: int
    target: list[int]
    leader: int


@dataclass(frozen=True, slots=True)
class MoveStates:
    """``reasons``: conflicts and changes; the other moves are done or left."""

    done: int
    left: tuple[LeftMove, ...]
    reasons: tuple[Reason, ...]


def move_states(
    planned: PlannedState, plan_request: PlanRequest, problem: Problem, recreated: AbstractSet[str]
) -> MoveStates:
    """Each move judged by itself. O(moves)."""
    at_row = {row: at for at, row in enumerate(plan_request.rows.tolist())}
    row_of = plan_request.snapshot.row_of
    topics = {topic.name for topic in plan_request.snapshot.topics}
    left: list[LeftMove] = []
    reasons: list[Reason] = []
    done = changed = 0
    for move in planned.moves:
        row = row_of.get((move.topic, move.partition))
        if move.topic in recreated or move.topic not in topics:
            changed += 1  # said once, of the topic
            continue
        if row is None or row not in at_row:
            known = {"partition": move.name, "is_on_gone_brokers": row is not None}
            reasons.append(reason(ReasonCode.PARTITION_DELETED, FactCode.PARTITION_IS_GONE, **known))
            continue
        found = _state(move, plan_request, problem, row, at_row[row])
        if isinstance(found, Reason):
            reasons.append(found)
        elif found is None:
            done += 1
        else:
            left.append(found)
    return MoveStates(done, tuple(left), tuple(reasons))


def _state(
    move: PlannedMove, plan_request: PlanRequest, problem: Problem, row: int, at: int
) -> Reason | LeftMove | None:
    """None: done."""
    index = plan_request.brokers.index_of
    joined = {broker.id for broker in plan_request.snapshot.brokers}
    target = [index.get(broker, NOBODY) if broker in joined else NOBODY for broker in move.target]
    today = [broker for broker in problem.replicas[at].tolist() if broker >= 0]
    leader = index.get(move.leader, NOBODY)
    if today == target and (bool(plan_request.partitions.in_flight[row]) or int(problem.leader[at]) == leader):
        return None
    conflict = _conflict(plan_request, problem, (row, at), move, target, today)
    if conflict is not None:
        return conflict
    start = [index.get(broker, NOBODY) for broker in move.start]
    if today in (start, target):
        return LeftMove(at, target, leader)
    ids = [int(plan_request.brokers.arrays.ids[broker]) for broker in today]
    if len(today) not in (len(start), len(target)):
        counts = {"now": len(today), "then": len(start)}
        return reason(
            ReasonCode.REPLICATION_FACTOR_CHANGED, FactCode.NOW_OTHER_REPLICA_COUNT, partition=move.name, **counts
        )
    places = {"now": tuple(ids), "then": tuple(move.start)}
    return reason(ReasonCode.PARTITION_MOVED, FactCode.NOW_OTHER_REPLICAS, partition=move.name, **places)


def _conflict(
    plan_request: PlanRequest,
    problem: Problem,
    rows: tuple[int, int],
    move: PlannedMove,
    target: list[int],
    today: list[int],
) -> Reason | None:
    """``rows``: the partition's in the snapshot, and in the problem."""
    row, at = rows
    if plan_request.partitions.in_flight[row]:
        return reason(ReasonCode.IN_REASSIGNMENT, FactCode.PARTITION_BEING_REASSIGNED, partition=move.name)
    if NOBODY in target:
        broker = move.target[target.index(NOBODY)]
        target_id = {"partition": move.name, "broker": broker}
        return reason(ReasonCode.TARGET_GONE, FactCode.TARGET_NOT_IN_CLUSTER, **target_id)
    # Where leaders alone change, a list may keep a replica on a broker that is gone.
    gone = [b for b in target if not problem.stays[b] and (problem.moves_replicas or b not in today)]
    if gone:
        lost = plan_request.brokers.brokers[gone[0]]
        known = {"partition": move.name, "broker": lost.id, "state": lost.state.value}
        return reason(ReasonCode.TARGET_UNUSABLE, FactCode.TARGET_IN_STATE, **known)
    closed = [b for b in target if b not in today and not problem.takes_replicas[b]]
    if closed:
        known = {"partition": move.name, "broker": plan_request.brokers.brokers[closed[0]].id}
        return reason(ReasonCode.TARGET_UNUSABLE, FactCode.TARGET_TAKES_NO_REPLICAS, **known)
    may_be_on = problem.sets.brokers[problem.sets.of_partition[at]]
    outside = [b for b in target if b not in today and not may_be_on[b]]
    if outside:
        known = {"partition": move.name, "broker": plan_request.brokers.brokers[outside[0]].id}
        return reason(ReasonCode.TARGET_UNUSABLE, FactCode.TARGET_NOT_FOR_TOPIC, **known)
    if plan_request.partitions.leaderless[row]:
        return reason(ReasonCode.NO_LEADER, FactCode.NO_LEADER_TO_COPY_FROM, partition=move.name)
    return _out_of_sync(plan_request, row, move, target)


def _out_of_sync(plan_request: PlanRequest, row: int, move: PlannedMove, target: list[int]) -> Reason | None:
    """A reassignment ends only when every replica of its list is in sync, and a leader has to be."""
    partitions = plan_request.partitions
    replicas = partitions.placement.replicas[row]
    behind = [b for b in replicas[partitions.laggards[row]].tolist() if b in target]
    changes = {b for b in replicas.tolist() if b >= 0} != set(target)
    blocking = [b for b in behind if changes or b == target[0]]
    if not blocking:
        return None
    known = {"partition": move.name, "broker": plan_request.brokers.brokers[blocking[0]].id}
    return reason(ReasonCode.OUT_OF_SYNC, FactCode.REPLICA_OUT_OF_SYNC, **known)
