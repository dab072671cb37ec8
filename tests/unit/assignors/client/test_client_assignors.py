from __future__ import annotations

import numpy as np
import pytest

from kafka_assignors.client.range import (
    LegacyRangeAssignor,
    RangeAssignor,
    StaticFirstRangeAssignor,
    topics_that_need_racks,
)
from kafka_assignors.client.roundrobin import LegacyRoundRobinAssignor, RoundRobinAssignor
from kafka_assignors.contract import MapOrder
from kafka_assignors.custom import member_views, topic_views
from kafka_assignors.custom_views import MemberView
from kafka_assignors.errors import AssignorError
from kafka_assignors.orders import by_member_id, by_member_info, ranks_among, ranks_of
from kafka_assignors.owned_lists import lists_by_owner
from kafka_assignors.racks import partition_racks, reader_racks, use_racks
from kafka_assignors.ranges import subscriber_counts
from kafka_assignors.server.orders import is_hashed, is_homogeneous, refuse_missing_topics
from kafka_assignors.server.range import ServerRangeAssignor
from kafka_assignors.server.uniform_heterogeneous import list_subscribers, topic_priority
from kafka_assignors.share import ShareSimpleAssignor
from kafka_assignors.sticky.general import assign_general
from kafka_assignors.sticky.legacy import LegacyStickyAssignor
from kafka_assignors.sticky.sticky import CooperativeStickyAssignor, StickyAssignor, assign_constrained
from kafka_assignors.subscribers import same_readers, subscribers_by_topic
from kafka_assignors.weighted import heaviest_member_bound
from tests.unit.assignors.groups import answer, group

FIVE = group({"t": 5}, {"a": ["t"], "b": ["t"]})


@pytest.mark.parametrize(
    "assignor", [RangeAssignor(), LegacyRangeAssignor(), StaticFirstRangeAssignor(), ServerRangeAssignor()]
)
def test_range_gives_the_first_member_the_larger_half(assignor) -> None:
    result = answer(FIVE, assignor.assign(FIVE))
    assert sorted(result["a"]) == [("t", 0), ("t", 1), ("t", 2)]
    assert sorted(result["b"]) == [("t", 3), ("t", 4)]


@pytest.mark.parametrize("assignor", [RoundRobinAssignor(), LegacyRoundRobinAssignor()])
def test_round_robin_deals_in_turn(assignor) -> None:
    assert answer(FIVE, assignor.assign(FIVE)) == {"a": [("t", 0), ("t", 2), ("t", 4)], "b": [("t", 1), ("t", 3)]}


def test_static_members_come_first_since_2_4() -> None:
    """z is static, so it is before a for round robin of 2.4, and after it for that of 2.0."""
    request = group({"t": 3}, {"a": ["t"], "z": ["t"]}, static={"z": "pod"})
    assert answer(request, RoundRobinAssignor().assign(request))["z"] == [("t", 0), ("t", 2)]
    assert answer(request, LegacyRoundRobinAssignor().assign(request))["a"] == [("t", 0), ("t", 2)]
    members = request.members
    assert by_member_id(members).tolist() == [0, 1]
    assert by_member_info(members, np.arange(2)).tolist() == [1, 0]


def test_ranks_are_places_in_an_order() -> None:
    assert ranks_of(np.array([2, 0, 1])).tolist() == [1, 2, 0]
    assert ranks_among(np.array([2, 0]), 4).tolist() == [1, -1, 0, -1]


@pytest.mark.parametrize("assignor", [StickyAssignor(), CooperativeStickyAssignor(), LegacyStickyAssignor()])
def test_sticky_keeps_what_is_even_already(assignor) -> None:
    owned = {"a": [("t", 4), ("t", 1)], "b": [("t", 0), ("t", 3)]}
    request = group({"t": 5}, {"a": ["t"], "b": ["t"]}, owned)
    result = answer(request, assignor.assign(request))
    assert set(owned["a"]) <= set(result["a"])
    assert set(owned["b"]) <= set(result["b"])
    assert sorted(len(rows) for rows in result.values()) == [2, 3]


def test_cooperative_members_give_up_before_others_take() -> None:
    """b joins: two of a's four partitions are revoked and unassigned in this round."""
    request = group({"t": 4}, {"a": ["t"], "b": ["t"]}, {"a": [("t", p) for p in range(4)]})
    result = answer(request, CooperativeStickyAssignor().assign(request))
    assert (len(result["a"]), result["b"]) == (2, [])
    eager = answer(request, StickyAssignor().assign(request))
    assert (len(eager["a"]), len(eager["b"])) == (2, 2)


def test_equal_subscriptions_take_the_constrained_way_and_others_the_general_one() -> None:
    assert assign_constrained.__module__ != assign_general.__module__
    mixed = group({"t": 2, "u": 2}, {"a": ["t"], "b": ["t", "u"]})
    result = answer(mixed, StickyAssignor().assign(mixed))
    assert (sorted(result["a"]), sorted(result["b"])) == ([("t", 0), ("t", 1)], [("u", 0), ("u", 1)])


def test_share_members_get_partitions_of_what_they_read() -> None:
    request = group({"t": 2}, {"a": ["t"], "b": ["t"]})
    result = answer(request, ShareSimpleAssignor().assign(request))
    assert sorted(result["a"] + result["b"]) == [("t", 0), ("t", 1)]


