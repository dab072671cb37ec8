"""What a later reading shows of one move, compared with what was there before (in SQL: store.move_outcome)."""

from __future__ import annotations

from enum import StrEnum

from kafka_rebalance.plans.plan import Move
from kafka_rebalance.snapshot.model import Partition


class MoveState(StrEnum):
    """One of these for each move."""

    APPLIED = "applied"  # replicas and leader are the move's, and were not before
    PLACED = "placed"  # replicas are the move's, the leader is not elected yet
    MOVING = "moving"  # is being reassigned, to where the move sends it
    OPEN = "open"  # nothing has happened: replicas are as before (and the leader is not the move's)
    ELSEWHERE = "elsewhere"  # somebody else moved it, or is moving it: neither as before nor as the move has it
    GONE = "gone"  # there is no such partition any more

    @property
    def is_copied(self) -> bool:
        """The new replicas are there."""
        return self in (MoveState.APPLIED, MoveState.PLACED)

    @property
    def is_by_others(self) -> bool:
        """Not what the plan does, whoever did it."""
        return self in (MoveState.ELSEWHERE, MoveState.GONE)


def move_state(move: Move, today: Partition | None) -> MoveState:
    """``today``: the partition as the later reading has it, None where it has none."""
    if today is None:
        return MoveState.GONE
    if today.adding or today.removing:
        return MoveState.MOVING if today.target_replicas == move.to_replicas else MoveState.ELSEWHERE
    if today.replicas == move.to_replicas and today.leader == move.leader_to:
        return MoveState.APPLIED
    if today.replicas == move.from_replicas:
        return MoveState.OPEN
    return MoveState.PLACED if today.replicas == move.to_replicas else MoveState.ELSEWHERE
