"""franz-go's sticky strategies: optimally even, then as sticky as that allows, random ties.

Promises, in priority order: no two members that could exchange a partition, directly or through others, differ by more
than one · the maximum number of partitions stays. The option BalanceRacks (racks) is not modelled. Topics are numbered
in the order of a Go map, which varies from run to run. With several topics, ``ORDERS`` orders are tried; where they
disagree the answer ``varies``: only sizes and the number of kept partitions are predicted. Cooperative: a partition
that another member must revoke waits for the next round.

Steps
1. ``claimed_plan``: the newest claim wins, and some partitions return to the second newest.
2. ``balance_equal``, all members read all topics: deal free partitions to the member with least, then level from both
   ends. ``balance_unequal``: deal, then members with least steal along shortest chains. Ties follow a binary heap.
3. ``repair``: exchange partitions while that keeps more of them, with counts unchanged. The plan is a table of topic
   classes (same readers) by members: ``count``, and ``held`` at first. Bellman-Ford finds rotations (closed cycles of
   +1 and −1 on cells) that lower the number of moved partitions.

Example: a has t-0 to t-3, b joins: a keeps t-0 and t-1, b gets t-3 and t-2. Source: ``pkg/kgo/internal/sticky`` of
franz-go 1.22. One order: equal subscriptions O(P log P); others O(steals · members · topics), and the exchanges
O(classes of topics · members) a sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import chain, islice, pairwise, permutations
from math import factorial

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import ABSENT, Ints, Longs
from kafka_assignors.contract import NO_GENERATION, Assignment, AssignmentRequest, Withheld
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_assignors.other_clients.member_orders import by_code_points, static_first
from kafka_assignors.owned_lists import lists_by_owner


@dataclass(frozen=True, slots=True)
class Claim:
    """On a row of the request; ``generation`` −1 counts as 0."""

    member: int
    row: int
    generation: int


@dataclass(frozen=True, slots=True)
class Group:
    """``members``: sorted; ``reads`` and ``claims`` in that order.

    ``topics`` with readers and partitions; ``name_ranks`` of all. ``has_rivals``: a partition has two claims; Go walks
    the second ones in any order, too.
    """

    request: AssignmentRequest
    members: tuple[int, ...]
    reads: tuple[frozenset[int], ...]
    claims: tuple[Claim, ...]
    topics: tuple[int, ...]
    name_ranks: tuple[int, ...]

    @property
    def has_rivals(self) -> bool:
        return len({claim.row for claim in self.claims}) < len(self.claims)

    @classmethod
    def of(cls, request: AssignmentRequest, generations: Sequence[int]) -> Group:
        columns, counts = request.members, request.topics.partition_counts.tolist()
        bounds = columns.subscription_offsets.tolist()
        listed = columns.subscription_topics.tolist()
        members = static_first(columns).tolist()
        reads = [frozenset(listed[bounds[member] : bounds[member + 1]]) for member in members]
        subscribed = frozenset[int]().union(*reads)
        names = by_code_points(request.topics.names)
        ranks = np.empty(len(names), dtype=np.int64)
        ranks[names] = np.arange(len(names))
        return cls(
            request,
            tuple(members),
            tuple(reads),
            tuple(_claims(request, members, generations)),
            tuple(topic for topic, count in enumerate(counts) if count > 0 and topic in subscribed),
            tuple(ranks.tolist()),
        )


def _claims(request: AssignmentRequest, members: list[int], generations: Sequence[int]) -> list[Claim]:
    columns, first_row = request.members, request.topics.first_row.tolist()
    counts = request.topics.partition_counts.tolist()
    topics, partitions = columns.owned_topics.tolist(), columns.owned_partitions.tolist()
    spans = list(pairwise(columns.owned_offsets.tolist()))
    return [
        Claim(number, first_row[topics[at]] + partitions[at], max(0, generations[member]))
        for number, member in enumerate(members)
        for at in range(*spans[member])
        if 0 <= partitions[at] < counts[topics[at]]
    ]


class Numbering:
    def __init__(self, group: Group, topics: Sequence[int]) -> None:
        first_row, counts = group.request.topics.first_row, group.request.topics.partition_counts
        spans = [np.arange(first_row[topic], first_row[topic] + counts[topic]) for topic in topics]
        self.rows: Longs = np.concatenate([np.zeros(0, dtype=np.int64), *spans])
        self.topic_of: list[int] = np.repeat(np.arange(len(topics)), [len(span) for span in spans]).tolist()
        self.partition_of: list[int] = np.concatenate([np.zeros(0, np.int64), *map(_indices, spans)]).tolist()
        self.name_rank: list[int] = [group.name_ranks[topic] for topic in topics]
        number = np.full(group.request.topics.partition_total, -1, dtype=np.int64)
        number[self.rows] = np.arange(len(self.rows))
        self.number_of: list[int] = number.tolist()
        index_of = {topic: i for i, topic in enumerate(topics)}
        self.reads = [frozenset(index_of[topic] for topic in topics if topic in index_of) for topics in group.reads]
        self.readers = [[m for m, topics in enumerate(self.reads) if i in topics] for i in range(len(topics))]


def _indices(span: Longs) -> Longs:
    return np.arange(len(span))


@dataclass(slots=True)
class Plan:
    """``lists`` in order of arrival (the last partition replaces a removed one)."""

    lists: list[list[int]]
    holder: list[int]
    original: list[int]

    def give(self, part: int, member: int) -> None:
        self.lists[member].append(part)
        self.holder[part] = member

    def move(self, part: int, source: int, target: int) -> None:
        parts = self.lists[source]
        parts[parts.index(part)] = parts[-1]
        parts.pop()
        self.give(part, target)


def claimed_plan(group: Group, numbering: Numbering, shuffled: Callable[[list[int]], list[int]]) -> Plan:
    """Claims on topics that the claimant still reads. ``shuffled``: order in which Go walks the second claims."""
    newest, second = _two_newest(group, numbering)
    parts = len(numbering.topic_of)
    plan = Plan([[] for _ in group.members], [ABSENT] * parts, [ABSENT] * parts)
    for part in sorted(newest):
        member = newest[part]
        if numbering.topic_of[part] in numbering.reads[member]:
            plan.give(part, member)
            plan.original[part] = member
    for part in shuffled(sorted(second)):
        _give_back(plan, numbering, part, second[part])
    return plan


def _two_newest(group: Group, numbering: Numbering) -> tuple[dict[int, int], dict[int, int]]:
    """The highest generation, and the next claim; at equal generations the first wins."""
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
    if numbering.topic_of[part] not in numbering.reads[member]:
        return
    holder = plan.holder[part]
    if holder == ABSENT:
        plan.give(part, member)
    elif len(plan.lists[member]) + 1 < len(plan.lists[holder]):
        plan.move(part, holder, member)
    else:
        return
    plan.original[part] = member


class SmallestFirst:
    def __init__(self, members: Sequence[int], lists: Sequence[Sequence[int]]) -> None:
        self.members = list(members)
        self._lists = lists
        for node in range(len(self.members) // 2 - 1, -1, -1):
            self.sink(node)

    def sink(self, node: int = 0) -> None:
        """A child replaces a longer parent: the left one, unless the right one is shorter."""
        members, lists = self.members, self._lists
        while (child := 2 * node + 1) < len(members):
            right = child + 1
            if right < len(members) and len(lists[members[right]]) < len(lists[members[child]]):
                child = right
            if len(lists[members[node]]) <= len(lists[members[child]]):
                return
            members[node], members[child] = members[child], members[node]
            node = child


def balance_equal(plan: Plan, numbering: Numbering) -> None:
    waiting = SmallestFirst(range(len(plan.lists)), plan.lists)
    for part, holder in enumerate(plan.holder):
        if holder == ABSENT:
            plan.give(part, waiting.members[0])
            waiting.sink()
    _level(plan, numbering)


def _level(plan: Plan, numbering: Numbering) -> None:
    """Least and most alternate: the former takes the last topic's highest partition of the latter.

    Members of one count are in the order in which they reached it.
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


