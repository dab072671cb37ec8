"""Static membership: groups of which some members have an instance id, and restarts that it would shorten."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_rebalance.amounts import seconds_in_words
from kafka_rebalance.findings.context import FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.findings.words import counted, listed
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
        names = listed([member.client_id or member.id for member in without], most=3)
        yield finding(
            "static_members_partly",
            Severity.LOW,
            group.id,
            {"assignor": group.protocol, "members": len(group.members), "static_members": static,
             "dynamic_members": len(without)},
            Remedy(
                f"{static} of {counted(len(group.members), 'member')} have a group.instance.id, {len(without)} have "
                f"none ({names}): each restart of these makes all rebalance, so that the ids of the others gain "
                "little. Give every member one.",
                cost=f"{counted(len(without), 'restart')}",
                gain=len(without) / len(group.members),
                changes=len(without),
            ),
        )  # fmt: skip


def static_membership(context: FindingContext) -> Iterator[Finding]:
    """A rolling restart leaves partitions unread for long, and would hardly do so to static members."""
    inputs = context.group_inputs
    for replay in context.chosen_replays:
        today = scenario_row(replay, "rolling_restart")
        static = scenario_row(replay, "rolling_restart_static")
        if today is None or static is None or any(m.instance_id for m in inputs[replay.group_id].group.members):
            continue
        unread, left, pause = today.unread_partition_ms, static.unread_partition_ms, today.longest_pause_ms
        if not unread or left is None or pause is None:
            continue
        if pause < 1000 * threshold("static_membership", "pause_seconds"):
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
                "longest_pause_seconds": pause / 1000,
                "unread_partition_seconds": unread / 1000,
                "static_unread_partition_seconds": left / 1000,
                "static_longest_pause_seconds": _seconds(static.longest_pause_ms),
                "partitions_moved": today.partitions_moved,
                "static_partitions_moved": static.partitions_moved,
            },
            Remedy(
                f"A rolling restart of its {counted(today.members, 'member')} leaves partitions unread for up to "
                f"{seconds_in_words(pause / 1000)}; with a group.instance.id in each member {saved:.0%} of that is "
                "gone: a restart within session.timeout.ms moves nothing. A crash costs a session timeout then.",
                cost="one rolling restart that sets the ids; a member that is gone for good keeps its partitions until "
                "its session ends",
                gain=saved,
                changes=today.members,
            ),
            confidence=Confidence.ESTIMATED,
        )  # fmt: skip


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


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
