"""The plan's moves on today's cluster: done, left, changed by somebody else, or in conflict with what is there."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from kafka_rebalance.arrays import NOBODY
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.plans.check.planned import PlannedMove, PlannedState
from kafka_rebalance.plans.check.reasons import Reason, ReasonCode
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
            lost = "is not in the cluster any more" if row is None else "is wholly on brokers that are gone"
            reasons.append(Reason(ReasonCode.PARTITION_DELETED, f"{move.name} {lost}"))
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
        words = f"{move.name} has {len(today)} replicas now, {len(start)} when the plan was made"
        return Reason(ReasonCode.REPLICATION_FACTOR_CHANGED, words)
    words = f"{move.name} is on {ids} now, the plan was made for {list(move.start)}"
    return Reason(ReasonCode.PARTITION_MOVED, words)


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
        return Reason(ReasonCode.IN_REASSIGNMENT, f"{move.name}: is being reassigned already")
    if NOBODY in target:
        broker = move.target[target.index(NOBODY)]
        return Reason(ReasonCode.TARGET_GONE, f"{move.name}: broker {broker} is not in the cluster")
    # Where leaders alone change, a list may keep a replica on a broker that is gone.
    gone = [b for b in target if not problem.stays[b] and (problem.moves_replicas or b not in today)]
    if gone:
        lost = plan_request.brokers.brokers[gone[0]]
        return Reason(ReasonCode.TARGET_UNUSABLE, f"{move.name}: broker {lost.id} is {lost.state.value}")
    closed = [b for b in target if b not in today and not problem.takes_replicas[b]]
    if closed:
        words = f"{move.name}: broker {plan_request.brokers.brokers[closed[0]].id} takes no replicas"
        return Reason(ReasonCode.TARGET_UNUSABLE, words)
    may_be_on = problem.sets.brokers[problem.sets.of_partition[at]]
    outside = [b for b in target if b not in today and not may_be_on[b]]
    if outside:
        words = f"{move.name}: its topic may not be on broker {plan_request.brokers.brokers[outside[0]].id}"
        return Reason(ReasonCode.TARGET_UNUSABLE, words)
    if plan_request.partitions.leaderless[row]:
        return Reason(ReasonCode.NO_LEADER, f"{move.name}: has no leader to copy from")
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
    words = f"{move.name}: the replica on broker {plan_request.brokers.brokers[blocking[0]].id} is out of sync"
    return Reason(ReasonCode.OUT_OF_SYNC, f"{words}: let it catch up first")
