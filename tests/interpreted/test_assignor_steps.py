"""Inner steps of the assignors: lists of members by size, sorted pairs, weights."""

import numpy as np

from kafka_assignors import weighted
from kafka_assignors.partitioners import hashing
from kafka_assignors.racks import has_rack
from kafka_assignors.server import uniform_heterogeneous as balancer
from kafka_assignors.sticky import state


def test_members_stand_by_size_and_both_ends_are_open() -> None:
    """Sizes 3, 1, 2: who is given to is 1, who gives is 0; two apart, so not even yet."""
    sizes, row, ends = np.array([3, 1, 2], dtype=np.int32), np.empty(3, np.int32), np.empty(balancer.ENDS, np.int64)
    assert balancer.line_up(np.arange(3, dtype=np.int32), row, sizes, ends) == 2
    assert row.tolist() == [1, 2, 0]
    assert balancer.next_least(row, sizes, ends) == 1
    assert balancer.next_most(row, sizes, ends) == 0
    assert not balancer.is_even(ends)
    assert balancer.next_least(row, sizes, ends) in (1, 2)
    assert balancer.is_even(ends)


def test_many_members_are_sorted_stably() -> None:
    sizes = np.array([300, 1, 300, 2, 1], dtype=np.int32)
    row, ends = np.empty(5, np.int32), np.empty(balancer.ENDS, np.int64)
    balancer.line_up(np.arange(5, dtype=np.int32), row, sizes, ends)
    assert row.tolist() == [1, 4, 3, 0, 2]


def test_who_cannot_give_is_set_aside() -> None:
    sizes, row, ends = np.array([2, 2], dtype=np.int32), np.empty(2, np.int32), np.empty(balancer.ENDS, np.int64)
    balancer.line_up(np.arange(2, dtype=np.int32), row, sizes, ends)
    first = balancer.next_most(row, sizes, ends)
    balancer.set_aside(row, ends)
    assert balancer.next_most(row, sizes, ends) != first


def test_pairs_are_sorted_stably_in_their_span() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        keys, values = rng.integers(0, 9, 70), np.arange(70, dtype=np.int32)
        expected = keys.copy()
        order = np.argsort(keys[5:60], kind="stable")
        state.sort_pairs(keys, values, 5, 60)
        expected[5:60] = expected[5:60][order]
        assert keys.tolist() == expected.tolist()
        assert values[5:60].tolist() == (5 + order).tolist()


def test_a_set_of_racks_knows_its_members() -> None:
    masks = np.array([1 << 3, 1 << 1], dtype=np.uint64)
    assert [rack for rack in range(128) if has_rack(masks, rack)] == [3, 65]


def test_a_remainder_without_dividing() -> None:
    rng = np.random.default_rng(3)
    for value in [0, 1, 2**31 - 1, *rng.integers(0, 2**31, 200).tolist()]:
        for divisor in (1, 3, 7, 1000, 2**31 - 1):
            result = hashing.remainder(np.uint32(value), np.int32(divisor), 1.0 / divisor)
            assert result == value % divisor


def test_four_bytes_are_little_endian_whatever_their_place() -> None:
    data = np.arange(8, dtype=np.uint8)
    assert hashing.four_bytes(data, 1) == 0x04030201


def test_partitions_go_to_the_lightest_and_above_a_cap_they_are_given_up() -> None:
    """5, 4, 3 and 2 for two members, heaviest first: 5 | 4, 3 | then 2 to the one with 5: 7 and 7."""
    weights, order = np.array([5.0, 4.0, 3.0, 2.0]), np.arange(4)
    owner, carried = np.full(4, -1, dtype=np.int32), np.zeros(2)
    weighted.place_on_lightest(weights, order, owner, carried)
    assert (sorted(carried.tolist()), owner[0] == owner[3], owner[1] == owner[2]) == ([7.0, 7.0], True, True)
    assert weighted.loads_of(weights, owner, 2).tolist() == carried.tolist()
    weighted.release_above(weights, order, 6.0, owner, carried)
    assert carried.max() <= 6.0
    assert (owner == -1).sum() == 2  # one of each member
