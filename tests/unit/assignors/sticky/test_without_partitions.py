from __future__ import annotations

import random
from typing import Any

import pytest

from kafka_assignors.recorded_cases.cases import answer as answered
from kafka_assignors.registry import by_name, names
from tests.sample import for_each
from tests.unit.assignors.groups import answer, group

STICKY = [name for name in names() if name.partition("@")[0] in ("sticky", "cooperative-sticky")]


@for_each("name", STICKY)
def test_nobody_gets_anything_and_nothing_is_withheld(name: str) -> None:
    """Forty groups each, equal and different subscriptions; as many with one partition more give that one away."""
    draw, assignor = random.Random(name), by_name(name)
    for _ in range(40):
        topics = [f"t{number}" for number in range(draw.randint(1, 6))]
        members = [f"m{number}" for number in range(draw.randint(1, 5))]
        same = draw.sample(topics, draw.randint(1, len(topics)))
        read = {member: same if draw.random() < 0.5 else draw.sample(topics, 1) for member in members}
        none = group(dict.fromkeys(topics, 0), read)
        result = assignor.assign(none)  # type: ignore[union-attr]
        assert len(result.withheld) == 0
        assert not any(answer(none, result).values())
        first = group(dict.fromkeys(topics, 0) | {read[members[0]][0]: 1}, read)
        given = [pairs for pairs in answer(first, assignor.assign(first)).values() if pairs]  # type: ignore[union-attr]
        assert given == [[(read[members[0]][0], 0)]]


@pytest.mark.parametrize("topics", [[], [{"topic": "t", "n": 0}]])
@pytest.mark.parametrize("owned", [[], [["t", [0]]]])
def test_the_first_sticky_fails_where_a_member_tells_of_what_it_owns_and_no_partition_exists(
    topics: list[dict[str, Any]], owned: list[Any]
) -> None:
    """As in 2.0.0, even for an empty claim: ``sortPartitions`` compares the first topic."""
    read = [topic["topic"] for topic in topics]
    members = [{"id": "a", "topics": read}, {"id": "b", "topics": read, "owned": owned}]
    case = {"id": "told", "strategy": "legacy_sticky_2_0", "input": {"topics": topics, "members": members}}
    assert answered(case)["output"]["error"] == "java.util.NoSuchElementException"
    del members[1]["owned"]
    assert answered(case)["output"]["assignment"] == {"a": [], "b": []}
