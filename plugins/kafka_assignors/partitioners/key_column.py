"""Keys of records as in Arrow, without Python objects.

Null and empty keys differ: most clients hash the empty key and choose at random for the null key.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from kafka_assignors.arrays import Flags
from kafka_assignors.errors import InvalidInputError

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int32] | npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class KeyColumn:
    """N keys: ``data`` uint8, ``offsets`` int32 or int64 [N+1].

    ``is_null`` bool[N], or ``None`` without null keys; bytes of null keys are arbitrary.
    """

    data: Bytes
    offsets: Offsets
    is_null: Flags | None = None

    def __post_init__(self) -> None:
        if len(self.offsets) == 0 or self.offsets[0] < 0 or int(self.offsets[-1]) > len(self.data):
            raise InvalidInputError.at("keys", f"offsets do not fit {len(self.data)} bytes")
        if not _ascends(self.offsets):
            raise InvalidInputError.at("keys", "offsets descend", "a key ends before it begins")
        if self.is_null is not None and len(self.is_null) != len(self):
            raise InvalidInputError.at("keys, is_null", f"{len(self.is_null)} values, expected {len(self)}")

    @classmethod
    def of(cls, keys: Iterable[bytes | None]) -> KeyColumn:
        kept = list(keys)
        offsets = np.zeros(len(kept) + 1, np.int64)
        np.cumsum([len(key or b"") for key in kept], out=offsets[1:])
        is_null = np.array([key is None for key in kept], np.bool_)
        data = np.frombuffer(b"".join(key or b"" for key in kept), np.uint8)
        return cls(data, offsets, is_null if is_null.any() else None)

    @classmethod
    def of_arrow_buffers(
        cls, validity: object | None, offsets: object, data: object | None, *, start: int, count: int, is_large: bool
    ) -> KeyColumn:
        """From the buffers of an Arrow (large) binary or string array, without a copy.

        ``start`` and ``count``: for slices. ``is_large``: 64-bit offsets.
        """
        kind = np.int64 if is_large else np.int32
        bounds: Offsets = np.frombuffer(offsets, kind)[start : start + count + 1]  # type: ignore[call-overload]
        content = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)  # type: ignore[call-overload]
        if validity is None:
            return cls(content, bounds)
        bitmap = np.frombuffer(validity, np.uint8)  # type: ignore[call-overload]
        is_valid = np.unpackbits(bitmap, count=start + count, bitorder="little")[start:]
        return cls(content, bounds, is_valid == 0)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def nulls(self) -> Flags:
        return np.zeros(len(self), np.bool_) if self.is_null is None else self.is_null

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        return np.diff(self.offsets).astype(np.int64)

    def key(self, index: int) -> bytes | None:
        if self.is_null is not None and self.is_null[index]:
            return None
        return self.data[int(self.offsets[index]) : int(self.offsets[index + 1])].tobytes()

    def taken(self, rows: npt.NDArray[np.int64]) -> KeyColumn:
        lengths = self.lengths[rows]
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        from_start = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        data = self.data[np.repeat(self.offsets[rows], lengths) + from_start]
        return KeyColumn(data, offsets, None if self.is_null is None else self.is_null[rows])

    def fixed_length(self) -> int:
        return int(_fixed_length(self.offsets))


@njit(cache=True)
def _ascends(offsets: Offsets) -> bool:
    is_descending = False
    for i in range(len(offsets) - 1):
        is_descending |= offsets[i + 1] < offsets[i]
    return not is_descending


@njit(cache=True)
def _fixed_length(offsets: Offsets) -> np.int64:
    if len(offsets) < 2:
        return np.int64(-1)
    length = offsets[1] - offsets[0]
    is_other = False
    for i in range(len(offsets) - 1):
        is_other |= offsets[i + 1] - offsets[i] != length
    return np.int64(-1) if is_other else np.int64(length)
