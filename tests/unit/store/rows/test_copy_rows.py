from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_advisor.store.rows import copy_rows


def test_null_is_not_the_text_that_looks_like_it() -> None:
    assert copy_rows.text([None, r"\N", ""]) == [r"\N", r"\\N", ""]


def test_what_would_end_a_cell_or_a_row_is_escaped() -> None:
    assert copy_rows.text(["a\tb\nc\rd\\e"]) == [r"a\tb\nc\rd\\e"]


def test_arrays_hold_unknown_elements_and_any_text() -> None:
    assert copy_rows.numbers([(1, None, 3), (), None]) == ["{1,NULL,3}", "{}", r"\N"]
    assert copy_rows.texts([("a", 'q"\\'), None]) == [r'{"a","q\\"\\\\"}', r"\N"]


def test_json_bytes_flags_and_constants() -> None:
    assert copy_rows.document([{"a": "é\n"}, None]) == [r'{"a":"é\\n"}', r"\N"]
    assert copy_rows.raw_bytes([b"\x00\xff", None]) == [r"\\x00ff", r"\N"]
    assert copy_rows.flag([True, False]) == ["t", "f"]
    assert list(map(str, copy_rows.constant(None, 2))) == [r"\N", r"\N"]


def test_floats_keep_every_digit() -> None:
    assert copy_rows.plain([0.1, 1 / 3, 1e300, None]) == ["0.1", repr(1 / 3), "1e+300", r"\N"]


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 7, 8, 25])
def test_blocks_joined_ahead_are_the_lines_in_their_order(monkeypatch, rows: int) -> None:
    monkeypatch.setattr(copy_rows, "_ROWS_A_BLOCK", 4)
    columns = [copy_rows.plain(range(rows)), copy_rows.constant("x", rows)]
    blocks = list(copy_rows._blocks(columns, rows))
    assert b"".join(blocks) == "".join(f"{row}\tx\n" for row in range(rows)).encode()
    assert len(blocks) == max(1, -(-rows // 4))


def test_what_a_later_block_cannot_hold_is_raised_once_it_is_asked_for(monkeypatch) -> None:
    monkeypatch.setattr(copy_rows, "_ROWS_A_BLOCK", 2)
    blocks = copy_rows._blocks([["a", "b", "\ud800"]], 3)
    assert next(blocks) == b"a\nb\n"
    with pytest.raises(UnicodeEncodeError):
        next(blocks)


_WRITTEN = {r"\t": "\t", r"\n": "\n", r"\r": "\r", r"\\": "\\"}


def _as_postgres_reads(cell: str) -> str:
    """COPY's text form back to the value, as PostgreSQL's manual has it for the escapes that are written."""
    assert not set(cell) & set("\t\n\r")
    return re.sub(r"\\.", lambda match: _WRITTEN[match[0]], cell)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_any_name_comes_back_from_a_cell(name: str) -> None:
    (cell,) = copy_rows.text([name])
    assert cell != r"\N"
    assert _as_postgres_reads(cell) == name
    (cell,) = copy_rows.document([{name: name}])
    assert json.loads(_as_postgres_reads(cell)) == {name: name}
    (cell,) = copy_rows.texts([(name, name)])
    written = name.replace("\\", r"\\").replace('"', r"\"")
    assert _as_postgres_reads(cell) == f'{{"{written}","{written}"}}'
