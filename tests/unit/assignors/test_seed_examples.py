"""Worked examples of the seed articles, by their numbers; each names its release where releases differ.

Article 001 numbers partitions from 1; here they start at 0, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from kafka_assignors.registry import by_name
from tests.unit.assignors.groups import answer, group

Lists = Mapping[str, Sequence[tuple[str, int]]]


def given(name: str, counts: Mapping[str, int], subscriptions: Mapping[str, str], owned: Lists | None = None) -> Lists:
    """Assignment of a strategy; ``subscriptions``: topics of each member, in one line."""
    request = group(counts, {member: topics.split() for member, topics in subscriptions.items()}, owned)
    lists = answer(request, by_name(name).assign(request))
    return {member: sorted(pairs) for member, pairs in lists.items()}


def pairs(text: str) -> list[tuple[str, int]]:
    """``t0-0 t1-2`` → [("t0", 0), ("t1", 2)]."""
    return sorted((topic, int(partition)) for topic, _, partition in (part.partition("-") for part in text.split()))


RANGES = pytest.mark.parametrize("name", ["range", "range@2.4", "range@2.0", "server-range"])
ROUND_ROBINS = pytest.mark.parametrize("name", ["roundrobin", "roundrobin@2.0"])
BOTH = {"c1": "t0 t1", "c2": "t0 t1"}


@RANGES
def test_seed_000_and_001_range_of_two_topics_of_four_partitions(name: str) -> None:
    assert given(name, {"t0": 4, "t1": 4}, BOTH) == {
        "c1": pairs("t0-0 t0-1 t1-0 t1-1"),
        "c2": pairs("t0-2 t0-3 t1-2 t1-3"),
    }


@RANGES
def test_seed_001_and_003_range_of_two_topics_of_three_favours_the_first_in_both(name: str) -> None:
    assert given(name, {"t0": 3, "t1": 3}, BOTH) == {"c1": pairs("t0-0 t0-1 t1-0 t1-1"), "c2": pairs("t0-2 t1-2")}


@ROUND_ROBINS
def test_seed_001_round_robin_of_two_topics_of_four(name: str) -> None:
    assert given(name, {"t0": 4, "t1": 4}, BOTH) == {
        "c1": pairs("t0-0 t0-2 t1-0 t1-2"),
        "c2": pairs("t0-1 t0-3 t1-1 t1-3"),
    }


@ROUND_ROBINS
def test_seed_001_round_robin_is_uneven_where_subscriptions_differ(name: str) -> None:
    assert given(name, {"t1": 4, "t2": 4}, {"c1": "t1 t2", "c2": "t1"}) == {
        "c1": pairs("t1-0 t1-2 t2-0 t2-1 t2-2 t2-3"),
        "c2": pairs("t1-1 t1-3"),
    }


@ROUND_ROBINS
def test_seed_003_round_robin_of_two_topics_of_three(name: str) -> None:
    assert given(name, {"t0": 3, "t1": 3}, {"C0": "t0 t1", "C1": "t0 t1"}) == {
        "C0": pairs("t0-0 t0-2 t1-1"),
        "C1": pairs("t0-1 t1-0 t1-2"),
    }


@ROUND_ROBINS
def test_seed_003_round_robin_of_one_two_and_three_partitions(name: str) -> None:
    assert given(name, {"t0": 1, "t1": 2, "t2": 3}, {"C0": "t0", "C1": "t0 t1", "C2": "t0 t1 t2"}) == {
        "C0": pairs("t0-0"),
        "C1": pairs("t1-0"),
        "C2": pairs("t1-1 t2-0 t2-1 t2-2"),
    }


THREE = {"t1": 2, "t2": 2, "t3": 2}
ALL = "t1 t2 t3"
ARTICLE_FIRST = {"C1": pairs("t1-1 t3-1"), "C2": pairs("t1-0 t2-1"), "C3": pairs("t2-0 t3-0")}
AFTER_C3_DIED = {member: ARTICLE_FIRST[member] for member in ("C1", "C2")}


@pytest.mark.parametrize("name", ["sticky", "sticky@2.0", "cooperative-sticky"])
def test_seed_001_sticky_first_round_gives_two_to_each(name: str) -> None:
    """The article's table depends on generated member ids that it does not state: only balance can be checked."""
    lists = given(name, THREE, dict.fromkeys(("C1", "C2", "C3"), ALL))
    assert [len(topics) for topics in lists.values()] == [2, 2, 2]
    assert sorted(pair for topics in lists.values() for pair in topics) == pairs("t1-0 t1-1 t2-0 t2-1 t3-0 t3-1")


def test_seed_001_sticky_first_round_in_kafka_4_3() -> None:
    lists = given("sticky", THREE, {"C3": ALL, "C1": ALL, "C2": ALL})
    assert lists == {"C1": pairs("t1-0 t2-1"), "C2": pairs("t1-1 t3-0"), "C3": pairs("t2-0 t3-1")}


def test_seed_001_sticky_after_c3_died_is_the_articles_table_in_kafka_2_0() -> None:
    lists = given("sticky@2.0", THREE, {"C1": ALL, "C2": ALL}, AFTER_C3_DIED)
    assert lists == {"C1": pairs("t1-1 t3-0 t3-1"), "C2": pairs("t1-0 t2-0 t2-1")}


@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
def test_seed_001_sticky_after_c3_died_deals_the_rest_otherwise_since_2_6(name: str) -> None:
    lists = given(name, THREE, {"C1": ALL, "C2": ALL}, AFTER_C3_DIED)
    assert lists == {"C1": pairs("t1-1 t2-0 t3-1"), "C2": pairs("t1-0 t2-1 t3-0")}


def test_seed_004_of_three_consumers_and_two_partitions_the_last_gets_nothing() -> None:
    assert given("metaq-default", {"t": 2}, dict.fromkeys("abc", "t")) == {"a": [("t", 0)], "b": [("t", 1)], "c": []}
