"""The leader of a classic group: by joining, by rejoining, by the order of the coordinator's map; never by chance.

Members are single letters: "a" hashes to 97, in bin 1 of 16, "b" has bin 2, … "o" bin 15, "p" bin 0, "q" bin 1.
"""

import pytest

from kafka_assignors.coordinator.membership import Coordinator, GroupMember, Membership
from kafka_assignors.errors import InvalidInputError

RANGE = ("range",)


def group_of(joined: str, coordinator: Coordinator = Coordinator.JAVA) -> Membership:
    """One-letter members that joined in this order and have had their answers."""
    group = Membership.empty(coordinator)
    for letter in joined:
        group = group.joined(GroupMember(letter, RANGE))
    return group.completed()


def test_the_first_to_join_leads_and_keeps_the_lead() -> None:
    group = group_of("cab")
    assert group.leader == "c"
    assert group.rejoined("c", RANGE).rejoined("a", RANGE).elected()[0].leader == "c"
    assert Membership.empty().leader is None


@pytest.mark.parametrize(("coordinator", "order"), [(Coordinator.JAVA, "pqabc"), (Coordinator.SCALA, "paqbc")])
def test_members_are_walked_in_the_order_of_the_map(coordinator: Coordinator, order: str) -> None:
    """ "q" came before "a", which has its bin: Java keeps that, Scala sorts by hash."""
    assert "".join(group_of("cqbap", coordinator).order()) == order


@pytest.mark.parametrize(("coordinator", "leader"), [(Coordinator.JAVA, "q"), (Coordinator.SCALA, "a")])
def test_a_leader_that_left_is_followed_by_the_first_of_the_map(coordinator: Coordinator, leader: str) -> None:
    assert group_of("cqba", coordinator).without("c").leader == leader
    assert group_of("cqba", coordinator).without("b").leader == "c"


def test_a_leader_that_missed_the_rebalance_is_followed_by_the_first_of_the_map_that_did_not() -> None:
    """ "c" rejoins before "b"; the map has b (bin 2) before c (3). "a" (1) missed it as well."""
    group, is_over = group_of("dabc").rejoined("c", RANGE).rejoined("b", RANGE).elected()
    assert (group.leader, is_over) == ("b", True)


def test_where_nobody_has_rejoined_the_join_phase_goes_on() -> None:
    group = group_of("dabc")
    assert group.elected() == (group, False)
    assert Membership.empty().elected() == (Membership.empty(), False)


def test_a_static_member_that_is_back_keeps_the_lead_but_neither_its_place_nor_its_wait() -> None:
    """ "q" comes back as "A" (65, bin 1): behind "a" now, and it waits for nothing."""
    group = group_of("qa").rejoined("q", RANGE).replaced("q", "A")
    assert (group.leader, group.order()) == ("A", ("a", "A"))
    assert group.elected() == (group, False)
    assert group.rejoined("a", RANGE).elected()[0].leader == "a"


def test_the_vote_is_of_those_who_are_there() -> None:
    group = Membership.empty(Coordinator.SCALA)
    for name, strategies in (("a", ("sticky", "range")), ("b", ("range", "sticky")), ("c", ("range", "roundrobin"))):
        group = group.joined(GroupMember(name, strategies))
    assert group.vote().winner == "range"  # the only one that all list
    assert group.without("c").vote().winner == "range"  # a tie, by Scala's map
    assert group.without("c").rejoined("b", ("sticky",)).vote().winner == "sticky"


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda group: group.joined(GroupMember("a", RANGE)), "member a: joins, but is in the group"),
        (lambda group: group.rejoined("x", RANGE), "member x: is not in the group"),
        (lambda group: group.without("x"), "member x: is not in the group"),
        (lambda group: group.replaced("x", "y"), "member x: is not in the group"),
        (lambda group: group.replaced("a", "b"), "member b: comes back for a, but is in the group"),
    ],
)  # fmt: skip
def test_a_step_that_cannot_be_is_refused(step, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidInputError, match=message):
        step(group_of("ab"))
