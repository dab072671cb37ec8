"""Count a sample file: JSON lines, CSV or Parquet. Only Parquet needs Arrow.

Null and empty keys differ: JSON ``null`` or no field, and ``""``; CSV nothing between commas, and ``""``. JSON number
keys are refused: only their serializer knows the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_assignors.visible_text import excerpt
from kafka_assignors.whole_number import whole_number
from kafka_rebalance.errors import UsageError
from kafka_rebalance.key_tally.plan import (
    MOST_PARTITIONS,
    MOST_VALUE_BYTES,
    UNKNOWN_PARTITION,
    KeyBatch,
    TallyPlan,
    batch_of_hashes,
    batch_of_keys,
)
from kafka_rebalance.key_tally.tally import KeyEncoding, KeyTally, decode_keys
from rebalance_advisor.input_bytes import ByteBudget, folder_entries, is_folder, read_text
from rebalance_advisor.key_samples.request import SampleColumns, format_of


def tally_file(
    path: Path, columns: SampleColumns, plan: TallyPlan, budget: ByteBudget, named: str | None = None
) -> KeyTally:
    match format_of(str(path), named):
        case "json":
            return KeyTally.none(plan).added(read_json_lines(path, columns, plan, budget))
        case "csv":
            return KeyTally.none(plan).added(read_csv(path, columns, plan, budget))
    if find_spec("pyarrow") is None:
        raise UsageError.at(
            str(path),
            "Parquet needs pyarrow",
            "pip install pyarrow, or give JSON lines or CSV",
        )

    return tally_of(row_groups(parquet_files(path), columns), columns, plan)


Row = Mapping[str, Any]
Places = list[int]  # lines of rows
_INT32 = 2**31
# Quoted (quotes doubled) or plain, and its end.
_FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\r|\Z)')


def read_json_lines(path: Path, columns: SampleColumns, plan: TallyPlan, budget: ByteBudget) -> KeyBatch:
    rows: list[Row] = []
    lines: Places = []
    columns_read: set[str] = set()
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
        lines.append(number)
        columns_read |= row.keys()
    if rows:
        columns.require_in(sorted(columns_read), str(path))
    return _batch(path, rows, lines, columns, plan)


def read_csv(path: Path, columns: SampleColumns, plan: TallyPlan, budget: ByteBudget) -> KeyBatch:
    """Read RFC 4180."""
    records = _csv_records(read_text(path, budget), path)
    header = next(records, (1, []))[1]
    columns.require_in([name or "" for name in header], str(path))
    if len(set(header)) < len(header):
        raise InvalidInputError.at(f"{path}:1", "names a column twice")
    rows: list[Row] = []
    lines: Places = []
    for number, fields in records:
        if len(fields) != len(header):
            raise InvalidInputError.at(f"{path}:{number}", f"{len(fields)} fields, the header has {len(header)}")
        rows.append({name or "": field for name, field in zip(header, fields, strict=True)})
        lines.append(number)
    return _batch(path, rows, lines, columns, plan)


def _csv_records(text: str, path: Path) -> Iterator[tuple[int, list[str | None]]]:
    """(first line, fields; None for an absent one); skips empty lines."""
    at, line = 0, 1
    fields: list[str | None] = []
    begun = 1
    while at < len(text):
        match = _FIELD.match(text, at)
        if match is None:
            raise InvalidInputError.at(f"{path}:{line}", "a quote that is not closed, or text beside a quoted field")
        quoted, plain, end = match.groups()
        fields.append((plain or None) if quoted is None else quoted.replace('""', '"'))
        line += match.group().count("\n")
        at = match.end()
        if end == "," and at < len(text):
            continue
        if end == ",":
            fields.append(None)  # a last comma: one more absent field
        if fields != [None]:
            yield begun, fields
        fields, begun = [], line


def _batch(path: Path, rows: list[Row], lines: Places, columns: SampleColumns, plan: TallyPlan) -> KeyBatch:
    def numbers(name: str | None, missing: int, least: int, end: int) -> Any:
        if name is None:
            return None
        return np.array([_number(row.get(name), f"{path}:{line}, {name}", (missing, least, end))
                         for row, line in zip(rows, lines, strict=True)], np.int64)  # fmt: skip

    value_bytes = numbers(columns.value_bytes, 0, 0, MOST_VALUE_BYTES)
    observed = numbers(columns.partition, UNKNOWN_PARTITION, 0, MOST_PARTITIONS)
    observed = None if observed is None else observed.astype(np.int32)
    if columns.key_hash is not None:
        hashes = numbers(columns.key_hash, 0, -_INT32, _INT32)
        is_null = np.array([row.get(columns.key_hash) is None for row in rows], np.bool_)
        return batch_of_hashes(hashes.astype(np.int32).view(np.uint32), is_null, value_bytes, observed)
    keys = [_key(row.get(columns.key or ""), f"{path}:{line}") for row, line in zip(rows, lines, strict=True)]
    return batch_of_keys(_decoded(path, keys, lines, columns.encoding), plan.hashes, value_bytes, observed)


def _decoded(path: Path, keys: list[bytes | None], lines: Places, encoding: KeyEncoding) -> KeyColumn:
    column = KeyColumn.of(keys)
    try:
        return decode_keys(column, encoding)
    except InvalidInputError:
        # One by one for the line number.
        for key, line in zip(keys, lines, strict=True):
            try:
                decode_keys(KeyColumn.of([key]), encoding)
            except InvalidInputError as error:
                raise InvalidInputError.at(f"{path}:{line}", error.problem, error.hint) from error
        raise


def _key(value: object, location: str) -> bytes | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidInputError.at(
            location, f"its key is {excerpt(value)}, not a string", "write keys as text, hex or base64"
        )
    return value.encode()


def _number(value: object, location: str, limits: tuple[int, int, int]) -> int:
    missing, least, end = limits
    if value is None:
        return missing
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,19}", value):
        value = int(value)
    number = whole_number(value)
    if number is None or not least <= number < end:
        raise InvalidInputError.at(
            location, f"is {excerpt(value)}", f"a whole number from {least} to {end - 1} is expected"
        )
    return number


if TYPE_CHECKING:
    import pyarrow as pa


def key_batch(batch: pa.RecordBatch, columns: SampleColumns, plan: TallyPlan, first_row: int = 0) -> KeyBatch:
    """``first_row``: rows of the file before it."""
    observed = _partitions(batch, columns.partition)
    value_bytes = _sizes(batch, columns.value_bytes)
    if columns.key_hash is not None:
        column = _signed(batch.column(columns.key_hash), columns.key_hash, "int32")
        hashes = _filled(column, 0).astype(np.int32).view(np.uint32)
        return batch_of_hashes(hashes, _nulls(column), value_bytes, observed)
    assert columns.key is not None  # has key or key_hash
    keys = decode_keys(key_column(batch.column(columns.key), columns.key), columns.encoding, first_row)
    return batch_of_keys(keys, plan.hashes, value_bytes, observed)


def key_column(array: Any, name: str) -> KeyColumn:
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_null(kind):
        array, kind = array.cast(pa.binary()), pa.binary()
    is_large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    if not (is_large or pa.types.is_string(kind) or pa.types.is_binary(kind)):
        raise InvalidInputError.at(
            f"column {name}", f"holds {kind}, keys are strings or bytes",
            "a number has no bytes of its own: its serializer gives them",
        )  # fmt: skip
    validity, offsets, data = array.buffers()
    if offsets is None or len(array) == 0:
        return KeyColumn.of([])
    return KeyColumn.of_arrow_buffers(validity, offsets, data, start=array.offset, count=len(array), is_large=is_large)


def _partitions(batch: pa.RecordBatch, name: str | None) -> Ints | None:
    if name is None:
        return None
    numbers = _filled(_signed(batch.column(name), name, "int32"), UNKNOWN_PARTITION)
    partitions: Ints = numbers.astype(np.int32)
    return partitions


def _sizes(batch: pa.RecordBatch, name: str | None) -> Longs | None:
    if name is None:
        return None
    sizes: Longs = _filled(_signed(batch.column(name), name, "int64"), 0).astype(np.int64)
    return sizes


def _signed(array: Any, name: str, kind: str) -> Any:
    import pyarrow as pa

    try:
        return array.cast(getattr(pa, kind)())
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise InvalidInputError.at(f"column {name}", f"cannot be read as {kind} ({reason})") from error


def _filled(array: Any, value: int) -> Any:
    return array.fill_null(value).to_numpy(zero_copy_only=False)


def _nulls(array: Any) -> Any:
    return array.is_null().to_numpy(zero_copy_only=False)


if TYPE_CHECKING:
    import pyarrow.parquet as pq

_BATCH_ROWS = 1 << 18  # fits the cache


@dataclass(frozen=True, slots=True)
class RowGroups:
    """``before``: rows of the file before them."""

    file: str
    first: int
    end: int
    rows: int
    before: int


def parquet_files(path: Path) -> tuple[Path, ...]:
    if not is_folder(path):
        return (path,)
    files, _ = folder_entries(path)
    parquet = tuple(file for file in files if file.suffix == ".parquet")
    if not parquet:
        raise InvalidInputError.at(str(path), "holds no file that ends with .parquet")
    return parquet


def row_groups(files: Sequence[Path], columns: SampleColumns) -> tuple[RowGroups, ...]:
    groups = []
    for file in files:
        with _opened(str(file)) as opened:
            columns.require_in(opened.schema_arrow.names, str(file))
            before = 0
            for number in range(opened.num_row_groups):
                rows = opened.metadata.row_group(number).num_rows
                groups.append(RowGroups(str(file), number, number + 1, rows, before))
                before += rows
    return tuple(groups)


def shared_out(groups: Sequence[RowGroups], parts: int) -> tuple[tuple[RowGroups, ...], ...]:
    """At most ``parts``, none empty: the largest row group to the part with fewest rows."""
    rows = [0] * max(parts, 1)
    shares: list[list[RowGroups]] = [[] for _ in rows]
    for group in sorted(groups, key=lambda group: -group.rows):
        least = rows.index(min(rows))
        shares[least].append(group)
        rows[least] += group.rows
    return tuple(tuple(share) for share in shares if share)


def tally_of(groups: Sequence[RowGroups], columns: SampleColumns, plan: TallyPlan) -> KeyTally:
    tally = KeyTally.none(plan)
    for group in groups:
        with _opened(group.file) as opened:
            before = group.before
            for batch in _batches(opened, group, columns):
                try:
                    tally = tally.added(key_batch(batch, columns, plan, before))
                except InvalidInputError as error:
                    raise InvalidInputError(f"{group.file}: {error}") from error
                before += batch.num_rows
    return tally


def _opened(file: str) -> pq.ParquetFile:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        raise InvalidInputError.at(file, f"is no whole Parquet file ({_first_line(error)})", "copy it again") from error


def _batches(opened: pq.ParquetFile, group: RowGroups, columns: SampleColumns) -> Iterator[pq.RecordBatch]:
    import pyarrow as pa

    numbers = range(group.first, group.end)
    try:
        yield from opened.iter_batches(
            batch_size=_BATCH_ROWS, row_groups=list(numbers), columns=list(columns.names), use_threads=False
        )
    except (pa.ArrowException, OSError) as error:
        raise InvalidInputError.at(group.file, f"cannot be read ({_first_line(error)})", "copy it again") from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
