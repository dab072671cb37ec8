from itertools import combinations

import pytest

from kafka_assignors.coordinator.membership import Ballot, Coordinator, coordinator_of, elect_strategy

# The earliest of these wins a tie of built-in names (CLIENTS' recordings; written out from both maps).
ORDER = {
    Coordinator.SCALA: ("cooperative-sticky", "roundrobin", "range", "sticky"),
    Coordinator.JAVA: ("sticky", "range", "roundrobin", "cooperative-sticky"),
}


def test_seed_002_each_member_votes_for_the_first_of_its_own_list_that_all_support() -> None:
    vote = elect_strategy({"A": ["range", "sticky"], "B": ["sticky", "range"], "C": ["sticky", "range"]})
    assert vote.candidates == ("range", "sticky")
    assert vote.ballots == (Ballot("A", "range"), Ballot("B", "sticky"), Ballot("C", "sticky"))
    assert (vote.winner, vote.is_tie) == ("sticky", False)


def test_a_strategy_that_one_member_lacks_is_no_candidate() -> None:
    vote = elect_strategy({"A": ["cooperative-sticky", "range"], "B": ["range"]})
    assert vote.candidates == ("range",)
    assert vote.winner == "range"


def test_without_a_common_strategy_nobody_wins() -> None:
    vote = elect_strategy({"A": ["range"], "B": ["sticky"]})
    assert (vote.candidates, vote.ballots, vote.winner) == ((), (), None)
    assert elect_strategy({}).winner is None


@pytest.mark.parametrize("coordinator", Coordinator)
def test_a_tie_goes_by_the_names_and_the_release_not_by_the_members(coordinator: Coordinator) -> None:
    for first, second in combinations(ORDER[coordinator], 2):
        for lists in ({"A": [first, second], "B": [second, first]}, {"A": [second, first], "B": [first, second]}):
            vote = elect_strategy(lists, coordinator)
            assert (vote.winner, vote.is_tie) == (first, True)


def test_a_release_has_the_class_that_was_run_or_none() -> None:
    assert {coordinator_of(release) for release in ((2, 8), (2, 8, 2), (3,), (3, 9, 2))} == {Coordinator.SCALA}
    assert {coordinator_of(release) for release in ((4,), (4, 0, 0), (4, 4, 0), (4, 5), (5,))} == {Coordinator.JAVA}
    assert {coordinator_of(release) for release in ((2, 7, 2), (2, 7), (0, 11))} == {None}
