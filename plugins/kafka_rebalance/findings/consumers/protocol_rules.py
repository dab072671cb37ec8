"""Groups by the protocol that their members speak: the coordinator's strategy, half a migration, several libraries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafka_rebalance.findings.context import FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.findings.words import counted, listed
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
        idle = f" and leaves {today.idle_members} of {today.members} members idle" if today.idle_members else ""
        is_seen = (today.skew_count or 0.0) >= threshold("server_assignor_uneven", "skew_gain_ratio")
        by_what = " by rate" if is_rate and not is_seen else ""
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
                f"The coordinator's {today.assignor} gives the fullest member {before:.1f} times the mean{by_what}"
                f"{idle}; its {better.assignor} would give {after:.1f} times: set group.remote.assignor="
                f"{better.assignor} in all members.",
                cost=f"no rebalance stops the group: {counted(better.partitions_moved or 0, 'partition')} change hands "
                "one by one once most members ask for it; one rolling restart",
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
        names = listed([member.instance_id or member.client_id or member.id for member in old], most=3)
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
                f"{len(new)} of {counted(len(group.members), 'member')} speak the new protocol (KIP-848), "
                f"{len(old)} still the classic one ({names}): each change makes these rejoin and commit as before. "
                "Restart them with group.protocol=consumer, or turn the others back; not with both for good.",
                cost=f"{counted(len(old), 'restart')}, one member after the other",
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
        told = ", ".join(f"{name} {count}" for name, count in counts.items())
        fewest = min(counts.values())
        of_strategy = f" for {group.protocol}" if group.protocol else ""
        yield finding(
            "mixed_clients",
            Severity.MEDIUM if is_sticky else Severity.LOW,
            group.id,
            {
                "assignor": group.protocol,
                "members": len(group.members),
                "clients": told,
                "libraries": len(counts),
                "fewest_of_one_library": fewest,
            },
            Remedy(
                f"The members run {counted(len(counts), 'client library').replace('librarys', 'libraries')} ({told}): "
                f"whichever leads divides for all, by its own code{of_strategy}, and the leader may change at "
                "every rebalance. "
                + (
                    "What sticky members say they hold is written differently by each: partitions move for no reason. "
                    if is_sticky
                    else ""
                )
                + "Run one library in a group, or give each a group of its own.",
                cost=f"{counted(fewest, 'member')} to change, or a second group that starts from copied offsets",
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
                f"The members have {len(subscriptions)} different subscriptions, and uniform of Kafka "
                f"{context.snapshot.kafka_version} throws in about one of ten such assignments: the group then keeps "
                "what it has and gives newcomers nothing. Let all subscribe to the same topics, set "
                "group.remote.assignor=range, or upgrade the brokers to 4.0.",
                cost="one rolling restart of the members",
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
