"""Members read different topics: deal what is free, then let those with least steal along shortest chains."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush

from kafka_rebalance.arrays import NOBODY
from kafka_rebalance.assignors.other_clients.franz_go.claims import Plan
from kafka_rebalance.assignors.other_clients.franz_go.go_heap import SmallestFirst
from kafka_rebalance.assignors.other_clients.franz_go.group_input import Numbering


def balance_unequal(plan: Plan, numbering: Numbering) -> None:
    """Afterwards no chain of steals leads from a member to one that has two more."""
    _deal(plan, numbering)
    thieves = _Thieves(plan, numbering)
    levels = _Levels(plan)
    while levels.by_count:
        least, most = levels.by_count[min(levels.by_count)], levels.by_count[max(levels.by_count)]
        if most.count <= least.count + 1:
            return
        while least.members:
            member = least.members[0]
            chain = thieves.chain_from(member)
            for source, target, part in chain:
                plan.move(part, source, target)
                levels.change(source, len(plan.lists[source]) + 1)
                levels.change(target, len(plan.lists[target]) - 1)
                thieves.moved(part, source, target)
            if not chain:
                levels.remove(least, member)  # nothing that it could reach will ever be larger
            elif not most.members:
                break


def _deal(plan: Plan, numbering: Numbering) -> None:
    """Each free partition to the reader of its topic that has least; a heap for each topic."""
    waiting, of_topic = SmallestFirst((), plan.lists), NOBODY
    for part, holder in enumerate(plan.holder):
        topic = numbering.topic_of[part]
        if holder != NOBODY or not numbering.readers[topic]:
            continue
        if topic != of_topic:
            waiting, of_topic = SmallestFirst(numbering.readers[topic], plan.lists), topic
        plan.give(part, waiting.members[0])
        waiting.sink()


@dataclass(slots=True)
class _Level:
    """Members that have ``count`` partitions, in the order in which they came; the last fills a gap."""

    count: int
    members: list[int] = field(default_factory=list)


class _Levels:
    """All levels that have members. One that was emptied is gone for good: the next of its count is another."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.by_count: dict[int, _Level] = {}
        for member in range(len(plan.lists)):
            self._enter(member)

    def change(self, member: int, before: int) -> None:
        """From the level of ``before`` to that of its list."""
        level = self.by_count.get(before)
        if level is not None:
            self.remove(level, member)
        self._enter(member)

    def _enter(self, member: int) -> None:
        count = len(self._plan.lists[member])
        self.by_count.setdefault(count, _Level(count)).members.append(member)

    def remove(self, level: _Level, member: int) -> None:
        if member in level.members:
            level.members[level.members.index(member)] = level.members[-1]
            level.members.pop()
        if not level.members:
            self.by_count.pop(level.count, None)


@dataclass(slots=True)
class _Node:
    """How a search reached a member: by stealing ``part`` from it for ``parent``."""

    part: int
    parent: int


class _Thieves:
    """Who could steal which partition of whom."""

    def __init__(self, plan: Plan, numbering: Numbering) -> None:
        self._plan, self._topic_of = plan, numbering.topic_of
        self._wants = [sorted(topics) for topics in numbering.reads]
        # Of each topic the members that ever had some of it, in the order in which they first did, and what they have.
        self._holdings: list[dict[int, list[int]]] = [{} for _ in numbering.readers]
        for part, holder in enumerate(plan.holder):
            if holder != NOBODY:
                self._of(part, holder).append(part)

    def moved(self, part: int, source: int, target: int) -> None:
        """The last of the source's list fills the gap."""
        parts = self._of(part, source)
        parts[parts.index(part)] = parts[-1]
        parts.pop()
        self._of(part, target).append(part)

    def chain_from(self, member: int) -> list[tuple[int, int, int]]:
        """(source, target, partition), from the richest to ``member``; none where nobody has two more.

        Asked first is who has most, then who is nearest, then who comes first. A member is reached once, by the first
        partition in its list of the first topic.
        """
        lists = self._plan.lists
        nodes = {member: _Node(NOBODY, NOBODY)}
        waiting = [(-len(lists[member]), 0, member)]
        while waiting:
            level, distance, current = heappop(waiting)
            if -level > len(lists[member]) + 1:
                return _chain(nodes, current)
            for topic in self._wants[current]:
                for holder, parts in self._holdings[topic].items():
                    if parts and holder not in nodes:
                        nodes[holder] = _Node(parts[0], current)
                        heappush(waiting, (-len(lists[holder]), distance + 1, holder))
        return []

    def _of(self, part: int, member: int) -> list[int]:
        return self._holdings[self._topic_of[part]].setdefault(member, [])


def _chain(nodes: dict[int, _Node], last: int) -> list[tuple[int, int, int]]:
    chain = []
    while nodes[last].parent != NOBODY:
        chain.append((last, nodes[last].parent, nodes[last].part))
        last = nodes[last].parent
    return chain
