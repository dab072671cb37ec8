"""Family ``group_vote``: leader, strategy and order of members of a classic group after each step of a script.

``version`` says whose coordinator is asked; without it the newest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_rebalance.coordinator.membership import GroupMember, Membership
from kafka_rebalance.coordinator.release import NEWEST, Coordinator, coordinator_of
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.releases import release_of

Input = Mapping[str, Any]
Output = dict[str, Any]


def answer_vote(case: Input) -> Output:
    """``group_vote``."""
    group = Membership.empty(_coordinator(case.get("version")))
    trace = []
    for step in case["ops"]:
        said: Output = {}
        if step["op"] == "elect":
            group, said["elected"] = group.elected()
        else:
            group = _after(group, step)
        order = group.order()
        trace.append({**said, "leader": group.leader, "protocol": group.vote().winner, "memberOrder": list(order)})
    return {"trace": trace}


def _coordinator(version: object) -> Coordinator:
    if version is None:
        return NEWEST
    found = coordinator_of(release_of(version))
    if found is None:
        known = "; ".join(Coordinator)
        raise InvalidInputError.at("version", f"no coordinator of release {version} is known", f"known: {known}")
    return found


def _after(group: Membership, step: Mapping[str, Any]) -> Membership:
    match step["op"]:
        case "join":
            strategies = tuple(step["protocols"])
            return group.joined(GroupMember(step["id"], strategies, bool(step["waiting"]), step.get("instanceId")))
        case "rejoin":
            return group.rejoined(step["id"], step["protocols"])
        case "leave":
            return group.left(step["id"])
        case "replace":
            return group.replaced(step["old"], step["new"])
        case "complete":
            return group.completed()
    raise InvalidInputError.at("ops", f"{step['op']!r}", "join, rejoin, leave, replace, elect or complete")
