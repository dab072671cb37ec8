import random
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.partitioners.hashing import crc32_hashes, fnv1a_hashes, murmur2_hashes, murmur2_partitions
from kafka_assignors.partitioners.key_column import KeyColumn
from tests.sample import for_each

KAFKA_TEST_VALUES = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
    b"": 0x106E08D9,
}


def murmur2(key: bytes) -> int:
    """Straight from the definition."""
    m, code = 0x5BD1E995, 0x9747B28C ^ len(key)
    whole = len(key) // 4 * 4
    for i in range(0, whole, 4):
        k = int.from_bytes(key[i : i + 4], "little") * m & 0xFFFFFFFF
        k = (k ^ k >> 24) * m & 0xFFFFFFFF
        code = code * m & 0xFFFFFFFF ^ k
    if len(key) > whole:
        code = (code ^ int.from_bytes(key[whole:], "little")) * m & 0xFFFFFFFF
    code = (code ^ code >> 13) * m & 0xFFFFFFFF
    return code ^ code >> 15


def test_murmur2_of_kafkas_own_test_values() -> None:
    keys = KeyColumn.of(KAFKA_TEST_VALUES)
    assert murmur2_hashes(keys).tolist() == list(KAFKA_TEST_VALUES.values())
    expected = [(code & 0x7FFFFFFF) % 1000 for code in KAFKA_TEST_VALUES.values()]
    assert murmur2_partitions(keys, 1000).tolist() == expected


@for_each("length", [0, 1, 2, 3, 4, 7, 8, 12, 16, 24, 36, 40, 44])
def test_keys_of_one_length_go_where_the_definition_says(length: int) -> None:
    draw = random.Random(length)
    keys = [draw.randbytes(length) for _ in range(200)]
    for partitions in (1, 7, 100, 2**31 - 1):
        expected = [(murmur2(key) & 0x7FFFFFFF) % partitions for key in keys]
        assert murmur2_partitions(KeyColumn.of(keys), partitions).tolist() == expected


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.none(), st.binary(max_size=20)), min_size=1, max_size=30), st.data())
def test_slices_of_arrow_buffers_are_read_right(keys: list[bytes | None], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(keys) - 1))
    count = data.draw(st.integers(0, len(keys) - start))
    is_large = data.draw(st.booleans())
    whole = KeyColumn.of(keys)
    bitmap = np.packbits([key is not None for key in keys], bitorder="little")
    offsets = whole.offsets.astype(np.int64 if is_large else np.int32)
    column = KeyColumn.of_arrow_buffers(
        bitmap.tobytes(), offsets.tobytes(), whole.data.tobytes() or None, start=start, count=count, is_large=is_large
    )
    kept = keys[start : start + count]
    assert [column.key(i) for i in range(len(column))] == kept
    places, hashes = murmur2_partitions(column, 13).tolist(), murmur2_hashes(column).tolist()
    for key, location, code in zip(kept, places, hashes, strict=True):
        if key is not None:
            assert location == (murmur2(key) & 0x7FFFFFFF) % 13
            assert code % 2**32 == murmur2(key)


def test_a_column_without_nulls_needs_no_bitmap() -> None:
    column = KeyColumn.of_arrow_buffers(None, np.array([0, 1, 3], np.int32), b"abc", start=0, count=2, is_large=False)
    assert [column.key(0), column.key(1)] == [b"a", b"bc"]
    assert not column.nulls.any()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(max_size=40), min_size=1))
def test_crc32_is_that_of_ieee_and_fnv1a_that_of_its_definition(keys: list[bytes]) -> None:
    column = KeyColumn.of(keys)
    assert crc32_hashes(column).tolist() == [zlib.crc32(key) for key in keys]
    for key, code in zip(keys, fnv1a_hashes(column).tolist(), strict=True):
        expected = 0x811C9DC5
        for byte in key:
            expected = (expected ^ byte) * 0x01000193 & 0xFFFFFFFF
        assert code == expected


@pytest.mark.parametrize("offsets", [[0, 5], [0, 3, 1], [-1, 2], []], ids=str)
def test_offsets_that_lie_are_refused(offsets: list[int]) -> None:
    with pytest.raises(InvalidInputError, match="keys"):
        KeyColumn(np.zeros(4, np.uint8), np.array(offsets, np.int64))


def test_taken_keys_stand_in_the_order_asked_for() -> None:
    column = KeyColumn.of([b"a", None, b"", b"dddd"]).taken(np.array([3, 1, 0, 3]))
    assert [column.key(i) for i in range(4)] == [b"dddd", None, b"a", b"dddd"]
