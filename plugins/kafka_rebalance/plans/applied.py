"""Progress of an approved plan in a later snapshot, move by move (in SQL: ``sql/views/_move_outcome.sql``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kafka_rebalance.plans.apply_state import ApplyState
from kafka_rebalance.plans.plan import Move, Plan
from kafka_rebalance.snapshot.model import ClusterSnapshot, Partition


class MoveState(StrEnum):
    APPLIED = "applied"  # replicas and leader are the move's, and were not before
    PLACED = "placed"  # the leader is not elected yet
    MOVING = "moving"  # being reassigned to the move's replicas
    OPEN = "open"  # replicas as before, leader not the move's
    ELSEWHERE = "elsewhere"  # moved, or being moved, by others
    GONE = "gone"  # the partition was deleted

    @property
    def is_copied(self) -> bool:
        return self in (MoveState.APPLIED, MoveState.PLACED)

    @property
    def is_by_others(self) -> bool:
        return self in (MoveState.ELSEWHERE, MoveState.GONE)


def move_state(move: Move, today: Partition | None) -> MoveState:
    if today is None:
        return MoveState.GONE
    if today.adding or today.removing:
        return MoveState.MOVING if today.target_replicas == move.to_replicas else MoveState.ELSEWHERE
    if today.replicas == move.to_replicas and today.leader == move.leader_to:
        return MoveState.APPLIED
    if today.replicas == move.from_replicas:
        return MoveState.OPEN
    return MoveState.PLACED if today.replicas == move.to_replicas else MoveState.ELSEWHERE


THROTTLES = (
    "leader.replication.throttled.rate", "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second", "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class BrokerBytes:
    """Of finished moves of known size."""

    broker: int
    predicted_bytes: int
    realised_bytes: int


@dataclass(frozen=True, slots=True)
class AppliedPlan:
    """``predicted_bytes`` and ``realised_bytes`` (by plan and by today) of finished moves of known size;
    ``unsized_moves`` counts the other finished copies. ``short_isr``: names of the plan's partitions with a replica out
    of sync. ``throttles``: subject and key.
    """

    states: tuple[MoveState, ...]
    short_isr: tuple[str, ...]
    throttles: tuple[tuple[str, str], ...]
    brokers: tuple[BrokerBytes, ...]
    unsized_moves: int

    @property
    def counts(self) -> dict[MoveState, int]:
        count_of = Counter(self.states)
        return {state: count_of[state] for state in MoveState}

    @property
    def predicted_bytes(self) -> int:
        return sum(broker.predicted_bytes for broker in self.brokers)

    @property
    def realised_bytes(self) -> int:
        return sum(broker.realised_bytes for broker in self.brokers)

    @property
    def is_settling(self) -> bool:
        return MoveState.MOVING in self.states or bool(self.short_isr)

    @property
    def state(self) -> ApplyState:
        if any(state.is_by_others for state in self.states):
            return ApplyState.MOVED_BY_OTHERS
        if all(state is MoveState.OPEN for state in self.states):
            return ApplyState.NOT_APPLIED
        if all(state is MoveState.APPLIED for state in self.states) and not self.short_isr and not self.throttles:
            return ApplyState.VERIFIED
        return ApplyState.PARTLY_APPLIED


def compare(plan: Plan, snapshot: ClusterSnapshot) -> AppliedPlan:
    row_of = snapshot.row_of
    today = [_today(plan, snapshot, move, row_of.get((move.topic, move.partition))) for move in plan.moves]
    states = tuple(move_state(move, row) for move, row in zip(plan.moves, today, strict=True))
    short = tuple(f"{row.topic}-{row.partition}" for row in today if row is not None and _lacks_in_sync(row))
    predicted: Counter[int] = Counter()
    realised: Counter[int] = Counter()
    unsized = 0
    for move, row, state in zip(plan.moves, today, states, strict=True):
        new = [broker for broker in move.to_replicas if broker not in move.from_replicas]
        if row is None or not new or not state.is_copied:
            continue
        sizes = dict(zip(row.replicas, row.log_bytes, strict=True))
        new_sizes = [sizes[broker] for broker in new]
        if move.bytes is None or None in new_sizes:
            unsized += 1
            continue
        for broker, size in zip(new, new_sizes, strict=True):
            predicted[broker] += move.bytes // len(new)
            realised[broker] += size or 0
    brokers = tuple(BrokerBytes(broker, predicted[broker], realised[broker]) for broker in sorted(predicted))
    return AppliedPlan(states, short, tuple(_throttles(snapshot)), brokers, unsized)


def _today(plan: Plan, snapshot: ClusterSnapshot, move: Move, row: int | None) -> Partition | None:
    if row is None:
        return None
    then, now = plan.topic_ids.get(move.topic), snapshot.topics[int(snapshot.partitions.topic[row])].topic_id
    return None if then is not None and now is not None and then != now else snapshot.partition(row)


def _lacks_in_sync(row: Partition) -> bool:
    meant = set(row.replicas) - set(row.adding) - set(row.observers)
    return row.isr is not None and not meant <= set(row.isr)


def _throttles(snapshot: ClusterSnapshot) -> Iterator[tuple[str, str]]:
    for broker in snapshot.brokers:
        yield from ((f"broker {broker.id}", key) for key in THROTTLES if broker.configs.get(key))
    for topic in snapshot.topics:
        yield from ((f"topic {topic.name}", key) for key in THROTTLES if topic.configs.get(key))
