from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from kafka_assignors.contract import MapOrder
from kafka_rebalance.groups.request_frame import bounds_of, frame_of
from kafka_rebalance.groups.scenarios import GroupState
from kafka_rebalance.groups.subscriptions import request_of
from tests.unit.groups.scenarios.small_groups import reading, state

# Rows: a-0, a-1, b-0, d-0, d-1 with 1 to 5 bytes/s; c is not in the cluster, b has no subscribers.
MEMBERS = [reading("m1", "d", "c", rack="r2"), reading("m2", "a")]
TODAY = state(MEMBERS, {"a": 2, "b": 1, "c": -1, "d": 2})


def owned(today: GroupState, *reader: int) -> list[list[tuple[int, int]]]:
    members = today.of_client.of_reader(np.array(reader, np.int32)).members
    pairs = list(zip(members.owned_topics.tolist(), members.owned_partitions.tolist(), strict=True))
    bounds = members.owned_offsets.tolist()
    return [pairs[begin:end] for begin, end in pairwise(bounds)]


def test_each_member_owns_what_it_reads_in_the_order_of_topics() -> None:
    assert owned(TODAY, 1, 0, -1, 1, 0) == [[(0, 1), (3, 1)], [(0, 0), (3, 0)]]
    assert owned(TODAY, -1, -1, 1, -1, -1) == [[], [(1, 0)]]  # topics without subscribers may be owned
    members = TODAY.of_client.of_reader(np.array([1, 1, 1, -1, -1], np.int32)).members
    assert members.has_owned.tolist() == [False, True]
    assert not members.owned_topics.flags.writeable  # strategies share them
    assert not members.owned_partitions.flags.writeable
    assert TODAY.of_client.empty.members.has_owned.tolist() == [False, False]


def test_a_call_is_the_one_that_is_made_of_todays_members() -> None:
    members = [
        replace(MEMBERS[0], assigned=(("d", (0, 1)),)), replace(MEMBERS[1], assigned=(("a", (0,)), ("b", (0, 7)))),
    ]  # fmt: skip
    today = state(members, {"a": 2, "b": 1, "c": -1, "d": 2})
    first = request_of(today.group_input, today.subscriptions)
    other = today.of_client.of_reader(today.group_input.reader)
    for name in ("owned_offsets", "owned_topics", "owned_partitions", "has_owned", "generations", "racks"):
        assert np.array_equal(getattr(first.members, name), getattr(other.members, name))


def test_a_coordinator_starts_from_its_target_in_the_order_of_its_maps() -> None:
    """d before a, and 1 before 0; what nobody has comes last."""
    members = [
        replace(MEMBERS[0], assigned=(("a", (0, 1)),), target=(("d", (1, 0)), ("a", (1,)))),
        replace(MEMBERS[1], target=(("b", (7, 0)),)),
    ]
    today = state(members, {"a": 2, "b": 1, "c": -1, "d": 2})
    assert today.of_server.rows.tolist() == [4, 3, 1, 2, 0]
    assert today.of_client.rows.tolist() == [0, 1, 2, 3, 4]
    server = request_of(today.group_input, today.subscriptions, is_server=True).members
    assert server.owned_topics.tolist() == [3, 3, 0, 1]
    assert server.owned_partitions.tolist() == [1, 0, 1, 0]
    moved = today.of_server.of_reader(np.array([0, 0, 1, 1, 0], np.int32)).members
    assert moved.owned_topics.tolist() == [3, 0, 0, 3, 1]
    assert moved.owned_partitions.tolist() == [1, 1, 0, 0, 0]


def test_strategies_hear_of_subscribed_topics_and_the_coordinators_of_those_that_are_there() -> None:
    client, server = TODAY.of_client.empty, TODAY.of_server.empty
    assert client.topics.partition_counts.tolist() == server.topics.partition_counts.tolist() == [2, -1, -1, 2]
    assert (client.members.subscription_topics.tolist(), server.members.subscription_topics.tolist()) == (
        [3, 2, 0], [3, 0],
    )  # fmt: skip
    assert {client.order, server.order} == {MapOrder.LEADER}


@pytest.mark.parametrize(
    ("rates", "weights"),
    [
        ([1, 2, np.nan, 4, 5], [1, 2, 4, 5]),  # b's is not needed
        ([1, np.nan, 3, 4, 5], None),
        ([0, 0, 3, 0, 0], None),  # nothing weighs anything
    ],
)
def test_partitions_weigh_what_is_written_to_them_where_all_is_known(
    rates: list[float], weights: list[float] | None
) -> None:
    given = TODAY.group_input
    with_rates = replace(given, rates=replace(given.rates, in_bytes_per_s=np.array(rates)))
    result = frame_of(with_rates, TODAY.subscriptions).empty.weights
    assert (None if result is None else result.tolist()) == weights


def test_racks_are_those_of_subscribed_partitions_by_number() -> None:
    """a-0 on r1 and r2, a-1 on unknown racks, b-0 (not needed) on r3, d-0 on none, d-1 on r2."""
    given = replace(TODAY.group_input, rack_offsets=np.array([0, 2, 3, 4, 4, 5]), racks=("r1", "r2", None, "r3", "r2"))
    request = frame_of(given, TODAY.subscriptions).empty
    assert request.rack_names == ("r1", "r2", "r3")
    assert request.members.racks.tolist() == [1, -1]
    assert request.topics.rack_offsets.tolist() == [0, 2, 3, 3, 4]
    assert request.topics.racks.tolist() == [0, 1, -1, 1]


def test_members_are_put_into_the_map_as_the_coordinator_walks_them_or_as_listed() -> None:
    given = replace(TODAY.group_input, kafka_version="4.1.0")
    server = frame_of(given, TODAY.subscriptions, is_server=True).empty
    assert server.member_order is not None
    assert sorted(server.member_order.tolist()) == [0, 1]
    assert frame_of(given, TODAY.subscriptions, is_server=True, as_listed=True).empty.member_order is None
    assert bounds_of([[1, 2], [], [3]]).tolist() == [0, 2, 2, 3]
    nobody = frame_of(replace(given, group=replace(given.group, members=())), ()).empty
    assert (len(nobody.members), nobody.topics.partition_counts.tolist()) == (0, [-1, -1, -1, -1])
