"""Rows packed into as many Spark tasks as there are bins: each bin is one row that holds an Arrow table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from rebalance_advisor.spark.packing import pack_by_cost

BIN = "bin"
_ROWS = "rows"


def binned(rows: pa.Table, costs: Sequence[float], bins: int) -> pa.Table:
    """One row a bin that is not empty, the dearest first: ``bin`` int32 and its part of ``rows`` as Arrow's stream."""
    packed = pack_by_cost(costs, min(bins, rows.num_rows))
    parts: dict[int, list[int]] = {}
    for row, number in enumerate(packed):
        parts.setdefault(number, []).append(row)
    numbers = sorted(parts)
    streams = [_stream(rows.take(pa.array(parts[number]))) for number in numbers]
    return pa.table({BIN: pa.array(numbers, pa.int32()), _ROWS: pa.array(streams, pa.binary())})


def unbinned(batch: pa.RecordBatch) -> Iterator[pa.Table]:
    """The way back: the rows of each bin in ``batch``."""
    for stream in batch.column(_ROWS):
        with pa.ipc.open_stream(stream.as_buffer()) as reader:
            yield reader.read_all()


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
