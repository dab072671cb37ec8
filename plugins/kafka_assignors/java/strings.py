r"""Java strings over columns ``data`` (uint8, UTF-8) and ``offsets`` (int64[n + 1]): order and ``hashCode``.

UTF-8 bytes compare as code points. In UTF-16, U+E000–U+FFFF (lead bytes EE, EF) come after every surrogate pair
(F0–F4), so EE and EF are ranked above F4. A lone surrogate, which no client can send, sorts before every pair. Example:
``"\U0001F600"`` (a pair D83D DE00) sorts before ``"\uFF01"`` in Java, after it in Python. Hashing O(bytes); sorting O(n
log n) for short ids, eight bytes at a time behind the common prefix.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.kernels import inner_kernel, kernel, wraps_around
from kafka_assignors.string_column import StringColumn

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

# Below, insertion sort is faster.
_SMALL = 16


def hash_code(text: str) -> int:
    """``String.hashCode``: s[0]·31^(n−1) + … + s[n−1] over UTF-16 code units, wrapped to int32."""
    column = StringColumn.of([text])
    return int(hash_codes(column.data, column.offsets)[0])


def compare_key(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


@kernel
def hash_codes(data: Bytes, offsets: Longs) -> Ints:
    codes = np.empty(len(offsets) - 1, np.int32)
    for i in range(len(codes)):
        codes[i] = _hash_code(data, offsets[i], offsets[i + 1])
    return codes


@inner_kernel
@wraps_around
def _hash_code(data: Bytes, start: int, end: int) -> np.int32:
    code = np.uint32(0)
    at = start
    while at < end:
        byte = np.uint32(data[at])
        if byte < 0x80:
            at += 1
            code = np.uint32(code * np.uint32(31) + byte)
            continue
        point, at = _code_point(data, at)
        if point >= 0x10000:
            high = np.uint32(0xD7C0 + (point >> 10))
            code = np.uint32(code * np.uint32(31) + high)
            point = 0xDC00 | (point & 0x3FF)
        code = np.uint32(code * np.uint32(31) + np.uint32(point))
    return np.int32(code)


@inner_kernel
def _code_point(data: Bytes, at: int) -> tuple[np.int64, int]:
    byte = np.int64(data[at])
    if byte < 0xE0:
        return ((byte & 0x1F) << 6) | (np.int64(data[at + 1]) & 0x3F), at + 2
    if byte < 0xF0:
        middle = (np.int64(data[at + 1]) & 0x3F) << 6
        return ((byte & 0x0F) << 12) | middle | (np.int64(data[at + 2]) & 0x3F), at + 3
    upper = ((np.int64(data[at + 1]) & 0x3F) << 12) | ((np.int64(data[at + 2]) & 0x3F) << 6)
    return ((byte & 0x07) << 18) | upper | (np.int64(data[at + 3]) & 0x3F), at + 4


def sorted_order(data: Bytes, offsets: Longs) -> Longs:
    """``String.compareTo``, stable as TimSort."""
    order = np.arange(len(offsets) - 1)
    sort_positions(data, offsets, order)
    return order


@kernel
def sort_positions(data: Bytes, offsets: Longs, order: Longs) -> None:
    n = len(order)
    keys = np.empty(n, np.uint64)
    spare_keys = np.empty(n, np.uint64)
    spare_order = np.empty(n, np.int64)
    # Start, end, bytes known to be equal. A range splits into smaller ones of two or more strings, which bounds their
    # number.
    pending = np.empty(3 * (n // 2 + 1), np.int64)
    pending[0], pending[1], pending[2] = 0, n, 0
    waiting = 1
    while waiting:
        waiting -= 1
        start, end, depth = pending[3 * waiting], pending[3 * waiting + 1], pending[3 * waiting + 2]
        if end - start <= _SMALL:
            _insertion_sort(data, offsets, order, start, end, depth)
            continue
        equal_bytes = _common_prefix(data, offsets, order, start, end, depth)
        for i in range(start, end):
            keys[i] = _eight_bytes(data, offsets[order[i]] + equal_bytes, offsets[order[i] + 1])
        _radix_sort(keys, order, spare_keys, spare_order, start, end)
        run = start
        for i in range(start + 1, end + 1):
            if i < end and keys[i] == keys[run]:
                continue
            if i - run > 1 and keys[run] & np.uint64(0xFF):
                pending[3 * waiting], pending[3 * waiting + 1], pending[3 * waiting + 2] = run, i, equal_bytes + 8
                waiting += 1
            elif i - run > 1:
                # They end within the key or hold zero bytes there.
                _insertion_sort(data, offsets, order, run, i, equal_bytes)
            run = i


@inner_kernel
def _rank(byte: np.uint8) -> np.uint8:
    return np.uint8(byte + 0x10) if byte in (0xEE, 0xEF) else byte


@inner_kernel
def compare(data: Bytes, offsets: Longs, left: int, right: int, depth: int) -> np.int64:
    """Sign; the first ``depth`` bytes are equal."""
    left_at, left_end = offsets[left] + depth, offsets[left + 1]
    right_at, right_end = offsets[right] + depth, offsets[right + 1]
    while left_at < left_end and right_at < right_end:
        if data[left_at] != data[right_at]:
            return np.int64(-1 if _rank(data[left_at]) < _rank(data[right_at]) else 1)
        left_at += 1
        right_at += 1
    return np.int64(left_at < left_end) - np.int64(right_at < right_end)


@inner_kernel
def _insertion_sort(data: Bytes, offsets: Longs, order: Longs, start: int, end: int, depth: int) -> None:
    for i in range(start + 1, end):
        moving = order[i]
        j = i - 1
        while j >= start and compare(data, offsets, order[j], moving, depth) > 0:
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = moving


@inner_kernel
def _common_prefix(data: Bytes, offsets: Longs, order: Longs, start: int, end: int, depth: int) -> np.int64:
    first = offsets[order[start]]
    common = np.int64(offsets[order[start] + 1] - first)
    for i in range(start + 1, end):
        at = offsets[order[i]]
        common = np.int64(min(common, offsets[order[i] + 1] - at))
        equal = np.int64(depth)
        while equal < common and data[at + equal] == data[first + equal]:
            equal += 1
        common = equal
    return common


@inner_kernel
def _eight_bytes(data: Bytes, at: int, end: int) -> np.uint64:
    word = np.uint64(0)
    for k in range(at, min(at + 8, end)):
        word |= np.uint64(_rank(data[k])) << np.uint64(8 * (7 - (k - at)))
    return word


@inner_kernel
def _radix_sort(keys: Words, order: Longs, spare_keys: Words, spare_order: Longs, start: int, end: int) -> None:
    """Stable; skips bytes that all share."""
    differing = np.uint64(0)
    for i in range(start + 1, end):
        differing |= keys[i] ^ keys[start]
    for byte in range(8):
        shift = np.uint64(8 * byte)
        if (differing >> shift) & np.uint64(0xFF) == 0:
            continue
        counts = np.zeros(257, np.int64)
        for i in range(start, end):
            counts[np.int64((keys[i] >> shift) & np.uint64(0xFF)) + 1] += 1
        for value in range(256):
            counts[value + 1] += counts[value]
        for i in range(start, end):
            b = np.int64((keys[i] >> shift) & np.uint64(0xFF))
            spare_keys[start + counts[b]] = keys[i]
            spare_order[start + counts[b]] = order[i]
            counts[b] += 1
        for i in range(start, end):
            keys[i] = spare_keys[i]
            order[i] = spare_order[i]