def test_what_the_coordinator_calls_homogeneous() -> None:
    assert is_homogeneous(FIVE)
    assert not is_homogeneous(group({"t": 2, "u": 2}, {"a": ["t"], "b": ["t", "u"]}))
    assert is_hashed(FIVE)
    assert not is_hashed(group({"t": 1}, {"a": ["t"]}, order=MapOrder.GIVEN))
    with pytest.raises(AssignorError):
        refuse_missing_topics(group({"t": 1}, {"a": ["x"]}), np.array([1], dtype=np.int32))


def test_subscribers_of_each_topic() -> None:
    """a reads topic 0 twice, b reads 0 and 1."""
    offsets, topics = np.array([0, 2, 4]), np.array([0, 0, 0, 1], dtype=np.int32)
    assert subscriber_counts(offsets, topics, 3, True).tolist() == [2, 1, 0]
    assert subscriber_counts(offsets, topics, 3, False).tolist() == [3, 1, 0]
    starts, readers = subscribers_by_topic(np.arange(2), offsets, topics, 3, True)
    assert (starts.tolist(), readers.tolist()) == ([0, 2, 3, 3], [0, 1, 1])


def test_topics_with_the_same_readers_point_to_the_first() -> None:
    starts, readers = np.array([0, 2, 3, 5]), np.array([0, 1, 1, 0, 1], dtype=np.int32)
    assert same_readers(starts, readers).tolist() == [0, 1, 0]


def test_racks_as_sets_of_bits() -> None:
    sets = partition_racks(np.array([0, 2, 3]), np.array([0, 2, -1], dtype=np.int32), 1)
    assert sets.tolist() == [[0b101], [0]]
    readers = reader_racks(
        np.array([0, 1, 2]), np.array([0, 0], dtype=np.int32), np.array([0, 1], dtype=np.int32), 1, 1
    )
    assert readers.tolist() == [[0b11]]
    matters = np.array([[0b01], [0b10]], dtype=np.uint64)
    everywhere = np.array([[0b11], [0b11]], dtype=np.uint64)
    assert use_racks(readers[0], matters, 0, 2, False)
    assert not use_racks(readers[0], everywhere, 0, 2, False)  # each rack has each partition: racks decide nothing
    walk, first_row = np.array([0]), np.array([0, 2])
    assert topics_that_need_racks(readers, matters, first_row, walk, False).tolist() == [True]
    assert topics_that_need_racks(readers, everywhere, first_row, walk, False).tolist() == [False]


def test_lists_are_sorted_by_owner() -> None:
    offsets, topics, partitions = lists_by_owner(
        np.array([1, 0, 1, -1], dtype=np.int32), np.array([0, 2, 4]), np.array([1, 0]), 2
    )
    assert offsets.tolist() == [0, 1, 3]
    assert list(zip(topics.tolist(), partitions.tolist(), strict=True)) == [(0, 1), (1, 0), (0, 0)]


def test_topics_with_most_partitions_for_each_reader_go_first() -> None:
    starts, places = list_subscribers(np.arange(2), np.array([0, 2, 3]), np.array([0, 1, 1], dtype=np.int32), 2)
    assert (starts.tolist(), places.tolist()) == ([0, 1, 3], [0, 0, 1])
    counts = np.array([2, 6], dtype=np.int32)
    assert topic_priority(counts, starts, np.zeros(2, np.int64), np.arange(2)).tolist() == [1, 0]  # 3 a reader


def test_topics_are_in_order_by_share_readers_and_both_halves_of_their_ids() -> None:
    draw = np.random.default_rng(7)
    for count in (1, 2, 3, 17, 100):
        counts, readers = draw.integers(0, 4, count).astype(np.int32), draw.integers(0, 3, count)
        high, low = draw.integers(-2, 2, count), draw.permutation(count)
        starts = np.concatenate(([0], np.cumsum(readers)))
        read = np.flatnonzero(readers)
        expected = read[np.lexsort((low[read], high[read], readers[read], -(counts[read] / readers[read])))]
        assert topic_priority(counts, starts, high, low).tolist() == expected.tolist()


def test_the_bound_of_weights_that_cannot_be_split() -> None:
    """4, 3, 3, 2 for two: half of 12 is 6, the heaviest 4, and one member reads two of the three heaviest: 3 + 3."""
    weights, first = np.array([4.0, 3.0, 3.0, 2.0]), np.zeros(4, dtype=np.int32)
    assert heaviest_member_bound(weights, first, np.ones((2, 1), dtype=np.bool_)) == 6.0
    assert heaviest_member_bound(weights, first, np.ones((1, 1), dtype=np.bool_)) == 12.0


def test_what_an_own_strategy_sees() -> None:
    request = group({"t": 2, "u": 1}, {"a": ["t"], "b": ["u", "t"]}, {"b": [("u", 0)]}, static={"a": "pod"})
    first, second = member_views(request)
    assert (first.id, first.topics, first.instance_id, first.weight) == ("a", ("t",), "pod", 1.0)
    assert (second.topics, second.owned) == (("u", "t"), (("u", 0),))
    assert [(topic.name, topic.partitions) for topic in topic_views(request)] == [("t", 2), ("u", 1)]
    assert MemberView("x", (), user_data=b'{"weight": 2.5}').weight == 2.5
    assert dict(MemberView("x", (), user_data=b"no json").data) == {}
