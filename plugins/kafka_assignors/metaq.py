"""MetaQ's two strategies of 2012 (Metamorphosis 1.4), with its hash functions.

Every partition of a topic has one consumer; each consumer computes the answer from two lists sorted as strings. Kafka's
partition p is named ``0-p``, so ``0-10`` sorts before ``0-2``.

Default (``DefaultLoadBalanceStrategy``): partitions are cut into ranges; the first ``partitions mod consumers``
consumers get one more. Example: consumers a, b, c and partitions 0-0, 0-1: a gets 0-0, b 0-1, c nothing. O(M log M + n
log n + S) a topic.

Consistent (``ConsisHashStrategy``, KETAMA): consumers are 160 points each on a ring, and a partition goes to the next
point. A consumer that joins or leaves moves only its own partitions. No promise of balance. Points are MD5 of
``consumer-0`` … ``consumer-39``, four little-endian words each; the later consumer has a shared point. A partition's
hash is the first word of MD5 of its name. O(M log M + n log M).

``HashAlgorithm``, after spymemcached: CRC32 keeps 15 bits of the upper half; FNV comes in 64 bits cut to 32, also under
the name of 32 bits; KETAMA and ELECTION are the first four bytes of MD5, little-endian; only ONE_AT_A_TIME is signed.
Those over UTF-8 bytes fail on the empty key.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import ABSENT, Ints, Longs
from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.errors import AssignorError
from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, put_order
from kafka_assignors.java.strings import hash_codes, sorted_order
from kafka_assignors.orders import by_member_id
from kafka_assignors.owned_lists import lists_by_owner
from kafka_assignors.ranges import plain_ranges, subscriber_counts
from kafka_assignors.string_column import StringColumn


def default_share(consumer: str, consumers: Sequence[str], partitions: Sequence[str]) -> list[str]:
    """Empty for a stranger. Raises AssignorError without consumers."""
    if not consumers:
        raise AssignorError("java.lang.ArithmeticException", "/ by zero")
    if consumer not in consumers:
        return []
    position = consumers.index(consumer)
    quota, extras = divmod(len(partitions), len(consumers))
    start = quota * position + min(position, extras)
    return list(partitions[start : start + quota + (position < extras)])


@dataclass(frozen=True, slots=True)
class MetaqDefaultAssignor:
    """``com.taobao.metamorphosis.client.consumer.DefaultLoadBalanceStrategy``."""

    name: str = "metaq-default"
    versions: str = "Metamorphosis 1.4"

    def assign(self, request: AssignmentRequest) -> Assignment:
        members, first_row = request.members, request.topics.first_row
        columns = (members.subscription_offsets, members.subscription_topics)
        subscribers = subscriber_counts(*columns, len(request.topics), True)
        by_place = plain_ranges(by_member_id(members), *columns, first_row, subscribers, True)
        owners = np.full(len(by_place), ABSENT, np.int32)
        for start, end in zip(first_row[:-1].tolist(), first_row[1:].tolist(), strict=True):
            owners[start + partition_order(end - start)] = by_place[start:end]
        walk = np.flatnonzero(subscribers)
        return Assignment.of(*lists_by_owner(owners, first_row, walk, len(members)))


def partition_names(count: int) -> StringColumn:
    return StringColumn.of(f"0-{partition}" for partition in range(count))


def partition_order(count: int) -> Longs:
    names = partition_names(count)
    order: Longs = sorted_order(names.data, names.offsets)
    return order


_64 = (1 << 64) - 1
_32 = (1 << 32) - 1
_31 = (1 << 31) - 1

Chars = Sequence[int]


def chars_of(key: str) -> Chars:
    units: list[int] = np.frombuffer(key.encode("utf-16-le", "surrogatepass"), np.uint16).tolist()
    return units


def bytes_of(key: str) -> bytes:
    """``ByteUtils.getBytes``. Raises AssignorError for the empty key."""
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


_REPLICAS = 40


@dataclass(frozen=True, slots=True, eq=False)
class Ring:
    points: npt.NDArray[np.uint32]
    consumers: Ints

    @classmethod
    def of(cls, consumers: Iterable[str]) -> Ring:
        """Of equal points the last consumer's stays."""
        digests = [
            hashlib.md5(bytes_of(f"{consumer}-{i}"), usedforsecurity=False).digest()
            for consumer in consumers
            for i in range(_REPLICAS)
        ]
        hashes = np.frombuffer(b"".join(digests), "<u4")
        owners = np.repeat(np.arange(len(hashes) // (4 * _REPLICAS), dtype=np.int32), 4 * _REPLICAS)
        points, from_the_end = np.unique(hashes[::-1], return_index=True)
        return cls(points, owners[::-1][from_the_end])

    def owners_of(self, partitions: Sequence[str]) -> Ints:
        hashes = np.array([ketama(partition) for partition in partitions], np.uint32)
        return self.consumers[np.searchsorted(self.points, hashes) % len(self.points)]


def consistent_shares(consumers: Sequence[str], partitions: Sequence[str]) -> dict[str, list[str]]:
    """In the order of MetaQ's HashSet. Raises AssignorError for partitions without consumers."""
    shares: dict[str, list[str]] = {consumer: [] for consumer in consumers}
    if partitions and not consumers:
        raise AssignorError("java.util.NoSuchElementException")
    if not partitions:
        return shares
    for partition, owner in zip(partitions, Ring.of(consumers).owners_of(partitions).tolist(), strict=True):
        shares[consumers[owner]].append(partition)
    return {consumer: _in_set_order(share) for consumer, share in shares.items()}


def _in_set_order(strings: list[str]) -> list[str]:
    column = StringColumn.of(dict.fromkeys(strings))
    return [column[i] for i in put_order(hash_codes(column.data, column.offsets), DEFAULT_CAPACITY)]


@dataclass(frozen=True, slots=True)
class MetaqConsistentAssignor:
    """``com.taobao.metamorphosis.client.consumer.ConsisHashStrategy``."""

    name: str = "metaq-consistent"
    versions: str = "Metamorphosis 1.4"

    def assign(self, request: AssignmentRequest) -> Assignment:
        members, topics = request.members, request.topics
        offsets, subscribed = members.subscription_offsets, members.subscription_topics
        owners = np.full(topics.partition_total, ABSENT, np.int32)
        readers_of = _readers(by_member_id(members), offsets, subscribed, len(topics))
        names = partition_names(max(0, int(topics.partition_counts.max(initial=0)))).strings
        rings: dict[bytes, Ring] = {}
        for topic, readers in enumerate(readers_of):
            count = int(topics.partition_counts[topic])
            if count > 0 and len(readers):
                key = readers.tobytes()
                ring = rings.get(key) or rings.setdefault(key, Ring.of(members.ids[i] for i in readers.tolist()))
                start = int(topics.first_row[topic])
                owners[start : start + count] = readers[ring.owners_of(names[:count])]
        walk = np.flatnonzero(subscriber_counts(offsets, subscribed, len(topics), True))
        return Assignment.of(*lists_by_owner(owners, topics.first_row, walk, len(members)))


def _readers(order: Longs, offsets: Longs, subscribed: Ints, topic_count: int) -> list[Ints]:
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    listed = np.unique(subscribed.astype(np.int64) * len(order) + np.repeat(rank, np.diff(offsets)))
    bounds = np.searchsorted(listed, np.arange(topic_count + 1) * len(order))
    readers = order[listed % max(1, len(order))].astype(np.int32)
    return [readers[bounds[topic] : bounds[topic + 1]] for topic in range(topic_count)]
