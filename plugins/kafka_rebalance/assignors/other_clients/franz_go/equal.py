"""All members read all topics: deal what is free to who has least, then level from both ends."""

from __future__ import annotations

from kafka_rebalance.arrays import NOBODY
from kafka_rebalance.assignors.other_clients.franz_go.claims import Plan
from kafka_rebalance.assignors.other_clients.franz_go.go_heap import SmallestFirst
from kafka_rebalance.assignors.other_clients.franz_go.group_input import Numbering


def balance_equal(plan: Plan, numbering: Numbering) -> None:
    """Afterwards the members' counts differ by one at most."""
    waiting = SmallestFirst(range(len(plan.lists)), plan.lists)
    for part, holder in enumerate(plan.holder):
        if holder == NOBODY:
            plan.give(part, waiting.members[0])
            waiting.sink()
    _level(plan, numbering)


def _level(plan: Plan, numbering: Numbering) -> None:
    """Who has least takes from who has most the highest partition number of the last topic by name, one each in turn.

    Members of one count stand in the order in which they came to it.
    """
    levels: dict[int, list[int]] = {}
    for member, parts in enumerate(plan.lists):
        levels.setdefault(len(parts), []).append(member)
    least, most = min(levels), max(levels)
    if most <= least + 1:
        return
    for parts in plan.lists:
        if len(parts) > least + 1:
            parts.sort(key=lambda p: (numbering.partition_of[p], numbering.name_rank[numbering.topic_of[p]]))
    while most > least + 1:
        pairs = min(len(levels[least]), len(levels[most]))
        receivers, givers = levels[least][:pairs], levels[most][:pairs]
        for receiver, giver in zip(receivers, givers, strict=True):
            plan.give(plan.lists[giver].pop(), receiver)
        levels.setdefault(least + 1, []).extend(receivers)
        levels.setdefault(most - 1, []).extend(givers)
        levels[least], levels[most] = levels[least][pairs:], levels[most][pairs:]
        levels = {count: members for count, members in levels.items() if members}
        least, most = min(levels), max(levels)
