from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from kafka_assignors.contract import AssignmentRequest, MapOrder
from kafka_assignors.other_clients.franz_go import (
    FranzGoCooperativeSticky,
    FranzGoSticky,
    Group,
    Numbering,
    Plan,
    SmallestFirst,
    balance_equal,
    balance_unequal,
    claimed_plan,
    repair,
)
from tests.sample import for_each
from tests.unit.assignors.groups import answer, group

Pair = tuple[str, int]


def asked(request: AssignmentRequest) -> dict[str, list[Pair]]:
    return answer(request, FranzGoSticky().assign(request))


def of_generations(request: AssignmentRequest, *generations: int) -> AssignmentRequest:
    data = np.array(generations, dtype=np.int32)
    return replace(request, members=replace(request.members, data_generations=data, generations=data))


def planned(request: AssignmentRequest) -> tuple[Group, Numbering, Plan]:
    """Partitions of each member before dealing."""
    grouped = Group.of(request, request.members.data_generations.tolist())
    numbering = Numbering(grouped, grouped.topics)
    return grouped, numbering, claimed_plan(grouped, numbering, list)


def test_who_joins_gets_the_highest_partitions_one_by_one() -> None:
    """4 against 0: t-3 goes over, 3 against 1: t-2, 2 against 2."""
    request = group({"t": 4}, {"a": ["t"], "b": ["t"]}, {"a": [("t", p) for p in range(4)]})
    assert asked(request) == {"a": [("t", 0), ("t", 1)], "b": [("t", 2), ("t", 3)]}


def test_of_one_partition_number_the_last_topic_by_name_goes_first() -> None:
    """a has t-0 t-1 u-0 u-1, b joins: u-1, then t-1."""
    owned = {"a": [("t", 0), ("t", 1), ("u", 0), ("u", 1)]}
    request = group({"t": 2, "u": 2}, {"a": ["t", "u"], "b": ["t", "u"]}, owned)
    assert asked(request)["b"] == [("t", 1), ("u", 1)]


def test_free_partitions_go_to_the_top_of_a_heap_not_to_the_first_member() -> None:
    """Heap a b c: 0 to a, which sinks left: b a c. 1 to b, which sinks right: c a b. 2 to c, all equal now: c stays."""
    request = group({"t": 4}, {"a": ["t"], "b": ["t"], "c": ["t"]})
    assert asked(request) == {"a": [("t", 0)], "b": [("t", 1)], "c": [("t", 2), ("t", 3)]}


def test_a_heap_is_made_from_the_middle_down() -> None:
    """Lists of 3, 2, 1, 0, 0: node 1 (2) takes its left child 3, then the root (3) takes 3, formerly 1's."""
    lists = [[0] * count for count in (3, 2, 1, 0, 0)]
    assert SmallestFirst(range(5), lists).members == [3, 4, 2, 1, 0]


def test_the_newer_claim_wins_and_the_older_one_is_given_back_where_it_evens() -> None:
    """a (generation 5) claims 0, 1, 2, b (4) claims 2, 3. a gets 2 and then has two more than b: 2 returns to b."""
    claims = {"a": [("t", 0), ("t", 1), ("t", 2)], "b": [("t", 2), ("t", 3)]}
    request = of_generations(group({"t": 4}, {"a": ["t"], "b": ["t"]}, claims), 5, 4)
    assert asked(request) == {"a": [("t", 0), ("t", 1)], "b": [("t", 2), ("t", 3)]}
    # With 1 and 2 alone a has one more than b: 2 stays, and b gets the free 0.
    fewer = {**claims, "a": [("t", 1), ("t", 2)]}
    request = of_generations(group({"t": 4}, {"a": ["t"], "b": ["t"]}, fewer), 5, 4)
    assert asked(request) == {"a": [("t", 1), ("t", 2)], "b": [("t", 0), ("t", 3)]}


def test_of_equal_generations_the_first_member_wins_static_ones_before_others() -> None:
    """Both claim t-0; −1 counts as 0."""
    claims = {"a": [("t", 0)], "b": [("t", 0)]}
    members = {"a": ["t"], "b": ["t"]}
    request = of_generations(group({"t": 2}, members, claims, order=MapOrder.GIVEN), -1, 0)
    assert asked(request) == {"a": [("t", 0)], "b": [("t", 1)]}
    static = group({"t": 2}, members, claims, static={"b": "pod"}, order=MapOrder.GIVEN)
    assert asked(of_generations(static, 3, 3)) == {"a": [("t", 1)], "b": [("t", 0)]}


