from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_assignors.contract import AssignmentRequest, MapOrder
from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, put_order
from kafka_assignors.java.strings import hash_codes
from kafka_assignors.sticky.sticky_input import (
    NEWEST,
    OF_3_0_0,
    Line,
    StickyInput,
    all_equal,
    free_rows,
    order_of_owners,
    readers_in_racks,
    settle_claims,
    sticky_input_of,
    topics_in_map,
)
from kafka_assignors.string_column import StringColumn
from tests.unit.assignors.groups import frozen, group, offsets_of

TU = ["t", "u"]


def prepared(request: AssignmentRequest, generations: list[int]) -> StickyInput:
    return sticky_input_of(request, frozen(generations, np.int32))


def test_owned_partitions_become_rows_and_stale_ones_get_rows_behind_the_real_ones() -> None:
    """t has rows 0 to 2, u 3 and 4. a owns t-1, t-9 (vanished: row 5), b u-1, x-0 (no metadata: lost) and t-9."""
    owned = {"a": [("t", 1), ("t", 9)], "b": [("u", 1), ("x", 0), ("t", 9)]}
    result = prepared(group({"t": 3, "u": 2}, {"a": TU, "b": TU}, owned, order=MapOrder.GIVEN), [4, 3])
    assert result.rows.tolist() == [1, 5, 4, -1, 5]
    assert result.row_topic.tolist() == [0, 0, 0, 1, 1, 0]
    assert result.row_partition.tolist() == [0, 1, 2, 0, 1, 9]
    assert (result.total, result.max_generation, result.is_equal) == (5, 4, True)
    assert result.counts.tolist() == [3, 2, -1]
    assert not result.racks.is_active


def test_topics_of_the_map_come_by_name_with_their_partitions_and_the_sum_of_these() -> None:
    """Of four topics 3, 0 and 2 are in the map; by name they are 2, 3, 0; 1 is not in it."""
    in_map, by_name = np.array([3, 0, 2]), np.array([2, 3, 1, 0])
    counts, topics, total = topics_in_map(in_map, by_name, frozen([4, 9, 0, 5], np.int32))
    assert counts.tolist() == [4, -1, 0, 5]
    assert topics.tolist() == [2, 3, 0]
    assert total == 9
    counts, topics, total = topics_in_map(in_map[:0], by_name, frozen([4, 9, 0, 5], np.int32))
    assert (counts.tolist(), topics.tolist(), total) == ([-1] * 4, [], 0)


def test_owners_are_met_as_a_second_hash_map_gives_them() -> None:
    """Put in the order of the first walk, a hundred ids: a map that grows keeps the order within a bin."""
    ids = StringColumn.of(f"consumer-{number * 7919 % 100}" for number in range(100))
    walk = np.random.default_rng(3).permutation(100)
    hashes = hash_codes(ids.data, ids.offsets)
    expected = [walk[location] for location in put_order(hashes[walk], DEFAULT_CAPACITY)]
    assert order_of_owners(ids.data, ids.offsets, walk).tolist() == expected
    assert sorted(expected) == list(range(100))
    assert order_of_owners(ids.data[:0], ids.offsets[:1], walk[:0]).tolist() == []


@pytest.mark.parametrize("line", [NEWEST, OF_3_0_0])
def test_a_group_in_which_nobody_owns_anything_has_no_owners_and_no_claims(line: Line) -> None:
    request = group({"t": 3, "u": 2}, {"a": TU, "b": TU}, order=MapOrder.GIVEN)
    result = sticky_input_of(request, frozen([4, 3], np.int32), line)
    assert not result.has_owners
    assert (result.is_kept.tolist(), result.is_contested.tolist(), result.max_generation) == ([], [False] * 5, 4)
    assert result.id_rank.tolist() == [0, 1]


def claims(generations: list[int], sent: list[int] | None = None) -> tuple[list[bool], list[bool]]:
    """Members 0 and 1, met in this order, both own row 0."""
    kept, contested = settle_claims(
        np.arange(2), frozen([0, 1, 2]), np.zeros(2, np.int32), 1, frozen(generations, np.int32),
        frozen(generations if sent is None else sent, np.int32), False,
    )  # fmt: skip
    return kept.tolist(), contested.tolist()


