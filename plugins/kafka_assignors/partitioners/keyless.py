"""Records without key: round robin, random, sticky (KIP-480), uniformly sticky (KIP-794).

``java.util.Random`` with the caller's seed replaces unseeded generators. As in the producer, a record that does not fit
closes the partition's batch and opens the next. Time (linger) is not modelled.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.java.seeded_random import State, next_bits, next_int

_NOBODY = -1


@njit(cache=True)
def round_robin(count: int, available: Ints, counter: int) -> Ints:
    """From a counter that wraps as a Java int and loses its sign."""
    places = np.empty(count, np.int32)
    for i in range(count):
        value = (counter + i) & 0x7FFFFFFF
        places[i] = available[value % len(available)]
    return places


@njit(cache=True)
def round_robin_by_batch(record_bytes: Longs, available: Ints, partitions: int, batch_bytes: int) -> Ints:
    """Java's RoundRobinPartitioner (2.4+) is called twice for a record that opens a batch, so it skips a partition.

    KAFKA-9965: with small or slow traffic half of the partitions stay empty.
    """
    places = np.empty(len(record_bytes), np.int32)
    open_bytes = np.zeros(partitions, np.int64)
    counter = 0
    for i in range(len(record_bytes)):
        place = available[counter % len(available)]
        counter += 1
        if open_bytes[place] == 0 or open_bytes[place] + record_bytes[i] > batch_bytes:
            place = available[counter % len(available)]
            counter += 1
        _append(open_bytes, place, record_bytes[i], batch_bytes)
        places[i] = place
    return places


@njit(cache=True)
def by_lot(count: int, available: Ints, random: State) -> Ints:
    places = np.empty(count, np.int32)
    for i in range(count):
        places[i] = available[next_int(random, len(available))]
    return places


@njit(cache=True)
def _append(open_bytes: Longs, place: int, record_bytes: int, batch_bytes: int) -> bool:
    is_new = bool(open_bytes[place] == 0 or open_bytes[place] + record_bytes > batch_bytes)
    open_bytes[place] = record_bytes if is_new else open_bytes[place] + record_bytes
    return is_new


@njit(cache=True)
def _positive(random: State) -> np.int64:
    return np.int64(np.uint32(next_bits(random, 32)) & np.uint32(0x7FFFFFFF))


@njit(cache=True)
def sticky(record_bytes: Longs, available: Ints, partitions: int, batch_bytes: int, random: State) -> Ints:
    """KIP-480 (2.4 – 3.2): the same partition until its batch is full, then another random one."""
    places = np.empty(len(record_bytes), np.int32)
    open_bytes = np.zeros(partitions, np.int64)
    current = _other(_NOBODY, available, random)
    for i in range(len(record_bytes)):
        is_full = open_bytes[current] > 0 and open_bytes[current] + record_bytes[i] > batch_bytes
        if is_full:
            current = _other(current, available, random)
        _append(open_bytes, current, record_bytes[i], batch_bytes)
        places[i] = current
    return places


@njit(cache=True)
def _other(current: int, available: Ints, random: State) -> np.int64:
    """``StickyPartitionCache.nextPartition``: drawn until it differs and is available."""
    if len(available) == 1:
        return np.int64(available[0])
    drawn = np.int64(current)
    while drawn == current:
        drawn = np.int64(available[_positive(random) % len(available)])
    return drawn


@njit(cache=True)
def uniform_sticky(
    record_bytes: Longs, candidates: Ints, cumulated: Longs, partitions: int, batch_bytes: int, random: State
) -> Ints:
    """KIP-794 (3.3+): change after batch.size bytes, when the batch is full, or after twice as many in any case.

    ``cumulated``: the adaptive table over ``candidates``, empty for a uniform choice, which may repeat the partition.
    """
    places = np.empty(len(record_bytes), np.int32)
    open_bytes = np.zeros(partitions, np.int64)
    current = _drawn(candidates, cumulated, random)
    produced = np.int64(0)
    for i in range(len(record_bytes)):
        _append(open_bytes, current, record_bytes[i], batch_bytes)
        places[i] = current
        produced += record_bytes[i]
        is_full = open_bytes[current] >= batch_bytes
        if (produced >= batch_bytes and is_full) or produced >= 2 * batch_bytes:
            current = _drawn(candidates, cumulated, random)
            produced = np.int64(0)
    return places


@njit(cache=True)
def _drawn(candidates: Ints, cumulated: Longs, random: State) -> np.int64:
    """``BuiltInPartitioner.nextPartition``: the first whose cumulated weight exceeds the draw."""
    drawn = _positive(random)
    if len(cumulated) == 0:
        return np.int64(candidates[drawn % len(candidates)])
    weighted = drawn % cumulated[-1]
    return np.int64(candidates[np.searchsorted(cumulated, weighted, side="right")])


def adaptive_weights(queue_sizes: Longs, partitions: int) -> Longs:
    """``BuiltInPartitioner.updatePartitionLoadStats``: longest queue + 1 − own queue, summed up.

    Empty (no adaptive choice) if the topic has fewer than two partitions, or if all queues are equal and no partition
    is left out.
    """
    nothing = np.zeros(0, np.int64)
    if partitions < 2 or len(queue_sizes) == 0:
        return nothing
    if len(queue_sizes) == partitions and bool((queue_sizes == queue_sizes[0]).all()):
        return nothing
    return np.cumsum(int(queue_sizes.max()) + 1 - queue_sizes)
