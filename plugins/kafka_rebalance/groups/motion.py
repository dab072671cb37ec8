"""Whether a group can be judged: it is still and its assignments are known. Evidence: the coordinator's state, current
against target assignments (KIP-848), and owned against assigned partitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.snapshot.group import Group, GroupType, Member, TopicPartitions


class MotionCode(StrEnum):
    REBALANCING = "rebalancing"
    BETWEEN_ROUNDS = "between_rounds"
    ASSIGNING = "assigning"
    RECONCILING = "reconciling"
    DEAD = "dead"
    UNKNOWN_STATE = "unknown_state"
    NOT_SHOWN = "not_shown"

    @property
    def is_moving(self) -> bool:
        """Whether partitions may change their member; else only data are missing."""
        return self is not MotionCode.NOT_SHOWN


@dataclass(frozen=True, slots=True)
class GroupMotion:
    """``holding``: members with partitions to revoke. ``waiting``: members that wait for partitions.

    ``partition_counts``: where only counts are known.
    """

    code: MotionCode
    state: str | None
    members: int
    holding: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    coordinator: int | None = None
    partition_counts: tuple[int, ...] = ()

    def fact(self, code: FactCode) -> Fact:
        return fact(
            code,
            motion=self.code.value,
            state=self.state or None,
            members=self.members,
            holding=self.holding[:_MOST_NAMED],
            holding_members=len(self.holding),
            waiting=self.waiting[:_MOST_NAMED],
            waiting_members=len(self.waiting),
            coordinator=self.coordinator,
            partition_counts=self.partition_counts[:_MOST_NAMED],
        )


_MOST_NAMED = 50

# For tools that do not name the state.
REBALANCING = "Rebalancing"

_STATES: Mapping[str, MotionCode | None] = {
    "stable": None,
    "empty": None,
    "preparingrebalance": MotionCode.REBALANCING,
    "completingrebalance": MotionCode.REBALANCING,
    "awaitingsync": MotionCode.REBALANCING,  # CompletingRebalance before 1.1
    REBALANCING.lower(): MotionCode.REBALANCING,
    "notready": MotionCode.REBALANCING,
    "assigning": MotionCode.ASSIGNING,
    "reconciling": MotionCode.RECONCILING,
    "dead": MotionCode.DEAD,
}


def motion_of(group: Group) -> GroupMotion | None:
    """Return why the group is not judged; ``None`` where it is still and known."""
    holding = tuple(_name(member) for member in group.members if _pairs(member.assigned) - _target(member))
    waiting = tuple(_name(member) for member in group.members if _target(member) - _pairs(member.assigned))
    code = _code(group, is_on_its_way=bool(holding or waiting))
    if code is None:
        return None
    if code is not MotionCode.RECONCILING:
        holding = waiting = ()
    members = max(len(group.members), group.member_count or 0)
    counts = tuple(member.partition_count for member in group.members if member.partition_count is not None)
    partition_counts = (
        tuple(sorted(counts, reverse=True)) if code is MotionCode.NOT_SHOWN and len(counts) >= members else ()
    )
    return GroupMotion(code, group.state, members, holding, waiting, group.coordinator, partition_counts)


def _code(group: Group, *, is_on_its_way: bool) -> MotionCode | None:
    state = (group.state or "").replace("_", "").replace(" ", "").lower()
    named = _STATES.get(state, MotionCode.UNKNOWN_STATE) if state else None
    if named is not None:
        return named
    if state == "empty" and group.members:
        return MotionCode.UNKNOWN_STATE  # two moments: a group with members is not Empty
    if not group.members and not group.member_count:
        is_seen = bool(state or group.committed)  # else only the name is known
        return None if is_seen else MotionCode.NOT_SHOWN
    if group.type is GroupType.CONSUMER and is_on_its_way:
        return MotionCode.RECONCILING
    if _is_behind_its_epoch(group):
        return MotionCode.ASSIGNING
    if _is_between_rounds(group):
        return MotionCode.BETWEEN_ROUNDS
    if not _is_shown(group):
        return MotionCode.NOT_SHOWN
    # Without a state, a table of commits without any reader is the tool's output in a rebalance.
    is_unread = bool(group.committed) and not any(member.assigned for member in group.members)
    return MotionCode.REBALANCING if not state and group.type.has_strategy and is_unread else None


def _is_behind_its_epoch(group: Group) -> bool:
    """Whether the coordinator has not yet assigned partitions for the newest epoch (KIP-848)."""
    if group.type is not GroupType.CONSUMER or group.assignment_epoch is None:
        return False
    return group.assignment_epoch < (group.generation or 0)


def _is_shown(group: Group) -> bool:
    is_listed = group.member_count is None or group.member_count <= len(group.members)
    return is_listed and all(member.has_known_assignment for member in group.members)


def _is_between_rounds(group: Group) -> bool:
    """Whether a member owned partitions that no member has now: the second round assigns them.

    Members of eager strategies own nothing when they join.
    """
    if group.type is not GroupType.CLASSIC or group.protocol != "cooperative-sticky":
        return False
    assigned = {pair for member in group.members for pair in _pairs(member.assigned)}
    return any(_pairs(member.owned or ()) - assigned for member in group.members)


def _pairs(runs: TopicPartitions) -> set[tuple[str, int]]:
    return {(topic, partition) for topic, partitions in runs for partition in partitions}


def _target(member: Member) -> set[tuple[str, int]]:
    return _pairs(member.assigned if member.target is None else member.target)


def _name(member: Member) -> str:
    return member.instance_id or member.id


__all__ = ["REBALANCING", "GroupMotion", "MotionCode", "motion_of"]
