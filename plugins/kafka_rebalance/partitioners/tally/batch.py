"""A batch of records as it is counted: keys or only their hashes, sizes and partitions where the sample has them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.partitioners.key_column import KeyColumn
from kafka_rebalance.partitioners.tally.identity import Identities, hash_identities, key_identities
from kafka_rebalance.partitioners.tally.rules import KeyHash, Words, hashes_of

MOST_PARTITIONS = 1_000_000
MOST_VALUE_BYTES = 2**31  # Kafka counts them in an int
UNKNOWN_PARTITION = -1


@dataclass(frozen=True, slots=True, eq=False)
class KeyBatch:
    """N records. ``hashes`` uint32[H, N] in the order asked for; ``keys`` None where only hashes are known.

    ``record_bytes`` int64[N] and ``observed`` int32[N], the partition that each record was read from, may be unknown.
    """

    identity: Identities
    hashes: Words
    is_null: Flags
    is_empty: Flags
    keys: KeyColumn | None
    record_bytes: Longs | None = None
    observed: Ints | None = None

    def __post_init__(self) -> None:
        for name in ("record_bytes", "observed"):
            column = getattr(self, name)
            if column is not None and len(column) != len(self):
                raise InvalidInputError.at(name, f"{len(column)} values, expected {len(self)}")
        _require_within(self.observed, "partition", UNKNOWN_PARTITION, MOST_PARTITIONS)

    def __len__(self) -> int:
        return len(self.identity)


def batch_of_keys(
    keys: KeyColumn, asked: Iterable[KeyHash], value_bytes: Longs | None = None, observed: Ints | None = None
) -> KeyBatch:
    """Hash every key in each way; a record weighs as much as its key and its value."""
    _require_within(value_bytes, "bytes of a value", 0, MOST_VALUE_BYTES)
    lengths = keys.lengths
    is_null = keys.nulls
    hashes = [hashes_of(key_hash, keys) for key_hash in asked]
    return KeyBatch(
        identity=key_identities(keys),
        hashes=np.stack(hashes) if hashes else np.zeros((0, len(keys)), np.uint32),
        is_null=is_null,
        is_empty=(lengths == 0) & ~is_null,
        keys=keys,
        record_bytes=None if value_bytes is None else value_bytes + np.where(is_null, 0, lengths),
        observed=observed,
    )


def batch_of_hashes(
    hashes: Words, is_null: Flags, value_bytes: Longs | None = None, observed: Ints | None = None
) -> KeyBatch:
    """Keys of which one hash each is known: two keys of one hash are counted as one, no key is known to be empty."""
    _require_within(value_bytes, "bytes of a value", 0, MOST_VALUE_BYTES)
    return KeyBatch(
        identity=hash_identities(hashes),
        hashes=hashes[None, :],
        is_null=is_null,
        is_empty=np.zeros(len(hashes), np.bool_),
        keys=None,
        record_bytes=value_bytes,
        observed=observed,
    )


def _require_within(column: Longs | Ints | None, name: str, least: int, end: int) -> None:
    if column is not None and len(column):
        for value in (int(column.min()), int(column.max())):
            if not least <= value < end:
                raise InvalidInputError.at(name, str(value), f"from {max(least, 0)} to {end - 1} is expected")