def test_claims_of_what_is_gone_or_not_read_any_more_count_for_nothing() -> None:
    """a, of the newer generation, no longer reads t; the older claim of b is as good as new."""
    claims = {"a": [("t", 0), ("u", 7), ("gone", 0)], "b": [("t", 0)]}
    request = of_generations(group({"t": 1, "u": 1}, {"a": ["u"], "b": ["t"]}, claims, order=MapOrder.GIVEN), 5, 4)
    _, numbering, plan = planned(request)
    assert plan.lists == [[], [numbering.number_of[0]]]
    assert asked(request) == {"a": [("u", 0)], "b": [("t", 0)]}


def test_who_has_least_steals_through_others() -> None:
    """a reads t, b both, c u; a has t-0 to t-3, b u-0 and u-1. After three steals each has two; c's last is through
    b.
    """
    owned = {"a": [("t", p) for p in range(4)], "b": [("u", 0), ("u", 1)]}
    request = group({"t": 4, "u": 2}, {"a": ["t"], "b": ["t", "u"], "c": ["u"]}, owned)
    _, numbering, plan = planned(request)
    balance_unequal(plan, numbering)
    assert [sorted(parts) for parts in plan.lists] == [[1, 2], [0, 3], [4, 5]]
    assert asked(request) == {"a": [("t", 1), ("t", 2)], "b": [("t", 0), ("t", 3)], "c": [("u", 0), ("u", 1)]}


def test_those_with_least_steal_in_turn() -> None:
    """a has t-0 to t-5; b, c read t too; d has u. b takes t-0, c t-5, b t-4, c t-3: always the first of a's list."""
    owned = {"a": [("t", p) for p in range(6)], "d": [("u", 0), ("u", 1)]}
    request = group({"t": 6, "u": 2}, {"a": ["t"], "b": ["t"], "c": ["t"], "d": ["u"]}, owned)
    assert asked(request) == {
        "a": [("t", 1), ("t", 2)],
        "b": [("t", 0), ("t", 4)],
        "c": [("t", 3), ("t", 5)],
        "d": [("u", 0), ("u", 1)],
    }


def test_a_repair_takes_back_what_was_lost_for_nothing() -> None:
    """a and b each have what the other had at first: the counts are right, and both get theirs back."""
    request = group({"t": 2, "u": 1}, {"a": ["t"], "b": ["t"], "c": ["u"]})
    _, numbering, plan = planned(request)
    for part, member in ((0, 1), (1, 0), (2, 2)):
        plan.give(part, member)
    plan.original[:2] = [0, 1]
    repair(plan, numbering)
    assert plan.lists == [[0], [1], [2]]
    assert plan.holder == [0, 1, 2]


def test_equal_members_end_within_one_of_each_other() -> None:
    _, numbering, plan = planned(group({"t": 7}, {"a": ["t"], "b": ["t"], "c": ["t"]}))
    balance_equal(plan, numbering)
    assert sorted(len(parts) for parts in plan.lists) == [2, 2, 3]


def test_cooperative_partitions_wait_for_their_old_owner() -> None:
    """b joins: 2 and 3 are b's in the next round. A claim that a newer one beats is no ownership."""
    request = group({"t": 4}, {"a": ["t"], "b": ["t"]}, {"a": [("t", p) for p in range(4)]})
    result = FranzGoCooperativeSticky().assign(request)
    assert answer(request, result) == {"a": [("t", 0), ("t", 1)], "b": []}
    withheld = result.withheld
    assert (withheld.partitions.tolist(), withheld.members.tolist(), withheld.topics.tolist()) == (
        [2, 3],
        [1, 1],
        [0, 0],
    )
    # As above 2 returns to b, whose claim is older than a's: a has to revoke it first.
    claims = {"a": [("t", 0), ("t", 1), ("t", 2)], "b": [("t", 2), ("t", 3)]}
    request = of_generations(group({"t": 4}, {"a": ["t"], "b": ["t"]}, claims), 5, 4)
    result = FranzGoCooperativeSticky().assign(request)
    assert answer(request, result) == {"a": [("t", 0), ("t", 1)], "b": [("t", 3)]}
    assert result.withheld.members.tolist() == [1]


