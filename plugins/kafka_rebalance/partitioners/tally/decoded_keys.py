"""Keys that a file holds as text: hexadecimal or base64 back to their bytes, without a Python object a key."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import Longs
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.kernels.decorators import kernel
from kafka_rebalance.partitioners.key_column import Bytes, KeyColumn, Offsets

Values = npt.NDArray[np.int8]


class KeyEncoding(StrEnum):
    """How keys are written down."""

    PLAIN = "plain"
    HEX = "hex"
    BASE64 = "base64"


_NO_DIGIT, _PAD = -1, -2
_BYTE_BITS = 8


def _values(*alphabets: str) -> Values:
    values = np.full(256, _NO_DIGIT, np.int8)
    for alphabet in alphabets:
        values[np.frombuffer(alphabet.encode(), np.uint8)] = np.arange(len(alphabet))
    return values


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_HEX = _values("0123456789abcdef", "0123456789ABCDEF")
_BASE64 = _values(f"{_LETTERS}+/", f"{_LETTERS}-_")
_BASE64[ord("=")] = _PAD


def decoded(keys: KeyColumn, encoding: KeyEncoding, first_row: int = 0) -> KeyColumn:
    """The keys' own bytes. Raises InvalidInputError with the row (from 1, after ``first_row``) that cannot be read."""
    if encoding is KeyEncoding.PLAIN:
        return keys
    values, bits = (_HEX, 4) if encoding is KeyEncoding.HEX else (_BASE64, 6)
    offsets = np.zeros(len(keys) + 1, np.int64)
    data = np.zeros(int(keys.offsets[-1] - keys.offsets[0]), np.uint8)
    bad = _decode(keys.data, keys.offsets, keys.nulls, (values, bits), (data, offsets))
    if bad >= 0:
        raise InvalidInputError.at(
            f"row {first_row + bad + 1}", f"its key is not {encoding.value}", "--key-encoding says how keys are written"
        )
    return KeyColumn(data[: offsets[-1]], offsets, keys.is_null)


@kernel
def _decode(
    data: Bytes, offsets: Offsets, is_null: npt.NDArray[np.bool_], digits: tuple[Values, int],
    found: tuple[Bytes, Longs],
) -> int:  # fmt: skip
    """The first row that cannot be read, or -1."""
    values, bits = digits
    bytes_, bounds = found
    n = 0
    for i in range(len(is_null)):
        value = left = 0
        is_padded = False
        for at in range(offsets[i], offsets[i + 1]):
            if is_null[i]:
                continue
            digit = int(values[data[at]])
            if digit == _PAD:
                is_padded = True
                continue
            if digit == _NO_DIGIT or is_padded:
                return i
            value = ((value << bits) | digit) & 0xFFFF
            left += bits
            if left >= _BYTE_BITS:
                left -= _BYTE_BITS
                bytes_[n] = (value >> left) & 0xFF
                n += 1
        if left >= bits:
            return i
        bounds[i + 1] = n
    return -1
