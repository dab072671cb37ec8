"""Partitions of records: by hash of the key, and without key round robin, random, sticky (KIP-480), uniformly sticky
(KIP-794).

``java.util.Random`` with the caller's seed replaces unseeded generators. As in the producer, a record that does not fit
closes the partition's batch and opens the next. Time (linger) is not modelled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import config, njit, types
from numba.extending import intrinsic

from kafka_assignors.arrays import Flags, Ints, Longs
from kafka_assignors.java.seeded_random import State, java_random, next_bits, next_int
from kafka_assignors.java.strings import hash_codes
from kafka_assignors.kernels import wraps_around
from kafka_assignors.partitioners.contract import RecordSample, TopicTarget
from kafka_assignors.partitioners.key_column import KeyColumn, Offsets
from kafka_assignors.string_column import StringColumn

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
        partition = available[counter % len(available)]
        counter += 1
        if open_bytes[partition] == 0 or open_bytes[partition] + record_bytes[i] > batch_bytes:
            partition = available[counter % len(available)]
            counter += 1
        _append(open_bytes, partition, record_bytes[i], batch_bytes)
        places[i] = partition
    return places


@njit(cache=True)
def by_lot(count: int, available: Ints, random: State) -> Ints:
    places = np.empty(count, np.int32)
    for i in range(count):
        places[i] = available[next_int(random, len(available))]
    return places


@njit(cache=True)
def _append(open_bytes: Longs, partition: int, record_bytes: int, batch_bytes: int) -> bool:
    is_new = bool(open_bytes[partition] == 0 or open_bytes[partition] + record_bytes > batch_bytes)
    open_bytes[partition] = record_bytes if is_new else open_bytes[partition] + record_bytes
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
    current = _draw(candidates, cumulated, random)
    produced = np.int64(0)
    for i in range(len(record_bytes)):
        _append(open_bytes, current, record_bytes[i], batch_bytes)
        places[i] = current
        produced += record_bytes[i]
        is_full = open_bytes[current] >= batch_bytes
        if (produced >= batch_bytes and is_full) or produced >= 2 * batch_bytes:
            current = _draw(candidates, cumulated, random)
            produced = np.int64(0)
    return places


@njit(cache=True)
def _draw(candidates: Ints, cumulated: Longs, random: State) -> np.int64:
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


Bytes = npt.NDArray[np.uint8]

POSITIVE = np.uint32(0x7FFFFFFF)


@intrinsic
def _loaded_word(_context: Any, data: Any, _at: Any) -> Any:
    def load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.IntType(32).as_pointer())
        word = builder.load(pointer)
        word.align = 1
        return word

    return types.uint32(data, types.intp), load


def _viewed_word(data: Bytes, at: int) -> np.uint32:
    return np.uint32(data[at : at + 4].view("<u4")[0])


# ``data[at:at + 4]`` as a little-endian uint32; the caller checks bounds.
four_bytes: Any = _viewed_word if config.DISABLE_JIT else _loaded_word


@njit(cache=True, inline="always")
def remainder(value: np.uint32, divisor: np.int32, inverse: float) -> np.int32:
    """For a value below 2^31; ``inverse`` = 1 / divisor."""
    signed = np.int32(value)
    quotient = np.int32(np.float64(signed) * inverse)
    rest = np.int32(signed - np.int32(quotient * divisor))
    if rest < 0:
        rest = np.int32(rest + divisor)
    if rest >= divisor:
        rest = np.int32(rest - divisor)
    return rest


_SEED = np.uint32(0x9747B28C)
_M = np.uint32(0x5BD1E995)
_WORD = 4
_UNROLLED_WORDS = 10


def murmur2_hashes(keys: KeyColumn) -> Ints:
    """``Utils.murmur2``, int32[N]; a null key hashes like its bytes."""
    hashes = np.empty(len(keys), np.int32)
    _hash_each(keys.data, keys.offsets, hashes)
    return hashes


def murmur2_partitions(keys: KeyColumn, partitions: int) -> Ints:
    """``toPositive(murmur2(key)) % partitions``, int32[N]; rows of null keys have no meaning."""
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
def _mix(code: np.uint32, word: np.uint32) -> np.uint32:
    word = np.uint32(word * _M)
    word = np.uint32(word ^ (word >> np.uint32(24)))
    return np.uint32(np.uint32(code * _M) ^ np.uint32(word * _M))


@njit(cache=True, inline="always")
@wraps_around
def _finalize(code: np.uint32) -> np.uint32:
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
        code = _mix(code, four_bytes(data, at))
        at += _WORD
    left = end - at
    if left:
        # One read and a mask instead of a branch a byte.
        if at + _WORD <= len(data):
            tail = np.uint32(four_bytes(data, at) & np.uint32((np.uint32(1) << np.uint32(8 * left)) - np.uint32(1)))
        else:
            tail = np.uint32(0)
            for k in range(left):
                tail = np.uint32(tail | (np.uint32(data[at + k]) << np.uint32(8 * k)))
        code = np.uint32(np.uint32(code ^ tail) * _M)
    return np.uint32(_finalize(code))


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
    @njit(cache=True, error_model="numpy")
    def place_fixed(data: Bytes, places: Ints, partitions: np.int32, inverse: float) -> None:
        for i in range(len(places)):
            code = np.uint32(_SEED ^ np.uint32(_WORD * words))
            for k in range(words):
                code = _mix(code, four_bytes(data, _WORD * (words * i + k)))
            places[i] = remainder(_finalize(code) & POSITIVE, partitions, inverse)

    kernel: Callable[[Bytes, Ints, np.int32, float], None] = place_fixed
    return kernel


@dataclass(frozen=True, slots=True)
class ScalaPartitioner:
    """``kafka.producer.DefaultPartitioner`` of 0.8: the hash code of the key *object*, here of its text.

    A byte array has another one each time, so it cannot be predicted.
    """

    name: str = "scala@0.8"
    versions: str = "Kafka 0.8, Scala producer"

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:
        places = java_abs(text_hash_codes(sample.keys)) % target.partitions
        nulls = sample.keys.nulls
        places[nulls] = by_lot(1, target.available, java_random(seed))[0]
        return places.astype(np.int32)


@dataclass(frozen=True, slots=True)
class RoundRobinWithoutKey:
    """``DefaultPartitioner`` of 0.9 to 2.3, and the equal ``Partitioner`` of 0.8.2."""

    name: str = "default@0.9"
    versions: str = "Kafka 0.9 – 2.3"

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:
        places = murmur2_partitions(sample.keys, target.partitions)
        nulls = sample.keys.nulls
        start = int(next_bits(java_random(seed), 32))
        places[nulls] = round_robin(int(nulls.sum()), target.available, start)
        return places


def as_of_0_8_2() -> RoundRobinWithoutKey:
    """Its ``Utils.abs`` is a mask, so the answer is today's."""
    return RoundRobinWithoutKey("java@0.8.2", "Kafka 0.8.2, Java producer")


