"""What is kept of the few keys that a sample keeps: their hashes, how long they are and, if asked, how they begin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import Longs
from kafka_rebalance.partitioners.key_column import KeyColumn
from kafka_rebalance.partitioners.tally.identity import Identities
from kafka_rebalance.partitioners.tally.rules import Words

UNKNOWN_LENGTH = -1


@dataclass(frozen=True, slots=True, eq=False)
class KeyFacts:
    """K keys by ascending ``identity``; ``hashes`` uint32[H, K] in the order of the tally's hashes.

    ``length`` int32[K] bytes of the key (-1: only its hash is known); ``start`` uint8[K, W] its first bytes, W = 0
    where no key is to be shown.
    """

    identity: Identities
    hashes: Words
    length: npt.NDArray[np.int32]
    start: npt.NDArray[np.uint8]

    @classmethod
    def none(cls, hash_count: int, shown_bytes: int) -> KeyFacts:
        """No key yet."""
        return cls(
            np.zeros(0, np.uint64), np.zeros((hash_count, 0), np.uint32), np.zeros(0, np.int32),
            np.zeros((0, shown_bytes), np.uint8),
        )  # fmt: skip

    @classmethod
    def of_rows(cls, rows: Longs, identity: Identities, hashes: Words, keys: KeyColumn | None, shown: int) -> KeyFacts:
        """The keys of ``rows`` of a batch, each another one."""
        rows = rows[np.argsort(identity[rows])]
        length = np.full(len(rows), UNKNOWN_LENGTH, np.int32)
        start = np.zeros((len(rows), shown), np.uint8)
        if keys is not None:
            length = (keys.offsets[rows + 1] - keys.offsets[rows]).astype(np.int32)
            if shown:
                within = np.arange(shown)
                at = keys.offsets[rows].astype(np.int64)[:, None] + within
                is_key = within < length[:, None]
                start[is_key] = keys.data[at[is_key]]
        return cls(identity[rows], hashes[:, rows], length, start)

    def __len__(self) -> int:
        return len(self.identity)

    def of(self, identity: Identities) -> KeyFacts:
        """The facts of these keys, ascending, all of which are here."""
        at = np.searchsorted(self.identity, identity)
        return KeyFacts(self.identity[at], self.hashes[:, at], self.length[at], self.start[at])

    def together(self, other: KeyFacts) -> KeyFacts:
        """Those of both, each key once."""
        identity = np.concatenate([self.identity, other.identity])
        _, first = np.unique(identity, return_index=True)
        return KeyFacts(
            identity[first],
            np.concatenate([self.hashes, other.hashes], axis=1)[:, first],
            np.concatenate([self.length, other.length])[first],
            np.concatenate([self.start, other.start])[first],
        )

    def key(self, index: int) -> bytes | None:
        """The key's bytes, or its first ones where it is longer; None where keys are not kept."""
        width = self.start.shape[1]
        return self.start[index, : self.length[index]].tobytes() if width and self.length[index] >= 0 else None
