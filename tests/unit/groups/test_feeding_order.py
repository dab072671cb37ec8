from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.registry import by_name
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.request_frame import feeding_order
from kafka_rebalance.groups.subscriptions import request_of
from kafka_rebalance.scoring.assignment_scores import PartitionRates
from kafka_rebalance.snapshot.model import Group, GroupType, Member


def members_of(*ids: str) -> tuple[Member, ...]:
    return tuple(Member(name) for name in ids)


@pytest.mark.parametrize(
    ("ids", "release", "is_server", "positions"),
    [
        # Fibonacci hashing of "b" (98) and "B" (66) into four slots: 2 and 3. By id "B" comes first.
        (("B", "b"), (4, 3), True, [1, 0]),
        # "10" hashes to 49 · 31 + 48 = 1567 and "o" to 111: both bin 15 of Scala's 16, by hash. By id "10" is first.
        (("10", "o"), (3, 9), False, [1, 0]),
        # ClassicGroup has them in join order, which is unknown; so is everything for an unknown broker.
        (("10", "o"), (4, 0), False, None),
        (("10", "o"), (), False, None),
        (("10", "o"), (2, 4), False, None),
        # A dump may list the members of one client id as one.
        (("b", "b"), (4, 3), True, None),
    ],
)
def test_the_order_in_which_members_are_put(
    ids: tuple[str, ...], release: tuple[int, ...], is_server: bool, positions: list[int] | None
) -> None:
    order = feeding_order(members_of(*ids), release, is_server=is_server)
    assert (None if order is None else order.tolist()) == positions


def test_who_is_put_last_gets_the_odd_partition() -> None:
    """ "B" and "b" share bin 2; three partitions, and new places are dealt from the map's end."""
    nothing = np.zeros(3)
    group = Group("g", type=GroupType.CONSUMER, protocol="uniform", members=members_of("B", "b"))
    group_input = GroupInput(
        group, ("t",), np.array([3], np.int32), PartitionRates(nothing, nothing, nothing), kafka_version="4.3.1"
    )
    request = request_of(group_input, ((0,), (0,)), is_server=True)
    listed = replace(request, member_order=None)
    uniform = by_name("server-uniform")
    assert [len(uniform.assign(request).of_member(i)) for i in range(2)] == [2, 1]
    assert [len(uniform.assign(listed).of_member(i)) for i in range(2)] == [1, 2]


def test_an_order_that_lacks_a_member_is_refused() -> None:
    nothing = np.zeros(0)
    group = Group("g", type=GroupType.CONSUMER, protocol="uniform", members=members_of("a", "b"))
    rates = PartitionRates(nothing, nothing, nothing)
    request = request_of(GroupInput(group, (), np.zeros(0, np.int32), rates), ((), ()))
    with pytest.raises(InvalidInputError, match="request, member_order: is no order of 2 members"):
        replace(request, member_order=np.array([0, 0]))
