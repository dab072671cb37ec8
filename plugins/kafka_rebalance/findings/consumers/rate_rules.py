"""Groups that are uneven by what their partitions carry: one partition that no strategy can split, or many."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kafka_rebalance.arrays import NOBODY
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.findings.context import FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.groups.client_settings import set_strategy, strategies_of
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.member_clients import group_client
from kafka_rebalance.groups.strategies import OWN
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.options.client_rule import Client
from kafka_rebalance.releases import release_of
from kafka_rebalance.snapshot.load import LoadKind
from kafka_rebalance.snapshot.model import Group, GroupType

_STICKY = ("sticky", "cooperative-sticky")
_SPREADS_TOPICS = "3.7.1"  # the first release of Java's client whose sticky strategies sort owned partitions by number


def group_hot_partition(context: FindingContext) -> Iterator[Finding]:
    """One partition alone is more than a member's part of the group: whoever reads it is the fullest."""
    for group_input in context.chosen_inputs:
        group, rates = group_input.group, group_input.rates.in_bytes_per_s
        # Members without a partition are another trouble: the mean is that of those which can work.
        readers = min(len(group.members), len(rates))
        total = float(rates.sum()) if readers > 1 else 0.0
        if not total > 0:
            continue
        row = int(np.argmax(rates))
        hottest, mean = float(rates[row]), total / readers
        times = hottest / mean
        if times < threshold("group_hot_partition", "times_mean_ratio"):
            continue
        is_most = hottest / total >= threshold("group_hot_partition", "medium_share_ratio")
        partition, fewest = _name_of(group_input, row), math.ceil(total / hottest)
        yield finding(
            "group_hot_partition",
            Severity.MEDIUM if is_most else Severity.LOW,
            group.id,
            {
                "partition": partition,
                "assignor": group.protocol,
                "members": len(group.members),
                "partitions": len(rates),
                "in_bytes_per_s": hottest,
                "mean_member_in_bytes_per_s": mean,
                "times_mean_ratio": times,
                "share_of_group_ratio": hottest / total,
                "members_that_suffice": fewest,
            },
            Remedy(
                fact(
                    FactCode.GROUP_HOT_PARTITION,
                    partition=partition,
                    in_bytes_per_s=hottest,
                    share_of_group=hottest / total,
                    times_mean=times,
                    members_that_suffice=fewest,
                    members=len(group.members),
                ),
                cost=fact(FactCode.CHANGES_KEYS),
                gain=1 - 1 / times,
            ),
            confidence=context.confidence(LoadKind.IN_BYTES_PER_S),
        )


def uneven_by_rate(context: FindingContext) -> Iterator[Finding]:
    """Even by count, and one member reads far more: no strategy of Kafka looks at rates, a custom one would help."""
    for replay in context.chosen_replays:
        today, best = replay.today, replay.score(OWN)
        if replay.advised is not None or replay.group_id in context.better_server_strategies:
            continue
        if best is None or not best.skew_rate or today.skew_rate is None:
            continue
        gained = today.skew_rate / best.skew_rate
        if gained < threshold("uneven_by_rate", "skew_gain_ratio"):
            continue
        is_twice = gained >= threshold("uneven_by_rate", "medium_gain_ratio")
        yield finding(
            "uneven_by_rate",
            Severity.MEDIUM if is_twice else Severity.LOW,
            replay.group_id,
            {
                "assignor": today.assignor,
                "members": today.members,
                "partitions": today.partitions,
                "skew_count": today.skew_count,
                "skew_rate": today.skew_rate,
                "best_skew_rate": best.skew_rate,
            },
            Remedy(
                fact(
                    FactCode.UNEVEN_BY_RATE,
                    strategy=today.assignor,
                    skew_rate=today.skew_rate,
                    best_skew_rate=best.skew_rate,
                ),
                cost=fact(FactCode.NEEDS_CUSTOM_ASSIGNOR),
                gain=1 - best.skew_rate / today.skew_rate,
            ),
            confidence=context.confidence(LoadKind.IN_BYTES_PER_S),
        )