@dataclass(frozen=True, slots=True)
class StickyWithoutKey:
    """``DefaultPartitioner`` of 2.4 to 3.2 (KIP-480); with ``is_key_ignored`` ``UniformStickyPartitioner``."""

    name: str = "default@2.4"
    versions: str = "Kafka 2.4 – 3.2"
    is_key_ignored: bool = False

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:
        places = murmur2_partitions(sample.keys, target.partitions)
        is_keyless = np.ones(len(sample), np.bool_) if self.is_key_ignored else sample.keys.nulls
        places[is_keyless] = sticky(
            sample.record_bytes[is_keyless], target.available, target.partitions, target.batch_bytes, java_random(seed)
        )
        return places


def uniform_sticky_partitioner() -> StickyWithoutKey:
    return StickyWithoutKey("uniform-sticky@2.4", "Kafka 2.4 – 3.9", is_key_ignored=True)


@dataclass(frozen=True, slots=True)
class BuiltInPartitioner:
    """Producer without ``partitioner.class`` since 3.3 (KIP-794).

    ``is_key_ignored``: ``partitioner.ignore.keys``. Adaptive where the target has queue sizes.
    """

    name: str = "default"
    versions: str = "Kafka 3.3 – 4.4"
    is_key_ignored: bool = False

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:
        places = murmur2_partitions(sample.keys, target.partitions)
        is_keyless = np.ones(len(sample), np.bool_) if self.is_key_ignored else sample.keys.nulls
        candidates, weights = target.available, np.zeros(0, np.int64)
        if target.queue_sizes is not None:
            weights = adaptive_weights(target.queue_sizes[candidates], target.partitions)
        places[is_keyless] = uniform_sticky(
            sample.record_bytes[is_keyless], candidates, weights, target.partitions, target.batch_bytes,
            java_random(seed),
        )  # fmt: skip
        return places


