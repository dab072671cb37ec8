from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from kafka_assignors.contract import MapOrder
from kafka_assignors.owned_lists import owned_columns
from kafka_assignors.server.orders import LEFT_OVER, name_hashes, walk_columns
from kafka_assignors.server.uniform import spread_evenly
from tests.unit.assignors.groups import Owned, group

Lists = list[list[tuple[int, int]]]


def spread(
    counts: list[int], members: list[str], owned: Owned, topics: list[int] | None = None, *, is_4_0_0: bool = False
) -> tuple[Lists, bool]:
    """Each member's (topic, partition) pairs; topics are t0, t1 …, maps are walked in the order of the columns."""
    names = [f"t{number}" for number in range(len(counts))]
    request = group(dict(zip(names, counts, strict=True)), dict.fromkeys(members, names), owned, order=MapOrder.GIVEN)
    columns = request.topics
    is_assigned = np.zeros(columns.partition_total, np.bool_)
    for pairs in owned.values():
        for topic, partition in pairs:
            if partition < columns.partition_counts[names.index(topic)]:
                is_assigned[columns.first_row[names.index(topic)] + partition] = True
    listed = np.array(range(len(counts)) if topics is None else topics, dtype=np.int32)
    same_id = np.zeros(len(counts), np.int64)  # one bin of the set of topics: their order is the list's
    status, _, offsets, result, partitions = spread_evenly(
        walk_columns(request),
        (np.array([0, *[len(listed)] * len(members)]), listed),  # only the first member's subscription is read
        (columns.partition_counts, columns.first_row, same_id, same_id, name_hashes(request)),
        owned_columns(request.members),
        (is_assigned, True),
        not is_4_0_0,
    )
    pairs = list(zip(result.tolist(), partitions.tolist(), strict=True))
    return [pairs[start:end] for start, end in pairwise(offsets)], status != LEFT_OVER


def of(topic: int, *partitions: int) -> list[tuple[int, int]]:
    return [(topic, partition) for partition in partitions]


def test_a_fresh_group_gets_consecutive_chunks_and_the_last_members_one_more() -> None:
    """8 partitions for 3: quotas 2 and 2 more. Without claims the extras go to the last two in map order."""
    assert spread([8], ["a", "b", "c"], {}) == ([of(0, 0, 1), of(0, 2, 3, 4), of(0, 5, 6, 7)], True)
    assert spread([8], ["a", "b", "c"], {}, is_4_0_0=True) == ([of(0, 0, 1, 2), of(0, 3, 4, 5), of(0, 6, 7)], True)


def test_who_is_over_its_quota_gives_up_what_comes_last_and_it_is_dealt_after_what_nobody_had() -> None:
    """6 for 2: quota 3. a holds 0, 1, 2, 4 and releases 4; 3 and 5 have no owner: b gets 3, 5 and then 4."""
    owned = {"a": [("t0", 0), ("t0", 1), ("t0", 2), ("t0", 4)]}
    assert spread([6], ["a", "b"], owned) == ([of(0, 0, 1, 2), of(0, 3, 5, 4)], True)


@pytest.mark.parametrize(("is_4_0_0", "moved"), [(False, []), (True, [3])])
def test_who_holds_one_more_keeps_it_since_4_0_1(is_4_0_0: bool, moved: list[int]) -> None:
    """The module's example: 7 partitions, b before a in the map, a holds 0 to 3 and b 4 to 6."""
    owned = {"a": [("t0", p) for p in range(4)], "b": [("t0", p) for p in range(4, 7)]}
    (b, a), is_complete = spread([7], ["b", "a"], owned, is_4_0_0=is_4_0_0)
    assert is_complete
    assert sorted(p for _, p in b) == [*moved, 4, 5, 6]
    assert sorted(p for _, p in a) == [p for p in range(4) if p not in moved]


def test_free_partitions_follow_the_order_of_the_topics_set_and_other_topics_are_let_go() -> None:
    """Subscribed in set order: t2, t0. What a holds of t1 is not subscribed: neither kept nor dealt. 4 for 2."""
    lists, is_complete = spread([2, 2, 2], ["a", "b"], {"a": [("t1", 0)]}, [2, 0])
    assert (lists, is_complete) == ([of(2, 0, 1), of(0, 0, 1)], True)


def test_a_partition_that_no_longer_exists_counts_and_so_one_is_left_without_an_owner() -> None:
    """2 partitions for 2: quota 1. a's one is t0-9, which is gone, and stays; b has room for one of two."""
    assert spread([2], ["a", "b"], {"a": [("t0", 9)]}) == ([of(0, 9), of(0, 0)], False)
