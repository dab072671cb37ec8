"""Kafka's murmur2 over key columns, and the partition that Java clients take from it.

``partition = (murmur2(key) & 0x7fffffff) % partitions``. The hash is that of ``org.apache.kafka.common.utils.Utils``:
seed 0x9747b28c, four bytes at a time, little-endian. The empty key hashes to 0x106e08d9.

Keys of one length that is a multiple of four (numbers, UUIDs, ObjectIds) go through a loop unrolled for that length,
which the compiler runs over several keys at once; other columns key by key. Same arithmetic, same answers.

Complexity: O(bytes + keys).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt
from numba import njit

from kafka_rebalance.arrays import Ints
from kafka_rebalance.kernels.decorators import wraps_around
from kafka_rebalance.partitioners.key_column import KeyColumn, Offsets
from kafka_rebalance.partitioners.remainder import POSITIVE, four_bytes, remainder

Bytes = npt.NDArray[np.uint8]

_SEED = np.uint32(0x9747B28C)
_M = np.uint32(0x5BD1E995)
_WORD = 4
_UNROLLED_WORDS = 10


def murmur2_hashes(keys: KeyColumn) -> Ints:
    """``Utils.murmur2`` of each key, int32[N]; a null key hashes like the bytes it stands on."""
    hashes = np.empty(len(keys), np.int32)
    _hash_each(keys.data, keys.offsets, hashes)
    return hashes


def murmur2_partitions(keys: KeyColumn, partitions: int) -> Ints:
    """``toPositive(murmur2(key)) % partitions`` of each key, int32[N]; rows of null keys mean nothing."""
    places = np.empty(len(keys), np.int32)
    words, odd = divmod(keys.fixed_length(), _WORD)
    if odd == 0 and 0 < words <= _UNROLLED_WORDS:
        start = int(keys.offsets[0])
        _unrolled(words)(keys.data[start:], places, np.int32(partitions), 1.0 / partitions)
    else:
        _place_each(keys.data, keys.offsets, places, np.int32(partitions), 1.0 / partitions)
    return places


@njit(cache=True, inline="always")
@wraps_around
def _mixed(code: np.uint32, word: np.uint32) -> np.uint32:
    word = np.uint32(word * _M)
    word = np.uint32(word ^ (word >> np.uint32(24)))
    return np.uint32(np.uint32(code * _M) ^ np.uint32(word * _M))


@njit(cache=True, inline="always")
@wraps_around
def _finished(code: np.uint32) -> np.uint32:
    code = np.uint32(code ^ (code >> np.uint32(13)))
    code = np.uint32(code * _M)
    return np.uint32(code ^ (code >> np.uint32(15)))


@njit(cache=True, inline="always")
@wraps_around
def _hash(data: Bytes, start: int, end: int) -> np.uint32:
    code = np.uint32(_SEED ^ np.uint32(end - start))
    at = start
    last_word = end - _WORD
    while at <= last_word:
        code = _mixed(code, four_bytes(data, at))
        at += _WORD
    left = end - at
    if left:
        # One read and a mask instead of a branch a byte; near the end of the buffer byte by byte.
        if at + _WORD <= len(data):
            tail = np.uint32(four_bytes(data, at) & np.uint32((np.uint32(1) << np.uint32(8 * left)) - np.uint32(1)))
        else:
            tail = np.uint32(0)
            for k in range(left):
                tail = np.uint32(tail | (np.uint32(data[at + k]) << np.uint32(8 * k)))
        code = np.uint32(np.uint32(code ^ tail) * _M)
    return np.uint32(_finished(code))


@njit(cache=True)
def _hash_each(data: Bytes, offsets: Offsets, hashes: Ints) -> None:
    for i in range(len(hashes)):
        hashes[i] = np.int32(_hash(data, offsets[i], offsets[i + 1]))


@njit(cache=True, error_model="numpy")
def _place_each(data: Bytes, offsets: Offsets, places: Ints, partitions: np.int32, inverse: float) -> None:
    for i in range(len(places)):
        places[i] = remainder(_hash(data, offsets[i], offsets[i + 1]) & POSITIVE, partitions, inverse)


@cache
def _unrolled(words: int) -> Callable[[Bytes, Ints, np.int32, float], None]:
    """The kernel for keys of exactly ``words`` times four bytes, one after the other."""

    @njit(cache=True, error_model="numpy")
    def place_fixed(data: Bytes, places: Ints, partitions: np.int32, inverse: float) -> None:
        for i in range(len(places)):
            code = np.uint32(_SEED ^ np.uint32(_WORD * words))
            for k in range(words):
                code = _mixed(code, four_bytes(data, _WORD * (words * i + k)))
            places[i] = remainder(_finished(code) & POSITIVE, partitions, inverse)

    kernel: Callable[[Bytes, Ints, np.int32, float], None] = place_fixed
    return kernel
