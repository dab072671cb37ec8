"""kafka-go's strategies: by hand, and random groups beside a slow port that takes racks in a given order."""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np
import pytest

from kafka_assignors.contract import AssignmentRequest, MapOrder
from kafka_assignors.errors import AssignorError
from kafka_assignors.recorded_cases.cases import answer as answered
from kafka_assignors.registry import by_name
from tests.unit.assignors.groups import answer, group


def partitions(name: str, request: AssignmentRequest) -> dict[str, list[tuple[str, int]]]:
    return answer(request, by_name(name).assign(request))


def test_larger_shares_come_last_and_each_topic_begins_anew() -> None:
    request = group({"t": 5, "u": 2}, {"b": ["t", "u"], "a": ["t", "u"]}, static={"b": "0"})
    assert partitions("range@kafka-go", request) == {
        "a": [("t", 0), ("t", 1), ("u", 0)], "b": [("t", 2), ("t", 3), ("t", 4), ("u", 1)],
    }  # fmt: skip
    assert partitions("roundrobin@kafka-go", request) == {
        "a": [("t", 0), ("t", 2), ("t", 4), ("u", 0)], "b": [("t", 1), ("t", 3), ("u", 1)],
    }  # fmt: skip


def test_a_topic_that_is_listed_twice_counts_twice() -> None:
    request = group({"t": 3}, {"a": ["t", "t"], "b": ["t"]})
    assert partitions("range@kafka-go", request) == {"a": [("t", 0), ("t", 1)], "b": [("t", 2)]}


@pytest.mark.parametrize("name", ["range@kafka-go", "roundrobin@kafka-go", "rack-affinity@kafka-go"])
def test_a_leader_fails_on_an_unknown_topic_and_the_strategy_alone_skips_it(name: str) -> None:
    subscribed = {"a": ["t"], "b": ["t", "gone"]}
    with pytest.raises(AssignorError, match="UnknownTopicOrPartition"):
        by_name(name).assign(group({"t": 2}, subscribed, order=MapOrder.LEADER))
    assert partitions(name, group({"t": 2}, subscribed, order=MapOrder.GIVEN)) == {"a": [("t", 0)], "b": [("t", 1)]}


def test_random_groups_are_dealt_by_the_formulas() -> None:
    draw = random.Random(4)
    for _ in range(300):
        count, readers = draw.randint(1, 40), draw.sample(range(20), draw.randint(1, 12))
        ids = sorted(f"m{reader}" for reader in readers)
        request = group({"t": count}, {f"m{reader}": ["t"] for reader in readers})
        k = len(ids)
        assert partitions("range@kafka-go", request) == {
            name: [("t", p) for p in range(i * count // k, (i + 1) * count // k)] for i, name in enumerate(ids)
        }
        assert partitions("roundrobin@kafka-go", request) == {
            name: [("t", p) for p in range(count) if p % k == i] for i, name in enumerate(ids)
        }


def in_order(leaders: list[str], racks: list[str], first: tuple[str, ...], then: tuple[str, ...]) -> list[list[int]]:
    """Partitions of each member; racks come as in ``first`` while members are near, as in ``then`` after that."""
    target, extra = divmod(len(leaders), len(racks))
    held: list[list[int]] = [[] for _ in racks]
    left = {rack: [p for p, leader in enumerate(leaders) if leader == rack] for rack in first}
    for rack in first:
        near = [m for m, own in enumerate(racks) if own == rack]
        if not near:
            continue
        each = min(len(left[rack]) // len(near), target)
        for m in near:
            held[m] += left[rack][:each]
            del left[rack][:each]
        more = len(left[rack])
        if each == target:
            more = min(more, extra, len(near))
            extra -= more
        for m in near[:more]:
            held[m].append(left[rack].pop(0))
    rest = [p for rack in then for p in left[rack]]
    for own in held:
        share = target - len(own)
        if share >= 0 and extra:
            share, extra = share + 1, extra - 1
        for _ in range(share):
            own.append(rest.pop(0))
    return [sorted(own) for own in held]


def test_rack_affinity_gives_one_of_the_possible_answers_and_says_where_there_are_several() -> None:
    draw, several = random.Random(9), 0
    for _ in range(400):
        names = [f"az{i}" for i in range(draw.randint(1, 3))] + [""] * draw.randint(0, 1)
        leaders = draw.choices(names, k=draw.randint(1, 14))
        racks = draw.choices([*names, "far"], k=draw.randint(1, 7))
        members = [{"id": f"m{m}", "topics": ["t"], "rack": rack} for m, rack in enumerate(racks)]
        asked = {"client": "kafka-go", "order": "given", "members": members,
                 "topics": [{"topic": "t", "n": len(leaders), "leaderRacks": leaders}]}  # fmt: skip
        output = answered({"strategy": "client_rack_affinity", "input": asked})["output"]
        results = [dict(output["assignment"][member["id"]]).get("t", []) for member in members]
        orders = list(permutations(dict.fromkeys(leaders)))
        possible = [in_order(leaders, racks, first, then) for first in orders for then in orders]
        assert results in possible
        assert output.get("varies", False) is any(other != possible[0] for other in possible)
        assert np.ptp([len(own) for own in results]) <= 1
        several += "varies" in output
    assert 40 < several < 360


def test_partitions_that_a_topic_listed_twice_leaves_to_nobody_follow_the_order_of_racks() -> None:
    """Two places of ⌊7 / 2⌋ and one extra, all of one member: kafka-go gave it 0 1 2 6, 0 1 4 5 and 0 1 3 4."""
    members = [{"id": "a", "topics": ["t", "t"], "rack": "az2"}]
    for leaders, varies in ((["az2", "az2", "az1", "az4", "az3", "az3", "az1"], True), (["az1"] * 7, False)):
        topics = [{"topic": "t", "n": 7, "leaderRacks": leaders}]
        asked = {"client": "kafka-go", "order": "given", "members": members, "topics": topics}
        output = answered({"strategy": "client_rack_affinity", "input": asked})["output"]
        assert (len(dict(output["assignment"]["a"])["t"]), output.get("varies", False)) == (4, varies)
