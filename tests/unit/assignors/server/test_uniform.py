from dataclasses import replace

import numpy as np
import pytest

from kafka_assignors.contract import MapOrder
from kafka_assignors.errors import AssignorError
from kafka_assignors.server.uniform import ServerUniformAssignor, as_of_4_0_0
from tests.unit.assignors.groups import answer, group

A, B = ["t"], {"a": [("t", p) for p in range(4)], "b": [("t", p) for p in range(4, 7)]}


def test_from_4_0_1_who_holds_one_more_keeps_it_and_before_the_first_in_map_order_took_it() -> None:
    request = group({"t": 7}, {"b": A, "a": A}, B, order=MapOrder.GIVEN)
    now = answer(request, ServerUniformAssignor().assign(request))
    assert {member: sorted(pairs) for member, pairs in now.items()} == B
    before = answer(request, as_of_4_0_0().assign(request))
    assert sorted(before["b"]) == [("t", 3), ("t", 4), ("t", 5), ("t", 6)]


def test_in_a_fresh_group_the_extras_go_to_the_last_now_and_to_the_first_in_4_0_0() -> None:
    request = group({"t": 5}, {"x": A, "y": A, "z": A}, order=MapOrder.GIVEN)
    assert [len(pairs) for pairs in answer(request, ServerUniformAssignor().assign(request)).values()] == [1, 2, 2]
    assert [len(pairs) for pairs in answer(request, as_of_4_0_0().assign(request)).values()] == [2, 2, 1]


def test_a_partition_said_to_be_free_is_held_once_by_the_member_that_gets_it_again() -> None:
    request = group({"t": 2}, {"a": A}, {"a": [("t", 0)]}, order=MapOrder.GIVEN)
    said = replace(request, is_assigned=np.array([False, True]))
    assert answer(said, ServerUniformAssignor().assign(said)) == {"a": [("t", 0)]}


def test_what_cannot_be_given_out_within_the_quotas_is_refused() -> None:
    owned = {"a": [("t", 0), ("t", 1), ("t", 2)], "b": [("t", 2), ("t", 0), ("t", 1)]}
    request = group({"t": 3}, {"a": A, "b": A, "c": A}, owned)
    with pytest.raises(AssignorError, match="Partitions were left unassigned"):
        ServerUniformAssignor().assign(request)


def test_members_that_subscribe_to_nothing_do_not_appear_when_nobody_does() -> None:
    request = group({"t": 3}, {"a": [], "b": []})
    assert answer(request, ServerUniformAssignor().assign(request)) == {}


def test_one_topic_more_for_some_members_is_evened_out_as_far_as_subscriptions_allow() -> None:
    request = group({"t": 4, "u": 4}, {"a": ["t"], "b": ["t", "u"], "c": ["u"]})
    counts = {member: len(pairs) for member, pairs in answer(request, ServerUniformAssignor().assign(request)).items()}
    assert sorted(counts.values()) == [2, 3, 3]
