from __future__ import annotations

import pytest

from kafka_assignors.errors import AssignorError
from kafka_assignors.other_clients.sticky import LibrdkafkaCooperative
from tests.unit.assignors.sticky_groups import answer, member_lists, request_with, t

NAME = "cooperative-sticky@librdkafka"


def test_the_lowest_partitions_of_the_fullest_move_and_wait_for_their_owner() -> None:
    request = request_with({"t": 4}, {"A": ["t"], "B": ["t"]}, {"A": t(3, 2, 1, 0)})
    result = LibrdkafkaCooperative().assign(request)
    assert [set(listed) for listed in member_lists(request, result)] == [{"t-2", "t-3"}, set()]
    assert result.target is not None
    assert [set(listed) for listed in member_lists(request, result.target)] == [{"t-2", "t-3"}, {"t-0", "t-1"}]
    assert len(result.withheld) == 2


def test_what_nobody_has_is_dealt_backwards_if_somebody_has_anything() -> None:
    """A keeps t-0. u-1, u-0, t-1 are dealt: B u-1, then (A 1, B 1, by id) A u-0, B t-1. Without owners: by name."""
    counts, reads = {"t": 2, "u": 2}, {"A": ["t", "u"], "B": ["t", "u"]}
    assert [set(listed) for listed in answer(NAME, counts, reads, {"A": t(0)})] == [{"t-0", "u-0"}, {"u-1", "t-1"}]
    assert [set(listed) for listed in answer(NAME, counts, reads, {})] == [{"t-0", "u-0"}, {"t-1", "u-1"}]


def test_of_two_claims_in_one_generation_nobody_keeps_any_and_the_last_is_waited_for() -> None:
    """t-0 is dealt anew to A, but B is the last claimant: A has to wait, even with a newer claim."""
    for generations in ([5, 5], [5, 4]):
        result = answer(NAME, {"t": 2}, {"A": ["t"], "B": ["t"]}, {"A": t(0), "B": t(0)}, generations)
        assert result == [[], ["t-1"]]


def test_partitions_that_exist_no_longer_are_handed_back() -> None:
    """t-9 and x-0, of a topic that is gone, go to B again; that A claims t-9 before B is forgotten."""
    result = answer(NAME, {"t": 2}, {"A": ["t"], "B": ["t"]}, {"A": t(0, 9), "B": [*t(9), ("x", 0)]}, [5, 4])
    assert [set(listed) for listed in result] == [{"t-0"}, {"t-1", "t-9", "x-0"}]


def test_where_the_only_recorded_move_is_to_be_turned_back_the_leader_reads_freed_memory() -> None:
    """Nothing is free. C gets t-0 of A (2), u-0 and u-1 of B (5). Now A has 1, C 3: t's only move is reversed."""
    counts, reads = {"t": 2, "u": 5}, {"A": ["t"], "B": ["u"], "C": ["t", "u"]}
    owned = {"A": t(0, 1), "B": [("u", partition) for partition in range(5)]}
    with pytest.raises(AssignorError, match="use after free: librdkafka's leader reads memory that it has freed"):
        answer(NAME, counts, reads, owned)