@pytest.mark.parametrize("assignor", [FranzGoSticky(), FranzGoCooperativeSticky()])
def test_an_answer_says_whether_the_order_of_topics_makes_another(assignor) -> None:
    """Of t (2) and u (1) for two: t first gives t-0, t-1, then u-0 to b; u first gives u-0 to a, t-0, t-1 to b."""
    both = {"a": ["t", "u"], "b": ["t", "u"]}
    fresh = group({"t": 2, "u": 1}, both)
    result = assignor.assign(fresh)
    assert result.varies
    assert answer(fresh, result) == {"a": [("t", 0)], "b": [("t", 1), ("u", 0)]}
    assert not assignor.assign(group({"t": 3}, {"a": ["t"], "b": ["t"]})).varies
    settled = group({"t": 2, "u": 1}, both, {"a": [("t", 0)], "b": [("t", 1), ("u", 0)]})
    assert not assignor.assign(settled).varies
    nothing = group({}, {"a": [], "b": []})
    assert assignor.assign(nothing).counts.tolist() == [0, 0]


class Small:
    """Up to eight partitions of three topics, up to four members that read some of them; and all assignments."""

    def __init__(self, seed: int) -> None:
        self.random = random = np.random.default_rng(seed)
        self.members = "abcd"[: int(random.integers(2, 5))]
        counts = {topic: int(random.integers(1, 4 if topic == "t" else 3)) for topic in "tuv"}
        reads = {m: [topic for topic in counts if random.random() < 0.6] or ["t"] for m in self.members}
        readers = {t: [i for i, m in enumerate(self.members) if t in reads[m]] for t in counts}
        pairs = [(t, p) for t, count in counts.items() for p in range(count) if readers[t]]
        # Mostly with the last ones, so that there is something to move.
        last = [readers[t][-1 - int(random.integers(2)) % len(readers[t])] for t, _ in pairs]
        self.had = np.array([member if random.random() < 0.8 else -1 for member in last])
        self.owned = {
            m: [pair for pair, owner in zip(pairs, self.had, strict=True) if owner == i]
            for i, m in enumerate(self.members)
        }
        self.request = group(counts, reads, self.owned)
        self.choices = np.array(list(product(*(readers[t] for t, _ in pairs))))
        squares = sum((self.choices == i).sum(axis=1) ** 2 for i in range(len(self.members)))
        self.least_squares = min(squares)
        self.even = self.choices[squares == self.least_squares]
        self.most_kept = max((self.even == self.had).sum(axis=1))


@for_each("seed", range(30))
def test_no_assignment_is_more_even_or_keeps_more_where_as_even(seed: int) -> None:
    small = Small(seed)
    result = asked(small.request)
    assert sum(len(held) ** 2 for held in result.values()) == small.least_squares
    assert sum(len(set(result[m]) & set(small.owned[m])) for m in small.members) == small.most_kept


@for_each("seed", range(30))
def test_of_any_even_plan_a_repair_makes_one_that_keeps_the_most(seed: int) -> None:
    """Topics are in the request's order, so partition numbers are places in an assignment."""
    small = Small(seed)
    grouped = Group.of(small.request, [0] * len(small.members))
    numbering = Numbering(grouped, grouped.topics)
    for start in small.random.permutation(small.even)[:5]:
        plan = Plan([[] for _ in small.members], [-1] * len(start), small.had.tolist())
        for part, member in enumerate(start.tolist()):
            plan.give(part, member)
        repair(plan, numbering)
        assert sum(len(parts) ** 2 for parts in plan.lists) == small.least_squares
        assert sum(small.had == plan.holder) == small.most_kept
        assert sorted(part for parts in plan.lists for part in parts) == list(range(len(start)))
        assert all(member in readers for member, readers in zip(plan.holder, by_part(numbering), strict=True))


def by_part(numbering: Numbering) -> list[list[int]]:
    """Members that read each partition."""
    return [numbering.readers[topic] for topic in numbering.topic_of]


def test_a_partition_that_is_the_first_of_all_is_claimed_as_well() -> None:
    """b has t-0, a has t-1: both stay."""
    assert asked(group({"t": 2}, {"a": ["t"], "b": ["t"]}, {"b": [("t", 0)], "a": [("t", 1)]})) == {
        "a": [("t", 1)],
        "b": [("t", 0)],
    }
