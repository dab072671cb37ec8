"""64 bits that stand for a key where keys are counted: two keys of a sample have the same ones about never.

Among 50 million different keys the chance that any two are taken for one is 7 in 100,000. Not secret: whoever can guess
a key can compute its identity. Complexity: O(bytes).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kafka_rebalance.kernels.decorators import inlined_kernel, kernel, wraps_around
from kafka_rebalance.partitioners.key_column import Bytes, KeyColumn, Offsets
from kafka_rebalance.partitioners.remainder import four_bytes

Identities = npt.NDArray[np.uint64]
_SEED = np.uint64(0x9E3779B97F4A7C15)
_STEP = np.uint64(0xD6E8FEB86659FD93)
_LAST = np.uint64(0xC4CEB9FE1A85EC53)
_WORD = 4


def key_identities(keys: KeyColumn) -> Identities:
    """uint64[N]; those of null keys mean nothing."""
    identities = np.empty(len(keys), np.uint64)
    _identities(keys.data, keys.offsets, identities)
    return identities


def hash_identities(hashes: npt.NDArray[np.uint32]) -> Identities:
    """uint64[N] where only hashes are known: keys of one hash are one."""
    identities = np.empty(len(hashes), np.uint64)
    _mixed_hashes(hashes, identities)
    return identities


@inlined_kernel
@wraps_around
def _mixed(code: np.uint64, word: np.uint64) -> np.uint64:
    """One to one in ``word``: keys of one length that differ in one word never meet here."""
    code = (code ^ word) * _STEP
    return code ^ (code >> np.uint64(32))


@kernel
@wraps_around
def _identities(data: Bytes, offsets: Offsets, identities: Identities) -> None:
    for i in range(len(identities)):
        at, end = np.int64(offsets[i]), np.int64(offsets[i + 1])
        code = _SEED ^ np.uint64(end - at)
        while at + _WORD <= end:
            code = _mixed(code, np.uint64(four_bytes(data, at)))
            at += _WORD
        tail = np.uint64(0)
        for k in range(end - at):
            tail |= np.uint64(data[at + k]) << np.uint64(8 * k)
        code = _mixed(code, tail) * _LAST
        identities[i] = code ^ (code >> np.uint64(29))


@kernel
@wraps_around
def _mixed_hashes(hashes: npt.NDArray[np.uint32], identities: Identities) -> None:
    for i in range(len(identities)):
        code = _mixed(_SEED, np.uint64(hashes[i])) * _LAST
        identities[i] = code ^ (code >> np.uint64(29))
