"""The hashes of clients that are not Java: CRC-32 (librdkafka) and FNV-1a (Sarama, librdkafka), over key columns.

Complexity: O(bytes).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from kafka_rebalance.kernels.decorators import wraps_around
from kafka_rebalance.partitioners.key_column import KeyColumn, Offsets

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint32]


def _crc_table() -> Words:
    """The 256 remainders of the reversed IEEE polynomial."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(0xEDB88320), table >> 1).astype(np.uint32)
    return table


_CRC = _crc_table()


def crc32_hashes(keys: KeyColumn) -> Words:
    """IEEE CRC-32 of each key, uint32[N]; 0 for an empty one."""
    hashes = np.empty(len(keys), np.uint32)
    _crc32_each(keys.data, keys.offsets, _CRC, hashes)
    return hashes


def fnv1a_hashes(keys: KeyColumn) -> Words:
    """32-bit FNV-1a of each key, uint32[N]; 0x811c9dc5 for an empty one."""
    hashes = np.empty(len(keys), np.uint32)
    _fnv1a_each(keys.data, keys.offsets, hashes)
    return hashes


@njit(cache=True)
def _crc32_each(data: Bytes, offsets: Offsets, table: Words, hashes: Words) -> None:
    for i in range(len(hashes)):
        code = np.uint32(0xFFFFFFFF)
        for at in range(offsets[i], offsets[i + 1]):
            code = table[(code ^ np.uint32(data[at])) & np.uint32(0xFF)] ^ (code >> np.uint32(8))
        hashes[i] = ~code


@njit(cache=True)
@wraps_around
def _fnv1a_each(data: Bytes, offsets: Offsets, hashes: Words) -> None:
    for i in range(len(hashes)):
        code = np.uint32(0x811C9DC5)
        for at in range(offsets[i], offsets[i + 1]):
            code = np.uint32(np.uint32(code ^ np.uint32(data[at])) * np.uint32(0x01000193))
        hashes[i] = code