@dataclass(frozen=True, slots=True)
class RoundRobinPartitioner:
    name: str = "roundrobin"
    versions: str = "Kafka 2.4 – 4.4"

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:  # noqa: ARG002
        places: Ints = round_robin_by_batch(
            sample.record_bytes, target.available, target.partitions, target.batch_bytes
        )
        return places


def java_abs(codes: Ints) -> Longs:
    """Kafka's guard: 0 for the least int."""
    longs = codes.astype(np.int64)
    return np.where(longs == -(2**31), 0, np.abs(longs))


def text_hash_codes(keys: KeyColumn) -> Ints:
    """``String.hashCode`` of UTF-8 keys; invalid bytes become replacement characters, as in Java."""
    used = keys.data[int(keys.offsets[0]) : int(keys.offsets[-1])]
    if not (used & 0x80).any():
        return np.asarray(hash_codes(keys.data, keys.offsets.astype(np.int64)))
    texts = StringColumn.of((keys.key(i) or b"").decode("utf-8", "replace") for i in range(len(keys)))
    return np.asarray(hash_codes(texts.data, texts.offsets))


Words = npt.NDArray[np.uint32]


def _crc_table() -> Words:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(0xEDB88320), table >> 1).astype(np.uint32)
    return table


_CRC = _crc_table()


def crc32_hashes(keys: KeyColumn) -> Words:
    """IEEE, uint32[N]; 0 for an empty key."""
    hashes = np.empty(len(keys), np.uint32)
    _crc32_each(keys.data, keys.offsets, _CRC, hashes)
    return hashes


def fnv1a_hashes(keys: KeyColumn) -> Words:
    """uint32[N]; 0x811c9dc5 for an empty key."""
    hashes = np.empty(len(keys), np.uint32)
    _fnv1a_each(keys.data, keys.offsets, hashes)
    return hashes


@njit(cache=True)
def _crc32_each(data: Bytes, offsets: Offsets, table: Words, hashes: Words) -> None:
    for i in range(len(hashes)):
        code = np.uint32(0xFFFFFFFF)
        for at in range(offsets[i], offsets[i + 1]):
            code = table[(code ^ np.uint32(data[at])) & np.uint32(0xFF)] ^ (code >> np.uint32(8))
        hashes[i] = ~code


@njit(cache=True)
@wraps_around
def _fnv1a_each(data: Bytes, offsets: Offsets, hashes: Words) -> None:
    for i in range(len(hashes)):
        code = np.uint32(0x811C9DC5)
        for at in range(offsets[i], offsets[i + 1]):
            code = np.uint32(np.uint32(code ^ np.uint32(data[at])) * np.uint32(0x01000193))
        hashes[i] = code


_EMPTY_KEY = KeyColumn.of([b""])


class Hash(StrEnum):
    CRC32 = "crc32"
    MURMUR2 = "murmur2"
    FNV1A = "fnv1a"


class ByLot(StrEnum):
    NONE = "none"
    NULL = "null keys"
    NULL_OR_EMPTY = "null and empty keys"


