import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_assignors.java.strings import compare_key, hash_code, hash_codes, sorted_order
from kafka_assignors.string_column import StringColumn

# Strings as groups have them: long common prefixes, equal ones, every plane, code units that end or pad.
LETTERS = st.sampled_from(["a", "b", "\0", "é", "消", "\ud7ff", "\ue000", "\uffff", "\U00010000", "😀"])
STRINGS = st.builds(lambda prefix, tail: "consumer-1-" * prefix + "".join(tail), st.integers(0, 2), st.lists(LETTERS))


def sorted_positions(texts: list[str]) -> list[int]:
    column = StringColumn.of(texts)
    return sorted_order(column.data, column.offsets).tolist()


def java_hash(text: str) -> int:
    code = 0
    for unit in np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.uint16).tolist():
        code = (31 * code + unit) & 0xFFFFFFFF
    return code - 2**32 if code >> 31 else code


@settings(max_examples=200, deadline=None)
@given(st.lists(STRINGS, max_size=60))
def test_columns_sort_and_hash_as_utf16_code_units(texts: list[str]) -> None:
    column = StringColumn.of(texts)
    in_order = sorted(range(len(texts)), key=lambda i: compare_key(texts[i]))
    assert sorted_positions(texts) == in_order
    assert hash_codes(column.data, column.offsets).tolist() == [java_hash(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "code"), [("", 0), ("polygenelubricants", -(2**31)), ("Ab", 2113), ("😀", 0xD83D * 31 + 0xDE00)]
)
def test_known_hash_codes(text: str, code: int) -> None:
    assert hash_code(text) == code


def test_a_surrogate_pair_sorts_before_the_end_of_the_first_plane() -> None:
    assert sorted_positions(["\uff01", "😀", "z"]) == [2, 1, 0]


def test_unpaired_surrogates_keep_javas_hash_code() -> None:
    assert hash_code("a\ud83d") == 97 * 31 + 0xD83D


def test_many_equal_strings_keep_their_order() -> None:
    texts = ["same-instance"] * 300 + ["same"] * 40
    assert sorted_positions(texts) == [*range(300, 340), *range(300)]
