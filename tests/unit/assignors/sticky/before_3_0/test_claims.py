from __future__ import annotations

import random
from itertools import pairwise

import numpy as np

from kafka_assignors.contract import MapOrder
from kafka_assignors.java.hash_order import put_order
from kafka_assignors.java.keys import topic_partition_hashes
from kafka_assignors.java.strings import hash_code
from kafka_assignors.sticky.before_3_0 import claims_of
from kafka_assignors.sticky.sticky_input import sticky_input_of
from tests.unit.assignors.groups import frozen, group

COUNTS = {"t": 3, "u": 2}  # rows 0 to 2, 3 and 4
CLAIMABLE = [*((name, p) for name, n in COUNTS.items() for p in range(n)), ("t", 9), ("x", 0)]
Pair = tuple[str, int]


def in_java_map(pairs: list[Pair]) -> list[Pair]:
    hashes = topic_partition_hashes(
        np.array([hash_code(topic) for topic, _ in pairs], np.int32), np.array([p for _, p in pairs], np.int32)
    )
    return [pairs[i] for i in put_order(hashes, 0)]


def test_random_claims_are_settled_as_in_a_map_of_maps() -> None:
    draw = random.Random(15)
    for _ in range(60):
        members = [f"m{i}" for i in range(draw.randint(1, 5))]
        owned = {member: draw.sample(CLAIMABLE, draw.randint(0, 5)) for member in members}
        sent = [draw.choice([None, -1, 0, 1, 2]) for _ in members]
        claims: dict[Pair, dict[int, str]] = {}
        for member, generation in zip(members, sent, strict=True):
            for pair in owned[member]:
                by_generation = claims.setdefault(pair, {})
                if generation is None or generation not in by_generation:
                    by_generation[-1 if generation is None else generation] = member

        request = group(COUNTS, {member: ["t", "u"] for member in members}, owned, order=MapOrder.GIVEN)
        generations = frozen([-1 if generation is None else generation for generation in sent], np.int32)
        overwrites = frozen([generation is None for generation in sent], np.bool_)
        inputs = sticky_input_of(request, generations)
        result = claims_of(request, inputs, inputs.subscription_order, (generations, overwrites))

        rows = {pair: row for row, pair in enumerate(CLAIMABLE[:5])}
        lists: dict[str, list[int]] = {member: [] for member in members}
        had_before = [-1] * 5
        moved: list[Pair] = []
        for pair in in_java_map(list(claims)):
            newest, *older = sorted(claims[pair], reverse=True)
            moved += [pair] * bool(older)
            if pair in rows:
                lists[claims[pair][newest]].append(rows[pair])
                had_before[rows[pair]] = members.index(claims[pair][older[0]]) if older else -1
        assert [result.rows[a:b].tolist() for a, b in pairwise(result.offsets)] == list(lists.values())
        assert result.had_before.tolist() == had_before
        assert result.moved_rows.tolist() == [rows[pair] for pair in in_java_map(moved) if pair in rows]
        assert result.is_empty == (not claims)
