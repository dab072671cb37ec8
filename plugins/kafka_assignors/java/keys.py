"""Hash codes and order of the keys of Kafka's maps.

- ``TopicPartition.hashCode`` = 31 · (31 + partition) + topic.hashCode.
- ``Uuid.hashCode`` = both halves of (high ^ low), xor-ed; ``compareTo`` = **signed** high half, then low: an id whose
  first byte is 0x80 or more sorts first, unlike its base64 text. A column is two int64[n]: high and low halves.
- ``Optional.hashCode`` = that of the value, 0 when empty. ``Integer.hashCode`` = the value.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable

import numpy as np

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.java.strings import hash_code
from kafka_assignors.kernels import kernel

_UUID_BYTES = 16


def uuid_columns(texts: Iterable[str]) -> tuple[Longs, Longs]:
    """Of base64url without padding. Raises InvalidInputError for other text."""
    raw = b"".join(_uuid_bytes(text) for text in texts)
    halves = np.frombuffer(raw, ">i8").astype(np.int64)
    return halves[0::2].copy(), halves[1::2].copy()


def _uuid_bytes(text: str) -> bytes:
    try:
        # Without validate, Python skips foreign letters.
        raw = base64.b64decode(text.replace("-", "+").replace("_", "/") + "==", validate=True)
    except ValueError:
        raw = b""
    if len(raw) != _UUID_BYTES:
        raise InvalidInputError.at(repr(text), "not a Kafka Uuid", "write 16 bytes as 22 letters of base64url")
    return raw


@kernel
def uuid_hash_codes(high: Longs, low: Longs) -> Ints:
    codes = np.empty(len(high), np.int32)
    for i in range(len(high)):
        mixed = high[i] ^ low[i]
        codes[i] = np.int32(np.uint32((mixed >> 32) ^ mixed))
    return codes


@kernel
def topic_partition_hash(topic_hash: int, partition: int) -> np.int32:
    return np.int32(np.uint32(31 * (31 + np.int64(partition)) + np.int64(topic_hash)))


def topic_partition_hashes(topic_hashes: Ints, partitions: Ints) -> Ints:
    return (31 * (31 + partitions.astype(np.int64)) + topic_hashes).astype(np.uint32).view(np.int32)


def topic_id_partition_hashes(topic_id_hashes: Ints, partitions: Ints) -> Ints:
    """``TopicIdPartition.hashCode`` of the group coordinator: 31 · hash(Uuid) + partition."""
    return (31 * topic_id_hashes.astype(np.int64) + partitions).astype(np.uint32).view(np.int32)


def optional_hash(text: str | None) -> int:
    return 0 if text is None else hash_code(text)
