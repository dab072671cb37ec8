"""Who has what before anything is dealt: of several claims the newest, and some given back to the second newest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kafka_rebalance.arrays import NOBODY
from kafka_rebalance.assignors.other_clients.franz_go.group_input import Group, Numbering


@dataclass(slots=True)
class Plan:
    """``lists`` of partition numbers of each member, ``holder`` of each partition, who it was with at first.

    The order of a list is that in which its partitions came, and a removed one's place is taken by the last.
    """

    lists: list[list[int]]
    holder: list[int]
    original: list[int]

    def give(self, part: int, member: int) -> None:
        """To a member that subscribes; it was with nobody."""
        self.lists[member].append(part)
        self.holder[part] = member

    def move(self, part: int, source: int, target: int) -> None:
        """The last of the source's list fills the gap."""
        parts = self.lists[source]
        parts[parts.index(part)] = parts[-1]
        parts.pop()
        self.give(part, target)


def claimed_plan(group: Group, numbering: Numbering, shuffled: Callable[[list[int]], list[int]]) -> Plan:
    """Claims of topics that the claimant still reads. ``shuffled``: the order in which Go walks the second claims."""
    newest, second = _two_newest(group, numbering)
    parts = len(numbering.topic_of)
    plan = Plan([[] for _ in group.members], [NOBODY] * parts, [NOBODY] * parts)
    for part in sorted(newest):
        member = newest[part]
        if numbering.topic_of[part] in numbering.reads[member]:
            plan.give(part, member)
            plan.original[part] = member
    for part in shuffled(sorted(second)):
        _give_back(plan, numbering, part, second[part])
    return plan


def _two_newest(group: Group, numbering: Numbering) -> tuple[dict[int, int], dict[int, int]]:
    """Part → member of the highest generation, and of the next claim; of equal generations the first claim wins."""
    newest: dict[int, tuple[int, int]] = {}
    second: dict[int, tuple[int, int]] = {}
    for claim in group.claims:
        part = numbering.number_of[claim.row]
        if part < 0:
            continue
        mine = (claim.generation, claim.member)
        if part not in newest:
            newest[part] = mine
        elif claim.generation > newest[part][0]:
            second[part], newest[part] = newest[part], mine
        elif part not in second or claim.generation > second[part][0]:
            second[part] = mine
    return {part: member for part, (_, member) in newest.items()}, {p: member for p, (_, member) in second.items()}


def _give_back(plan: Plan, numbering: Numbering, part: int, member: int) -> None:
    """To the second claimant, if nobody has it or the one that has it has at least two more."""
    if numbering.topic_of[part] not in numbering.reads[member]:
        return
    holder = plan.holder[part]
    if holder == NOBODY:
        plan.give(part, member)
    elif len(plan.lists[member]) + 1 < len(plan.lists[holder]):
        plan.move(part, holder, member)
    else:
        return
    plan.original[part] = member
