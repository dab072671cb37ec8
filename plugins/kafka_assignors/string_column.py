from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Longs
from kafka_assignors.errors import InvalidInputError

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class StringColumn:
    """N strings: ``data`` uint8[bytes] in UTF-8, ``offsets`` int64[N+1].

    A lone surrogate (possible in Java) is kept as its three bytes.
    """

    data: Bytes
    offsets: Longs
    _decoded: list[tuple[str, ...]] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        if len(self.offsets) == 0 or self.offsets[0] != 0 or self.offsets[-1] > len(self.data):
            raise InvalidInputError.at("string column", f"offsets do not fit {len(self.data)} bytes")
        for column in (self.data, self.offsets):
            column.flags.writeable = False

    @classmethod
    def of(cls, strings: Iterable[str]) -> StringColumn:
        kept = tuple(strings)
        encoded = [string.encode("utf-8", "surrogatepass") for string in kept]
        offsets = np.zeros(len(kept) + 1, dtype=np.int64)
        np.cumsum([len(value) for value in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8).copy(), offsets, [kept])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        return self.strings[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self.strings)

    @property
    def strings(self) -> tuple[str, ...]:
        if not self._decoded:
            raw, bounds = self.data.tobytes(), self.offsets.tolist()
            self._decoded.append(tuple(raw[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)))
        return self._decoded[0]
