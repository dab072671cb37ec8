"""The steps of a share group's assignor since Kafka 4.2: wants, what is dropped, the deal, and lists of members."""

from __future__ import annotations

import numpy as np
import pytest

from kafka_assignors import share
from kafka_assignors.java.hash_order import put_order
from kafka_assignors.owned_lists import OwnedLists
from tests.unit.assignors.groups import frozen

WALK = np.arange(2)


@pytest.mark.parametrize(
    ("readers", "targets", "sharing", "wants"),
    [
        (3, 4, 1, [2, 1, 1]),  # x = 4/3: ceilings 2, 3, 4
        (5, 2, 3, [2, 1, 1, 1, 1]),  # S = ⌈5/2⌉ = 3, x = 6/5: ceilings 2, 3, 4, 5, 6
        (4, 2, 2, [1, 1, 1, 1]),
        (3, 0, 0, [0, 0, 0]),
    ],
)
def test_readers_of_a_partition_and_partitions_of_a_reader(
    readers: int, targets: int, sharing: int, wants: list[int]
) -> None:
    result, by_reader = share.wants_of(readers, targets)
    assert (result, by_reader.tolist()) == (sharing, wants)
    assert sum(wants) == sharing * targets


def share_out(wants: list[int], sharing: int, targets: int, held: list[list[int]], keys: int) -> tuple[object, ...]:
    """Keys' hashes are their numbers; ``held`` by place. Stays by held entry, and (place, key) as they are dealt."""
    starts = np.cumsum([0, *map(len, held)]).astype(np.int64)
    flat = np.array([key for location in held for key in location], dtype=np.int32)
    stays, places, dealt, is_done = share.share_out(
        share.integer_walk(len(wants)), np.array(wants), np.int64(sharing), np.arange(keys, dtype=np.int32), targets,
        starts, flat,
    )  # fmt: skip
    return stays.tolist(), list(zip(places.tolist(), dealt.tolist(), strict=True)), is_done


def test_nothing_held_is_dealt_in_turn() -> None:
    """Four keys for two places that want two each: 0, 1, 0, 1."""
    assert share_out([2, 2], 1, 4, [[], []], 4) == ([], [(0, 0), (1, 1), (0, 2), (1, 3)], True)


def test_who_holds_more_than_it_wants_drops_the_first_of_its_hash_set() -> None:
    """Place 0 holds keys 1 and 0 and wants one: bin 0 comes first, so key 0 goes, to place 1."""
    assert share_out([1, 1], 1, 2, [[1, 0], []], 2) == ([True, False], [(1, 0)], True)


def test_a_partition_with_too_many_readers_drops_the_first_of_its_hash_set() -> None:
    """Both hold key 0, one may: place 0 drops it, and is dealt the free key 1."""
    assert share_out([1, 1], 1, 2, [[0], [0]], 2) == ([False, True], [(0, 1)], True)


def test_nobody_is_dealt_what_it_holds_and_java_fails_where_nobody_wants_more() -> None:
    """Key 0 wants two readers and place 0 holds it: place 1 is the second. A key without takers is an exception."""
    assert share_out([1, 1], 2, 1, [[0], []], 1) == ([True], [(1, 0)], True)
    assert share_out([1, 1], 2, 2, [[], []], 2) == ([], [(0, 0), (1, 0)], True)
    assert share_out([1], 2, 1, [[]], 1) == ([], [(0, 0)], False)


def test_integers_walk_upwards_in_a_presized_map() -> None:
    for count in (0, 1, 12, 13, 1000):
        assert share.integer_walk(count).tolist() == list(range(count))
    # The 17th Integer would share bin 0 with the first in a map of 16 bins that is not presized to 32.
    assert put_order(np.array([16, 1, 0], dtype=np.int32), 16).tolist() == [0, 2, 1]


OWNED = OwnedLists(frozen([0, 2, 3]), frozen([1, 0, 0], np.int32), frozen([5, 6, 7], np.int32))


def test_lists_are_what_is_kept_then_what_is_dealt() -> None:
    """Members 0 and 1 are at places 1 and 0. Member 0 keeps (1, 5) and is dealt (0, 9); member 1 keeps (0, 7)."""
    dealt = (np.array([1], dtype=np.int32), np.array([0], dtype=np.int32), np.array([9], dtype=np.int32))
    offsets, topics, partitions = share.lists_of(WALK[::-1].copy(), OWNED, np.array([True, False, True]), dealt)
    assert offsets.tolist() == [0, 2, 3]
    assert list(zip(topics.tolist(), partitions.tolist(), strict=True)) == [(1, 5), (0, 9), (0, 7)]
