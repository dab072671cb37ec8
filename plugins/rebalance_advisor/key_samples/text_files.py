"""JSON lines and CSV of a small sample, read without Arrow: for the shell, where a bare install has none.

A null key and an empty one are told apart: in JSON ``null`` (or no such field) and ``""``, in CSV nothing between two
commas and ``""``. Numbers of JSON as keys are refused: which bytes they were, their serializer knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.partitioners.key_column import KeyColumn
from kafka_rebalance.partitioners.tally.batch import (
    MOST_PARTITIONS,
    MOST_VALUE_BYTES,
    UNKNOWN_PARTITION,
    KeyBatch,
    batch_of_hashes,
    batch_of_keys,
)
from kafka_rebalance.partitioners.tally.decoded_keys import KeyEncoding, decoded
from kafka_rebalance.partitioners.tally.plan import TallyPlan
from kafka_rebalance.visible_text import excerpt
from kafka_rebalance.whole_number import whole_number
from rebalance_advisor.input_bytes import ByteBudget, read_text
from rebalance_advisor.key_samples.columns import SampleColumns

Row = Mapping[str, Any]
Places = list[int]  # the line of each row
_INT32 = 2**31
# A field and what ends it: quoted, with quotes doubled inside, or plain.
_FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\r|\Z)')


def read_json_lines(path: Path, columns: SampleColumns, plan: TallyPlan, budget: ByteBudget) -> KeyBatch:
    """One object a line; blank lines are passed over. Raises InvalidInputError with file and line."""
    rows: list[Row] = []
    places: Places = []
    seen: set[str] = set()
    for number, line in enumerate(read_text(path, budget).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise InvalidInputError.at(f"{path}:{number}", f"is not JSON ({error})") from error
        if not isinstance(row, dict):
            raise InvalidInputError.at(f"{path}:{number}", f"is {excerpt(row)}, not an object", "a record a line")
        rows.append(row)
        places.append(number)
        seen |= row.keys()
    if rows:
        columns.require_in(sorted(seen), str(path))
    return _batch(path, rows, places, columns, plan)


def read_csv(path: Path, columns: SampleColumns, plan: TallyPlan, budget: ByteBudget) -> KeyBatch:
    """Commas, a header, quotes as in RFC 4180. Raises InvalidInputError with file and line."""
    records = _csv_records(read_text(path, budget), path)
    header = next(records, (1, []))[1]
    columns.require_in([name or "" for name in header], str(path))
    if len(set(header)) < len(header):
        raise InvalidInputError.at(f"{path}:1", "names a column twice")
    rows: list[Row] = []
    places: Places = []
    for number, fields in records:
        if len(fields) != len(header):
            raise InvalidInputError.at(f"{path}:{number}", f"{len(fields)} fields, the header has {len(header)}")
        rows.append({name or "": field for name, field in zip(header, fields, strict=True)})
        places.append(number)
    return _batch(path, rows, places, columns, plan)


def _csv_records(text: str, path: Path) -> Iterator[tuple[int, list[str | None]]]:
    """(line it begins in, fields; None for nothing at all); empty lines are passed over."""
    at, line = 0, 1
    fields: list[str | None] = []
    begun = 1
    while at < len(text):
        found = _FIELD.match(text, at)
        if found is None:
            raise InvalidInputError.at(f"{path}:{line}", "a quote that is not closed, or text beside a quoted field")
        quoted, plain, end = found.groups()
        fields.append((plain or None) if quoted is None else quoted.replace('""', '"'))
        line += found.group().count("\n")
        at = found.end()
        if end == "," and at < len(text):
            continue
        if end == ",":
            fields.append(None)  # a comma ends the file: nothing stands behind it
        if fields != [None]:
            yield begun, fields
        fields, begun = [], line


def _batch(path: Path, rows: list[Row], places: Places, columns: SampleColumns, plan: TallyPlan) -> KeyBatch:
    def numbers(name: str | None, missing: int, least: int, end: int) -> Any:
        if name is None:
            return None
        return np.array([_number(row.get(name), f"{path}:{place}, {name}", (missing, least, end))
                         for row, place in zip(rows, places, strict=True)], np.int64)  # fmt: skip

    value_bytes = numbers(columns.value_bytes, 0, 0, MOST_VALUE_BYTES)
    observed = numbers(columns.partition, UNKNOWN_PARTITION, 0, MOST_PARTITIONS)
    observed = None if observed is None else observed.astype(np.int32)
    if columns.key_hash is not None:
        hashes = numbers(columns.key_hash, 0, -_INT32, _INT32)
        is_null = np.array([row.get(columns.key_hash) is None for row in rows], np.bool_)
        return batch_of_hashes(hashes.astype(np.int32).view(np.uint32), is_null, value_bytes, observed)
    keys = [_key(row.get(columns.key or ""), f"{path}:{place}") for row, place in zip(rows, places, strict=True)]
    return batch_of_keys(_decoded(path, keys, places, columns.encoding), plan.hashes, value_bytes, observed)


def _decoded(path: Path, keys: list[bytes | None], places: Places, encoding: KeyEncoding) -> KeyColumn:
    column = KeyColumn.of(keys)
    try:
        return decoded(column, encoding)
    except InvalidInputError:
        # Asked once more one by one: the file's line tells more than the number of its record.
        for key, place in zip(keys, places, strict=True):
            try:
                decoded(KeyColumn.of([key]), encoding)
            except InvalidInputError as error:
                raise InvalidInputError.at(f"{path}:{place}", error.problem, error.hint) from error
        raise


def _key(value: object, place: str) -> bytes | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidInputError.at(
            place, f"its key is {excerpt(value)}, not a string", "write keys as text, hex or base64"
        )
    return value.encode()


def _number(value: object, place: str, limits: tuple[int, int, int]) -> int:
    missing, least, end = limits
    if value is None:
        return missing
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,19}", value):
        value = int(value)
    number = whole_number(value)
    if number is None or not least <= number < end:
        raise InvalidInputError.at(
            place, f"is {excerpt(value)}", f"a whole number from {least} to {end - 1} is expected"
        )
    return number