def uneven_per_topic(context: FindingContext) -> Iterator[Finding]:
    """Members have as many partitions as the others, and one has most of a topic: its load is not shared.

    Sticky strategies count partitions of all topics alike (KAFKA-16277). Told where rates do not prove it harmless.
    """
    judged = {group_input.group.id: group_input for group_input in context.judged_inputs}
    for replay in context.chosen_replays:
        group_input, today = judged.get(replay.group_id), replay.today
        if group_input is None or replay.advised is not None or replay.group_id in context.better_server_strategies:
            continue
        if (today.skew_count or math.inf) >= threshold("uneven_per_topic", "most_count_ratio"):
            continue
        if today.skew_rate is not None and today.skew_rate < threshold("uneven_per_topic", "most_count_ratio"):
            continue
        worst = _most_of_a_topic(group_input)
        if worst is None or worst.has / worst.even_part < threshold("uneven_per_topic", "times_even_ratio"):
            continue
        member = group_input.group.members[worst.member]
        is_server = group_input.group.type is GroupType.CONSUMER
        by_topic = replay.score("range")
        has_range = (
            by_topic is not None
            and by_topic.error is None
            and (is_server or "range" in strategies_of(group_input.group))
            and today.assignor != "range"
            and (by_topic.skew_count or math.inf) < threshold("uneven_per_topic", "most_count_ratio")
        )
        yield finding(
            "uneven_per_topic",
            Severity.LOW,
            replay.group_id,
            {
                "assignor": today.assignor,
                "topic": worst.topic,
                "member_id": member.id,
                "partitions_of_topic": worst.partitions,
                "partitions_of_topic_at_member": worst.has,
                "even_partitions_of_topic": worst.even_part,
                "times_even_ratio": worst.has / worst.even_part,
                "skew_count": today.skew_count,
                "skew_rate": today.skew_rate,
                "members": today.members,
                "partitions": today.partitions,
                "idle_members": today.idle_members,
                "advised_idle_members": today.idle_members,
            },
            Remedy(
                fact(
                    FactCode.UNEVEN_PER_TOPIC,
                    strategy=today.assignor,
                    member=member.instance_id or member.id,
                    topic=worst.topic,
                    partitions=worst.partitions,
                    partitions_at_member=worst.has,
                    even_partitions=worst.even_part,
                    way=(
                        fact(FactCode.USE_RANGE, setting=set_strategy(group_input.group, "range"))
                        if has_range
                        else _way_to_share(group_input.group)
                    ),
                ),
                cost=fact(FactCode.ONE_REBALANCE),
                gain=1 - worst.even_part / worst.has,
            ),
            confidence=(Confidence.STRUCTURAL if replay.basis is SubscriptionBasis.GIVEN else Confidence.ESTIMATED),
        )


def _way_to_share(group: Group) -> Fact:
    """What helps where range does not: a release of Java's client that spreads topics, else a group for the topic."""
    client = group_client(group)
    is_java = client.client in (Client.JAVA, None) and not (client.client is None and client.program)
    is_fixed = bool(client.first) and release_of(client.first) >= release_of(_SPREADS_TOPICS)
    upgrade_helps = is_java and not is_fixed and group.type is not GroupType.CONSUMER and group.protocol in _STICKY
    return fact(FactCode.GIVE_TOPIC_OWN_GROUP, java_release=_SPREADS_TOPICS if upgrade_helps else None)


class _TopicShare(NamedTuple):
    """The most that one member has of a topic, and what it would have of it if all that may read it shared it."""

    topic: str
    member: int
    partitions: int
    has: int
    even_part: int


def _most_of_a_topic(group_input: GroupInput) -> _TopicShare | None:
    """The topic of which one member has the most over its even part; of like ones that with the most lag, if known."""
    members = group_input.group.members
    found: list[tuple[float, float, _TopicShare]] = []
    for place, topic in enumerate(group_input.topics):
        span = slice(int(group_input.first_row[place]), int(group_input.first_row[place + 1]))
        readers, lag = group_input.reader[span], float(np.nansum(group_input.rates.lag_messages[span]))
        readers = readers[readers != NOBODY]
        may_read = [
            m.subscription is None or m.subscribed_regex is not None or topic in m.subscription for m in members
        ]
        if len(readers) > 1 and sum(may_read) > 1:
            counts = np.bincount(readers, minlength=len(members))
            even_part = math.ceil(len(readers) / sum(may_read))
            share = _TopicShare(topic, int(counts.argmax()), len(readers), int(counts.max()), even_part)
            found.append((share.has / even_part, lag, share))
    return max(found)[-1] if found else None


def _name_of(group_input: GroupInput, row: int) -> str:
    first = group_input.first_row
    topic = int(np.searchsorted(first, row, side="right")) - 1
    return f"{group_input.topics[topic]}-{row - int(first[topic])}"
