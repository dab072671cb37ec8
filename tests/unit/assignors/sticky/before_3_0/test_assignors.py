"""One case by hand for each rule in which the sticky assignors of 2.3 to 2.8.2 differ, from each other or from
today's.

Of a topic t, Java's map has t-3 first, then t-2, t-1, t-0: the hash code is 1077 + 31 · partition, of which the
lowest four bits count (5, 4, 3, 2).
"""

from __future__ import annotations

import numpy as np
import pytest

from kafka_assignors.errors import AssignorError
from kafka_assignors.registry import by_name
from kafka_assignors.sticky.before_3_0 import first_that_differs
from tests.unit.assignors.groups import frozen, offsets_of
from tests.unit.assignors.sticky_groups import answer, request_with, t

EARLIER, LATER = ("sticky@2.3", "sticky@2.4"), ("sticky@2.5.1", "sticky@2.8.1")


def all_read_t(*members: str) -> dict[str, list[str]]:
    return {member: ["t"] for member in members}


@pytest.mark.parametrize("name", [*EARLIER, "cooperative-sticky@2.4"])
def test_up_to_2_5_0_the_first_of_javas_map_are_given_up_and_lists_follow_it(name: str) -> None:
    """A owns all four, in its map t-3 t-2 t-1 t-0; they are taken up in that order until 2 : 2."""
    result = answer(name, {"t": 4}, all_read_t("A", "B"), {"A": t(0, 1, 2, 3)})
    given = [] if name.startswith("cooperative") else ["t-3", "t-2"]
    assert result == [["t-1", "t-0"], given]


def test_up_to_2_5_0_what_another_member_had_before_is_given_up_first() -> None:
    """C (generation 4) had t-0 before A: t-0 is taken first, then t-3; both return. A has three, B none."""
    owned = {"A": t(0, 1, 2, 3), "C": t(0)}
    for name in EARLIER:
        assert answer(name, {"t": 4}, all_read_t("A", "B", "C"), owned, [5, 5, 4]) == [["t-2", "t-1"], ["t-3"], ["t-0"]]


def test_2_4_first_walks_over_what_was_given_out_just_now() -> None:
    """A keeps u-1, u-0; t-0, u-2 go to B, u-3 to A. 2.4 walks the dealt ones first: u-3 moves; in 2.3 u-0 moves."""
    counts, reads, owned = {"t": 1, "u": 4}, {"A": ["u"], "B": ["t", "u"], "C": ["t"]}, {"A": [("u", 0), ("u", 1)]}
    assert answer("sticky@2.3", counts, reads, owned) == [["u-1", "u-3"], ["u-2", "u-0"], ["t-0"]]
    for name in ("sticky@2.4", "cooperative-sticky@2.4"):
        assert answer(name, counts, reads, owned) == [["u-1", "u-0"], ["u-2", "u-3"], ["t-0"]]


@pytest.mark.parametrize(
    ("generations", "owner"), [([4, 5], "B"), ([5, 4], "A"), ([5, 5], "A"), ([None, None], "B"), ([-1, -1], "A")]
)
def test_a_claim_of_a_higher_generation_counts_and_of_equal_ones_the_first(
    generations: list[int | None], owner: str
) -> None:
    """A member without a generation replaces the earlier one; a member with −1 does not."""
    result = answer("sticky@2.4", {"t": 2}, all_read_t("A", "B"), {"A": t(0), "B": t(0)}, generations)
    assert result == ([["t-0"], ["t-1"]] if owner == "A" else [["t-1"], ["t-0"]])


def test_an_unsubscribed_partition_is_given_to_a_reader_and_the_first_walk_left_out() -> None:
    """B owns u-0 and reads t alone: u-0 goes to A, t-1 to B."""
    owned = {"A": t(0), "B": [("u", 0)]}
    for name in (*EARLIER, "cooperative-sticky@2.5.1"):
        result = answer(name, {"t": 2, "u": 1}, {"A": ["u", "t"], "B": ["t"]}, owned)
        # Cooperative: B has to revoke u-0 first.
        assert result == [["t-0"] if name.startswith("cooperative") else ["t-0", "u-0"], ["t-1"]]


def test_a_new_member_takes_the_first_partition_of_one_at_the_most() -> None:
    """Four partitions, three members: A and B both keep two, C takes A's first. Today A alone may: C gets B's last."""
    asked = ({"t": 4}, all_read_t("A", "B", "C"), {"A": t(0, 1), "B": t(2, 3)})
    for name in LATER:
        assert answer(name, *asked) == [["t-1"], ["t-2", "t-3"], ["t-0"]]
        assert answer(f"cooperative-{name}", *asked) == [["t-1"], ["t-2", "t-3"], []]
    assert answer("sticky", *asked) == [["t-0", "t-1"], ["t-2"], ["t-3"]]


def test_too_many_are_cut_from_the_end_of_the_owners_own_list() -> None:
    """A owns 3, 1, 2, 0 and may keep two: B gets the others in their order; cooperatively it has to wait for both."""
    asked = ({"t": 4}, all_read_t("A", "B"), {"A": t(3, 1, 2, 0)})
    for name in LATER:
        assert answer(name, *asked) == [["t-3", "t-1"], ["t-0", "t-2"]]
        assert answer(f"cooperative-{name}", *asked) == [["t-3", "t-1"], []]


