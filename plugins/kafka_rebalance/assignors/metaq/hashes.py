"""MetaQ's hash functions (``HashAlgorithm``), quirks included: over chars (UTF-16 code units) or bytes (UTF-8).

NATIVE is ``String.hashCode``; CRC32 keeps 15 bits of the upper half; FNV comes in 64 bits cut to 32, also under the
name of 32 bits; KETAMA and ELECTION are the first four bytes of MD5, little-endian; ONE_AT_A_TIME alone is signed.
Those that read bytes fail on the empty key (``NullPointerException``). Sources: Metamorphosis 1.4, after spymemcached.

Example: ":" → NATIVE 58, CRC32 5134, KETAMA 266943109.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Sequence

import numpy as np

from kafka_rebalance.errors import AssignorError

_64 = (1 << 64) - 1
_32 = (1 << 32) - 1
_31 = (1 << 31) - 1

Chars = Sequence[int]


def chars_of(key: str) -> Chars:
    """UTF-16 code units."""
    units: list[int] = np.frombuffer(key.encode("utf-16-le", "surrogatepass"), np.uint16).tolist()
    return units


def bytes_of(key: str) -> bytes:
    """``ByteUtils.getBytes``. Raises AssignorError (NullPointerException) for the empty key."""
    if not key:
        raise AssignorError("java.lang.NullPointerException", "the bytes of an empty key are null")
    return key.encode("utf-8", "replace")


def _native(key: str) -> int:
    code = 0
    for char in chars_of(key):
        code = (31 * code + char) & _32
    return code


def _crc32(key: str) -> int:
    return (zlib.crc32(bytes_of(key)) >> 16) & 0x7FFF


def _fnv1(offset_basis: int, prime: int) -> Callable[[str], int]:
    def multiply_then_mix(key: str) -> int:
        value = offset_basis
        for char in chars_of(key):
            value = (value * prime) & _64 ^ char
        return value & _32

    return multiply_then_mix


def _fnv1a(offset_basis: int, prime: int) -> Callable[[str], int]:
    def mix_then_multiply(key: str) -> int:
        value = offset_basis
        for char in chars_of(key):
            value = ((value ^ char) * prime) & _64
        return value & _32

    return mix_then_multiply


def ketama(key: str) -> int:
    """The first four bytes of MD5 over UTF-8, little-endian."""
    return int.from_bytes(hashlib.md5(bytes_of(key), usedforsecurity=False).digest()[:4], "little")


def _mysql(key: str) -> int:
    value, step = 0, 4
    for char in chars_of(key):
        value = (value ^ (((value & 63) + step) * char + (value << 8))) & _64
        step += 3
    return value & _32


def _elf(key: str) -> int:
    value = 0
    for char in chars_of(key):
        value = ((value << 4) + char) & _64
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high
    return value & _31


def _rs(key: str) -> int:
    value, factor = 0, 63689
    for char in chars_of(key):
        value = (value * factor + char) & _64
        factor = (factor * 378551) & _64
    return value & _31


def _lua(key: str) -> int:
    chars = chars_of(key)
    step = (len(chars) >> 5) + 1
    value = len(chars)
    for length in range(len(chars), step - 1, -step):
        value ^= (value << 5) + (value >> 2) + chars[length - 1]
        # A Java long: the next >> 2 keeps its sign.
        value = (value + (1 << 63)) % (1 << 64) - (1 << 63)
    return value & _32


def _one_at_a_time(key: str) -> int:
    code = 0
    for byte in key.encode("utf-8", "replace"):
        code = (code + byte) & _32
        code = (code + (code << 10)) & _32
        code ^= code >> 6
    code = (code + (code << 3)) & _32
    code ^= code >> 11
    code = (code + (code << 15)) & _32
    return code - (1 << 32) if code > _31 else code


HASHES: dict[str, Callable[[str], int]] = {
    "NATIVE_HASH": _native,
    "CRC32_HASH": _crc32,
    "FNV1_64_HASH": _fnv1(0xCBF29CE484222325, 0x100000001B3),
    "FNV1A_64_HASH": _fnv1a(0xCBF29CE484222325, 0x100000001B3),
    "FNV1_32_HASH": _fnv1(2166136261, 16777619),
    "FNV1A_32_HASH": _fnv1a(2166136261, 16777619),
    "KETAMA_HASH": ketama,
    "MYSQL_HASH": _mysql,
    "ELF_HASH": _elf,
    "RS_HASH": _rs,
    "LUA_HASH": _lua,
    "ELECTION_HASH": ketama,
    "ONE_AT_A_TIME": _one_at_a_time,
}
