"""The coordinator's choices: strategy by ballot, leader by order of joining, never by chance."""

from kafka_rebalance.coordinator.vote import Ballot, elect_leader, elect_strategy


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


def test_a_tie_goes_to_the_first_in_javas_hash_map_order() -> None:
    """The order of names decides, not the order of votes and not the alphabet."""
    first = elect_strategy({"A": ["range", "roundrobin"], "B": ["roundrobin", "range"]})
    second = elect_strategy({"A": ["roundrobin", "range"], "B": ["range", "roundrobin"]})
    assert first.is_tie
    assert second.is_tie
    assert first.winner == second.winner == _first_in_java("range", "roundrobin")


def _first_in_java(*names: str) -> str:
    """String.hashCode and HashMap's bucket of a table of 16, written out from Java's documentation."""

    def bucket(text: str) -> int:
        code = 0
        for character in text:
            code = (31 * code + ord(character)) & 0xFFFFFFFF
        return (code ^ code >> 16) & 15

    assert len({bucket(name) for name in names}) == len(names)
    return min(names, key=bucket)


def test_the_first_to_join_leads_and_a_leader_that_stays_keeps_the_lead() -> None:
    assert elect_leader(["m2", "m1"], leader=None) == "m2"
    assert elect_leader(["m2", "m1"], leader="m1") == "m1"
    assert elect_leader([], leader="m1") is None


def test_a_leader_that_left_is_followed_by_the_first_key_of_the_hash_map() -> None:
    assert elect_leader(["b", "a"], leader="gone") == "a"  # one letter: bucket 97 & 15 = 1 comes before 98 & 15 = 2


def test_a_leader_that_missed_the_rebalance_is_followed_by_the_first_that_joined() -> None:
    assert elect_leader(["m1", "m2", "m3"], leader="m1", rejoined=["m3", "m2"]) == "m3"
