"""Parquet files by row groups: what one task reads, and the tally of it. Only the columns asked for are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.partitioners.tally.plan import TallyPlan
from kafka_rebalance.partitioners.tally.tally import KeyTally
from rebalance_advisor.input_bytes import folder_entries, is_folder
from rebalance_advisor.key_samples.arrow_batches import key_batch
from rebalance_advisor.key_samples.columns import SampleColumns

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_BATCH_ROWS = 1 << 18  # what its hashes and partitions take stays near the processor


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Row groups ``first`` … ``end - 1`` of one file; ``before``: rows of the file before them."""

    file: str
    first: int
    end: int
    rows: int
    before: int


def parquet_files(path: Path) -> tuple[Path, ...]:
    """The file, or those of a folder as Spark writes it. Raises InvalidInputError where there is none."""
    if not is_folder(path):
        return (path,)
    files, _ = folder_entries(path)
    found = tuple(file for file in files if file.suffix == ".parquet")
    if not found:
        raise InvalidInputError.at(str(path), "holds no file that ends with .parquet")
    return found


def row_groups(files: Sequence[Path], columns: SampleColumns) -> tuple[RowGroups, ...]:
    """One by one. Raises InvalidInputError for a file that is no Parquet, is cut short, or lacks a column."""
    found = []
    for file in files:
        with _opened(str(file)) as opened:
            columns.require_in(opened.schema_arrow.names, str(file))
            before = 0
            for number in range(opened.num_row_groups):
                rows = opened.metadata.row_group(number).num_rows
                found.append(RowGroups(str(file), number, number + 1, rows, before))
                before += rows
    return tuple(found)


def shared_out(groups: Sequence[RowGroups], parts: int) -> tuple[tuple[RowGroups, ...], ...]:
    """At most ``parts`` parts, the largest row group always to whoever has fewest rows; no part is empty."""
    rows = [0] * max(parts, 1)
    shares: list[list[RowGroups]] = [[] for _ in rows]
    for group in sorted(groups, key=lambda group: -group.rows):
        least = rows.index(min(rows))
        shares[least].append(group)
        rows[least] += group.rows
    return tuple(tuple(share) for share in shares if share)


def tally_of(groups: Sequence[RowGroups], columns: SampleColumns, plan: TallyPlan) -> KeyTally:
    """Count the records of these row groups. Raises InvalidInputError with file and row that cannot be read."""
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
