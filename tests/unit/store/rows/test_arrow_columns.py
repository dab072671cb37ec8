from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_advisor.store.rows import arrow_columns, copy_rows

WHOLE = st.integers(-1, 2**63 - 1)
ROWS = st.lists(st.lists(WHOLE, max_size=4), max_size=8)


def offsets_of(rows: list[list[int]]) -> np.ndarray:
    return np.cumsum([0, *map(len, rows)], dtype=np.int64)


@given(st.lists(WHOLE, max_size=8))
def test_whole_numbers_are_as_written_cell_by_cell(values: list[int]) -> None:
    column = np.array(values, dtype=np.int64)
    known = [None if value < 0 else value for value in values]
    assert arrow_columns.whole(column).to_pylist() == copy_rows.plain(values)
    assert arrow_columns.whole(column, has_unknown=True).to_pylist() == copy_rows.plain(known)


@given(ROWS)
def test_arrays_are_as_written_cell_by_cell(rows: list[list[int]]) -> None:
    flat = np.array([value for row in rows for value in row], dtype=np.int64)
    known = [[None if value < 0 else value for value in row] for row in rows]
    assert arrow_columns.arrays(flat, offsets_of(rows)).to_pylist() == copy_rows.numbers(rows)
    assert arrow_columns.arrays(flat, offsets_of(rows), has_unknown=True).to_pylist() == copy_rows.numbers(known)


@given(st.lists(st.floats(allow_nan=True), max_size=8))
def test_floats_read_back_as_they_were(values: list[float]) -> None:
    """In either width: 32 bits have fewer digits, and read back as the same 32 bits."""
    for kind in (np.float64, np.float32):
        with np.errstate(over="ignore"):
            column = np.array(values).astype(kind)
        cells = arrow_columns.real(column).to_pylist()
        (array,) = arrow_columns.real_arrays(column, np.array([0, len(values)])).to_pylist()
        assert [cell == arrow_columns.NULL for cell in cells] == np.isnan(column).tolist()
        read = np.array([np.nan if cell == arrow_columns.NULL else float(cell) for cell in cells]).astype(kind)
        assert read.tobytes() == np.where(np.isnan(column), np.array(np.nan, kind), column).astype(kind).tobytes()
        assert array == "{" + ",".join(cells).replace(arrow_columns.NULL, "NULL") + "}"


def test_names_are_chosen_by_number() -> None:
    assert arrow_columns.chosen(["a", "b"], np.array([1, 0, 1], dtype=np.int32)).to_pylist() == ["b", "a", "b"]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_rows_are_lines_of_cells_whichever_made_them_and_from_wherever_they_are_cut(first: int) -> None:
    columns = [arrow_columns.whole(np.array([1, 2, 3])), ["a", "é", ""], arrow_columns.real(np.array([0.5, np.nan, 2]))]
    expected = ["1\ta\t0.5\n", "2\té\t\\N\n", "3\t\t2\n"][first:]
    assert arrow_columns.lines([column[first:] for column in columns]).decode() == "".join(expected)
    assert arrow_columns.lines([columns[0][first:]]).decode() == "".join(f"{number}\n" for number in (1, 2, 3)[first:])
    assert arrow_columns.lines([columns[0][:0], []]) == b""


def test_half_a_character_is_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        arrow_columns.lines([["\ud800"]])
