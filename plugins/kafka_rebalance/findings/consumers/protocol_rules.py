"""Groups by the protocol that their members speak: the coordinator's strategy, half a migration, several libraries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.context import MOST_NAMED, FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.groups.member_clients import Sureness, member_client
from kafka_rebalance.releases import seen_release
from kafka_rebalance.snapshot.model import Group, GroupType

_STICKY = ("sticky", "cooperative-sticky")
_UNSURE = (Sureness.LOW, Sureness.UNKNOWN)


def server_assignor_uneven(context: FindingContext) -> Iterator[Finding]:
    """A KIP-848 group asks for the coordinator's range where its uniform would be more even, or the other way."""
    for replay in context.chosen_replays:
        better = context.better_server_strategies.get(replay.group_id)
        if better is None:
            continue
        today = replay.today
        is_rate = today.skew_rate is not None and better.skew_rate is not None
        before, after = (today.skew_rate, better.skew_rate) if is_rate else (today.skew_count, better.skew_count)
        gained = (before or 0.0) / (after or 1.0)
        is_seen = (today.skew_count or 0.0) >= threshold("server_assignor_uneven", "skew_gain_ratio")
        yield finding(
            "server_assignor_uneven",
            Severity.MEDIUM if gained >= 2 else Severity.LOW,
            replay.group_id,
            {
                "assignor": today.assignor,
                "advised_assignor": better.assignor,
                "members": today.members,
                "partitions": today.partitions,
                "skew_count": today.skew_count,
                "advised_skew_count": better.skew_count,
                "skew_rate": today.skew_rate,
                "advised_skew_rate": better.skew_rate,
                "idle_members": today.idle_members,
                "advised_idle_members": better.idle_members,
                "partitions_moved": better.partitions_moved,
            },
            Remedy(
                fact(
                    FactCode.SERVER_ASSIGNOR_UNEVEN,
                    strategy=today.assignor,
                    advised=better.assignor,
                    by_rate=is_rate and not is_seen,
                    skew=before,
                    advised_skew=after,
                    idle_members=today.idle_members or 0,
                    members=today.members,
                ),
                cost=fact(FactCode.MOVES_ONE_BY_ONE, partitions=better.partitions_moved or 0),
                gain=1 - 1 / gained,
                changes=better.partitions_moved or 0,
            ),
            confidence=Confidence.MEASURED if replay.is_reproduced else Confidence.ESTIMATED,
        )


def rollover_half_done(context: FindingContext) -> Iterator[Finding]:
    """Some members of a group speak KIP-848, others still the classic protocol."""
    for group in context.judged_groups:
        old = [member for member in group.members if member.is_classic]
        new = [member for member in group.members if member.is_classic is False]
        if not old or not new:
            continue
        names = [member.instance_id or member.client_id or member.id for member in old]
        yield finding(
            "rollover_half_done",
            Severity.MEDIUM,
            group.id,
            {
                "assignor": group.protocol,
                "members": len(group.members),
                "upgraded_members": len(new),
                "classic_members": len(old),
                "classic_ratio": len(old) / len(group.members),
            },
            Remedy(
                fact(
                    FactCode.ROLLOVER_HALF_DONE,
                    upgraded_members=len(new),
                    classic_members=len(old),
                    members=tuple(names[:MOST_NAMED]),
                ),
                cost=fact(FactCode.RESTARTS_MEMBERS, members=len(old)),
                gain=1.0,
                changes=len(old),
            ),
        )


def mixed_clients(context: FindingContext) -> Iterator[Finding]:
    """Several libraries in a group whose leader divides: who leads decides what the others get."""
    for group in context.judged_groups:
        counts = _clients_of(group)
        if len(counts) < 2:
            continue
        is_sticky = group.protocol in _STICKY
        fewest = min(counts.values())
        yield finding(
            "mixed_clients",
            Severity.MEDIUM if is_sticky else Severity.LOW,
            group.id,
            {
                "assignor": group.protocol,
                "members": len(group.members),
                "clients": tuple(counts),
                "libraries": len(counts),
                "fewest_of_one_library": fewest,
            },
            Remedy(
                fact(
                    FactCode.MIXED_CLIENTS,
                    libraries=tuple(counts.items()),
                    strategy=group.protocol,
                    is_sticky=is_sticky,
                ),
                cost=fact(FactCode.CHANGES_LIBRARY, members=fewest),
                gain=fewest / len(group.members),
                changes=fewest,
            ),
            confidence=Confidence.ESTIMATED,
        )


def server_uniform_may_throw(context: FindingContext) -> Iterator[Finding]:
    """Kafka 3.8's and 3.9's uniform fails in part of the groups whose members subscribe to different topics."""
    if seen_release(context.snapshot.kafka_version)[:2] not in ((3, 8), (3, 9)):
        return
    for group in context.judged_groups:
        if group.type is not GroupType.CONSUMER or group.protocol != "uniform" or len(group.members) < 2:
            continue
        subscriptions = {member.subscription for member in group.members}
        if None in subscriptions or len(subscriptions) < 2:
            continue
        yield finding(
            "server_uniform_may_throw",
            Severity.MEDIUM,
            group.id,
            {
                "assignor": group.protocol,
                "kafka_version": context.snapshot.kafka_version,
                "members": len(group.members),
                "subscriptions": len(subscriptions),
            },
            Remedy(
                fact(
                    FactCode.SERVER_UNIFORM_MAY_THROW,
                    subscriptions=len(subscriptions),
                    kafka_version=context.snapshot.kafka_version,
                ),
                cost=fact(FactCode.ROLLING_RESTART),
                gain=0.1,
            ),
            confidence=Confidence.ESTIMATED,
        )


def _clients_of(group: Group) -> dict[str, int]:
    """Members of each library, by name; nothing where a coordinator divides, or some are not known for sure."""
    if group.type not in (GroupType.CLASSIC, GroupType.UNKNOWN) or group.client is not None:
        return {}
    known = [member_client(member, group) for member in group.members]
    if any(client.sureness in _UNSURE for client in known):
        return {}
    counts = Counter(client.client.value if client.client else client.program for client in known)
    return dict(sorted(counts.items()))
