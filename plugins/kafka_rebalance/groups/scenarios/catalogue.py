"""The scenarios that every group is asked, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafka_rebalance.errors import UnknownNameError
from kafka_rebalance.groups.scenarios import members, topics
from kafka_rebalance.groups.scenarios.members import Stage, Variant
from kafka_rebalance.groups.scenarios.state import GroupState

TODAY = "today"
ROLLING_RESTART = "rolling_restart"
STRATEGY_CHANGES = "strategy_changes"  # from what the group runs to another strategy: today's row and two restarts
EVENTS: dict[str, Callable[[Stage], Iterator[Variant]]] = {
    "member_joins": members.member_joins,
    "member_leaves": members.member_leaves,
    "member_crashes": members.member_crashes,
    "static_restart": members.static_restart,
    ROLLING_RESTART: members.rolling_restart,
    "rolling_restart_static": members.rolling_restart_static,
    "rack_lost": members.rack_lost,
    "members_halved": members.members_halved,
    "members_doubled": members.members_doubled,
    "members_as_partitions": members.members_as_partitions,
    "partitions_added": topics.partitions_added,
    "topic_added": topics.topic_added,
}
SCENARIOS = (*EVENTS, STRATEGY_CHANGES)
MOST_VARIANTS = 20
_ROWS_IN_ALL = 2_000_000  # partitions and members that the variants of one scenario may have together


def require_scenarios(names: tuple[str, ...]) -> None:
    """Raises UnknownNameError for the first that is none."""
    for name in names:
        if name not in SCENARIOS:
            raise UnknownNameError.among("scenario", name, SCENARIOS)


def stage_of(today: GroupState, seed: int) -> Stage:
    """Where a group's scenarios are played; a giant has fewer variants."""
    return Stage(today, seed, most_variants(int(today.group_input.first_row[-1]) + len(today.members)))


def most_variants(size: int) -> int:
    """Of one scenario of a group with so many partitions and members."""
    return min(MOST_VARIANTS, max(1, _ROWS_IN_ALL // max(1, size)))


def variants_of(scenario: str, stage: Stage) -> Iterator[Variant]:
    """The variants of one scenario but STRATEGY_CHANGES; none where it cannot happen to this group."""
    return EVENTS[scenario](stage)
