"""How a group gets from its strategy to another one: the steps for its members' client."""

from __future__ import annotations

from kafka_rebalance.coordinator.pause_sums import Pauses
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.findings.server_choice import better_server_strategy
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.kinds import kind_of
from kafka_rebalance.groups.member_clients import group_client
from kafka_rebalance.groups.motion import motion_of
from kafka_rebalance.groups.rollover import rollover
from kafka_rebalance.groups.scenarios.catalogue import ROLLING_RESTART
from kafka_rebalance.groups.strategies import MIGRATED
from kafka_rebalance.snapshot.group import Group, GroupType


def rollover_steps(
    replay: GroupReplay, group: Group, kafka_version: str | None, wanted: str | None = None
) -> tuple[Fact, ...]:
    """Return the steps by number, then what may be read twice. ``wanted``: a strategy's name in the replay, as
    ``cooperative-sticky`` or ``consumer/uniform`` (KIP-848); else what is recommended, and no steps where nothing is.
    """
    kind = kind_of(group)
    if not kind.has_choice:
        return (fact(FactCode.CANNOT_CHANGE_KIND, kind=kind.value),) if wanted else ()
    if (motion := motion_of(group)) is not None:
        return (motion.fact(FactCode.CANNOT_CHANGE_NOW),) if wanted else ()
    is_server = group.type is GroupType.CONSUMER
    better = better_server_strategy(replay) if is_server else None
    target = wanted or (better.assignor if better is not None else replay.advised)
    if target is None:
        return ()
    is_server = target in MIGRATED if wanted and not is_server else is_server
    bounces = [_pauses(replay, name) for name in (replay.today.assignor, target)]
    found = rollover(
        group, group_client(group), target.removeprefix("consumer/"), is_server=is_server, kafka_version=kafka_version,
        bounces=[pauses for pauses in bounces if pauses is not None],
    )  # fmt: skip
    return found.facts()


def _pauses(replay: GroupReplay, assignor: str) -> Pauses | None:
    """Of a rolling restart under one strategy, where that was replayed."""
    for row in replay.scenarios:
        if (row.scenario, row.assignor, row.error) == (ROLLING_RESTART, assignor, None):
            return Pauses(
                row.partitions_unread or 0, row.partitions_revoked or 0, row.longest_pause_ms,
                row.unread_partition_ms or 0,
            )  # fmt: skip
    return None