@dataclass(frozen=True, slots=True)
class LibrdkafkaPartitioner:
    name: str
    hash: Hash
    by_lot: ByLot
    versions: str = "librdkafka 1.x – 2.x"

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:
        """A null key hashes as an empty one."""
        places = hashed_partitions(self.hash, sample.keys, target.partitions)
        places[sample.keys.nulls] = hashed_partitions(self.hash, _EMPTY_KEY, target.partitions)[0]
        is_drawn = self._is_drawn(sample.keys)
        if is_drawn.any():
            places[is_drawn] = by_lot(int(is_drawn.sum()), target.available, java_random(seed))
        return places

    def _is_drawn(self, keys: KeyColumn) -> Flags:
        if self.by_lot is ByLot.NONE:
            return np.zeros(len(keys), np.bool_)
        if self.by_lot is ByLot.NULL:
            return keys.nulls
        is_drawn: Flags = keys.nulls | (keys.lengths == 0)
        return is_drawn


def hashed_partitions(hash: Hash, keys: KeyColumn, partitions: int) -> Ints:  # noqa: A002
    """int32[N]; a null key's row has no meaning."""
    match hash:
        case Hash.MURMUR2:
            return murmur2_partitions(keys, partitions)
        case Hash.CRC32:
            return (crc32_hashes(keys) % np.uint32(partitions)).astype(np.int32)
        case Hash.FNV1A:
            # |least int| stays 2^31: the remainder is of an unsigned number.
            signed = fnv1a_hashes(keys).view(np.int32).astype(np.int64)
            return (np.abs(signed) % partitions).astype(np.int32)


def consistent() -> LibrdkafkaPartitioner:
    return LibrdkafkaPartitioner("librdkafka-consistent", Hash.CRC32, ByLot.NONE)


def consistent_random() -> LibrdkafkaPartitioner:
    return LibrdkafkaPartitioner("librdkafka-consistent-random", Hash.CRC32, ByLot.NULL_OR_EMPTY)


def murmur2() -> LibrdkafkaPartitioner:
    return LibrdkafkaPartitioner("librdkafka-murmur2", Hash.MURMUR2, ByLot.NONE)


def murmur2_random() -> LibrdkafkaPartitioner:
    return LibrdkafkaPartitioner("librdkafka-murmur2-random", Hash.MURMUR2, ByLot.NULL)


def fnv1a() -> LibrdkafkaPartitioner:
    return LibrdkafkaPartitioner("librdkafka-fnv1a", Hash.FNV1A, ByLot.NONE)


def fnv1a_random() -> LibrdkafkaPartitioner:
    return LibrdkafkaPartitioner("librdkafka-fnv1a-random", Hash.FNV1A, ByLot.NULL)


class Way(StrEnum):
    NEGATED = "default"
    MASKED = "reference"
    CRC = "crc"


@dataclass(frozen=True, slots=True)
class SaramaPartitioner:
    name: str
    way: Way
    versions: str = "Sarama 1.x"

    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:
        """Among available partitions: Sarama requires consistency only of keyed records."""
        places = self.hashed(sample.keys, target.partitions)
        nulls = sample.keys.nulls
        if nulls.any():
            places[nulls] = by_lot(int(nulls.sum()), target.available, java_random(seed))
        return places

    def hashed(self, keys: KeyColumn, partitions: int) -> Ints:
        match self.way:
            case Way.CRC:
                return (crc32_hashes(keys) % np.uint32(partitions)).astype(np.int32)
            case Way.MASKED:
                return ((fnv1a_hashes(keys) & np.uint32(0x7FFFFFFF)) % np.uint32(partitions)).astype(np.int32)
            case Way.NEGATED:
                signed = fnv1a_hashes(keys).view(np.int32).astype(np.int64)
                # Go's remainder keeps the dividend's sign.
                return (np.abs(signed) % partitions).astype(np.int32)


def default() -> SaramaPartitioner:
    return SaramaPartitioner("sarama-hash", Way.NEGATED)


def reference() -> SaramaPartitioner:
    return SaramaPartitioner("sarama-reference", Way.MASKED)


def crc() -> SaramaPartitioner:
    return SaramaPartitioner("sarama-crc", Way.CRC)
