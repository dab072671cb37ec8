"""java.util.Random, Collections.shuffle and the MockRandom of Kafka's tests, draw for draw.

- ``Random``: state = (state · 0x5DEECE66D + 11) mod 2^48, first seed ^ 0x5DEECE66D; ``next(bits)`` = its upper bits.
- ``nextInt(bound)``: for a power of two (bound · next(31)) >> 31, else next(31) % bound, drawn again in the last,
  incomplete stretch of the range. ``nextInt(1)`` draws, too.
- ``Collections.shuffle``: for i = size … 2 swap(i − 1, nextInt(i)).
- ``MockRandom``: state = state · 2862933555777941757 + 3037000493 mod 2^64, ``next(bits)`` = its upper bits.

A generator is a uint64[2]: state and kind, changed in place. Seed 42, ``nextInt(10)``: 0, 3, 8, …
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Ints
from kafka_assignors.kernels import kernel, wraps_around

State = npt.NDArray[np.uint64]

MOCK_DEFAULT_SEED = 17

_RANDOM, _MOCK = 0, 1
_MULTIPLIER = 0x5DEECE66D
_MASK_48 = (1 << 48) - 1
_MASK_64 = (1 << 64) - 1


def java_random(seed: int) -> State:
    return np.array([(seed ^ _MULTIPLIER) & _MASK_48, _RANDOM], np.uint64)


def mock_random(seed: int = MOCK_DEFAULT_SEED) -> State:
    return np.array([seed & _MASK_64, _MOCK], np.uint64)


@kernel
@wraps_around
def next_bits(state: State, bits: int) -> np.int32:
    if state[1] == np.uint64(_MOCK):
        state[0] = state[0] * np.uint64(2862933555777941757) + np.uint64(3037000493)
        return np.int32(np.uint32(state[0] >> np.uint64(64 - bits)))
    state[0] = (state[0] * np.uint64(_MULTIPLIER) + np.uint64(0xB)) & np.uint64(_MASK_48)
    return np.int32(np.uint32(state[0] >> np.uint64(48 - bits)))


@kernel
def next_int(state: State, bound: int) -> np.int64:
    drawn = np.int64(next_bits(state, 31))
    if bound & (bound - 1) == 0:
        return (bound * drawn) >> 31
    value = drawn % bound
    while drawn - value + (bound - 1) > 0x7FFFFFFF:
        drawn = np.int64(next_bits(state, 31))
        value = drawn % bound
    return value


@kernel
def shuffle(state: State, values: Ints) -> None:
    for i in range(len(values), 1, -1):
        j = next_int(state, i)
        values[i - 1], values[j] = values[j], values[i - 1]
