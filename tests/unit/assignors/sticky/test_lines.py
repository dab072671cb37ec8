from __future__ import annotations

from typing import Any

import pytest

from kafka_assignors.recorded_cases.cases import answer
from kafka_assignors.registry import BUILT_IN, by_name
from kafka_assignors.sticky.sticky_input import NEWEST

Lists = dict[str, list[Any]]


def member(topics: list[str], owned: Any = (), generation: int | None = None, **more: Any) -> dict[str, Any]:
    """Member with its claims in the form of both strategies."""
    data = {"owned": list(owned), "generation": generation}
    sent = {} if generation is None else {"generation": generation}
    return {"topics": topics, "owned": list(owned), "memberData": data, **sent, **more}


def output(version: str, topics: dict[str, Any], members: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Answer of ``sticky``, unless ``strategy`` names another; ``topics``: racks of each partition, or their number."""
    listed = [
        {"topic": name, "n": n} if isinstance(n, int) else {"topic": name, "n": len(n), "racks": n}
        for name, n in topics.items()
    ]
    strategy = more.pop("strategy", "client_sticky")
    asked = {"order": "given", "topics": listed, "members": [{"id": i, **m} for i, m in members.items()], **more}
    result: dict[str, Any] = answer({"strategy": strategy, "input": {"version": version, **asked}})["output"]
    return result


def lists(version: str, topics: dict[str, Any], members: dict[str, Any], **more: Any) -> Lists:
    assignment: Lists = output(version, topics, members, **more)["assignment"]
    return assignment


@pytest.mark.parametrize("strategy", ["sticky", "cooperative-sticky"])
def test_each_class_since_3_0_differs_from_every_other_in_something(strategy: str) -> None:
    classes = [by_name(result.name) for result in BUILT_IN if result.strategy == strategy]
    lines = [result.line for result in classes if hasattr(result, "line")]
    assert lines[0] == NEWEST
    assert len(set(lines)) == len(lines) >= 5


def test_of_too_many_the_lowest_stay_from_3_7_1_on_and_before_the_first_of_its_own_list() -> None:
    """4 partitions, 2 members: a keeps two of its four."""
    members = {"a": member(["t"], [["t", [3, 1, 0, 2]]], 5), "b": member(["t"], [], 5)}
    assert lists("3.7.1", {"t": 4}, members) == {"a": [["t", [0, 1]]], "b": [["t", [2, 3]]]}
    for version in ("3.7.0", "3.5.1", "3.4.1", "3.4.0", "3.0.0"):
        assert lists(version, {"t": 4}, members) == {"a": [["t", [3, 1]]], "b": [["t", [0, 2]]]}


def test_from_3_5_on_racks_decide_who_gets_what() -> None:
    """t-0 is in b's rack, t-1 in a's; dealt by id a would get t-0."""
    members = {"a": member(["t"], rack="r1"), "b": member(["t"], rack="r0")}
    racks = {"t": [["r0"], ["r1"]]}
    assert lists("3.5.0", racks, members) == {"a": [["t", [1]]], "b": [["t", [0]]]}
    assert lists("3.4.1", racks, members) == {"a": [["t", [0]]], "b": [["t", [1]]]}


def test_what_leaves_its_owner_for_its_rack_is_given_on_in_the_same_round_up_to_3_7_0() -> None:
    """a owns both, t-0 is in b's rack: b waits for it from 3.7.1 on; before, both read it for a moment."""
    racks = {"t": [["r0"], ["r1"]]}
    members = {"a": member(["t"], [["t", [0, 1]]], 5, rack="r1"), "b": member(["t"], [], 5, rack="r0")}
    asked = {"strategy": "client_cooperative_sticky"}
    assert lists("3.7.1", racks, members, **asked) == {"a": [["t", [1]]], "b": []}
    assert lists("3.7.0", racks, members, **asked) == {"a": [["t", [1]]], "b": [["t", [0]]]}


def test_who_gets_one_over_the_least_by_rack_is_not_counted_up_to_3_7_0() -> None:
    """4 partitions, 3 members. a has two by rack: from 3.7.1 on t-3 is c's; before, t-3 goes to b and c gets none."""
    racks = {"t": [["r0"], ["r0"], ["r0"], ["r0", "r9"]]}
    members = {"a": member(["t"], rack="r0"), "b": member(["t"], rack="r0"), "c": member(["t"], rack="r1")}
    assert lists("3.7.1", racks, members) == {"a": [["t", [0, 2]]], "b": [["t", [1]]], "c": [["t", [3]]]}
    assert output("3.7.0", racks, members)["error"] == "java.lang.IllegalStateException"


def test_up_to_3_5_1_a_claim_is_compared_with_one_that_was_lost() -> None:
    """All three claim t-0: b in generation 5, then a and c in 4. From 3.5.2 on b has it; before, all is dealt by id."""
    old = member(["t"], [["t", [0]]], 4)
    members = {"b": member(["t"], [["t", [0]]], 5), "a": old, "c": old}
    assert lists("3.5.2", {"t": 3}, members) == {"b": [["t", [0]]], "a": [["t", [1]]], "c": [["t", [2]]]}
    assert lists("3.5.1", {"t": 3}, members) == {"b": [["t", [1]]], "a": [["t", [0]]], "c": [["t", [2]]]}


def test_of_falling_generations_two_keep_the_same_partition_up_to_3_5_1() -> None:
    """a, b and c claim t-0 in generations 5, 3 and 4: c's beats b's, a's is not compared again, so a and c keep it."""
    t_0 = [["t", [0]]]
    members = {"a": member(["t"], t_0, 5), "b": member(["t"], [["t", [0, 1]]], 3), "c": member(["t"], t_0, 4)}
    assert output("3.5.1", {"t": 3}, members)["error"] == "java.lang.IllegalStateException"
    assert lists("3.5.2", {"t": 3}, members) == {"a": [["t", [0]]], "b": [["t", [1]]], "c": [["t", [2]]]}


@pytest.mark.parametrize(("newest_seen", "generations"), [(-1, (4, 5)), (6, (5, 5))])
def test_up_to_3_4_0_only_the_newest_generation_owns_anything(newest_seen: int, generations: tuple[int, int]) -> None:
    """Only a claims t-1, but it is behind b, or both are behind this leader's highest generation: dealt by id."""
    members = {"a": member(["t"], [["t", [1]]], generations[0]), "b": member(["t"], [], generations[1])}
    before = {"maxGenerationBefore": newest_seen}
    assert lists("3.4.1", {"t": 2}, members, **before) == {"a": [["t", [1]]], "b": [["t", [0]]]}
    for version in ("3.4.0", "3.0.0"):
        assert lists(version, {"t": 2}, members, **before) == {"a": [["t", [0]]], "b": [["t", [1]]]}
    assert output("3.4.0", {"t": 2}, members, **before)["maxGenerationAfter"] == max(newest_seen, 5)


def test_of_two_in_the_newest_generation_nobody_keeps_a_partition_up_to_3_4_0() -> None:
    """Both claim t-1 and b alone t-2: b keeps that. t-0 goes to a, which has none; then b is first to wait for more."""
    members = {"a": member(["t"], [["t", [1]]], 5), "b": member(["t"], [["t", [1, 2]]], 5)}
    assert lists("3.0.0", {"t": 3}, members) == {"a": [["t", [0]]], "b": [["t", [2, 1]]]}


def test_up_to_3_5_1_a_gap_of_one_keeps_the_search_going_and_a_partition_returns_to_who_does_not_read_it() -> None:
    """a once had t-0; b has 3, c 2, a 1. Up to 3.5.1 a gap of one is enough to continue, and t-0 returns to a."""
    members = {
        "a": member(["u"], [["u", [0]], ["t", [0]]], 4),
        "b": member(["t"], [["t", [0, 1, 2]]], 5),
        "c": member(["t", "u"], [["t", [3, 4]]], 5),
    }
    settled = {"a": [["u", [0]]], "b": [["t", [0, 1, 2]]], "c": [["t", [3, 4]]]}
    assert lists("3.5.2", {"t": 5, "u": 1}, members) == settled
    returned = {"a": [["u", [0]], ["t", [0]]], "b": [["t", [1, 2]]], "c": [["t", [3, 4]]]}
    assert lists("3.5.1", {"t": 5, "u": 1}, members) == lists("3.4.1", {"t": 5, "u": 1}, members) == returned


def test_cooperative_members_say_their_generation_in_the_subscription_from_3_4_0_on() -> None:
    """The leader has seen 5: who seems to have no generation owns nothing then."""
    reported = {"topics": ["t"], "generation": 5, "memberData": {"owned": [], "generation": None}}
    members = {"a": {**reported, "owned": [["t", [1]]]}, "b": {**reported, "owned": []}}
    asked = {"strategy": "client_cooperative_sticky", "maxGenerationBefore": 5}
    assert lists("3.4.0", {"t": 2}, members, **asked) == {"a": [["t", [1]]], "b": [["t", [0]]]}
    assert lists("3.3.2", {"t": 2}, members, **asked) == {"a": [["t", [0]]], "b": [["t", [1]]]}
