"""COPY in text format, joined by Arrow: ten times faster than psycopg's ``write_row``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from psycopg import DataError, sql

from rebalance_advisor.store.rows.arrow_columns import NULL as _NULL
from rebalance_advisor.store.rows.arrow_columns import lines, repeated
from rebalance_advisor.store.schema.connection import Connection, StoreError

_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
_ROWS_A_BLOCK = 20_000

Column = Sequence[str]


def copy_columns(connection: Connection, table: str, columns: dict[str, Column]) -> int:
    target = sql.Identifier("store", table)
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    (rows,) = {len(column) for column in columns.values()}
    cursor = connection.cursor()
    try:
        with cursor.copy(sql.SQL("COPY {} ({}) FROM STDIN").format(target, names)) as copy:
            for block in _blocks(list(columns.values()), rows):
                copy.write(block)
    except (DataError, UnicodeEncodeError) as error:
        raise StoreError(f"{table}: PostgreSQL cannot hold this value: {' '.join(str(error).split())}") from error
    return cursor.rowcount


def _blocks(columns: Sequence[Column], rows: int) -> Iterator[bytes]:
    """The next block is built while Postgres reads."""
    if rows <= _ROWS_A_BLOCK:
        yield lines(columns)
        return
    with ThreadPoolExecutor(1, thread_name_prefix="lines") as pool:
        ahead: Future[bytes] | None = None
        for first in range(0, rows, _ROWS_A_BLOCK):
            block = pool.submit(lines, [column[first : first + _ROWS_A_BLOCK] for column in columns])
            if ahead is not None:
                yield ahead.result()
            ahead = block
        assert ahead is not None
        yield ahead.result()


def constant(value: object, count: int) -> Column:
    column: Column = repeated(_NULL if value is None else str(value).translate(_ESCAPES), count)
    return column


def plain(values: Iterable[object]) -> Column:
    return [_NULL if value is None else str(value) for value in values]


def text(values: Iterable[str | None]) -> Column:
    return [_NULL if value is None else value.translate(_ESCAPES) for value in values]


def flag(values: Iterable[bool | None]) -> Column:
    return [_NULL if value is None else "t" if value else "f" for value in values]


def document(values: Iterable[object]) -> Column:
    encode: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
    return [_NULL if value is None else encode(value).translate(_ESCAPES) for value in values]


def numbers(values: Iterable[Sequence[float | None] | None]) -> Column:
    return [
        _NULL
        if value is None
        else "{" + ",".join("NULL" if element is None else str(element) for element in value) + "}"
        for value in values
    ]


def texts(values: Iterable[Sequence[str] | None]) -> Column:
    return [_NULL if value is None else _text_array(value).translate(_ESCAPES) for value in values]


def raw_bytes(values: Iterable[bytes | None]) -> Column:
    return [_NULL if value is None else r"\\x" + value.hex() for value in values]


def _text_array(value: Sequence[str]) -> str:
    quoted = (element.replace("\\", r"\\").replace('"', r"\"") for element in value)
    return "{" + ",".join(f'"{text}"' for text in quoted) + "}"
