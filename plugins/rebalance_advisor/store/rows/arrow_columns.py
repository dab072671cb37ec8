"""COPY's text form by Arrow: 30 ns a cell instead of 300 ns in Python; up to 2 GiB a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kafka_assignors.arrays import Floats, Ints, Longs
from kafka_rebalance.snapshot.history import Rates

if TYPE_CHECKING:
    import pyarrow as pa

NULL = r"\N"
_NULL_ELEMENT = "NULL"

Reals = Floats | Rates


def whole(values: Ints | Longs, *, has_unknown: bool = False) -> pa.StringArray:
    """Negative values are NULL if ``has_unknown``."""
    return _texts(values, values < 0 if has_unknown else None, NULL)


def real(values: Reals) -> pa.StringArray:
    """NaN is NULL."""
    return _texts(values, np.isnan(values), NULL)


def arrays(values: Ints | Longs, offsets: Longs, *, has_unknown: bool = False) -> pa.StringArray:
    """Rows ``values[offsets[i]:offsets[i + 1]]``; negative values are NULL if ``has_unknown``."""
    return _arrays(_texts(values, values < 0 if has_unknown else None, _NULL_ELEMENT), offsets)


def real_arrays(values: Reals, offsets: Longs) -> pa.StringArray:
    return _arrays(_texts(values, np.isnan(values), _NULL_ELEMENT), offsets)


def _arrays(elements: pa.StringArray, offsets: Longs) -> pa.StringArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), elements)
    return pc.binary_join_element_wise("{", pc.binary_join(rows, ","), "}", "")


def chosen(names: Sequence[str], index: Ints) -> pa.StringArray:
    """``names[index]``; names are already text."""
    import pyarrow as pa

    return pa.array(names, pa.string()).take(pa.array(index))


def repeated(cell: str, count: int) -> pa.StringArray:
    import pyarrow as pa

    return pa.repeat(pa.scalar(cell, pa.string()), count)


def lines(columns: Sequence[Any]) -> bytes:
    """Raises UnicodeEncodeError."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [column if isinstance(column, pa.Array) else pa.array(column, pa.string()) for column in columns]
    *ahead, last = texts
    ended = pc.binary_join_element_wise(last, "", "\n")
    joined = pc.binary_join_element_wise(*ahead, ended, "\t") if ahead else ended
    return _data(joined)


def _data(texts: pa.StringArray) -> bytes:
    _, ends, data = texts.buffers()
    if data is None or not len(texts):
        return b""
    bounds = np.frombuffer(ends, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return bytes(memoryview(data)[int(bounds[0]) : int(bounds[-1])])


def _texts(values: Any, is_unknown: Any, unknown: str) -> pa.StringArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.cast(pa.array(values, mask=is_unknown), pa.string())
    return texts if is_unknown is None else pc.fill_null(texts, unknown)
