"""Seed article 001's own assignors: random and broadcast."""

import pytest

from kafka_assignors.client.group_broadcast import GroupBroadcastAssignor, shared_offsets
from kafka_assignors.client.random_lots import RandomAssignor
from kafka_assignors.contract import MapOrder
from kafka_assignors.errors import AssignorError
from tests.unit.assignors.groups import answer, group


def test_seed_001_broadcast_gives_every_member_all_partitions_of_its_topics() -> None:
    request = group({"t": 2, "u": 1}, {"c1": ["t", "u"], "c2": ["t"]}, order=MapOrder.GIVEN)
    assignment = GroupBroadcastAssignor().assign(request)
    assert answer(request, assignment) == {"c1": [("t", 0), ("t", 1), ("u", 0)], "c2": [("t", 0), ("t", 1)]}
    assert shared_offsets(request, assignment) == 2


def test_seed_001_broadcast_fails_on_a_topic_without_metadata() -> None:
    request = group({"t": 2}, {"c1": ["t", "ghost"]})
    with pytest.raises(AssignorError, match=r"java\.lang\.NullPointerException.*ghost"):
        GroupBroadcastAssignor().assign(request)


def test_a_topic_listed_twice_is_broadcast_twice() -> None:
    request = group({"t": 2}, {"c1": ["t", "t"]})
    assignment = GroupBroadcastAssignor().assign(request)
    assert answer(request, assignment) == {"c1": [("t", 0), ("t", 1), ("t", 0), ("t", 1)]}
    assert shared_offsets(request, assignment) == 0


def test_seed_001_random_gives_each_partition_one_subscriber() -> None:
    request = group({"t": 20, "unread": 3}, {"c1": ["t"], "c2": ["t", "ghost"], "c3": []}, seed=5)
    shares = answer(request, RandomAssignor().assign(request))
    assert sorted(pair for pairs in shares.values() for pair in pairs) == [("t", p) for p in range(20)]
    assert shares["c3"] == []
    assert min(len(shares["c1"]), len(shares["c2"])) > 0


def test_random_is_the_same_for_a_seed_and_another_for_another() -> None:
    draws = [
        RandomAssignor().assign(group({"t": 50}, {"c1": ["t"], "c2": ["t"]}, seed=seed)).offsets.tolist()
        + RandomAssignor().assign(group({"t": 50}, {"c1": ["t"], "c2": ["t"]}, seed=seed)).partitions.tolist()
        for seed in (1, 1, 2)
    ]
    assert draws[0] == draws[1]
    assert draws[0] != draws[2]


def test_who_lists_a_topic_twice_draws_twice_as_often() -> None:
    request = group({"t": 3000}, {"c1": ["t", "t"], "c2": ["t"]}, seed=3)
    shares = answer(request, RandomAssignor().assign(request))
    assert 1900 < len(shares["c1"]) < 2100
