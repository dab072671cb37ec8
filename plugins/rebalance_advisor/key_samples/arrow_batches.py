"""Arrow record batches as key batches, over the same buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.partitioners.key_column import KeyColumn
from kafka_rebalance.partitioners.tally.batch import UNKNOWN_PARTITION, KeyBatch, batch_of_hashes, batch_of_keys
from kafka_rebalance.partitioners.tally.decoded_keys import decoded
from kafka_rebalance.partitioners.tally.plan import TallyPlan
from rebalance_advisor.key_samples.columns import SampleColumns

if TYPE_CHECKING:
    import pyarrow as pa


def key_batch(batch: pa.RecordBatch, columns: SampleColumns, plan: TallyPlan, first_row: int = 0) -> KeyBatch:
    """``first_row``: rows of the file before it. Raises InvalidInputError with the column or row that is wrong."""
    observed = _partitions(batch, columns.partition)
    value_bytes = _sizes(batch, columns.value_bytes)
    if columns.key_hash is not None:
        column = _signed(batch.column(columns.key_hash), columns.key_hash, "int32")
        hashes = _filled(column, 0).astype(np.int32).view(np.uint32)
        return batch_of_hashes(hashes, _nulls(column), value_bytes, observed)
    assert columns.key is not None  # SampleColumns has one of them
    keys = decoded(key_column(batch.column(columns.key), columns.key), columns.encoding, first_row)
    return batch_of_keys(keys, plan.hashes, value_bytes, observed)


def key_column(array: Any, name: str) -> KeyColumn:
    """The keys of an Arrow array of strings or bytes. Raises InvalidInputError for another type."""
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
    found = _filled(_signed(batch.column(name), name, "int32"), UNKNOWN_PARTITION)
    partitions: Ints = found.astype(np.int32)
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
        words = str(error).splitlines()[0]
        raise InvalidInputError.at(f"column {name}", f"cannot be read as {kind} ({words})") from error


def _filled(array: Any, value: int) -> Any:
    return array.fill_null(value).to_numpy(zero_copy_only=False)


def _nulls(array: Any) -> Any:
    return array.is_null().to_numpy(zero_copy_only=False)
