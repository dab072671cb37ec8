from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kafka_assignors.releases import Client
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.groups.member_clients import KnownClient, Sign, Sureness
from kafka_rebalance.groups.strategies import release_spans
from kafka_rebalance.snapshot.model import Member
from tests.unit.groups.test_group_steps import asked

NEWEST_RANGE = ("Kafka", "3.5", "4.4")


def args_of_today(given: GroupInput) -> dict[str, Any]:
    """Return the arguments of the version in today's row."""
    version = replay_group(given).today.version
    assert version is not None
    assert version.code is FactCode.GIVES_TODAY
    return dict(version.args)


def test_neighbours_are_one_span() -> None:
    assert release_spans(["range@2.1", "range@2.0"]) == (("Kafka", "0.9", "2.3"),)
    assert release_spans(["range", "range@2.1"]) == (NEWEST_RANGE, ("Kafka", "2.1", "2.3"))


def test_what_an_even_assignment_says_of_a_sticky_strategy_is_nothing() -> None:
    settled = [Member("a", assigned=(("t", (0, 3)),)), Member("b", assigned=(("t", (1, 2)),))]
    for protocol in ("sticky", "cooperative-sticky"):
        given = args_of_today(asked(settled, {"t": 4}, protocol=protocol))
        assert (given["releases"], given["keeps_even"]) == ((("Kafka", "3.7.1", "4.4"),), True)


def test_range_gives_todays_assignment_only_where_no_other_would() -> None:
    """Of one topic range's answer is even, so sticky ones would leave it; of two topics of three it is 4 against 2."""
    even = [Member("a", assigned=(("t", (0, 1)),)), Member("b", assigned=(("t", (2, 3)),))]
    result = args_of_today(asked(even, {"t": 4}))
    assert (result["releases"], result["alike"]) == ((NEWEST_RANGE,), ("sticky", "cooperative-sticky"))
    uneven = [Member("a", assigned=(("t", (0, 1)), ("u", (0, 1)))), Member("b", assigned=(("t", (2,)), ("u", (2,))))]
    group = asked(uneven, {"t": 3, "u": 3})
    result = args_of_today(group)
    assert result == {
        "releases": (NEWEST_RANGE,), "differing": (), "alike": (), "keeps_even": False, "basis": None,
        "is_rackless": False,
    }  # fmt: skip
    ids = tuple(replace(member, client_id="consumer-g-1", subscription_version=3) for member in group.group.members)
    known = replace(group, group=replace(group.group, members=ids))
    client = KnownClient(Client.JAVA, Sureness.HIGH, Sign.CLIENT_ID_AND_JOIN_BYTES, "3.4", "")
    assert args_of_today(known) == result | {"basis": client.fact(is_asked=True)}


def test_releases_that_give_something_else_are_named() -> None:
    """Before 2.4 range put static members where their ids are."""
    members = [Member("z", instance_id="pod", assigned=(("t", (2,)), ("u", (2,)))),
               Member("a", assigned=(("t", (0, 1)), ("u", (0, 1))))]  # fmt: skip
    result = args_of_today(asked(members, {"t": 3, "u": 3}))
    assert (result["releases"], result["differing"]) == ((("Kafka", "0.9", "2.3"),), (("Kafka", "2.4", "4.4"),))


def test_of_a_told_release_that_release_alone_is_asked() -> None:
    """4 partitions, own order 3 1 0 2 of one member that another joins: 3.7.0 keeps 3 and 1, the newest 0 and 1."""
    members = [Member("a", assigned=(("t", (3, 1, 0, 2)),)), Member("b")]
    group = asked(members, {"t": 4}, protocol="roundrobin")
    changed_group = replace(group, group=replace(group.group, client="java", client_version="3.7.0"))
    rows = {name: replay_group(given).score("sticky") for name, given in (("any", group), ("told", changed_group))}
    assert rows["told"] is not None
    client = KnownClient(Client.JAVA, Sureness.GIVEN, Sign.RULE, "3.7.0", "3.7.0")
    assert rows["told"].version == fact(
        FactCode.ANSWER_OF_RELEASES, releases=(("Kafka", "3.5.2", "3.7.0"),), basis=client.fact(is_asked=True),
        differing=(),
    )  # fmt: skip
    assert rows["any"] is not None
    assert rows["any"].version == fact(
        FactCode.ANSWER_OF_RELEASES, releases=(("Kafka", "3.7.1", "4.4"),), basis=None,
        differing=(("Kafka", "3.0", "3.4.0"),),
    )  # fmt: skip
    assert np.array_equal([rows["told"].partitions_moved], [2])
