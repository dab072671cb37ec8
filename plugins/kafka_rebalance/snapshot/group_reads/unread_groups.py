"""Groups that read what nobody could see: which topics, so that what is fetched from them is unknown and not nothing.

Committed offsets are the one sign of what a group reads. They are missing where the group was denied or not read, and
tell less than all for share groups (which commit none) and streams groups (which also read changelogs that they do not
commit). A group without members reads nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kafka_rebalance.facts import FactCode
from kafka_rebalance.snapshot.model import ClusterSnapshot, CoverageGap, Group, GroupType
from kafka_rebalance.snapshot.rights import Right, missing_rights

_NO_MEMBERS = ("Empty", "Dead")
_COMMITS = (FactCode.LACKS_COMMITS, FactCode.LACKS_OFFSETS, FactCode.LACKS_GROUP)


class UnreadCause(StrEnum):
    """Why it is unknown what a group reads."""

    SHARE_GROUP = "share_group"  # commits no offsets
    COMMITS_IN_PART = "commits_in_part"  # commits for some of what it reads
    COMMITS_NOT_READ = "commits_not_read"
    SOME_COMMITS_NOT_READ = "some_commits_not_read"


@dataclass(frozen=True, slots=True)
class UnreadGroup:
    """``topics`` that it reads unseen; None: nobody knows which, so it may be any."""

    group: str
    topics: frozenset[str] | None
    cause: UnreadCause
    group_type: GroupType


def may_hide_groups(snapshot: ClusterSnapshot) -> bool:
    """Not all groups that there are may have been listed."""
    return Right.DESCRIBE_CLUSTER in missing_rights(snapshot.coverage) or any(
        gap.lacks(FactCode.LACKS_GROUPS, FactCode.LACKS_GROUPS_OF_BROKER) for gap in snapshot.coverage
    )


def unread_groups(snapshot: ClusterSnapshot) -> tuple[UnreadGroup, ...]:
    """In the order of the snapshot's groups."""
    gaps: dict[str, list[CoverageGap]] = {}
    untold = set()
    for gap in snapshot.coverage:
        if gap.subject_type == "group":
            gaps.setdefault(gap.subject, []).append(gap)
        elif gap.subject_type == "broker" and gap.lacks(FactCode.LACKS_COMMITS_OF_GROUPS):
            untold.add(gap.subject)
    found = (
        _unread(group, gaps.get(group.id, []), snapshot, is_untold=str(group.coordinator) in untold)
        for group in snapshot.groups
    )
    return tuple(unread for unread in found if unread is not None)


def _unread(group: Group, gaps: list[CoverageGap], snapshot: ClusterSnapshot, *, is_untold: bool) -> UnreadGroup | None:
    """``is_untold``: its coordinator did not tell the commits of all its groups."""
    if group.state in _NO_MEMBERS and not group.members:
        return None
    has_no_commits = any(gap.lacks(*_COMMITS) for gap in gaps) or (is_untold and not group.committed)
    named = _named(group)
    if group.type is GroupType.SHARE:
        return UnreadGroup(group.id, named if group.members else None, UnreadCause.SHARE_GROUP, group.type)
    if group.type in (GroupType.STREAMS, GroupType.UNKNOWN):
        committed = {commit.topic for commit in group.committed}
        own = {topic.name for topic in snapshot.topics if topic.name.startswith(f"{group.id}-")}
        topics = frozenset(named | committed | own)
        known = topics if committed or group.members else None
        return UnreadGroup(group.id, known, UnreadCause.COMMITS_IN_PART, group.type)
    if has_no_commits:
        return UnreadGroup(group.id, named or None, UnreadCause.COMMITS_NOT_READ, group.type)
    partly = frozenset(gap.what.args["topic"] for gap in gaps if gap.what.code is FactCode.LACKS_COMMIT)
    return UnreadGroup(group.id, partly, UnreadCause.SOME_COMMITS_NOT_READ, group.type) if partly else None


def _named(group: Group) -> frozenset[str]:
    """Topics that its members read or ask for."""
    asked = {topic for member in group.members for topic in member.subscription or ()}
    parts = (part for member in group.members for part in (member.assigned, member.target))
    return frozenset(asked | {topic for part in parts for topic, _ in part or ()})
