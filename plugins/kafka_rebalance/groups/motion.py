"""Whether a group can be judged: it is still and its assignments are known; else what is under way and where to look.

Facts first: the state as its coordinator names it, current against target assignments (KIP-848), and what members own
against what they are given. What cannot be proved is not claimed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kafka_rebalance.amounts import counted, listed
from kafka_rebalance.snapshot.group import Group, GroupType, Member, TopicPartitions


class MotionCode(StrEnum):
    """Why a group is not judged."""

    REBALANCING = "rebalancing"
    BETWEEN_ROUNDS = "between_rounds"
    ASSIGNING = "assigning"
    RECONCILING = "reconciling"
    DEAD = "dead"
    UNKNOWN_STATE = "unknown_state"
    NOT_SHOWN = "not_shown"

    @property
    def is_moving(self) -> bool:
        """Return whether partitions may change their member: else only our knowledge is missing."""
        return self is not MotionCode.NOT_SHOWN


@dataclass(frozen=True, slots=True)
class GroupMotion:
    """``holding``: names of the members that have partitions to give up. ``waiting``: of those that wait for theirs.

    ``members``: how many the group has. ``words``: what is under way. ``look_at``: what to do until it is over.
    """

    code: MotionCode
    state: str | None
    members: int
    words: str
    look_at: str
    holding: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


# The state of a group that a tool calls rebalancing, without the name of its state.
REBALANCING = "Rebalancing"

_STATES: Mapping[str, MotionCode | None] = {
    "stable": None,
    "empty": None,
    "preparingrebalance": MotionCode.REBALANCING,
    "completingrebalance": MotionCode.REBALANCING,
    "awaitingsync": MotionCode.REBALANCING,  # the name of CompletingRebalance before 1.1
    REBALANCING.lower(): MotionCode.REBALANCING,
    "notready": MotionCode.REBALANCING,
    "assigning": MotionCode.ASSIGNING,
    "reconciling": MotionCode.RECONCILING,
    "dead": MotionCode.DEAD,
}


def motion_of(group: Group) -> GroupMotion | None:
    """Return why the group is not judged; ``None`` where it is still and its assignments are known. O(partitions)."""
    holding = tuple(_name(member) for member in group.members if _pairs(member.assigned) - _target(member))
    waiting = tuple(_name(member) for member in group.members if _target(member) - _pairs(member.assigned))
    code = _code(group, is_on_its_way=bool(holding or waiting))
    if code is None:
        return None
    if code is not MotionCode.RECONCILING:
        holding = waiting = ()
    members = max(len(group.members), group.member_count or 0)
    words, look_at = _words(group, code, members, holding, waiting)
    return GroupMotion(code, group.state, members, words, look_at, holding, waiting)


def _code(group: Group, *, is_on_its_way: bool) -> MotionCode | None:
    state = (group.state or "").replace("_", "").replace(" ", "").lower()
    named = _STATES.get(state, MotionCode.UNKNOWN_STATE) if state else None
    if named is not None:
        return named
    if state == "empty" and group.members:
        return MotionCode.UNKNOWN_STATE  # two moments: a group with members is not Empty
    if not group.members and not group.member_count:
        is_seen = bool(state or group.committed)  # else only its name is known, as from a list of groups
        return None if is_seen else MotionCode.NOT_SHOWN
    if group.type is GroupType.CONSUMER:
        if is_on_its_way:
            return MotionCode.RECONCILING
        if (group.assignment_epoch or 0) < (group.generation or 0) and group.assignment_epoch is not None:
            return MotionCode.ASSIGNING
    if _is_between_rounds(group):
        return MotionCode.BETWEEN_ROUNDS
    is_listed = group.member_count is None or group.member_count <= len(group.members)
    if not is_listed or not all(member.has_known_assignment for member in group.members):
        return MotionCode.NOT_SHOWN
    # Without a state, a table of commits in which no member reads anything is how the tool prints a rebalance.
    is_unread = bool(group.committed) and not any(member.assigned for member in group.members)
    return MotionCode.REBALANCING if not state and group.type.has_strategy and is_unread else None


def _is_between_rounds(group: Group) -> bool:
    """Return whether a member owned partitions when it joined that no member is given: the second round gives them.

    Members of eager strategies own nothing when they join.
    """
    if group.type is not GroupType.CLASSIC or group.protocol != "cooperative-sticky":
        return False
    given = {pair for member in group.members for pair in _pairs(member.assigned)}
    return any(_pairs(member.owned or ()) - given for member in group.members)


def _pairs(runs: TopicPartitions) -> set[tuple[str, int]]:
    return {(topic, partition) for topic, partitions in runs for partition in partitions}


def _target(member: Member) -> set[tuple[str, int]]:
    """Return where the member is going; an unknown target is what it has."""
    return _pairs(member.assigned if member.target is None else member.target)


def _name(member: Member) -> str:
    return member.instance_id or member.id


def _words(
    group: Group, code: MotionCode, members: int, holding: tuple[str, ...], waiting: tuple[str, ...]
) -> tuple[str, str]:
    """Return what is under way, and what to look at."""
    state = f" ({group.state})" if group.state else ""
    count, again = counted(members, "member"), "Take a snapshot again when the group is Stable."
    polls = f"compare the time between its polls with max.poll.interval.ms. {again}"
    match code:
        case MotionCode.REBALANCING:
            seen = state or f": no partition has a reader, and {count} are listed (the state is unknown)"
            words = f"the group is rebalancing{seen}"
            look_at = f"If this lasts, find in the members' logs the one that joins late or leaves: {polls}"
        case MotionCode.BETWEEN_ROUNDS:
            words = "the group is between the two rounds of a cooperative rebalance: some partitions wait for the next"
            look_at = f"If this lasts, find the member that does not rejoin: {polls}"
        case MotionCode.ASSIGNING:
            words = f"the coordinator works out a new assignment{state}"
            look_at = (
                f"If this lasts, look in the coordinator's log{_broker(group)} for errors of its assignor. {again}"
            )
        case MotionCode.RECONCILING:
            words = f"the members are on the way to their target assignment{state}"
            holds = f" {listed(holding)} must still give partitions up." if holding else ""
            waits = f" {listed(waiting)} must still get theirs." if waiting else ""
            compare = "Compare current with target assignments (kafka-consumer-groups --describe --members --verbose)."
            look_at = f"{compare}{holds}{waits} A member that does not poll does not revoke: {polls}"
        case MotionCode.DEAD:
            words, look_at = f"the coordinator removes the group{state}", "Check the group id. Take a snapshot again."
        case MotionCode.NOT_SHOWN:
            words = _not_shown_words(group, members)
            look_at = "Add the output of kafka-consumer-groups --describe --members --verbose."
        case MotionCode.UNKNOWN_STATE:
            words = f"the state of the group is unknown{state}"
            look_at = "Read it with kafka-consumer-groups --describe --state. Take a snapshot again."
    return words, look_at


def _not_shown_words(group: Group, members: int) -> str:
    if not members:
        return "the input does not show whether the group has members"
    counts = [member.partition_count for member in group.members if member.partition_count is not None]
    if len(counts) < members:
        return f"the input does not show which partitions the group's {counted(members, 'member')} have"
    many = f"{counts[0]} each" if len({*counts}) == 1 else f"{listed(sorted(counts, reverse=True))} of them"
    return f"the group's {counted(members, 'member')} have {many}, and the input does not show which partitions"


def _broker(group: Group) -> str:
    return "" if group.coordinator is None else f" (broker {group.coordinator})"


__all__ = ["REBALANCING", "GroupMotion", "MotionCode", "motion_of"]
