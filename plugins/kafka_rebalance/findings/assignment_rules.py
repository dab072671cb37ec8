"""Groups that Kafka's own machinery or their client lets down: a strategy that never returns, offsets that readers
share, members that are forgotten, a leader that may crash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafka_rebalance.errors import EndlessReassignmentError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.context import MOST_NAMED, Evidence, FindingContext, Remedy, finding
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.member_clients import KnownClient, Sureness, group_client
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.options.client_rule import Client
from kafka_rebalance.snapshot.model import Group, GroupType

_RUNS_OF_KINDS = ("range", "roundrobin")
_ENDLESS = EndlessReassignmentError().java_class


def sticky_endless(context: FindingContext) -> Iterator[Finding]:
    """The group's own sticky strategy never returns from what its members hold: the next rebalance does not end."""
    for replay in context.replays:
        if replay.group_id in context.motions:
            continue
        own = replay.score(replay.today.assignor)
        if own is None or own.error is None or own.error.args.get("error") != _ENDLESS:
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
                fact(FactCode.STICKY_ENDLESS, strategy=today.assignor, members=today.members),
                cost=fact(FactCode.ROLLING_RESTART),
                gain=1.0,
            ),
            confidence=_basis(replay),
        )


def shared_offsets(context: FindingContext) -> Iterator[Finding]:
    """Several members read the same partition and commit to the same offset of it: the last one wins."""
    for group in context.judged_groups:
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
                "topics": tuple(topics),
            },
            Remedy(
                fact(
                    FactCode.SHARED_OFFSETS,
                    partitions=len(shared),
                    topics=tuple(topics[:MOST_NAMED]),
                    topic_count=len(topics),
                ),
                cost=fact(FactCode.STARTS_AT_RESET),
                gain=len(shared) / every,
            ),
        )


def mixed_static_members(context: FindingContext) -> Iterator[Finding]:
    """kafka-python 3 keeps of static and of dynamic members those alone that are listed last of their kind."""
    for group, client in _groups_of(context, Client.KAFKA_PYTHON):
        static = sum(member.instance_id is not None for member in group.members)
        dynamic = len(group.members) - static
        # Releases before 3.0 do not look at instance ids; where the release is not told, it may be one.
        if not static or not dynamic or group.protocol not in _RUNS_OF_KINDS or not client.has("3.0"):
            continue
        idle = sum(not member.assigned for member in group.members)
        yield finding(
            "mixed_static_members",
            Severity.HIGH if client.first and idle else Severity.MEDIUM,
            group.id,
            _evidence(group, client) | {"static_members": static, "dynamic_members": dynamic, "idle_members": idle},
            Remedy(
                fact(
                    FactCode.MIXED_STATIC_MEMBERS,
                    static_members=static,
                    members=len(group.members),
                    strategy=group.protocol,
                    idle_members=idle,
                ),
                cost=fact(FactCode.ROLLING_RESTART),
                gain=idle / len(group.members),
            ),
            confidence=_sureness(client),
        )


def leader_may_crash(context: FindingContext) -> Iterator[Finding]:
    """Librdkafka's cooperative strategy reads memory that it has given back."""
    for group, client in _groups_of(context, Client.LIBRDKAFKA):
        if group.protocol != "cooperative-sticky" or len(group.members) < 2:
            continue
        yield finding(
            "leader_may_crash",
            Severity.MEDIUM,
            group.id,
            _evidence(group, client),
            Remedy(
                fact(FactCode.LEADER_MAY_CRASH),
                cost=fact(FactCode.ROLLING_RESTART, effect="revokes_all"),
                gain=0.002,
            ),
            confidence=_sureness(client),
        )


def _read_by_several(group: Group) -> dict[tuple[str, int], int]:
    """Readers of each partition that has more than one, where that is an error: a share group means it."""
    if group.type is GroupType.SHARE:
        return {}
    readers = Counter((topic, run) for member in group.members for topic, runs in member.assigned for run in set(runs))
    return {pair: count for pair, count in readers.items() if count > 1}


def _basis(replay: GroupReplay) -> Confidence:
    return Confidence.MEASURED if replay.basis is SubscriptionBasis.GIVEN else Confidence.ESTIMATED


def _groups_of(context: FindingContext, client: Client) -> Iterator[tuple[Group, KnownClient]]:
    for group in context.judged_groups:
        if group.type not in (GroupType.CLASSIC, GroupType.UNKNOWN) or not group.members:
            continue
        known = group_client(group)
        if known.client is client and known.sureness is not Sureness.LOW:
            yield group, known


def _evidence(group: Group, client: KnownClient) -> Evidence:
    known = {"client": client.client and client.client.value, "client_known_by": client.sign.value}
    return {
        "assignor": group.protocol, **known, "first_release": client.first or None,
        "last_release": client.last or None, "members": len(group.members),
    }  # fmt: skip


def _sureness(client: KnownClient) -> Confidence:
    return Confidence.GIVEN if client.sureness is Sureness.GIVEN else Confidence.ESTIMATED
