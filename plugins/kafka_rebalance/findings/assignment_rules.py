"""Groups that Kafka's own machinery lets down: a sticky strategy that never returns, offsets that readers share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafka_rebalance.errors import EndlessReassignmentError
from kafka_rebalance.findings.context import FindingContext, Remedy, finding
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.findings.words import counted, listed
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.snapshot.model import Group, GroupType

_ENDLESS = EndlessReassignmentError().java_class


def sticky_endless(context: FindingContext) -> Iterator[Finding]:
    """The group's own sticky strategy never returns from what its members hold: the next rebalance does not end."""
    for replay in context.replays:
        own = replay.score(replay.today.assignor)
        if own is None or not (own.error or "").startswith(_ENDLESS):
            continue
        today = replay.today
        yield finding(
            "sticky_endless",
            Severity.HIGH,
            replay.group_id,
            {
                "assignor": today.assignor,
                "members": today.members,
                "partitions": today.partitions,
                "idle_members": today.idle_members,
            },
            Remedy(
                f"At its next rebalance the group's leader would swap partitions back and forth for ever: Kafka's "
                f"{today.assignor} does not return from what its {counted(today.members, 'member')} hold now, and "
                "nobody reads until the leader is thrown out. Let all members subscribe to the same topics, or move to "
                "another strategy (server-side: group.protocol=consumer).",
                cost="one rolling restart of the members",
                gain=1.0,
            ),
            confidence=_basis(replay),
        )


def shared_offsets(context: FindingContext) -> Iterator[Finding]:
    """Several members read the same partition and commit to the same offset of it: the last one wins."""
    for group in context.snapshot.groups:
        shared = _read_by_several(group)
        if not shared:
            continue
        topics = sorted({topic for topic, _ in shared})
        every = len({(topic, run) for member in group.members for topic, runs in member.assigned for run in runs})
        yield finding(
            "shared_offsets",
            Severity.HIGH,
            group.id,
            {
                "assignor": group.protocol,
                "members": len(group.members),
                "partitions": every,
                "shared_partitions": len(shared),
                "most_readers": max(shared.values()),
                "topics": listed(topics),
            },
            Remedy(
                f"{counted(len(shared), 'partition')} of {listed(topics)} have several readers in this group, who all "
                "commit to the same offset: after a restart or rebalance messages are read twice or never. For a "
                "broadcast give every member a group of its own, or let them keep their offsets themselves.",
                cost="the new groups start where auto.offset.reset says, unless offsets are set first",
                gain=len(shared) / every,
            ),
        )


def _read_by_several(group: Group) -> dict[tuple[str, int], int]:
    """Readers of each partition that has more than one, where that is an error: a share group means it."""
    if group.type is GroupType.SHARE or group.state not in (None, "Stable"):
        return {}  # who reads what while a group rebalances is yesterday's news
    readers = Counter((topic, run) for member in group.members for topic, runs in member.assigned for run in set(runs))
    return {pair: count for pair, count in readers.items() if count > 1}


def _basis(replay: GroupReplay) -> Confidence:
    return Confidence.MEASURED if replay.basis is SubscriptionBasis.GIVEN else Confidence.ESTIMATED