def balance_unequal(plan: Plan, numbering: Numbering) -> None:
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
                levels.remove(least, member)  # no member in reach will have more
            elif not most.members:
                break


def _deal(plan: Plan, numbering: Numbering) -> None:
    waiting, of_topic = SmallestFirst((), plan.lists), ABSENT
    for part, holder in enumerate(plan.holder):
        topic = numbering.topic_of[part]
        if holder != ABSENT or not numbering.readers[topic]:
            continue
        if topic != of_topic:
            waiting, of_topic = SmallestFirst(numbering.readers[topic], plan.lists), topic
        plan.give(part, waiting.members[0])
        waiting.sink()


@dataclass(slots=True)
class _Level:
    """Members with ``count`` partitions, in order of arrival; the last fills a gap."""

    count: int
    members: list[int] = field(default_factory=list)


class _Levels:
    """An emptied level is discarded: the next of its count is a new one."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.by_count: dict[int, _Level] = {}
        for member in range(len(plan.lists)):
            self._enter(member)

    def change(self, member: int, before: int) -> None:
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
    part: int
    parent: int


class _Thieves:
    def __init__(self, plan: Plan, numbering: Numbering) -> None:
        self._plan, self._topic_of = plan, numbering.topic_of
        self._wants = [sorted(topics) for topics in numbering.reads]
        # Members that ever had some of each topic, in that order, and what they have.
        self._holdings: list[dict[int, list[int]]] = [{} for _ in numbering.readers]
        for part, holder in enumerate(plan.holder):
            if holder != ABSENT:
                self._of(part, holder).append(part)

    def moved(self, part: int, source: int, target: int) -> None:
        parts = self._of(part, source)
        parts[parts.index(part)] = parts[-1]
        parts.pop()
        self._of(part, target).append(part)

    def chain_from(self, member: int) -> list[tuple[int, int, int]]:
        """(source, target, partition) from the richest to ``member``; empty if no member has two more.

        Priority: most partitions, nearest, first. A member is reached once, by the first partition in its list of the
        first topic.
        """
        lists = self._plan.lists
        nodes = {member: _Node(ABSENT, ABSENT)}
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
    while nodes[last].parent != ABSENT:
        chain.append((last, nodes[last].parent, nodes[last].part))
        last = nodes[last].parent
    return chain


@dataclass(slots=True)
class _Table:
    row: Longs
    member: Longs
    count: Longs
    held: Longs
    cell_of: dict[tuple[int, int], int]
    row_of: list[int]
    rows: int

    @classmethod
    def of(cls, plan: Plan, numbering: Numbering) -> _Table:
        classes: dict[tuple[int, ...], int] = {}
        row_of = [classes.setdefault(tuple(readers), len(classes)) for readers in numbering.readers]
        pairs = sorted(((row, member) for readers, row in classes.items() for member in readers), key=lambda c: c[::-1])
        cell_of = {pair: cell for cell, pair in enumerate(pairs)}
        cells = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        count, held = np.zeros(len(pairs), dtype=np.int64), np.zeros(len(pairs), dtype=np.int64)
        for part, (holder, original) in enumerate(zip(plan.holder, plan.original, strict=True)):
            row = row_of[numbering.topic_of[part]]
            count[cell_of[row, holder]] += 1
            if original != ABSENT:
                held[cell_of[row, original]] += 1
        return cls(cells[:, 0].copy(), cells[:, 1].copy(), count, held, cell_of, row_of, len(classes))


def repair(plan: Plan, numbering: Numbering) -> None:
    table = _Table.of(plan, numbering)
    loads = np.bincount(table.member, weights=table.count, minlength=len(plan.lists)).astype(np.int64)
    has_moved = False
    while rotations := _rotations(table, loads):
        has_moved = True
        for cells, steps, shifts_load in rotations:
            times = 1 if shifts_load else _times(table, cells, steps)
            table.count[cells] += steps * times
            np.add.at(loads, table.member[cells], steps * times)
    is_crossed = any(o not in (ABSENT, h) for o, h in zip(plan.original, plan.holder, strict=True))
    if has_moved or is_crossed:
        _realise(plan, numbering, table)


def _rotations(table: _Table, loads: Longs) -> list[tuple[Longs, Longs, bool]]:
    via_cell, via_node, roots = cheaper_rotations(
        table.row, table.member, table.count, table.held, loads, _levels(loads), table.rows
    )
    first_level = table.rows + len(loads)
    rotations = []
    for root in roots.tolist():
        cells, steps, shifts_load, node = [], [], False, root
        while True:
            shifts_load |= node >= first_level
            if via_cell[node] != ABSENT:
                cells.append(int(via_cell[node]))
                steps.append(1 if node >= table.rows else -1)
            node = int(via_node[node])
            if node == root:
                break
        rotations.append((np.array(cells, dtype=np.int64), np.array(steps, dtype=np.int64), shifts_load))
    return rotations


def _levels(loads: Longs) -> Longs:
    """int64[highest load + 2]: number of each load above 0 in order of appearance, or ABSENT."""
    numbers = np.full(int(loads.max()) + 2, ABSENT, dtype=np.int64)
    for number, load in enumerate(dict.fromkeys(loads[loads > 0].tolist())):
        numbers[load] = number
    return numbers


def _times(table: _Table, cells: Longs, steps: Longs) -> int:
    count, held = table.count[cells], table.held[cells]
    surplus = count - held
    most = np.where(
        steps > 0,
        np.where(surplus < 0, -surplus, np.iinfo(np.int32).max),
        np.where(surplus > 0, surplus, count),
    )
    return int(most.min())


@kernel
def cheaper_rotations(
    row: Longs, member: Longs, count: Longs, held: Longs, loads: Longs, levels: Longs, rows: int
) -> tuple[Longs, Longs, Longs]:
    """Cell and node that lead to each node, and a node of each rotation that lowers the price; empty at the optimum.

    Nodes: rows, members, levels of load (``levels``: number of each load, or ABSENT). Row to member: one more there;
    back: one less. Member to the level above: it takes one; level to a member on it: it loses one.
    """
    first_level = rows + len(loads)
    nodes = first_level + levels.max() + 1
    price = np.zeros(nodes, np.int64)
    via_cell = np.full(nodes, ABSENT, np.int64)
    via_node = np.full(nodes, ABSENT, np.int64)
    for _ in range(nodes):
        has_changed = False
        for cell in range(len(row)):
            r, m = row[cell], rows + member[cell]
            through = price[r] + (1 if count[cell] >= held[cell] else 0)
            if through < price[m]:
                price[m], via_cell[m], via_node[m] = through, cell, r
                has_changed = True
            through = price[m] - (1 if count[cell] > held[cell] else 0)
            if count[cell] > 0 and through < price[r]:
                price[r], via_cell[r], via_node[r] = through, cell, m
                has_changed = True
        for i in range(len(loads)):
            m = rows + i
            above, own = levels[loads[i] + 1], levels[loads[i]]
            if above != ABSENT and price[m] < price[first_level + above]:
                level = first_level + above
                price[level], via_cell[level], via_node[level] = price[m], ABSENT, m
                has_changed = True
            if own != ABSENT and price[first_level + own] < price[m]:
                price[m], via_cell[m], via_node[m] = price[first_level + own], ABSENT, first_level + own
                has_changed = True
        if not has_changed:
            break
        roots = _on_circles(via_node)
        if len(roots):
            return via_cell, via_node, roots
    return via_cell, via_node, np.empty(0, np.int64)


@inner_kernel
def _on_circles(via_node: Longs) -> npt.NDArray[np.int64]:
    """One node of each cycle of predecessors."""
    visited_from = np.full(len(via_node), ABSENT, np.int64)
    roots = np.empty(len(via_node), np.int64)
    count = 0
    for start in range(len(via_node)):
        if visited_from[start] != ABSENT:
            continue
        node = np.int64(start)
        while node != ABSENT and visited_from[node] == ABSENT:
            visited_from[node] = start
            node = via_node[node]
        if node != ABSENT and visited_from[node] == start:
            roots[count] = node
            count += 1
    return roots[:count]


def _realise(plan: Plan, numbering: Numbering, table: _Table) -> None:
    """First partitions up to the count return, then the rest."""
    missing = table.count.tolist()
    piles: list[list[int]] = [[] for _ in range(table.rows)]
    parts = [part for list_of_member in plan.lists for part in list_of_member]
    for list_of_member in plan.lists:
        list_of_member.clear()
    for part in parts:
        row, original = table.row_of[numbering.topic_of[part]], plan.original[part]
        cell = table.cell_of.get((row, original))
        if cell is not None and missing[cell] > 0:
            missing[cell] -= 1
            plan.give(part, original)
        else:
            piles[row].append(part)
    left = [iter(pile) for pile in piles]
    for row, member, count in zip(table.row.tolist(), table.member.tolist(), missing, strict=True):
        for part in islice(left[row], count):
            plan.give(part, member)


ORDERS = 12  # orders of a Go map
FEW_TOPICS = 3


@dataclass(frozen=True, slots=True)
class FranzGoSticky:
    """Eager: claims and generation are in the user data."""

    name: str = "sticky@franz-go"
    versions: str = "franz-go 1.22.2"

    def assign(self, request: AssignmentRequest) -> Assignment:
        group = Group.of(request, request.members.data_generations.tolist())
        plans = _plans(group, request.seed)
        first = next(plans)
        varies = any(not np.array_equal(first, other) for other in plans)
        return _assignment(request, first, first, is_varying=varies)


@dataclass(frozen=True, slots=True)
class FranzGoCooperativeSticky:
    """Claims and generation are in the Subscription (old clients: user data)."""

    name: str = "cooperative-sticky@franz-go"
    versions: str = "franz-go 1.22.2"

    def assign(self, request: AssignmentRequest) -> Assignment:
        own, data = request.members.generations, request.members.data_generations
        group = Group.of(request, np.where(own > NO_GENERATION, own, data).tolist())
        owners = _owners(group)
        plans = _plans(group, request.seed)
        first = next(plans)
        granted = _without_waiting(first, owners)
        varies = any(not np.array_equal(granted, _without_waiting(other, owners)) for other in plans)
        return _assignment(request, first, granted, is_varying=varies)


def _plans(group: Group, seed: int) -> Iterator[Ints]:
    """Owners int32[P], the request's topic order first."""
    random = np.random.default_rng(seed)
    count = len(group.topics)
    all_orders = factorial(count) if count <= FEW_TOPICS else ORDERS + 1
    if all_orders <= ORDERS and not group.has_rivals:
        orders: Iterable[tuple[int, ...]] = permutations(group.topics)
    else:
        drawn = (tuple(random.permutation(group.topics).tolist()) for _ in range(ORDERS - 1))
        orders = chain((group.topics,), drawn)
    for order in orders:
        yield _plan(group, order, random)


