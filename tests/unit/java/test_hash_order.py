import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_assignors.java.hash_order import (
    COMPUTE_IF_ABSENT,
    PUT,
    REMOVE,
    map_copy_capacity,
    order_after,
    put_order,
    put_order_with_trees,
    set_copy_capacity,
    set_copy_order,
    table_for,
)

HASHES = st.lists(st.one_of(st.integers(-40, 400), st.integers(-(2**31), 2**31 - 1)), unique=True, max_size=120)


def after(hashes: list[int], *steps: tuple[int, int], capacity: int = 0) -> list[int]:
    """Keys (by hash code) in iteration order after the steps (what, hash code)."""
    what = np.array([step for step, _ in steps], np.int8)
    keys = np.array([hashes.index(key) for _, key in steps], np.int32)
    return [hashes[i] for i in order_after(np.array(hashes, np.int32), what, keys, capacity)]


def puts(hashes: list[int], capacity: int = 0) -> list[int]:
    return [hashes[i] for i in put_order(np.array(hashes, np.int32), capacity)]


def test_keys_come_bin_by_bin_and_in_a_bin_as_they_were_put() -> None:
    assert puts([16, 1, 0]) == [16, 0, 1]


def test_the_upper_half_of_a_hash_code_is_mixed_in() -> None:
    assert puts([131072, 1]) == [1, 131072]


def test_the_thirteenth_key_doubles_the_table() -> None:
    assert puts([16, *range(11)])[:2] == [16, 0]
    assert puts([16, *range(12)])[:2] == [0, 1]


def test_a_ninth_key_in_a_bin_doubles_a_small_table() -> None:
    eight = [16 * k for k in range(8)]
    assert puts(eight) == eight
    assert puts([*eight, 128]) == [0, 32, 64, 96, 128, 16, 48, 80, 112]


def test_compute_if_absent_puts_the_newest_key_first_and_grows_late() -> None:
    compute = [(COMPUTE_IF_ABSENT, key) for key in (0, 16, 32)]
    assert after([0, 16, 32], *compute) == [32, 16, 0]
    late = [*range(12), 16]
    assert after(late, *[(COMPUTE_IF_ABSENT, key) for key in late])[:2] == [16, 0]
    assert after([*late, 33], *[(COMPUTE_IF_ABSENT, key) for key in [*late, 33]])[:3] == [0, 33, 1]


def test_an_eighth_computed_key_in_a_bin_doubles_a_small_table() -> None:
    keys = [16 * k for k in range(8)]
    assert after(keys, *[(COMPUTE_IF_ABSENT, key) for key in keys])[:4] == [96, 64, 32, 0]


# Times 64, or 128, put into new HashMap(64), then 1 to 39 where the table is to double; as Java 17 walks them.
LOTS = [13, 5, 3, 17, 11, 0, 7, 1, 19, 9, 2, 15, 10, 4, 18, 8, 6, 12, 16, 14]


@pytest.mark.parametrize(
    ("step", "keys", "others", "walk"),
    [
        (64, 12, 0, [5, 13, 3, 2, 17, 15, 11, 0, 7, 9, 1, 19]),
        (64, 20, 39, [10, 4, 2, 14, 16, 12, 0, 6, 8, 18, 11, 5, 13, 3, 17, 15, 7, 9, 1, 19]),  # halved: two trees
        (64, 12, 39, [2, 0, 11, 5, 13, 3, 17, 15, 7, 9, 1, 19]),  # halved: a chain and a tree
        (128, 20, 39, [5, 13, 3, 4, 2, 17, 15, 14, 16, 11, 12, 10, 0, 7, 6, 8, 9, 1, 19, 18]),  # all stay in one half
    ],
)
def test_a_ninth_key_in_a_bin_of_a_large_table_makes_it_a_tree(
    step: int, keys: int, others: int, walk: list[int]
) -> None:
    put = [*(step * lot for lot in LOTS[:keys]), *range(1, others + 1)]
    results = [put[i] for i in put_order_with_trees(np.array(put, np.int32), 64)]
    assert [key // step for key in results if key % 64 == 0] == walk
    assert puts(put, 64) != results


def test_putting_again_keeps_the_place_and_removing_keeps_the_table() -> None:
    keys = [0, 16, 32]
    assert after(keys, (PUT, 0), (PUT, 16), (PUT, 32), (PUT, 0)) == [0, 16, 32]
    assert after(keys, (PUT, 0), (PUT, 16), (PUT, 32), (REMOVE, 16), (REMOVE, 16), (PUT, 16)) == [0, 32, 16]


@settings(max_examples=150, deadline=None)
@given(HASHES, st.sampled_from([0, 1, 2, 16, 17, 64, 1000]))
def test_counting_bins_agrees_with_linking_keys_one_by_one(hashes: list[int], capacity: int) -> None:
    assert puts(hashes, capacity) == after(hashes, *[(PUT, key) for key in hashes], capacity=capacity)


@pytest.mark.parametrize(("capacity", "table"), [(0, 16), (1, 1), (2, 2), (16, 16), (17, 32), (1000, 1024)], ids=str)
def test_a_capacity_is_rounded_up_to_a_power_of_two(capacity: int, table: int) -> None:
    assert table_for(capacity) == table


def test_copies_are_sized_by_the_source() -> None:
    assert [int(set_copy_capacity(n)) for n in (0, 11, 12, 24)] == [16, 16, 17, 33]
    assert [int(map_copy_capacity(n)) for n in (0, 3, 12, 13)] == [0, 5, 17, 18]
    assert set_copy_order(np.array([32, 16, 0], np.int32)).tolist() == [0, 1, 2]
