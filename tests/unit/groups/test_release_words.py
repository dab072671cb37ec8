"""What a group's own row says of releases: when today's assignment is evidence, and when it is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.groups.release_words import spans_of
from kafka_rebalance.snapshot.model import Member
from tests.unit.groups.test_group_steps import asked


def test_neighbours_are_one_span() -> None:
    assert spans_of(["range@2.1", "range@2.0"]) == "Kafka 0.9 – 2.3"
    assert spans_of(["range", "range@2.1"]) == "Kafka 3.5 – 4.3, Kafka 2.1 – 2.3"


def test_what_an_even_assignment_says_of_a_sticky_strategy_is_nothing() -> None:
    settled = [Member("a", assigned=(("t", (0, 3)),)), Member("b", assigned=(("t", (1, 2)),))]
    for protocol in ("sticky", "cooperative-sticky"):
        words = replay_group(asked(settled, {"t": 4}, protocol=protocol)).today.version
        assert words is not None
        assert words.startswith("Kafka 3.7.1 – 4.3 (today's assignment fits")
        assert "gives" not in words


def test_range_gives_todays_assignment_only_where_no_other_would() -> None:
    """Of one topic range's answer is even, so sticky ones would leave it; of two topics of three it is 4 against 2."""
    even = [Member("a", assigned=(("t", (0, 1)),)), Member("b", assigned=(("t", (2, 3)),))]
    assert replay_group(asked(even, {"t": 4})).today.version == (
        "Kafka 3.5 – 4.3 (today's assignment fits, sticky and cooperative-sticky would give it, too)"
    )
    uneven = [Member("a", assigned=(("t", (0, 1)), ("u", (0, 1)))), Member("b", assigned=(("t", (2,)), ("u", (2,))))]
    group = asked(uneven, {"t": 3, "u": 3})
    assert replay_group(group).today.version == "Kafka 3.5 – 4.3 (gives today's assignment)"
    ids = tuple(replace(member, client_id="consumer-g-1", subscription_version=3) for member in group.group.members)
    known = replace(group, group=replace(group.group, members=ids))
    assert replay_group(known).today.version == (
        "Kafka 3.5 – 4.3 (gives today's assignment; java 3.4 and later by its client id and what it says when it joins "
        "(high))"
    )


def test_releases_that_give_something_else_are_named() -> None:
    """Before 2.4 range put static members where their ids are."""
    members = [Member("z", instance_id="pod", assigned=(("t", (2,)), ("u", (2,)))),
               Member("a", assigned=(("t", (0, 1)), ("u", (0, 1))))]  # fmt: skip
    words = replay_group(asked(members, {"t": 3, "u": 3})).today.version
    assert words == "Kafka 0.9 – 2.3 (gives today's assignment; Kafka 2.4 – 4.3 would not)"


def test_of_a_told_release_that_release_alone_is_asked() -> None:
    """4 partitions, own order 3 1 0 2 of one member that another joins: 3.7.0 keeps 3 and 1, the newest 0 and 1."""
    members = [Member("a", assigned=(("t", (3, 1, 0, 2)),)), Member("b")]
    group = asked(members, {"t": 4}, protocol="roundrobin")
    told = replace(group, group=replace(group.group, client="java", client_version="3.7.0"))
    rows = {name: replay_group(given).score("sticky") for name, given in (("any", group), ("told", told))}
    assert rows["told"] is not None
    assert rows["told"].version == "Kafka 3.5.2 – 3.7.0 (java 3.7.0 by a rule (given))"
    assert rows["any"] is not None
    assert rows["any"].version == "Kafka 3.7.1 – 4.3 (assumed; Kafka 3.0 – 3.4.0 would differ)"
    assert np.array_equal([rows["told"].partitions_moved], [2])
