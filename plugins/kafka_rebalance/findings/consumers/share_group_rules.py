"""Share groups: they have no strategy, and as many members as one likes."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.context import FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.snapshot.model import GroupType


def share_group_behind(context: FindingContext) -> Iterator[Finding]:
    """More lies behind the start of its records in flight than writers made in so many seconds."""
    for group in context.judged_groups:
        rates = context.group_inputs[group.id].rates
        if group.type is not GroupType.SHARE or not group.members:
            continue
        lag, rate = float(rates.lag_messages.sum()), float(rates.in_messages_per_s.sum())
        if not rate > 0 or not lag / rate >= threshold("share_group_behind", "behind_seconds"):
            continue
        partitions = len(rates.lag_messages)
        yield finding(
            "share_group_behind",
            Severity.MEDIUM,
            group.id,
            {
                "lag_messages": int(lag),
                "lag_seconds": lag / rate,
                "in_messages_per_s": rate,
                "members": len(group.members),
                "partitions": partitions,
            },
            Remedy(
                fact(
                    FactCode.SHARE_GROUP_BEHIND,
                    lag_messages=int(lag),
                    lag_seconds=lag / rate,
                    members=len(group.members),
                    partitions=partitions,
                ),
                cost=fact(FactCode.ADDS_MEMBERS),
                gain=1.0,
            ),
            # Records behind the first one in flight may be done already: the broker's lag counts them all the same.
            confidence=Confidence.ESTIMATED,
        )