def _plan(group: Group, topics: tuple[int, ...], random: np.random.Generator) -> Ints:
    owner = np.full(group.request.topics.partition_total, ABSENT, dtype=np.int32)
    numbering = Numbering(group, topics)
    if not numbering.topic_of:
        return owner
    plan = claimed_plan(group, numbering, lambda parts: random.permutation(parts).tolist())
    if all(len(readers) == len(group.members) for readers in numbering.readers):
        balance_equal(plan, numbering)
    else:
        balance_unequal(plan, numbering)
        repair(plan, numbering)
    members: Longs = np.array(group.members, dtype=np.int64)
    owner[numbering.rows] = members[plan.holder]
    return owner


def _owners(group: Group) -> dict[int, set[int]]:
    """A newer claim cancels an older one."""
    newest: dict[int, int] = {}
    for claim in group.claims:
        newest[claim.row] = max(newest.get(claim.row, 0), claim.generation)
    owners: dict[int, set[int]] = {}
    for claim in group.claims:
        if claim.generation == newest[claim.row]:
            owners.setdefault(claim.row, set()).add(group.members[claim.member])
    return owners


def _without_waiting(plan: Ints, owners: dict[int, set[int]]) -> Ints:
    waiting = [row for row, holders in owners.items() if plan[row] != ABSENT and plan[row] not in holders]
    granted = plan.copy()
    granted[waiting] = ABSENT
    return granted


def _assignment(request: AssignmentRequest, plan: Ints, granted: Ints, *, is_varying: bool) -> Assignment:
    topics, walk = request.topics, by_code_points(request.topics.names)
    waiting = np.flatnonzero((plan != ABSENT) & (granted == ABSENT))
    of_topic = np.repeat(np.arange(len(topics)), np.diff(topics.first_row))[waiting]
    withheld = Withheld(
        of_topic.astype(np.int32), (waiting - topics.first_row[of_topic]).astype(np.int32), plan[waiting]
    )
    lists = lists_by_owner(granted, topics.first_row, walk, len(request.members))
    return Assignment(*lists, withheld=withheld, varies=is_varying)