@pytest.mark.parametrize(
    ("generations", "kept", "contested"),
    [([3, 2], [True, False], False), ([2, 3], [False, True], False), ([3, 3], [False, False], True)],
)
def test_of_two_claims_the_newer_counts_and_equal_ones_lose_both(
    generations: list[int], kept: list[bool], contested: bool
) -> None:
    assert claims(generations) == (kept, [contested])


def test_the_later_members_user_data_is_compared_with_the_earlier_ones_subscription() -> None:
    """As in Kafka: data 3 without a subscription generation (−1) loses to 2; data 2 loses to a subscription's 5."""
    assert claims([3, 2], [-1, -1]) == ([False, True], [False])
    assert claims([1, 2], [5, 5]) == ([True, False], [False])


@pytest.mark.parametrize(
    ("subscriptions", "is_equal"),
    [
        ([[0, 1], [1, 0]], True),
        ([[0, 1], [0]], False),
        ([[0, 1], [0, 2]], False),
        ([[0, 0], [0]], True),  # the first one's set has one topic
        ([[0], [0, 0]], False),  # a later list is counted as is
        ([[], [0]], True),  # empty lists before the first that is not are not compared
        ([[0], []], False),
    ],
)
def test_equal_subscriptions_as_kafka_sees_them(subscriptions: list[list[int]], is_equal: bool) -> None:
    offsets = frozen(offsets_of(subscriptions))
    topics = frozen([topic for listed in subscriptions for topic in listed], np.int32)
    assert all_equal(np.arange(len(subscriptions)), offsets, topics, 3) is is_equal


def free(is_taken: list[bool], topic: list[int], partition: list[int], doubled: list[bool] | None = None) -> list[int]:
    """Topic 0 has rows 0 to 2, topic 1 row 3; they are walked 1, 0."""
    order, first_row = np.array([1, 0]), frozen([0, 3, 4])
    columns = (np.array(topic, dtype=np.int32), np.array(partition, dtype=np.int32))
    is_doubled = np.array(doubled or [], dtype=np.bool_)
    return free_rows(order, first_row, np.array(is_taken), *columns, is_doubled).tolist()


def test_free_rows_come_topic_by_topic_and_behind_a_stale_one_everything_counts_as_free() -> None:
    real = ([0, 0, 0, 1], [0, 1, 2, 0])
    assert free([False, True, False, True], *real) == [0, 2]
    assert free([False, False, False, False], *real) == [3, 0, 1, 2]
    # Topic 1's partition 7 is stale and taken: Kafka's pointer stays there, and topic 0, walked after it, is all free.
    stale = ([*real[0], 1], [*real[1], 7])
    assert free([False, True, False, True, True], *stale) == [0, 1, 2]
    # So it does at a partition that two have: topic 0's first; the second is dealt though it is taken.
    assert free([True, True, False, True], *real, [True, False, False, False]) == [1, 2]
    # The same partition of topic 0 comes last: nothing is behind it.
    assert free([False, True, False, True, True], [*real[0], 0], stale[1]) == [0, 2]


def test_members_in_the_racks_of_a_partition() -> None:
    """Racks 0, 1 and 65 hold 2, 1 and 4 members; the first partition is in 0 and 65, the second in 1."""
    in_rack = np.zeros(128, dtype=np.int64)
    in_rack[[0, 1, 65]] = 2, 1, 4
    sets = np.array([[1, 1 << 1], [1 << 1, 0]], dtype=np.uint64)
    assert readers_in_racks(sets, in_rack).tolist() == [6, 1]


def test_racks_count_where_a_member_has_one_and_some_partition_is_not_everywhere() -> None:
    request = group({"t": 2}, {"a": ["t"], "b": ["t"]})
    topics = replace(request.topics, rack_offsets=np.array([0, 1, 2]), racks=np.array([0, 1], dtype=np.int32))
    members = replace(request.members, racks=np.array([0, 1], dtype=np.int32))
    racked = replace(request, topics=topics, members=members, rack_names=("r0", "r1"))
    racks = prepared(racked, [-1, -1]).racks
    assert (racks.is_active, racks.readers.tolist()) == (True, [1, 1])
    everywhere = replace(topics, rack_offsets=np.array([0, 2, 4]), racks=np.array([0, 1, 0, 1], dtype=np.int32))
    assert not prepared(replace(racked, topics=everywhere), [-1, -1]).racks.is_active
