"""Causes of idle members, which decide the remedy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kafka_assignors.releases import Client
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.kinds import GroupKind, kind_of
from kafka_rebalance.groups.member_clients import group_client, set_strategy, settings_of, strategies_of
from kafka_rebalance.groups.strategies import MIGRATED, OWN
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.scoring.scores import GroupScore
from kafka_rebalance.snapshot.model import GroupType, Member


class IdleCause(StrEnum):
    FEWER_PARTITIONS = "fewer_partitions"
    OTHER_ASSIGNOR = "other_assignor"
    SUBSCRIPTION_DIFFERS = "subscription_differs"
    SUBSCRIPTION_UNKNOWN = "subscription_unknown"
    CO_PARTITIONED = "co_partitioned"
    CLIENT_IGNORES_TOPICS = "client_ignores_topics"
    OWN_ASSIGNOR = "own_assignor"


@dataclass(frozen=True, slots=True)
class IdleReason:
    """``partitions`` of topics that idle members can read, and ``members`` that can read them.

    ``better``: the client's strategy with fewest idle; ``setting`` selects it. ``is_sink``: tasks of a Kafka Connect
    sink.
    """

    cause: IdleCause
    partitions: int
    members: int
    better: GroupScore | None = None
    assignor: str = ""
    setting: Fact | None = None
    is_sink: bool = False

    @property
    def why(self) -> Fact:
        return fact(
            FactCode.IDLE_CAUSE,
            cause=self.cause.value,
            partitions=self.partitions,
            members=self.members,
            strategy=self.assignor,
            better=None if self.better is None else self.better.assignor,
            better_idle_members=None if self.better is None else self.better.idle_members,
            setting=self.setting,
            is_sink=self.is_sink,
        )


def find_idle_reason(replay: GroupReplay, group_input: GroupInput) -> IdleReason | None:
    if not replay.today.idle_members:
        return None
    group, counts = group_input.group, dict(zip(group_input.topics, group_input.partition_counts.tolist(), strict=True))
    is_given = replay.basis is SubscriptionBasis.GIVEN
    idle = [member for member in group.members if not member.assigned]
    wanted = {topic for member in idle for topic in _topics(member, group_input, is_given=is_given)}
    readable = {topic for topic in wanted if counts.get(topic, 0) > 0}
    partitions = sum(counts[topic] for topic in readable)
    readers = [
        member for member in group.members if readable & set(_topics(member, group_input, is_given=is_given))
    ]  # fmt: skip
    if _deals_leader_topics(group_input, is_given=is_given):
        return IdleReason(IdleCause.CLIENT_IGNORES_TOPICS, partitions, len(readers))
    better = _find_better(replay, group_input)
    cause = _cause(replay, group_input, partitions, idle, readers) if better is None else IdleCause.OTHER_ASSIGNOR
    setting = None if better is None else set_strategy(group, better.assignor)
    is_sink = kind_of(group) is GroupKind.CONNECT_SINK
    return IdleReason(cause, partitions, len(readers), better, replay.today.assignor, setting, is_sink)


def _cause(
    replay: GroupReplay, group_input: GroupInput, partitions: int, idle: list[Member], readers: list[Member]
) -> IdleCause:
    is_given = replay.basis is SubscriptionBasis.GIVEN
    if not partitions:
        return IdleCause.SUBSCRIPTION_DIFFERS if is_given else IdleCause.SUBSCRIPTION_UNKNOWN
    if partitions < len(readers):
        return IdleCause.FEWER_PARTITIONS
    if not is_given and (replay.basis is SubscriptionBasis.AS_READ or not replay.is_reproduced):
        return IdleCause.SUBSCRIPTION_UNKNOWN
    if is_given and {member.subscription for member in idle} != {member.subscription for member in readers}:
        return IdleCause.SUBSCRIPTION_DIFFERS
    is_joined = replay.today.assignor == "range" and len(group_input.topics) > 1 and replay.is_reproduced
    return IdleCause.CO_PARTITIONED if is_joined else IdleCause.OWN_ASSIGNOR


def _deals_leader_topics(group_input: GroupInput, *, is_given: bool) -> bool:
    """Whether the client assigns only the leader's topics, and these have too few partitions.

    Where subscriptions are unknown, a committed topic without a reader shows it.
    """
    group = group_input.group
    if group_client(group).client is not Client.KAFKAJS:
        return False
    dealt = {topic for member in group.members for topic, _ in member.assigned}
    if not is_given and dealt >= {commit.topic for commit in group.committed}:
        return False
    counts = dict(zip(group_input.topics, group_input.partition_counts.tolist(), strict=True))
    partitions: int = sum(max(counts[topic], 0) for topic in dealt)
    return partitions < len(group.members)


def _topics(member: Member, group_input: GroupInput, *, is_given: bool) -> tuple[str, ...]:
    is_known = is_given or (member.subscription is not None and member.subscribed_regex is None)
    return (member.subscription or ()) if is_known else group_input.topics


def _find_better(replay: GroupReplay, group_input: GroupInput) -> GroupScore | None:
    """Return the settable row with fewest idle members; ties: no stop of all members, then fewest moves."""
    if replay.basis is not SubscriptionBasis.GIVEN and not replay.is_reproduced:
        return None
    group = group_input.group
    settable = strategies_of(group)
    rows = [
        row
        for row in replay.scores[1:]
        if row.error is None
        and row.assignor not in (OWN, *MIGRATED)
        and (row.assignor in settable or group.type is GroupType.CONSUMER)
        and row.idle_members is not None
        and row.idle_members < (replay.today.idle_members or 0)
    ]
    settings, is_server = settings_of(group_client(group)), group.type is GroupType.CONSUMER

    def cost(row: GroupScore) -> tuple[int, bool, int]:
        can_roll = is_server or settings.can_roll(replay.today.assignor, row.assignor)
        return row.idle_members or 0, not can_roll, row.partitions_moved or 0

    return min(rows, key=cost, default=None)


__all__ = ["IdleCause", "IdleReason", "find_idle_reason"]
