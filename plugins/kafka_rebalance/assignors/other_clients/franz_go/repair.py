"""Exchange partitions until no exchange keeps more of them where they were, with the counts as even as they are.

Partitions of topics that the same members read are alike. So the plan is a table of such classes by members: how many
of a class a member has (``count``), and had at first (``held``). A rotation adds one to a cell and takes one from
another, row by row and member by member, until it is back; through the node of a level of load it also moves one
partition from a member on that level to one just below, which leaves the counts as even as they were. Price of a plan:
1 for each partition that moved. Rotations that lower it are found by Bellman-Ford and taken until there is none.

Example: t is read by a and b, u by b and c. a has t-0 and t-1, b had t-1: a and b exchange t-1 for another of t.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import NOBODY, Longs
from kafka_rebalance.assignors.other_clients.franz_go.claims import Plan
from kafka_rebalance.assignors.other_clients.franz_go.group_input import Numbering
from kafka_rebalance.kernels.decorators import inner_kernel, kernel


@dataclass(slots=True)
class _Table:
    """Cells member by member; ``cell_of`` (row, member), ``row_of`` each topic."""

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
            if original != NOBODY:
                held[cell_of[row, original]] += 1
        return cls(cells[:, 0].copy(), cells[:, 1].copy(), count, held, cell_of, row_of, len(classes))


def repair(plan: Plan, numbering: Numbering) -> None:
    """A plan in which every partition has a holder."""
    table = _Table.of(plan, numbering)
    loads = np.bincount(table.member, weights=table.count, minlength=len(plan.lists)).astype(np.int64)
    has_moved = False
    while rotations := _rotations(table, loads):
        has_moved = True
        for cells, steps, shifts_load in rotations:
            times = 1 if shifts_load else _times(table, cells, steps)
            table.count[cells] += steps * times
            np.add.at(loads, table.member[cells], steps * times)
    is_crossed = any(o not in (NOBODY, h) for o, h in zip(plan.original, plan.holder, strict=True))
    if has_moved or is_crossed:
        _realise(plan, numbering, table)


def _rotations(table: _Table, loads: Longs) -> list[tuple[Longs, Longs, bool]]:
    """Cells, +1 or −1 for each, whether it shifts load."""
    via_cell, via_node, roots = cheaper_rotations(
        table.row, table.member, table.count, table.held, loads, _levels(loads), table.rows
    )
    first_level = table.rows + len(loads)
    found = []
    for root in roots.tolist():
        cells, steps, shifts_load, node = [], [], False, root
        while True:
            shifts_load |= node >= first_level
            if via_cell[node] != NOBODY:
                cells.append(int(via_cell[node]))
                steps.append(1 if node >= table.rows else -1)
            node = int(via_node[node])
            if node == root:
                break
        found.append((np.array(cells, dtype=np.int64), np.array(steps, dtype=np.int64), shifts_load))
    return found


def _levels(loads: Longs) -> Longs:
    """int64[highest load + 2]: number of each load above 0 that a member has, as they come; NOBODY for others."""
    numbers = np.full(int(loads.max()) + 2, NOBODY, dtype=np.int64)
    for number, load in enumerate(dict.fromkeys(loads[loads > 0].tolist())):
        numbers[load] = number
    return numbers


def _times(table: _Table, cells: Longs, steps: Longs) -> int:
    """How often a rotation may be taken before the price of one of its cells changes."""
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
    """Cell and node by which each node was reached, and a node of each rotation that lowers the price; none at the end.

    Nodes: rows, members, levels of load (``levels``: number of each load, NOBODY where no member has it). A row to a
    member: one more there; back: one less. A member to the level above: it takes one; a level to a member on it: it
    gives one up.
    """
    first_level = rows + len(loads)
    nodes = first_level + levels.max() + 1
    price = np.zeros(nodes, np.int64)
    via_cell = np.full(nodes, NOBODY, np.int64)
    via_node = np.full(nodes, NOBODY, np.int64)
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
            if above != NOBODY and price[m] < price[first_level + above]:
                level = first_level + above
                price[level], via_cell[level], via_node[level] = price[m], NOBODY, m
                has_changed = True
            if own != NOBODY and price[first_level + own] < price[m]:
                price[m], via_cell[m], via_node[m] = price[first_level + own], NOBODY, first_level + own
                has_changed = True
        if not has_changed:
            break
        roots = _on_circles(via_node)
        if len(roots):
            return via_cell, via_node, roots
    return via_cell, via_node, np.empty(0, np.int64)


@inner_kernel
def _on_circles(via_node: Longs) -> npt.NDArray[np.int64]:
    """One node of each circle of predecessors, in the order in which walks from all nodes meet them."""
    seen = np.full(len(via_node), NOBODY, np.int64)
    roots = np.empty(len(via_node), np.int64)
    found = 0
    for start in range(len(via_node)):
        if seen[start] != NOBODY:
            continue
        node = np.int64(start)
        while node != NOBODY and seen[node] == NOBODY:
            seen[node] = start
            node = via_node[node]
        if node != NOBODY and seen[node] == start:
            roots[found] = node
            found += 1
    return roots[:found]


def _realise(plan: Plan, numbering: Numbering, table: _Table) -> None:
    """Lists from counts: everybody takes back what it had at first, as far as its count goes, then what is left."""
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
