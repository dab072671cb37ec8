from __future__ import annotations

import pytest

from kafka_assignors.errors import AssignorError
from kafka_assignors.other_clients.sticky import SaramaSticky, cooperative
from tests.unit.assignors.sticky_groups import member_lists, request_with, t

TWO = {"A": ["t"], "B": ["t"]}


def test_a_fresh_group_gets_its_partitions_in_any_order() -> None:
    """Two partitions, two members: each gets a random one; the same seed gives the same one."""
    request = request_with({"t": 2}, TWO, {})
    result = SaramaSticky().assign(request)
    assert result.varies
    assert sorted(member_lists(request, result)) == [["t-0"], ["t-1"]]
    assert member_lists(request, SaramaSticky().assign(request)) == member_lists(request, result)


def test_where_luck_decides_nothing_the_answer_does_not_vary() -> None:
    """A and B keep one each, t-2 is the only one to deal: to A, by its id."""
    request = request_with({"t": 3}, TWO, {"A": t(0), "B": t(1)})
    for strategy in (SaramaSticky(), cooperative()):
        result = strategy.assign(request)
        assert (member_lists(request, result), result.varies) == ([["t-0", "t-2"], ["t-1"]], False)


def test_cooperatively_what_moves_waits_for_its_owner() -> None:
    """A keeps two of four, but which two is luck; B gets none of them yet."""
    request = request_with({"t": 4}, TWO, {"A": t(0, 1, 2, 3)})
    result = cooperative().assign(request)
    assert [len(listed) for listed in member_lists(request, result)] == [2, 0]
    assert (result.varies, len(result.withheld)) == (True, 2)


def test_of_two_claims_in_one_generation_the_one_that_is_met_first_counts() -> None:
    """A and B both claim t-0: the holder is random. In different generations it is not."""
    owned = {"A": t(0), "B": t(0)}
    assert SaramaSticky().assign(request_with({"t": 2}, TWO, owned, [5, 5])).varies
    request = request_with({"t": 2}, TWO, owned, [4, 5])
    assert member_lists(request, SaramaSticky().assign(request)) == [["t-1"], ["t-0"]]


def test_a_topic_without_metadata_fails_the_group() -> None:
    with pytest.raises(AssignorError, match="ErrUnknownTopicOrPartition: u"):
        SaramaSticky().assign(request_with({"t": 1}, {"A": ["t", "u"]}, {}))
