"""Static membership: groups of which some members have an instance id, and restarts that it would shorten."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.context import MOST_NAMED, FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.scoring.assignment_scores import GroupScore
from kafka_rebalance.snapshot.model import GroupType


def static_members_partly(context: FindingContext) -> Iterator[Finding]:
    """Some members would come back to what they had after a restart, the others make the group rebalance."""
    for group_input in context.chosen_inputs:
        group = group_input.group
        without = [member for member in group.members if member.instance_id is None]
        static = len(group.members) - len(without)
        if not static or not without or group.type is GroupType.SHARE:
            continue
        names = [member.client_id or member.id for member in without]
        yield finding(
            "static_members_partly",
            Severity.LOW,
            group.id,
            {"assignor": group.protocol, "members": len(group.members), "static_members": static,
             "dynamic_members": len(without)},
            Remedy(
                fact(
                    FactCode.STATIC_MEMBERS_PARTLY,
                    static_members=static,
                    dynamic_members=len(without),
                    members=tuple(names[:MOST_NAMED]),
                ),
                cost=fact(FactCode.RESTARTS_MEMBERS, members=len(without)),
                gain=len(without) / len(group.members),
                changes=len(without),
            ),
        )  # fmt: skip


def static_membership(context: FindingContext) -> Iterator[Finding]:
    """All stops of a rolling restart together leave a partition unread for long; static members would spare it most.

    Eager groups of many members: each of them stops all twice. In small groups a static restart, which nobody covers
    for, may well be the longer one.
    """
    inputs = context.group_inputs
    for replay in context.chosen_replays:
        today = scenario_row(replay, "rolling_restart")
        static = scenario_row(replay, "rolling_restart_static")
        if today is None or static is None or any(m.instance_id for m in inputs[replay.group_id].group.members):
            continue
        unread, left = today.unread_partition_ms, static.unread_partition_ms
        if not unread or left is None or today.longest_pause_ms is None or not today.partitions:
            continue
        mean_s, static_mean_s = unread / today.partitions / 1000, left / today.partitions / 1000
        if mean_s < threshold("static_membership", "unread_seconds"):
            continue
        saved = 1 - left / unread
        if saved < threshold("static_membership", "saved_ratio"):
            continue
        yield finding(
            "static_membership",
            Severity.LOW,
            replay.group_id,
            {
                "assignor": today.assignor,
                "members": today.members,
                "partitions": today.partitions,
                "mean_unread_seconds": mean_s,
                "static_mean_unread_seconds": static_mean_s,
                "longest_pause_seconds": today.longest_pause_ms / 1000,
                "partitions_moved": today.partitions_moved,
                "static_partitions_moved": static.partitions_moved,
            },
            Remedy(
                fact(
                    FactCode.STATIC_MEMBERSHIP,
                    members=today.members,
                    mean_unread_seconds=mean_s,
                    static_mean_unread_seconds=static_mean_s,
                ),
                cost=fact(FactCode.ROLLING_RESTART, effect="keeps_dead_members"),
                gain=saved,
                changes=today.members,
            ),
            confidence=Confidence.ESTIMATED,
        )  # fmt: skip


def scenario_row(replay: GroupReplay, scenario: str) -> GroupScore | None:
    """What a scenario does to the group under the strategy that it runs."""
    return next(
        (
            row
            for row in replay.scenarios
            if (row.scenario, row.assignor) == (scenario, replay.today.assignor) and row.error is None
        ),
        None,
    )
