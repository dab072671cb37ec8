from __future__ import annotations

import random
from collections import deque

import numpy as np
import pytest

from kafka_assignors.contract import MapOrder
from kafka_assignors.errors import AssignorError
from kafka_assignors.sticky.before_3_0 import assign_swap
from kafka_assignors.sticky.sticky_input import sticky_input_of
from tests.unit.assignors.groups import frozen, group

Pair = tuple[str, int]
Lists = dict[str, list[Pair]]


def by_hand(owned: Lists, every: list[Pair], contested: set[Pair]) -> tuple[Lists, dict[Pair, str]] | None:
    """Lists, and who receives what counts as moving; ``owned``: in the order of Java's map. None: Java refuses."""
    least, rest = divmod(len(every), len(owned))
    most = least + (rest > 0)
    lists = {member: pairs[:most] for member, pairs in owned.items()}
    cut = contested.union(*(pairs[most:] for pairs in owned.values()))
    free = deque(pair for pair in every if not any(pair in pairs for pairs in lists.values()))
    at_least = deque(member for member, pairs in lists.items() if len(pairs) == least)
    at_most = deque(member for member, pairs in lists.items() if len(pairs) == most)
    moving: dict[Pair, str] = {}

    def give_next(member: str) -> None:
        pair = free.popleft()
        lists[member].append(pair)
        if pair in cut:
            moving[pair] = member

    under = sorted(member for member, pairs in lists.items() if len(pairs) < least)
    while under and free:
        for member in list(under):
            if free:
                give_next(member)
            if len(lists[member]) == least:
                at_least.append(member)
                under.remove(member)
    for member in under:
        while len(lists[member]) < least:
            pair = lists[at_most.popleft()].pop(0)
            lists[member].append(pair)
            moving[pair] = member
        at_least.append(member)
    while free:
        if not at_least:
            return None
        give_next(at_least.popleft())
    return lists, moving


@pytest.mark.parametrize("voids_doubles", [False, True])
def test_random_groups_are_dealt_as_by_hand(voids_doubles: bool) -> None:
    draw = random.Random(281)
    refused = 0
    for _ in range(150):
        counts = {"t": draw.randint(0, 7), "u": draw.randint(0, 4)}
        every = [(topic, p) for topic, count in counts.items() for p in range(count)]
        members = [f"m{i}" for i in range(draw.randint(1, 5))]
        claimable = [*every, ("t", 9)]
        owned = {member: draw.sample(claimable, draw.randint(0, len(claimable) // 2)) for member in members}
        generations = [draw.choice([3, 3, 3, 2]) for _ in members]
        request = group(counts, {member: ["t", "u"] for member in members}, owned, order=MapOrder.GIVEN)
        sent = frozen(generations, np.int32)
        inputs = sticky_input_of(request, sent)

        newest = {member: g == max(generations) for member, g in zip(members, generations, strict=True)}
        claims = [pair for member in members if newest[member] for pair in owned[member]]
        contested = {pair for pair in claims if claims.count(pair) > 1} if voids_doubles else set()
        in_map = [members[i] for i in inputs.owned_order]
        kept = {
            member: [pair for pair in owned[member] if newest[member] and pair not in contested] for member in in_map
        }
        expected = by_hand(kept, every, contested)
        for is_cooperative in (False, True):
            if expected is None:
                refused += 1
                with pytest.raises(AssignorError, match="all consumers are at maximum capacity"):
                    assign_swap(request, inputs, sent, voids_doubles=voids_doubles, is_cooperative=is_cooperative)
                continue
            result = assign_swap(request, inputs, sent, voids_doubles=voids_doubles, is_cooperative=is_cooperative)
            lists = {member: list(pairs) for member, pairs in expected[0].items()}
            if is_cooperative:
                for pair, member in expected[1].items():
                    lists[member].remove(pair)
            names = list(counts)
            assert [[(names[t], p) for t, p in result.of_member(i)] for i in range(len(members))] == [
                lists[member] for member in members
            ]
            assert len(result.withheld) == (len(expected[1]) if is_cooperative else 0)
    assert (refused > 0) is not voids_doubles  # two members with one partition leave too much free