def test_with_fewer_partitions_than_members_a_fresh_group_deals_in_the_order_of_javas_map() -> None:
    """ "b" hashes to 98 (bin 2), "q" to 113 (bin 1): q is first. Today the ids decide."""
    asked = ({"t": 1}, all_read_t("b", "q"), {})
    for name in LATER:
        assert answer(name, *asked) == [[], ["t-0"]]
    assert answer("sticky", *asked) == [["t-0"], []]


def test_what_two_claim_both_keep_up_to_2_8_0_and_neither_from_2_8_1() -> None:
    """Least and most are 1. Both keep t-0 and t-1 goes to the first at least; or neither: t-0 goes to A by id."""
    asked = ({"t": 2}, all_read_t("A", "B"), {"A": t(0), "B": t(0)})
    assert answer("sticky@2.5.1", *asked) == [["t-0", "t-1"], ["t-0"]]
    assert answer("sticky@2.8.1", *asked) == [["t-0"], ["t-1"]]
    assert answer("cooperative-sticky@2.8.1", *asked) == [[], ["t-1"]]
    older = ({**asked[2]}, [4, 5])
    assert answer("sticky@2.5.1", *asked[:2], *older) == [["t-1"], ["t-0"]]  # A is of an older generation: owns nothing


def test_both_keep_two_that_are_the_same_and_a_third_one_finds_nobody_at_least() -> None:
    with pytest.raises(AssignorError, match=r"java\.lang\.IllegalStateException: Some partitions are unassigned"):
        answer("sticky@2.5.1", {"t": 3}, all_read_t("A", "B"), {"A": t(0, 1), "B": t(0, 1)})


def test_a_partition_cut_from_its_owner_and_given_back_is_withheld_from_it() -> None:
    """B's vanished t-9 counts: A and B are at one, the least and the most. A's t-1 is cut, free, and goes to A."""
    asked = ({"t": 2}, all_read_t("A", "B"), {"A": t(0, 1), "B": t(9)})
    assert answer("sticky@2.8.1", *asked) == [["t-0", "t-1"], ["t-9"]]
    assert answer("cooperative-sticky@2.8.1", *asked) == [["t-0"], ["t-9"]]


# C is the first whose topics differ. A and B were read by then, and what they own is lost.
UNEQUAL = ({"t": 2, "u": 1}, {"A": ["t"], "B": ["t"], "C": ["t", "u"]}, {"A": t(1), "B": t(0), "C": [("u", 0)]})


def test_members_before_the_first_that_reads_something_else_lose_what_they_own() -> None:
    """From 2.5.1 t is dealt anew: t-0 to A, t-1 to B. Up to 2.5.0 and today they stay; cooperative ones always do."""
    for name in LATER:
        assert answer(name, *UNEQUAL) == [["t-0"], ["t-1"], ["u-0"]]
    for name in (*EARLIER, "cooperative-sticky@2.5.1", "cooperative-sticky@2.8.1", "sticky"):
        assert answer(name, *UNEQUAL) == [["t-1"], ["t-0"], ["u-0"]]


def test_cooperative_members_before_that_one_lose_their_generation_in_2_8_1() -> None:
    """A (5) and C (4) claim t-0. A's 5 has become −1, so C has it. With equal subscriptions A's 5 counts."""
    counts, owned = {"t": 2, "u": 0}, {"A": t(0), "B": t(1), "C": t(0)}
    unequal = {"A": ["t"], "B": ["t"], "C": ["t", "u"]}
    assert answer("cooperative-sticky@2.8.1", counts, unequal, owned, [5, 5, 4]) == [[], ["t-1"], ["t-0"]]
    equal = {"A": ["t"], "B": ["t"], "C": ["t"]}
    assert answer("cooperative-sticky@2.8.1", counts, equal, owned, [5, 5, 4]) == [["t-0"], ["t-1"], []]


def test_a_group_without_members() -> None:
    for name in EARLIER:
        with pytest.raises(AssignorError, match=r"java\.util\.NoSuchElementException"):
            answer(name, {"t": 1}, {}, {})
    with pytest.raises(AssignorError, match=r"java\.lang\.IllegalStateException"):
        answer("sticky@2.5.1", {"t": 1}, {}, {})
    assert answer("sticky@2.5.1", {}, {}, {}) == []


def test_the_first_that_differs_as_kafka_compares() -> None:
    """Lists before the first non-empty one are not compared; a topic listed twice counts twice, but in the first."""

    def first_difference(*subscriptions: list[int]) -> int:
        topics = frozen([topic for listed in subscriptions for topic in listed], np.int32)
        location: int = first_that_differs(np.arange(len(subscriptions)), offsets_of(subscriptions), topics, 3)
        return location

    assert first_difference([0, 1], [1, 0]) == first_difference([0, 1], [0, 0]) == 2
    assert first_difference([], [0], [0], []) == 3
    assert first_difference([0, 1], [1, 2]) == first_difference([0], [0, 0]) == 1


def test_an_order_that_java_takes_from_addresses_in_memory_is_said_to_vary() -> None:
    """t10-8, t20-7, … t90-0 have one hash code, nine in a bin: a tree. With nine partitions a topic it is eight."""
    names = [f"t{i}0" for i in range(1, 10)]
    reads, owned = {"A": names, "B": names}, {"A": [("t10", 0)]}
    for count, varies in ((9, True), (8, False)):
        request = request_with(dict.fromkeys(names, count), reads, owned)
        assert by_name("sticky@2.4").assign(request).varies is varies
        assert not by_name("sticky@2.8.1").assign(request).varies
