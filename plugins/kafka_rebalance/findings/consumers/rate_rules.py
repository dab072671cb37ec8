"""Groups that are uneven by what their partitions carry: one partition that no strategy can split, or many."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from kafka_rebalance.amounts import bytes_in_words
from kafka_rebalance.findings.context import FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Finding, Severity
from kafka_rebalance.findings.words import counted
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.strategies import OWN
from kafka_rebalance.snapshot.load import LoadKind


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
                f"{partition} alone carries {bytes_in_words(hottest)}/s, {hottest / total:.0%} of what the group reads "
                f"and {times:.1f} times what a mean member would: no assignor can split it, and neither more members "
                "nor, where one key carries it, more partitions help. Find its busiest key and spread it over several; "
                f"until then {counted(fewest, 'member')} read as fast as {len(group.members)}.",
                cost="a change of the producers' keys; their order by key is kept per new key only",
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
                f"{today.assignor} gives the busiest member {today.skew_rate:.1f} times the mean by rate; no assignor "
                f"of Kafka looks at rates, and none of them does better by a quarter. {best.skew_rate:.1f} times is "
                "possible: with an assignor of one's own that weighs partitions, or with other partition counts.",
                cost="an assignor of one's own has to be written and shipped with every member",
                gain=1 - best.skew_rate / today.skew_rate,
            ),
            confidence=context.confidence(LoadKind.IN_BYTES_PER_S),
        )


def _name_of(group_input: GroupInput, row: int) -> str:
    first = group_input.first_row
    topic = int(np.searchsorted(first, row, side="right")) - 1
    return f"{group_input.topics[topic]}-{row - int(first[topic])}"
